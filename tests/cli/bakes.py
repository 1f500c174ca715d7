# SPDX-License-Identifier: GPL-3.0-or-later
"""Bakes that several tests make."""
from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import jobs
import program


def baked(folder: Path, **settings: object) -> Path:
    """A small job and its coarse bake."""
    job = jobs.small(**settings).write(folder / "job")
    program.run("bake", job, check=0)
    return job


def change(job: Path, **settings: object) -> None:
    jobs.change(job, "upsample", settings)


def stop_at(folder: Path, job: Path, cache: Path, wanted: str, name: int) -> program.Result:
    child = program.start("bake", job, "--cache", cache)
    lines = []
    for line in child.stdout:
        lines.append(line)
        if json.loads(line)["event"] == wanted and len(lines) > 3:
            child.send_signal(name)
            began = time.monotonic()
            break
    rest, stderr = child.communicate(timeout=60)
    assert time.monotonic() - began < program.STOP_SECONDS, "stopping took too long"
    return program.Result(child.returncode, program.events_of("".join(lines) + rest), "", stderr)


def check_resume(folder: Path, job: Path) -> None:
    """Stopped in the middle of a frame and gone on with, a bake ends with the bytes of one that was left alone."""
    whole, cache = folder / f"whole_{job.name}", folder / f"stopped_{job.name}"
    program.run("bake", job, "--cache", whole, check=0)
    result = stop_at(folder, job, cache, "progress", signal.SIGTERM)
    assert result.code == 5, result
    program.run("bake", job, "--cache", cache, check=0)
    assert program.digest(cache) == program.digest(whole), job.name
