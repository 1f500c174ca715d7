"""What every solver of bulk sand must do from the command line."""
from __future__ import annotations

from pathlib import Path

import jobs
import program
from test_rigid import column, moving


def same_bytes_for_any_threads_and_stops(folder: Path, solver: dict) -> None:
    job = moving(solver=solver).write(folder / "job")
    program.run("bake", job, "--cache", folder / "one", "--threads", 1, check=0)
    program.run("bake", job, "--cache", folder / "three", "--threads", 3, check=0)
    for until in (2, 5, 6, 10):
        program.run("bake", job, "--cache", folder / "parts", "--until", until, check=0)
    assert program.digest(folder / "one") == program.digest(folder / "three") == program.digest(folder / "parts")


def sand_carries_a_ball(folder: Path, solver: dict, lowest: float = 0.05) -> None:
    """A wooden ball of 3 cm radius laid on 6 cm of sand: it sinks in by less than its radius, and stays."""
    job = jobs.Job(frame_end=24, solver=solver)
    job.add_mesh("Bed", "source", jobs.box((-0.1, -0.1, 0.001), (0.1, 0.1, 0.06)))
    for name, low, high in (("West", (-0.14, -0.14, -0.02), (-0.1, 0.14, 0.1)), ("East", (0.1, -0.14, -0.02), (0.14, 0.14, 0.1)),
                            ("South", (-0.14, -0.14, -0.02), (0.14, -0.1, 0.1)), ("North", (-0.14, 0.1, -0.02), (0.14, 0.14, 0.1))):
        job.add_mesh(name, "collider", jobs.box(low, high), friction=0.5)
    job.add_mesh("Ball", "body", jobs.ball((0.0, 0.0, 0.095), 0.03), density=700.0)
    program.run("bake", job.add_ground().write(folder / "job"), "--cache", folder / "cache", check=0)
    frames = {n: column(folder / "cache" / f"coarse_{n:06d}.grain", "body.position")[0] for n in (18, 24)}
    assert lowest < frames[24][2] < 0.1, frames
    assert abs(frames[24][2] - frames[18][2]) < 0.003, frames
    # It may roll until it has pressed a hollow for itself, no farther than that is wide.
    assert all(abs(c) < 0.03 for c in frames[24][:2]), frames
