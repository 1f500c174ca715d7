# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the released binaries of each platform, stripped and, for macOS, signed: build/platforms/PLATFORM/bin.

    python3 libgrain/platforms/binaries.py [--tests] [--without-openvdb] [PLATFORM ...]

With --tests the C tests and benchmarks are built too, where they can run on this machine. Without OpenVDB a build takes
minutes less; it is for trying the rest, and nothing is put into bin. What was built before is kept: only what changed
is compiled again.
"""
from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path

import dependencies
import sign_macho
from fetch_sources import HERE, PLATFORMS_BUILD, FetchError, fetch_sources, fetch_zig

ROOT = HERE.parent.parent
PLATFORMS = tuple(dependencies.ZIG_TARGETS)
# What stands before and behind a library's name, and behind a program's.
NAMES = {"linux": ("lib", ".so", ""), "windows": ("", ".dll", ".exe"), "macos": ("lib", ".dylib", "")}
# The others are linked without symbols; for Windows, strip would write the time into the file.
STRIP = {"linux-x64": "strip", "linux-arm64": "aarch64-linux-gnu-strip"}
TARGETS = ("grain", "grain_program", "grain_vdb")
TEST_TARGETS = {"linux-x64": ("grain_tests", "grain_bench"), "linux-arm64": ("grain_tests",),
                "windows-x64": ("grain_tests",)}


def binaries_of(platform: str) -> tuple[str, str, str]:
    before, behind, program = NAMES[platform.split("-")[0]]
    return f"grain{program}", f"{before}grain{behind}", f"{before}grain_vdb{behind}"


def compile_for(platform: str, targets: tuple[str, ...], with_openvdb: bool = True) -> Path:
    """Returns the folder in which the linker left the binaries."""
    build, log = PLATFORMS_BUILD / platform / "build", PLATFORMS_BUILD / platform / "build.log"
    log.unlink(missing_ok=True)
    dependencies.run_logged(["cmake", "-S", str(ROOT), "-B", str(build), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                             f"-DGRAIN_WERROR={'ON' if with_openvdb else 'OFF'}",
                             f"-DCMAKE_TOOLCHAIN_FILE={HERE / 'toolchains' / f'{platform}.cmake'}"], log)
    dependencies.run_logged(["cmake", "--build", str(build), "--target", *targets], log)
    return build / "bin"


def finish(platform: str, linked: Path) -> None:
    """Copies the binaries to where they are packed from, without symbols."""
    folder = PLATFORMS_BUILD / platform / "bin"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name in binaries_of(platform):
        shutil.copy2(linked / name, folder / name)
        if platform in STRIP:
            dependencies.run_logged([STRIP[platform], "--strip-all", str(folder / name)],
                                    PLATFORMS_BUILD / platform / "build.log")
        if platform.startswith("macos"):
            sign_macho.sign(folder / name)


def build(platform: str, with_tests: bool, with_openvdb: bool) -> None:
    dependencies.build(platform, with_openvdb)
    start = time.monotonic()
    if with_openvdb:
        finish(platform, compile_for(platform, TARGETS + (TEST_TARGETS.get(platform, ()) if with_tests else ())))
    else:
        compile_for(platform, TARGETS[:2] + (TEST_TARGETS.get(platform, ()) if with_tests else ()), False)
    print(f"built {platform} in {time.monotonic() - start:.0f} s", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tests", action="store_true", help="the C tests and benchmarks too")
    parser.add_argument("--without-openvdb", action="store_true", help="no volumes, and nothing that can be packed")
    parser.add_argument("platforms", metavar="PLATFORM", nargs="*", help="all by default: " + ", ".join(PLATFORMS))
    options = parser.parse_args()
    unknown = [name for name in options.platforms if name not in PLATFORMS]
    if unknown:
        parser.error(f"no such platform: {', '.join(unknown)}; there are {', '.join(PLATFORMS)}")
    try:
        fetch_sources()
        wanted = options.platforms or PLATFORMS
        if any(dependencies.ZIG_TARGETS[platform] for platform in wanted):
            fetch_zig()
        for platform in wanted:
            build(platform, options.tests, not options.without_openvdb)
    except (FetchError, sign_macho.SignError) as error:
        print(f"binaries: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
