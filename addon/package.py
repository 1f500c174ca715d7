#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Packs the add-on with its binaries: an extension for Blender 4.2 and later, and a zip for 3.4 to 4.1.

    python3 addon/package.py --binaries build/release --out build/package
        the build of this machine, with the shared libraries it needs beside it
    python3 addon/package.py --platform windows-x64 --binaries build/platforms/windows-x64/bin --out FOLDER
        a release for one of Blender's platforms; everything is inside its three binaries
    python3 addon/package.py --publish --out FOLDER
        when all are packed: the index for a repository of ours, the list of components, checksums

The same tree goes into both zips; they differ in the folder around it. The zips are the same bytes for the same input.
"""
import argparse
import re
import shutil
import subprocess
from pathlib import Path

from packing import bill, components, released, repository
from packing.platforms import PLATFORMS, Platform
from packing.tree import addon_files, common_version, fail, write_zip

# Shared libraries of the system which a development build needs and an artist's machine may lack.
SYSTEM_LIBRARIES = ("libjansson.so.4",)
NATIVE = PLATFORMS["linux-x64"]


def system_library(name: str, library: Path) -> Path:
    """Where the dynamic linker finds what our library asks for."""
    listing = subprocess.run(["ldd", str(library)], capture_output=True, text=True, check=True).stdout
    match = re.search(rf"^\s*{re.escape(name)} => (\S+)", listing, re.MULTILINE)
    if match is None:
        fail(f"{library} does not use {name} any more: update SYSTEM_LIBRARIES")
    return Path(match.group(1))


def development_binaries(folder: Path) -> dict[str, bytes]:
    """Files of lib/, by their name there. A build without OpenVDB has no library of volumes."""
    if shutil.which("ldd") is None:
        fail("ldd is missing: packaging a development build works on Linux")
    paths = {name: folder / "bin" / name for name in NATIVE.binaries}
    for name in (NATIVE.program, NATIVE.library):
        if not paths[name].is_file():
            fail(f"{paths[name]} is missing: build first (./build.sh package)")
    paths |= {name: system_library(name, paths[NATIVE.library]) for name in SYSTEM_LIBRARIES}
    return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}


def released_binaries(platform: Platform, folder: Path) -> dict[str, bytes]:
    present = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if present != set(platform.binaries):
        found = ", ".join(sorted(present)) or "nothing"
        fail(f"{folder} must hold exactly {', '.join(platform.binaries)}; there is {found}")
    return {name: (folder / name).read_bytes() for name in platform.binaries}


def pack(targets: dict[Path, str], platform: str, binaries: dict[str, bytes],
         inside: list[components.Component]) -> None:
    """Writes the same tree to each target, below the folder that it names."""
    files = addon_files(platform) | {f"lib/{name}": content for name, content in binaries.items()}
    files |= components.notices(inside)
    for target, top in targets.items():
        target.parent.mkdir(parents=True, exist_ok=True)
        write_zip(target, files, top)
        print(target)


def legacy_zip(folder: Path, version: str, platform: str = "") -> Path:
    return folder / f"grain-{version}-legacy{platform and '-' + platform}.zip"


def pack_development(build: Path, out: Path) -> None:
    version, binaries = common_version(), development_binaries(build)
    pack({legacy_zip(out, version): "grain/", out / f"grain-{version}-{NATIVE.name}.zip": ""}, NATIVE.name, binaries,
         components.of_development_build(frozenset(binaries)) + released.of_platform(NATIVE, ("tree",)))


def pack_release(platform: Platform, folder: Path, out: Path) -> None:
    version = common_version()
    targets = {out / f"grain-{version}-{platform.name}.zip": ""}
    if platform.has_legacy:
        targets[legacy_zip(out, version, platform.name)] = "grain/"
    pack(targets, platform.name, released_binaries(platform, folder), released.of_platform(platform))


def publish(out: Path) -> None:
    """About the zips that lie in the folder."""
    version = common_version()
    zips = {}
    for platform in PLATFORMS.values():
        for path in (out / f"grain-{version}-{platform.name}.zip", legacy_zip(out, version, platform.name)):
            if path.is_file():
                zips[path] = released.of_platform(platform)
    strays = sorted(path.name for path in out.glob("*.zip") if path not in zips)
    if strays:
        fail(f"{out} holds zips of another version or of a development build: {', '.join(strays)}")
    for path in (repository.write_index(out), bill.write_bill(out, version, zips), repository.write_checksums(out)):
        print(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--platform", choices=PLATFORMS, help="pack a release for this platform")
    parser.add_argument("--binaries", type=Path, help="build folder; with --platform the folder of its binaries")
    parser.add_argument("--publish", action="store_true", help="index, list of components and checksums, in --out")
    parser.add_argument("--out", type=Path, required=True, help="folder for the zips")
    options = parser.parse_args()
    if options.publish == bool(options.binaries) or (options.publish and options.platform):
        parser.error("either --binaries, with or without --platform, or --publish")
    if options.publish:
        publish(options.out)
    elif options.platform:
        pack_release(PLATFORMS[options.platform], options.binaries, options.out)
    else:
        pack_development(options.binaries, options.out)


if __name__ == "__main__":
    main()
