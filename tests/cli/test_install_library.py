# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain as another program meets it: installed, found by pkg-config and by CMake, and used in memory (examples/pour.c)."""
from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import program
from harness import Skip

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "libgrain/examples/pour.c"


def call(*command: object, cwd: Path | None = None, **environment: str) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd=cwd, env={**os.environ, **environment})
    assert done.returncode == 0, f"{' '.join(map(str, command))}: {done.stdout[-2000:]}{done.stderr[-2000:]}"
    return done.stdout


def install(folder: Path) -> Path:
    """Installed in one place and then moved: nothing may remember where it was."""
    if program.RUNNER or sys.platform != "linux":
        raise Skip("libraries for other systems come with the add-on")
    if not (program.BUILD / "cmake_install.cmake").is_file():
        raise Skip("this is no build folder")
    if "GRAIN_SANITIZE:STRING=\n" not in (program.BUILD / "CMakeCache.txt").read_text():
        raise Skip("a sanitizer's library cannot be linked into a program without it")
    call("cmake", "--install", program.BUILD, "--prefix", folder / "first")
    (folder / "first").rename(folder / "usr")
    return folder / "usr"


def library_folder(installed: Path) -> Path:
    return next(installed.rglob("libgrain.so")).parent


def test_pour_is_the_bake_of_its_scene(folder: Path) -> None:
    """Compiled with pkg-config outside the tree; its frames are, column by column, what the installed `grain` bakes."""
    installed = install(folder)
    pkg_config = {"PKG_CONFIG_PATH": str(library_folder(installed) / "pkgconfig")}
    flags = call("pkg-config", "--cflags", "--libs", "grain", **pkg_config).split()
    assert not any(str(ROOT) in flag for flag in flags), flags
    call("cc", "-std=c17", "-Wall", "-Wextra", "-Werror", shutil.copy(EXAMPLE, folder), *flags, "-o", folder / "pour")
    lines = call(folder / "pour", folder / "job", LD_LIBRARY_PATH=str(library_folder(installed))).splitlines()
    assert len(lines) == 8, lines

    call(installed / "bin/grain", "bake", folder / "job")
    call(installed / "bin/grain", "upsample", folder / "job")
    cache = folder / "job/cache"
    counts = {name: [frame["particles"] for frame in json.loads((cache / name / "cache.json").read_text())["frames"]]
              for name in (".", "grains")}
    assert counts["."][0] > 200 and counts["."][-1] > counts["."][0] + 100, counts  # a heap, and sand that was poured
    for number, line in enumerate(lines, 1):
        particles, grains = counts["."][number - 1], counts["grains"][number - 1]
        assert line == f"frame {number}: {particles} particles, {grains} grains", line
        baked = columns_of(cache / f"coarse_{number:06d}.grain")
        mine = {path.suffix[1:]: path.read_bytes() for path in (folder / "job").glob(f"frame_{number:04d}.*")}
        assert {"position", "velocity", "radius", "birth_time"} <= set(mine) == set(baked), (set(mine), set(baked))
        assert len(mine["position"]) == 12 * particles
        assert mine == baked, f"frame {number}: not the bake's {[name for name in mine if mine[name] != baked[name]]}"


def columns_of(path: Path) -> dict[str, bytes]:
    """Column -> its bytes, as docs/formats.md has them."""
    data = path.read_bytes()
    count, = struct.unpack_from("<I", data, 32)
    columns = {}
    for column in range(count):
        name, kind, components, offset, elements = struct.unpack_from("<32sIIQQ", data, 64 + 64 * column)
        columns[name.split(b"\0")[0].decode()] = data[offset:offset + (4, 4, 8, 8)[kind] * components * elements]
    return columns


def test_cmake_finds_the_installed_library(folder: Path) -> None:
    installed = install(folder)
    (folder / "other").mkdir()
    shutil.copy(EXAMPLE, folder / "other")
    (folder / "other/CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.22)
project(other C)
find_package(Grain 0.1 REQUIRED)
add_executable(pour pour.c)
target_link_libraries(pour PRIVATE Grain::grain)
""")
    call("cmake", "-S", folder / "other", "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}")
    call("cmake", "--build", folder / "build")
    assert len(call(folder / "build/pour").splitlines()) == 8


def test_what_is_installed(folder: Path) -> None:
    installed = install(folder)
    libraries = library_folder(installed)
    abi = int((installed / "include/grain/base.h").read_text().split("#define GRAIN_ABI_VERSION ")[1].split()[0])
    assert os.readlink(libraries / "libgrain.so") == f"libgrain.so.{abi}"
    assert f"Library soname: [libgrain.so.{abi}]" in call("readelf", "-d", libraries / "libgrain.so")
    headers = {path.name for path in (ROOT / "libgrain/include/grain").iterdir()}
    assert {path.name for path in (installed / "include/grain").iterdir()} == headers
    # Its OpenVDB part is found, from the program and from the library alike.
    if (libraries / "libgrain_vdb.so").is_file():
        make = ("sdf", program.DATA / "suzanne.obj", "--voxel", 0.1, "-o", folder / "suzanne.vdb")
        call(installed / "bin/grain", *make)
        call("sh", "-c", 'exec grain "$@"', "sh", *make, PATH=f"{installed / 'bin'}:{os.environ['PATH']}")
