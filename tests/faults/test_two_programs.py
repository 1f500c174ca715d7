# SPDX-License-Identifier: GPL-3.0-or-later
"""Programs that want one cache at the same time: one bakes, the others say who does, and nothing is torn."""
from __future__ import annotations

import os
import re
import shutil
import time
from pathlib import Path

import caches
import jobs
import program
import watch
from harness import is_heavy

# Of each test. Five minutes by hand: ./build.sh test --heavy -k test_two_programs
SECONDS = 300.0 if is_heavy() else 2.0
WRITERS = 3
HEARTBEAT = {"GRAIN_LOCK": "heartbeat"}


def job_of(folder: Path) -> Path:
    return jobs.small(frame_end=20, checkpoint_every=3, upsample={"grains_per_particle": 6}).write(folder / "job")


def who_bakes(text: str) -> int:
    """The process that the refused one names."""
    named = re.search(rf"process ([0-9]+) on {re.escape(os.uname().nodename)} ", text)
    watch.ensure(named, f"who bakes is not said: {text.strip()}")
    return int(named.group(1))


def check_round(job: Path, cache: Path, expected: dict[str, str], ways: list[dict]) -> tuple[int, int]:
    """How many of the programs baked, and how many were refused."""
    children = [program.start("bake", job, "--cache", cache, "--threads", 1, environment=way) for way in ways]
    while any(child.poll() is None for child in children):  # readers see whole files at any moment
        watch.run("verify", cache, codes={watch.DONE, watch.IO})
        time.sleep(0.01)
    results = [
        watch.judge(watch.finish(child, "bake", 30.0), "bake", codes={watch.DONE, watch.BUSY}) for child in children
    ]
    numbers = {child.pid for child, result in zip(children, results) if result.code == watch.DONE}
    for result in results:
        if result.code == watch.BUSY:
            watch.ensure(
                who_bakes(result.stderr) in numbers, f"who bakes is not one of {numbers}: {result.stderr.strip()}"
            )
    watch.ensure(numbers, "nobody baked")
    watch.ensure(caches.digest(cache) == expected, "not the bytes of an undisturbed bake")
    return len(numbers), len(results) - len(numbers)


def check(folder: Path, ways: list[dict]) -> None:
    job, end = job_of(folder), time.monotonic() + SECONDS
    program.run("bake", job, "--cache", folder / "whole", "--threads", 1, check=0)
    expected, rounds, baked, refused = caches.digest(folder / "whole"), 0, 0, 0
    while time.monotonic() < end or not refused:
        done, busy = check_round(job, folder / "cache", expected, ways)
        shutil.rmtree(folder / "cache")
        rounds, baked, refused = rounds + 1, baked + done, refused + busy
        assert rounds < 10000, "nobody was ever refused"
    print(f"# {rounds} rounds of {len(ways)} programs: {baked} baked or found all baked, {refused} were refused")


def test_one_bakes_and_the_others_say_who(folder: Path) -> None:
    check(folder, [{}] * WRITERS)


def test_likewise_where_flock_is_missing(folder: Path) -> None:
    check(folder, [HEARTBEAT] * WRITERS)


def test_likewise_where_only_some_have_flock(folder: Path) -> None:
    check(folder, [{}, HEARTBEAT, {}])
