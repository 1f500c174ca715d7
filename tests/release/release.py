# SPDX-License-Identifier: GPL-3.0-or-later
"""Where a release lies, what belongs to it, and Blender's own tools to look at it."""
from __future__ import annotations

import os
import re
import subprocess
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NATIVE = Path(os.environ.get("GRAIN_TEST_BUILD", ROOT / "build/release"))
BINARIES = ROOT / "build/platforms"
ZIPS = ROOT / "build/package/release"
BLENDERS = ROOT / "build/bpy"  # Blender as Python modules; ./build.sh versions and release install them

FILES = {
    "linux-x64": ("grain", "libgrain.so", "libgrain_vdb.so"),
    "linux-arm64": ("grain", "libgrain.so", "libgrain_vdb.so"),
    "windows-x64": ("grain.exe", "grain.dll", "grain_vdb.dll"),
    "macos-arm64": ("grain", "libgrain.dylib", "libgrain_vdb.dylib"),
    "macos-x64": ("grain", "libgrain.dylib", "libgrain_vdb.dylib"),
}
LEGACY = ("linux-x64", "windows-x64", "macos-arm64", "macos-x64")  # where Blender 3.4 to 4.1 ran


def version() -> str:
    match = re.search(r"^project\(grain VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    assert match, "CMakeLists.txt names no version"
    return match.group(1)


def binaries() -> list[tuple[str, Path]]:
    """Platform and path of every binary; all have to be there."""
    found = [(platform, BINARIES / platform / "bin" / name) for platform, names in FILES.items() for name in names]
    missing = [str(path.relative_to(ROOT)) for _, path in found if not path.is_file()]
    assert not missing, f"not built: {', '.join(missing)}"
    return found


def extension(platform: str) -> Path:
    return ZIPS / f"grain-{version()}-{platform}.zip"


def legacy(platform: str) -> Path:
    return ZIPS / f"grain-{version()}-legacy-{platform}.zip"


def zips() -> dict[Path, str]:
    """Every zip of a release and its platform; all have to be there."""
    found = {extension(platform): platform for platform in FILES} | {legacy(platform): platform for platform in LEGACY}
    missing = [path.name for path in found if not path.is_file()]
    assert not missing, f"not packed: {', '.join(missing)}"
    return found


def folder_inside(path: Path) -> str:
    """What stands before the names in a zip: Blender 3.4 to 4.1 want a folder around the add-on."""
    return "grain/" if "-legacy-" in path.name else ""


def contents(path: Path) -> dict[str, bytes]:
    """The files of a zip by their names in the add-on."""
    with zipfile.ZipFile(path) as archive:
        return {name.removeprefix(folder_inside(path)): archive.read(name) for name in archive.namelist()}


# --- Blender --------------------------------------------------------------------------------------

def newest_blender() -> Path:
    """The Python in which the newest Blender of those installed is a module."""
    found = list(BLENDERS.glob("[0-9]*.[0-9]*/bin/python"))
    assert found, "no Blender as a Python module in build/bpy: ./build.sh release installs one"
    return max(found, key=lambda path: tuple(map(int, path.parts[-3].split("."))))


def extension_tool(*arguments: object) -> str:
    """Blender's own program for extensions: what `blender --command extension` runs. Returns what it printed."""
    python = newest_blender()
    modules = python.parent.parent / "lib"
    tool = next(modules.glob("python*/site-packages/bpy/*/scripts/addons_core/bl_pkg/cli/blender_ext.py"), None)
    assert tool, f"the Blender of {python} has no blender_ext.py"
    done = subprocess.run([str(python), str(tool), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"blender_ext.py {arguments[0]}: {done.stdout[-1500:]} {done.stderr[-1500:]}"
    return done.stdout


def run_in_blender(script: Path, *arguments: object, home: Path, timeout: float = 300) -> str:
    """Runs a script in the newest Blender with an empty folder as the user's own. Returns what it printed."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("GRAIN_", "BLENDER_"))}
    environment |= {"BLENDER_USER_RESOURCES": str(home), "HOME": str(home)}
    home.mkdir(parents=True, exist_ok=True)
    done = subprocess.run([str(newest_blender()), str(script), *map(str, arguments)], capture_output=True, text=True,
                          env=environment, timeout=timeout)
    assert done.returncode == 0, f"{script.name}: {done.stdout[-1500:]} {done.stderr[-1500:]}"
    return done.stdout
