# SPDX-License-Identifier: GPL-3.0-or-later
"""The zip as an artist gets it: installed by Blender itself, in a place of its own, without the source tree."""
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import bpy
import harness
import support

INSTALL = """
import bpy, os, sys
zip_path, folder = sys.argv[sys.argv.index('--') + 1:]
bpy.ops.preferences.addon_install(filepath=zip_path)
bpy.ops.preferences.addon_enable(module='grain')
import grain
print('FROM', grain.__file__, flush=True)
from grain.engine import ffi
print('PROGRAM', ffi.program(), os.access(ffi.program(), os.X_OK), flush=True)
sys.path.insert(0, {tests!r})
import support
from pathlib import Path
scene = support.small_scene(2)
support.save(Path(folder))
print('BAKED', bpy.ops.grain.bake(), len(scene.grain.active.sand_object.data.vertices), flush=True)
"""


def package(folder: Path) -> dict[str, Path]:
    done = subprocess.run(["python3", support.ROOT / "addon/package.py", "--binaries", support.BUILD, "--out", folder],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return {path.name: path for path in folder.glob("*.zip")}


def test_zips_are_whole_and_repeatable(folder: Path) -> None:
    first, second = package(folder / "one"), package(folder / "two")
    assert set(first) == {"grain-0.1.0-legacy.zip", "grain-0.1.0-linux-x64.zip"}
    for name in first:
        assert first[name].read_bytes() == second[name].read_bytes(), f"{name} differs from run to run"
    legacy = zipfile.ZipFile(first["grain-0.1.0-legacy.zip"])
    extension = zipfile.ZipFile(first["grain-0.1.0-linux-x64.zip"])
    assert {name.split("/")[0] for name in legacy.namelist()} == {"grain"}
    assert "blender_manifest.toml" in extension.namelist() and "__init__.py" in extension.namelist()
    for name in ("LICENSE", "licences/README.txt", "lib/libgrain.so", "lib/grain", "lib/libjansson.so.4"):
        assert name in extension.namelist(), name
    assert legacy.getinfo("grain/lib/grain").external_attr >> 16 & 0o111, "grain must be executable"
    assert not any("__pycache__" in name for name in legacy.namelist())


def test_everything_inside_has_its_notice(folder: Path) -> None:
    """Of the libraries beside ours, and of those compiled into ours. tests/release looks at the zips of a release."""
    phrases = {"jansson": "Petri Lehtinen", "zstd": "Facebook",
               "xxhash": "Yann Collet", "musl": "Rich Felker"}
    if (support.BUILD / "bin/libgrain_vdb.so").is_file():
        phrases |= {"openvdb": "Mozilla Public License Version 2.0",
                    "onetbb": "TERMS AND CONDITIONS FOR USE, REPRODUCTION",
                    "boost": "Boost Software License", "imath": "Imath"}
    for path in package(folder).values():
        archive = zipfile.ZipFile(path)
        top = "grain/" if "legacy" in path.name else ""
        assert "GNU GENERAL PUBLIC LICENSE" in archive.read(f"{top}LICENSE").decode()
        for name, phrase in phrases.items():
            text = archive.read(f"{top}licences/{name}.txt").decode()
            assert phrase.lower() in " ".join(text.split()).lower(), f"{path.name}: {name}"
        told = archive.read(f"{top}licences/README.txt").decode()
        libraries = {name.removeprefix(f"{top}lib/") for name in archive.namelist() if name.startswith(f"{top}lib/")}
        assert all(name in told for name in libraries), f"{path.name}: {libraries} against {told}"


def test_program_uses_the_libraries_beside_it(folder: Path) -> None:
    zipfile.ZipFile(package(folder / "zips")["grain-0.1.0-linux-x64.zip"]).extractall(folder / "out")
    for name in ("grain", "libgrain.so"):
        (folder / "out/lib" / name).chmod(0o755)
        listing = subprocess.run(["ldd", folder / "out/lib" / name], capture_output=True, text=True).stdout
        assert f"libjansson.so.4 => {folder}/out/lib/libjansson.so.4" in listing, f"{name}: {listing}"
        assert "libgomp" not in listing, f"{name}: {listing}"


def test_installs_and_bakes(folder: Path) -> None:
    zips = package(folder / "zips")
    user = folder / "user"
    environment = {name: value for name, value in os.environ.items() if name != "GRAIN_LIBRARY_FOLDER"}
    environment |= {"BLENDER_USER_SCRIPTS": str(user / "scripts"), "BLENDER_USER_CONFIG": str(user / "config"),
                    "HOME": str(user)}
    (user / "scripts" / "addons").mkdir(parents=True)
    done = subprocess.run(
        [*support.blender_command(), "-b", "--factory-startup", "--python-exit-code", "7", "--python-expr",
         INSTALL.replace("{tests!r}", repr(str(Path(__file__).parent))), "--",
         str(zips["grain-0.1.0-legacy.zip"]), str(folder)],
        capture_output=True, text=True, env=environment, timeout=100)
    assert done.returncode == 0, support.fail_output(done)
    home = user / "scripts/addons/grain"
    assert f"FROM {home}/__init__.py" in done.stdout, done.stdout
    assert f"PROGRAM {home}/lib/grain True" in done.stdout, done.stdout
    assert "BAKED {'FINISHED'}" in done.stdout and (folder / "grain_cache/Sand/coarse_000002.grain").is_file()


def test_manifest_keeps_blenders_rules(_: Path) -> None:
    if sys.version_info < (3, 11):
        return
    import tomllib
    manifest = tomllib.loads((support.ROOT / "addon/grain/blender_manifest.toml").read_text())
    required = {"schema_version", "id", "version", "name", "tagline", "maintainer", "type", "license",
                "blender_version_min"}
    assert required <= set(manifest), required - set(manifest)
    assert len(manifest["tagline"]) <= 64 and manifest["tagline"][-1].isalnum()
    assert all(len(reason) <= 64 and not reason.endswith(".") for reason in manifest["permissions"].values())


EXTENSION = """
import bpy, os, sys
zip_path, folder = sys.argv[sys.argv.index('--') + 1:]
bpy.ops.extensions.package_install_files(filepath=zip_path, repo='user_default', enable_on_install=True)
import bl_ext.user_default.grain as grain
sys.modules['grain'] = grain  # by this name the tests' helpers know it
print('FROM', grain.__file__, flush=True)
sys.path.insert(0, {tests!r})
import support
from pathlib import Path
scene = support.small_scene(2)
support.save(Path(folder))
print('BAKED', bpy.ops.grain.bake(), len(scene.grain.active.sand_object.data.vertices), flush=True)
"""


def test_extension_installs_and_bakes(folder: Path) -> None:
    """The zip for 4.2 and later, by the installer of extensions."""
    if bpy.app.version < (4, 2, 0):
        raise harness.Skip(f"Blender {bpy.app.version_string} has no extensions")
    zips, user = package(folder / "zips"), folder / "user"
    environment = {name: value for name, value in os.environ.items() if name != "GRAIN_LIBRARY_FOLDER"}
    environment |= {"BLENDER_USER_RESOURCES": str(user), "HOME": str(user)}
    user.mkdir()
    done = subprocess.run(
        [*support.blender_command(), "-b", "--factory-startup", "--python-exit-code", "7", "--python-expr",
         EXTENSION.replace("{tests!r}", repr(str(Path(__file__).parent))), "--",
         str(zips["grain-0.1.0-linux-x64.zip"]), str(folder)],
        capture_output=True, text=True, env=environment, timeout=200)
    assert done.returncode == 0, support.fail_output(done)
    assert f"FROM {user}" in done.stdout and "BAKED {'FINISHED'}" in done.stdout, done.stdout
