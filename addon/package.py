#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the add-on with its binaries: a zip for Blender 3.4 to 4.1 and an extension for 4.2 and later.

    python3 addon/package.py --binaries build/release --out build/package

The same tree goes into both; they differ in the folder around it. The zips are the same bytes for the same input.
"""
import argparse
import ast
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ADDON = HERE / "grain"
ROOT = HERE.parent

# Shared libraries of the system which libgrain needs and an artist's machine may lack; Debian package of each.
SYSTEM_LIBRARIES = {"libjansson.so.4": "libjansson4", "libgomp.so.1": "libgomp1"}
LINKED_PACKAGES = ("libzstd-dev",)  # inside libgrain
OWN_BINARIES = ("libgrain.so", "grain")
OPTIONAL_BINARIES = ("libgrain_vdb.so",)
TIMESTAMP = (2020, 1, 1, 0, 0, 0)


def fail(text: str) -> None:
    sys.exit(f"package.py: {text}")


def bl_info_version() -> str:
    tree = ast.parse((ADDON / "__init__.py").read_text("utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "bl_info":
            return ".".join(str(number) for number in ast.literal_eval(node.value)["version"])
    fail("addon/grain/__init__.py has no bl_info")


def found_in(path: Path, pattern: str) -> str:
    match = re.search(pattern, path.read_text("utf-8"), re.MULTILINE)
    if match is None:
        fail(f"no version in {path}")
    return match.group(1)


def common_version() -> str:
    versions = {
        "addon/grain/__init__.py": bl_info_version(),
        "addon/grain/blender_manifest.toml": found_in(ADDON / "blender_manifest.toml", r'^version = "([^"]+)"'),
        "CMakeLists.txt": found_in(ROOT / "CMakeLists.txt", r"^project\(grain VERSION ([0-9.]+)"),
    }
    if len(set(versions.values())) != 1:
        fail("versions differ: " + ", ".join(f"{where} {version}" for where, version in versions.items()))
    return versions["CMakeLists.txt"]


def system_library(name: str, library: Path) -> Path:
    """Where the dynamic linker finds what our library asks for."""
    listing = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    match = re.search(rf"^\s*{re.escape(name)} => (\S+)", listing, re.MULTILINE)
    if match is None:
        fail(f"{library} does not use {name} any more: update SYSTEM_LIBRARIES")
    return Path(match.group(1))


def licence_of(package: str) -> Path:
    path = Path("/usr/share/doc") / package / "copyright"
    # libgomp1's is a link into the package it was built with.
    if not path.is_file():
        fail(f"the licence of {package} is missing ({path})")
    return path


def binaries(folder: Path) -> dict[str, Path]:
    """Files of lib/, by their name there."""
    found: dict[str, Path] = {}
    for name in OWN_BINARIES + OPTIONAL_BINARIES:
        path = folder / "bin" / name
        if path.is_file():
            found[name] = path
        elif name in OWN_BINARIES:
            fail(f"{path} is missing: build first (./build.sh package)")
    for name, package in SYSTEM_LIBRARIES.items():
        found[name] = system_library(name, folder / "bin" / "libgrain.so")
        found[f"licences/{package}.txt"] = licence_of(package)
    for package in LINKED_PACKAGES:
        found[f"licences/{package}.txt"] = licence_of(package)
    return found


def addon_files() -> dict[str, Path]:
    return {str(path.relative_to(ADDON)): path for path in sorted(ADDON.rglob("*"))
            if path.is_file() and "__pycache__" not in path.parts and path.parent.name != "lib"}


def write_zip(target: Path, files: dict[str, Path], top: str) -> None:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, path in sorted(files.items()):
            entry = zipfile.ZipInfo(top + name, TIMESTAMP)
            is_program = name == "lib/grain"
            entry.external_attr = (0o100755 if is_program else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.create_system = 3  # Unix, wherever this runs
            archive.writestr(entry, path.read_bytes())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binaries", type=Path, required=True, help="build folder with bin/libgrain.so and bin/grain")
    parser.add_argument("--out", type=Path, required=True, help="folder for the zips")
    options = parser.parse_args()
    if shutil.which("ldd") is None:
        fail("ldd is missing: packaging works on Linux")
    version = common_version()
    files = addon_files()
    files |= {f"lib/{name}": path for name, path in binaries(options.binaries).items()}
    options.out.mkdir(parents=True, exist_ok=True)
    for name, top in ((f"grain-{version}-legacy.zip", "grain/"), (f"grain-{version}-linux-x64.zip", "")):
        write_zip(options.out / name, files, top)
        print(options.out / name)


if __name__ == "__main__":
    main()
