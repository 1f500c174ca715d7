# SPDX-License-Identifier: GPL-3.0-or-later
"""Nothing outside the zip is needed: the linux-x64 zip in file systems that have nothing to lean on.

Blender's own installer, a bake, grains, a volume and pictures in a bare Debian without network; and the program alone
over nothing but an old C library. A system with glibc 2.28, Blender's own minimum, no mirror has any more: that it
suffices is what test_imports.py checks, by the versions of the symbols.
"""
from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import bare_system
import harness
import release

ZIP = "/srv/grain.zip"
WORK = "/srv/work"
PICTURES = release.ROOT / "build/bare"


def prepared(root: Path) -> Path:
    """Puts the zip and an empty folder inside; whatever an earlier run installed is gone."""
    bare_system.put(root, release.extension("linux-x64"), ZIP)
    shutil.rmtree(root / WORK.lstrip("/"), ignore_errors=True)
    shutil.rmtree(root / "root/.config", ignore_errors=True)
    (root / WORK.lstrip("/")).mkdir(parents=True)
    return root / WORK.lstrip("/")


def check_what_it_told(told: str, home: str, pictures: Path, version: str) -> None:
    """Everything was made, the pictures show it, and the libraries that were loaded are those of the zip."""
    for line in (rf"^FROM {home}/\S+/grain/__init__\.py loads$", r"^BAKE {'FINISHED'} 8$", r"^UPSAMPLE 8$",
                 r"^VOLUME {'FINISHED'} 8$", r"^GRIDS True density,dust,velocity$"):
        assert re.search(line, told, re.MULTILINE), f"no {line} in {told[-2500:]}"
    PICTURES.mkdir(parents=True, exist_ok=True)
    for picture in ("sand", "dust", "empty"):
        shutil.copy2(pictures / f"{picture}.png", PICTURES / f"{version}_{picture}.png")
    share, dust = map(float, re.search(r"^RENDER (\S+) (\S+)$", told, re.MULTILINE).groups())
    assert 0.02 < share < 0.5, f"sand covers {share} of the picture"
    assert dust > 0.001, f"the volume changes the picture by {dust}"
    loaded = re.search(r"^LOADED (.*)$", told, re.MULTILINE).group(1).split()
    assert loaded and all(path.startswith(f"{home}/") for path in loaded), loaded


def works_in_blender(version: str) -> None:
    root = bare_system.debian()
    python = bare_system.put_blender(root, version)
    work = prepared(root)
    strays = [name for name in bare_system.installed(root) if any(word in name for word in bare_system.FORBIDDEN)]
    assert not strays, f"not bare: {strays}"
    bare_system.put(root, Path(__file__).with_name("bare_scene.py"), "/srv/bare_scene.py")
    told = bare_system.inside(root, *python, "/srv/bare_scene.py", ZIP, WORK)
    check_what_it_told(told, "/root", work, version)


def test_the_zip_is_enough_for_blender_4_5(_: Path) -> None:
    works_in_blender("4.5")


def test_the_zip_is_enough_for_blender_5_2(_: Path) -> None:
    works_in_blender("5.2")


def test_the_legacy_zip_works_in_blender_3_4(folder: Path) -> None:
    """Not in a bare system: the only such Blender there is, Debian's, brings half of Debian along."""
    blender = shutil.which("blender")
    if blender is None:
        raise harness.Skip("there is no Blender 3.4 to 4.1")
    (folder / "home/scripts/addons").mkdir(parents=True)
    (folder / "work").mkdir()
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GRAIN_", "BLENDER_"))}
    environment |= {"BLENDER_USER_SCRIPTS": str(folder / "home/scripts"), "HOME": str(folder / "home")}
    script = Path(__file__).with_name("bare_scene.py")
    command = [blender, "-b", "--factory-startup", "--python-exit-code", "7", "--python", script, "--"]
    done = subprocess.run([*command, release.legacy("linux-x64"), folder / "work"], capture_output=True, text=True,
                          env=environment, timeout=600)
    assert done.returncode == 0, f"code {done.returncode}: {done.stderr[-400:]} after {done.stdout[-1500:]}"
    check_what_it_told(done.stdout, str(folder / "home"), folder / "work", "3.4")


def test_the_program_is_enough_without_blender(_: Path) -> None:
    """Over a C library of 2020 (Debian 11, glibc 2.31) or older and nothing else: no shell, no other library."""
    root = bare_system.old_glibc()
    work = prepared(root)
    with zipfile.ZipFile(release.extension("linux-x64")) as archive:
        for name in release.FILES["linux-x64"]:
            archive.extract(f"lib/{name}", work)
            (work / "lib" / name).chmod(0o755)
    (work / "cube.obj").write_text(cube())
    program = f"{WORK}/lib/grain"
    told = bare_system.inside(root, program, "--version")
    assert release.version() in told, told
    bare_system.inside(root, program, "sdf", f"{WORK}/cube.obj", "--voxel", "0.05", "-o", f"{WORK}/cube.vdb")
    assert (work / "cube.vdb").stat().st_size > 1000, "no level set was written"
    bare_system.inside(root, program, "cover", f"{WORK}/cube.obj", "--radius", "0.05", "-o", f"{WORK}/cube.ply")
    assert (work / "cube.ply").stat().st_size > 1000, "no cover was written"


def cube() -> str:
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return "".join(f"v {x} {y} {z}\n" for x, y, z in corners) + "".join(
        "f " + " ".join(str(corner + 1) for corner in quad) + "\n" for quad in quads)
