# SPDX-License-Identifier: GPL-3.0-or-later
"""The same bytes everywhere: the reference jobs baked, refined and made into volumes by every build that can run here.

The native build by gcc, on this machine's best instruction set, is what the others are compared with.
"""
from __future__ import annotations

import functools
import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import reference_jobs
import release
from harness import Skip

MISMATCHES_NAMED = 5


class Build:
    """A `grain` program and how it runs here."""

    def __init__(self, program: Path, runner: tuple[str, ...] = (), **environment: str) -> None:
        self.command, self.environment = [*runner, str(program)], {**os.environ, **environment}
        if not program.is_file():
            raise Skip(f"there is no {program.relative_to(release.ROOT)}")
        if runner and not shutil.which(runner[0]):
            raise Skip(f"there is no {runner[0]}")

    def run(self, *arguments: object) -> None:
        done = subprocess.run([*self.command, *map(str, arguments)], capture_output=True, text=True, errors="replace",
                              timeout=1800, env=self.environment)
        assert done.returncode == 0, f"grain {arguments[0]}: exit code {done.returncode}: {done.stderr.strip()}"


def native(**environment: str) -> Build:
    return Build(release.NATIVE / "bin/grain", **environment)


def released(**environment: str) -> Build:
    return Build(release.BINARIES / "linux-x64/bin/grain", **environment)


def windows(program: Path | None = None, **environment: str) -> Build:
    return Build(program or release.BINARIES / "windows-x64/bin/grain.exe", release.wine(), WINEDEBUG="-all", **environment)


def arm64() -> Build:
    return Build(release.BINARIES / "linux-arm64/bin/grain", ("qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"))


def digests(cache: Path) -> dict[str, str]:
    """Every file of a cache and of the grains and volumes in it, but the lock."""
    return {str(path.relative_to(cache)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(cache.rglob("*")) if path.is_file() and path.name != "lock"}


def bake(build: Build, name: str, folder: Path, has_volumes: bool = True) -> dict[str, str]:
    job = reference_jobs.JOBS[name]()
    job.write(folder / name)
    build.run("bake", folder / name)
    if "upsample" in job.data:
        build.run("upsample", folder / name)
    if "volume" in job.data and has_volumes:
        build.run("volume", folder / name)
    found = digests(folder / name / "cache")
    shutil.rmtree(folder / name)
    return found


@functools.cache
def expected(name: str, has_volumes: bool) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        return bake(native(), name, Path(folder), has_volumes)


def compare(build: Build, folder: Path, names: list[str] | None = None, has_volumes: bool = True) -> None:
    wrong = []
    for name in names or reference_jobs.JOBS:
        wanted, found = expected(name, has_volumes), bake(build, name, folder, has_volumes)
        assert len(wanted) >= 4, f"{name} wrote next to nothing: {sorted(wanted)}"
        assert wanted.keys() == found.keys(), f"{name}: other files: {sorted(wanted.keys() ^ found.keys())}"
        wrong += [f"{name}/{file}" for file in wanted if wanted[file] != found[file]]
    assert not wrong, f"{len(wrong)} files differ: {', '.join(wrong[:MISMATCHES_NAMED])}"


def test_all_solvers_and_stages_are_among_the_jobs(_: Path) -> None:
    data = [make().data for make in reference_jobs.JOBS.values()]
    assert len(data) == 20
    assert {job["solver"]["type"] for job in data} == {"dem", "mpm", "sph", "meso"}
    assert sum("upsample" in job for job in data) >= 8 and sum("volume" in job for job in data) >= 2


def test_every_instruction_set(folder: Path) -> None:
    for wanted in ("base", "avx2"):
        compare(native(GRAIN_SIMD=wanted), folder)


def test_without_fused_multiply_add(folder: Path) -> None:
    """The system's own library, told that the processor has none: its functions then give other bits."""
    compare(native(GRAIN_SIMD="base", GLIBC_TUNABLES="glibc.cpu.hwcaps=-FMA,-FMA_Usable,-FMA4,-AVX2,-AVX2_Usable"), folder)


def test_release_for_linux(folder: Path) -> None:
    compare(released(), folder)
    for wanted in ("base", "avx2"):
        compare(released(GRAIN_SIMD=wanted), folder)


def test_release_for_windows(folder: Path) -> None:
    compare(windows(), folder)


def test_release_for_arm64(folder: Path) -> None:
    compare(arm64(), folder)
