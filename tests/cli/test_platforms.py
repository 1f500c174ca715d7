# SPDX-License-Identifier: GPL-3.0-or-later
"""A program of another platform gives the bytes of the native one. ./build.sh release test does it with all jobs."""
from __future__ import annotations

from pathlib import Path

import program
import reference_jobs
from harness import Skip

NATIVE = Path(__file__).resolve().parents[2] / "build/release/bin/grain"
SOME = ("dem", "dem_bricks", "mpm_flow", "mpm_wind", "sph", "meso", "attributes")


def test_bytes_are_those_of_the_native_program(folder: Path) -> None:
    if not program.RUNNER:
        raise Skip("this is the native program")
    for name in SOME:
        expected = reference_jobs.bake([str(NATIVE)], name, folder / "native", has_volumes=False)
        found = reference_jobs.bake(program.COMMAND, name, folder / "other", has_volumes=False)
        assert len(expected) >= 4 and found == expected, (name, [file for file in expected if found.get(file) != expected[file]])


def test_a_bake_goes_on_on_another_machine(folder: Path) -> None:
    if not program.RUNNER:
        raise Skip("this is the native program")
    reference_jobs.check_hand_over([str(NATIVE)], program.COMMAND, folder)


def test_paths_may_be_long_and_in_any_script(folder: Path) -> None:
    """Longer than the 260 characters that Windows once allowed, with letters that its code pages lack."""
    deep = folder / "söndag 日本" / "/".join(["a folder with a name of forty characters "] * 6).strip()
    assert len(str(deep)) > 270
    expected = reference_jobs.bake(program.COMMAND, "dem", folder / "short")
    assert reference_jobs.bake(program.COMMAND, "dem", deep) == expected
