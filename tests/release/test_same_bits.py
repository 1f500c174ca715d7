# SPDX-License-Identifier: GPL-3.0-or-later
"""The same bytes everywhere: the reference jobs baked, refined and made into volumes by every build that can run here.

The native build by gcc, on this machine's best instruction set, is what the others are compared with.
"""
from __future__ import annotations

import functools
import os
import shutil
import sys
import tempfile
from pathlib import Path

import emulators
import release
from harness import Skip

sys.path.append(str(release.ROOT / "tests/cli"))
os.environ.setdefault("GRAIN_TEST_BUILD", str(release.NATIVE))
import reference_jobs  # noqa: E402

NATIVE = [str(release.NATIVE / "bin/grain")]
RELEASED = [str(release.BINARIES / "linux-x64/bin/grain")]
MISMATCHES_NAMED = 5


@functools.cache
def expected(name: str) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        return reference_jobs.bake(NATIVE, name, Path(folder))


def compare(command: list[str], folder: Path, **environment: str) -> None:
    missing = [word for word in (command[0], command[-1]) if not shutil.which(word)]
    if missing and not Path(missing[0]).is_file():
        raise Skip(f"there is no {missing[0]}")
    wrong = []
    for name in reference_jobs.JOBS:
        wanted, found = expected(name), reference_jobs.bake(command, name, folder, environment=environment)
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
        compare(NATIVE, folder, GRAIN_SIMD=wanted)


def test_without_fused_multiply_add(folder: Path) -> None:
    """The system's own library, told that the processor has none: its functions then give other bits."""
    compare(NATIVE, folder, GRAIN_SIMD="base", GLIBC_TUNABLES="glibc.cpu.hwcaps=-FMA,-FMA_Usable,-FMA4,-AVX2,-AVX2_Usable")


def test_release_for_linux(folder: Path) -> None:
    compare(RELEASED, folder)
    for wanted in ("base", "avx2"):
        compare(RELEASED, folder, GRAIN_SIMD=wanted)


def test_release_for_windows(folder: Path) -> None:
    compare([*emulators.wine(), str(release.BINARIES / "windows-x64/bin/grain.exe")], folder)


def test_release_for_arm64(folder: Path) -> None:
    compare([*emulators.ARM64, str(release.BINARIES / "linux-arm64/bin/grain")], folder)


def test_a_bake_goes_on_on_another_processor(folder: Path) -> None:
    """A farm may be mixed. With Windows' program the suite wine_cli tries the same."""
    if not shutil.which(emulators.ARM64[0]):
        raise Skip(f"there is no {emulators.ARM64[0]}")
    reference_jobs.check_hand_over(NATIVE, [*emulators.ARM64, str(release.BINARIES / "linux-arm64/bin/grain")], folder)
