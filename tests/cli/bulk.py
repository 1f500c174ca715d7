# SPDX-License-Identifier: GPL-3.0-or-later
"""What every solver of bulk sand must do from the command line."""
from __future__ import annotations

from pathlib import Path

import jobs
import program
from frames import column
from scenes import moving


def same_bytes_for_any_threads_and_stops(folder: Path, solver: dict) -> None:
    job = moving(solver=solver).write(folder / "job")
    program.run("bake", job, "--cache", folder / "one", "--threads", 1, check=0)
    program.run("bake", job, "--cache", folder / "three", "--threads", 3, check=0)
    for until in (2, 5, 6, 10):
        program.run("bake", job, "--cache", folder / "parts", "--until", until, check=0)
    assert program.digest(folder / "one") == program.digest(folder / "three") == program.digest(folder / "parts")


def add_tray(job: jobs.Job, inside: float, height: float, friction: float) -> None:
    """Four walls of 4 cm, as far as `inside` from the middle."""
    outside = inside + 0.04
    for name, low, high in (("West", (-outside, -outside), (-inside, outside)), ("East", (inside, -outside), (outside, outside)),
                            ("South", (-outside, -outside), (outside, -inside)), ("North", (-outside, inside), (outside, outside))):
        job.add_mesh(name, "collider", jobs.box((*low, -0.02), (*high, height)), friction=friction)


def sand_carries_a_ball(folder: Path, solver: dict, lowest: float = 0.05) -> None:
    """A wooden ball of 3 cm radius laid on 6 cm of sand: it sinks in by less than its radius, and stays."""
    job = jobs.Job(frame_end=24, solver=solver)
    job.add_mesh("Bed", "source", jobs.box((-0.1, -0.1, 0.001), (0.1, 0.1, 0.06)))
    add_tray(job, 0.1, 0.1, friction=0.5)
    job.add_mesh("Ball", "body", jobs.ball((0.0, 0.0, 0.095), 0.03), density=700.0)
    program.run("bake", job.add_ground().write(folder / "job"), "--cache", folder / "cache", check=0)
    frames = {n: column(folder / "cache" / f"coarse_{n:06d}.grain", "body.position")[0] for n in (18, 24)}
    assert lowest < frames[24][2] < 0.1, frames
    assert abs(frames[24][2] - frames[18][2]) < 0.003, frames
    # It may roll until it has pressed a hollow for itself, no farther than that is wide.
    assert all(abs(c) < 0.03 for c in frames[24][:2]), frames


def heavy_sand_lies_on_light_sand(folder: Path, solver: dict) -> None:
    """Two layers of 6 cm in a tray: the lower one sinks hardly more under sand that is three times as dense than under its like, by what
    it is pressed together, and stays below."""
    def sinks(name: str, density: float) -> float:
        job = jobs.Job(frame_end=24, solver={**solver, "particle_radius": 0.004, "density": density})
        job.add_mesh("Light", "source", jobs.box((-0.08, -0.08, 0.0), (0.08, 0.08, 0.06)), material={"density": 800.0})
        job.add_mesh("Upper", "source", jobs.box((-0.08, -0.08, 0.06), (0.08, 0.08, 0.12)))
        add_tray(job, 0.08, 0.2, friction=0.2)
        program.run("bake", job.add_ground().write(folder / name), check=0)
        cache = folder / name / "cache"
        source = [row[0] for row in column(cache / "birth_000001.grain", "source_id")]
        heights = [[row[2] for row in column(cache / f"coarse_{number:06d}.grain", "position")] for number in (1, 24)]
        lower = [place for place, of in enumerate(source) if of == source[heights[0].index(min(heights[0]))]]
        before, after = (sum(rows[place] for place in lower) / len(lower) for rows in heights)
        return 1.0 - after / before

    alike, under_heavy = sinks("alike", 800.0), sinks("heavy", 2600.0)
    print(f"# {solver['type']}: light sand sinks by {alike:.3f} of its height under light sand, by {under_heavy:.3f} under heavy sand")
    assert under_heavy < alike + 0.1, (alike, under_heavy)
