# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain_vdb of each platform that can be run here writes the same bytes, to paths of any kind."""
from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import emulators
from harness import Skip

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = ROOT / "build" / "platforms"
DRIVER = Path(__file__).with_name("vdb_driver.c")
FOLDER = "söndag 日本"
LONG_FOLDER = "/".join(letter * 120 for letter in "abc")  # longer than the 260 characters of plain paths on Windows
FILES = ("grids.vdb", "points.vdb", f"{FOLDER}/surface.vdb", f"{LONG_FOLDER}/surface.vdb")


def native() -> tuple[Path, list[str], list[str]]:
    """The library to compare with, built against Debian's OpenVDB; how to compile the driver, and to run it."""
    return ROOT / "build/release/bin/libgrain_vdb.so", ["gcc"], []


def release(platform: str) -> tuple[Path, list[str], list[str]]:
    """The same of a released library."""
    folder = PLATFORMS / platform / "bin"
    if platform == "windows-x64":
        return folder / "grain_vdb.dll", ["x86_64-w64-mingw32-gcc-posix", "-static"], emulators.wine()
    if platform == "linux-arm64":
        # A program for an old glibc, run with the libraries of Debian's cross compiler.
        compiler = [str(PLATFORMS / platform / "tools/cc")]
        return folder / "libgrain_vdb.so", compiler, emulators.ARM64
    return folder / "libgrain_vdb.so", [str(PLATFORMS / platform / "tools/cc")], []


def percent(path: str) -> str:
    """ASCII for the command line, which on Windows is in the code page of the day."""
    return "".join(chr(byte) if byte < 128 else f"%{byte:02x}" for byte in path.encode())


def files_of(library: Path, compiler: list[str], runner: list[str], folder: Path) -> dict[str, bytes]:
    if not library.is_file():
        raise Skip(f"{library} is not built")
    for program in (compiler[0], *runner[:1]):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")
    folder.mkdir()
    (folder / FOLDER).mkdir()
    (folder / LONG_FOLDER).mkdir(parents=True)
    (folder / "broken.vdb").write_bytes(b" BDV" + bytes(60))
    shutil.copy(library, folder)
    subprocess.run([*compiler, "-O2", "-ffp-contract=off", "-o", str(folder / "driver.exe"), str(DRIVER), "-lm"],
                   check=True)
    environment = dict(os.environ, LC_ALL="C.UTF-8")
    done = subprocess.run([*runner, "./driver.exe", f"./{library.name}", *(percent(name) for name in FILES[2:])],
                          cwd=folder, env=environment, capture_output=True, text=True, errors="replace", check=False)
    assert done.returncode == 0 and done.stdout.strip() == "done", f"{done.returncode}: {done.stdout}{done.stderr}"
    return {name: (folder / name).read_bytes() for name in FILES}


def compare(platform: str, folder: Path) -> None:
    theirs = files_of(*release(platform), folder / platform)
    ours = files_of(*native(), folder / "native")
    for name in FILES:
        assert theirs[name] == ours[name], f"{name} of {platform} has other bytes than the native one"
        assert len(theirs[name]) > 10000, f"{name} has only {len(theirs[name])} bytes"


def test_linux_x64_writes_the_bytes_of_the_native_build(folder: Path) -> None:
    compare("linux-x64", folder)


def test_linux_arm64_writes_the_bytes_of_the_native_build(folder: Path) -> None:
    compare("linux-arm64", folder)


def test_windows_x64_writes_the_bytes_of_the_native_build(folder: Path) -> None:
    compare("windows-x64", folder)


def test_windows_takes_no_library_from_the_current_folder(folder: Path) -> None:
    """A farm runs `grain` in whatever folder the job lies, and that may hold a stranger's library."""
    binaries, work = PLATFORMS / "windows-x64/bin", folder / "work"
    if not (binaries / "grain_vdb.dll").is_file():
        raise Skip(f"{binaries / 'grain_vdb.dll'} is not built")
    work.mkdir()
    shutil.copy(binaries / "grain.exe", folder)
    shutil.copy(ROOT / "tests/data/suzanne.obj", work)
    command = [*emulators.wine(), str(folder / "grain.exe"), "sdf", "suzanne.obj", "--voxel", "0.1", "-o", "suzanne.vdb"]
    for place, code in (work, 4), (folder, 0):
        shutil.copy(binaries / "grain_vdb.dll", place)
        done = subprocess.run(command, cwd=work, capture_output=True, text=True, errors="replace", check=False)
        assert done.returncode == code, f"with the library in {place}: {done.returncode}, {done.stderr}"
