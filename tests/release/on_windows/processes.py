# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes of the add-on's engine, started and waited for."""
from __future__ import annotations

import time
from pathlib import Path

import jobs
from grain.engine import ffi
from grain.engine.process import BakeProcess, Outcome, simulate_stage


def ended(process: BakeProcess, seconds: float = 60.0) -> Outcome:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        outcome = process.poll()
        if outcome is not None:
            return outcome
        time.sleep(0.01)
    raise AssertionError("it did not end")


def wait_for_frames(process: BakeProcess, count: int) -> None:
    until = time.monotonic() + 60.0
    while process.status.frames_written < count:
        outcome = process.poll()
        assert outcome is None and time.monotonic() < until, outcome
        time.sleep(0.005)


def long_job(folder: Path) -> Path:
    return jobs.small(solver={"particle_radius": 0.004, "softness": 0.05}, frame_end=8, upsample={}).write(folder / "job")


def start(job: Path, where: Path, **options: object) -> BakeProcess:
    return BakeProcess([simulate_stage(ffi.program(), job, where, 2)], **options)
