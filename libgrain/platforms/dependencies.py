# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds for each platform the static libraries that Grain's binaries contain: build/platforms/PLATFORM/deps, and the
tools its CMake toolchain file (toolchains/PLATFORM.cmake) asks for: build/platforms/PLATFORM/tools. What was built
once from the same sources and settings is kept.

    python3 libgrain/platforms/dependencies.py [PLATFORM ...]
"""
from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from fetch_sources import HERE, PLATFORMS_BUILD, ZIG_LIST, FetchError, components, fetch_sources, fetch_zig, zig_package

# What Zig is to compile for; the version is that of the oldest C library or system. Windows does without Zig.
ZIG_TARGETS = {
    "linux-x64": "x86_64-linux-gnu.2.28",
    "linux-arm64": "aarch64-linux-gnu.2.28",
    "windows-x64": None,
    "macos-arm64": "aarch64-macos.11.0",
    "macos-x64": "x86_64-macos.11.0",
}
# The C compilers whose version is part of what a build is kept for.
COMPILERS = {
    "linux-x64": "gcc",
    "linux-arm64": "aarch64-linux-gnu-gcc",
    "windows-x64": "x86_64-w64-mingw32-g++-posix",
}


def write_tools(platform: str) -> None:
    """One-word programs for CMake: Zig's compiler, archiver and indexer."""
    target = ZIG_TARGETS[platform]
    if not target:
        return
    folder = PLATFORMS_BUILD / platform / "tools"
    folder.mkdir(parents=True, exist_ok=True)
    # Zig checks for undefined behaviour by default, and the code of others is not written for that.
    compile_options = f"-target {target} -g0 -fno-sanitize=undefined"
    commands = {"cc": f"cc {compile_options}", "c++": f"c++ {compile_options}", "ar": "ar", "ranlib": "ranlib"}
    for name, command in commands.items():
        text = (f'#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR="{PLATFORMS_BUILD / "zig-cache"}"\n'
                f'exec "{zig_package() / "zig"}" {command} "$@"\n')
        path = folder / name
        if path.is_file() and path.read_text() == text:
            continue
        path.write_text(text)
        path.chmod(0o755)


def fingerprint(platform: str, with_openvdb: bool) -> str:
    """Of everything a build of the dependencies follows from."""
    digest = hashlib.sha256(f"{platform} {ZIG_TARGETS[platform]} {with_openvdb}".encode())
    if platform in COMPILERS:
        version = subprocess.run([COMPILERS[platform], "-v"], capture_output=True, text=True, check=False).stderr
        digest.update(version.encode())
    for component in components():
        digest.update(component.sha256.encode())
    for path in sorted((*HERE.glob("toolchains/*"), *HERE.glob("dependencies/**/*"), ZIG_LIST, Path(__file__))):
        if path.is_file():
            digest.update(f"{path.relative_to(HERE)} {path.stat().st_size}\n".encode() + path.read_bytes())
    return digest.hexdigest()


def run_logged(command: list[str], log: Path) -> None:
    """The build's output goes to a file, of which the end is shown when it fails."""
    with log.open("ab") as output:
        code = subprocess.run(command, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    if code != 0:
        end = "".join(log.read_text(errors="replace").splitlines(keepends=True)[-40:])
        raise FetchError(f"{' '.join(command)} failed with code {code}; the whole log is {log}\n{end}")


def build(platform: str, with_openvdb: bool = True) -> None:
    folder = PLATFORMS_BUILD / platform
    write_tools(platform)
    installed, mark, wanted = folder / "deps", folder / "deps" / ".fingerprint", fingerprint(platform, with_openvdb)
    # A build with OpenVDB holds all of one without.
    if mark.is_file() and mark.read_text() in (wanted, fingerprint(platform, True)):
        return
    print(f"building the dependencies of {platform}", flush=True)
    start = time.monotonic()
    work, log = folder / "deps-build", folder / "deps.log"
    shutil.rmtree(installed, ignore_errors=True)
    shutil.rmtree(work, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    options = {"CMAKE_TOOLCHAIN_FILE": HERE / "toolchains" / f"{platform}.cmake", "CMAKE_BUILD_TYPE": "Release",
               "CMAKE_INSTALL_PREFIX": installed, "GRAIN_WITHOUT_OPENVDB": "OFF" if with_openvdb else "ON",
               **{f"GRAIN_{part.name.upper().replace('-', '')}": part.folder for part in components() if part.sha256}}
    run_logged(["cmake", "-S", str(HERE / "dependencies"), "-B", str(work), "-G", "Ninja",
                *(f"-D{name}={value}" for name, value in options.items())], log)
    run_logged(["cmake", "--build", str(work), "--target", "install"], log)
    mark.write_text(wanted)
    print(f"built the dependencies of {platform} in {time.monotonic() - start:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("platforms", metavar="PLATFORM", nargs="*", help="all by default: " + ", ".join(ZIG_TARGETS))
    wanted = parser.parse_args().platforms or list(ZIG_TARGETS)
    unknown = [name for name in wanted if name not in ZIG_TARGETS]
    if unknown:
        parser.error(f"no such platform: {', '.join(unknown)}; there are {', '.join(ZIG_TARGETS)}")
    for name in ("cmake", "ninja"):
        if not shutil.which(name, path=os.environ.get("PATH")):
            parser.error(f"{name} is not installed")
    try:
        fetch_sources()
        fetch_zig()
        for platform in wanted:
            build(platform)
    except FetchError as error:
        print(f"dependencies: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
