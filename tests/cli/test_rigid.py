# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs with props that move and bend and with bodies: baked, stopped, resumed, written down."""
from __future__ import annotations

import json
import math
import shutil
from pathlib import Path

import jobs
import program
from frames import column
from scenes import moving


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    job = moving(solver={"particle_radius": 0.006}).write(folder / "job")
    program.run("bake", job, "--cache", folder / "one", "--threads", 1, check=0)
    program.run("bake", job, "--cache", folder / "three", "--threads", 3, check=0)
    for until in (2, 5, 6, 10):
        program.run("bake", job, "--cache", folder / "parts", "--until", until, check=0)
    assert program.digest(folder / "one") == program.digest(folder / "three") == program.digest(folder / "parts")


def test_bodies_are_in_the_frames(folder: Path) -> None:
    cache = folder / "cache"
    program.run("bake", moving().write(folder / "job"), "--cache", cache, check=0)
    assert json.loads((cache / "cache.json").read_text())["bodies"] == ["Crate", "Shot"]
    first, fourth = (column(cache / f"coarse_{n:06d}.grain", "body.position") for n in (1, 4))
    assert all(abs(a - b) < 1e-6 for a, b in zip(first[0], (0.0, 0.0, 0.3)))  # its pivot, not its centre
    # Free fall of three frames; the shot is still held and has moved on by three samples.
    fall = 0.5 * 9.81 * (3 / 24) ** 2
    assert abs(fourth[0][2] - (0.3 - fall)) < 0.02 * fall, fourth
    assert abs(fourth[1][1] - 0.006) < 1e-6 and abs(fourth[1][2] - 0.45) < 1e-6
    last = column(cache / "coarse_000010.grain", "body.position")
    assert last[1][2] < 0.44  # let go
    for turned in column(cache / "coarse_000010.grain", "body.orientation"):
        assert abs(math.hypot(*turned) - 1.0) < 1e-5
    told = program.run("info", cache, check=0).stdout
    assert "Crate, Shot" in told


def test_a_ball_rolls_down_a_slope_of_bodies_alone(folder: Path) -> None:
    """No sand at all: a solid ball on a slope of 20 degrees rolls without slipping, at 5/7 g sin."""
    slope = math.radians(20.0)
    job = jobs.Job(frame_end=13, solver={"particle_radius": 0.01},
                   gravity=[9.81 * math.sin(slope), 0.0, -9.81 * math.cos(slope)])
    job.add_mesh("Ball", "body", jobs.ball((0.0, 0.0, 0.1), 0.1, rings=40), friction=0.6)
    program.run("bake", job.add_ground().write(folder / "job"), "--cache", folder / "cache", check=0)
    speed = column(folder / "cache" / "coarse_000013.grain", "body.velocity")[0][0]
    expected = 5.0 / 7.0 * 9.81 * math.sin(slope) * 0.5
    assert abs(speed - expected) < 0.05 * expected, (speed, expected)  # a ball of 3,000 facets rattles a little


def refused(folder: Path, job: jobs.Job, *words: str) -> None:
    result = program.run("bake", job.write(folder / "job"), check=3)
    for word in words:
        assert word in result.stderr, f"'{word}' is not in: {result.stderr.strip()}"
    shutil.rmtree(folder / "job")


def test_bad_motion_is_refused_by_name(folder: Path) -> None:
    cube = jobs.box((0, 0, 1), (0.1, 0.1, 1.1))
    cases = [({"motion": "moving"}, [], ("Prop", "poses")),
             ({"motion": "moving"}, [0.0] * 7, ("Prop", "rotation")),
             ({"motion": "moving"}, [0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0], ("Prop", "first sample")),
             ({"motion": "moving"}, [math.nan, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], ("Prop", "finite")),
             ({"motion": "sideways"}, [], ("Prop", "deforming"))]
    for settings, track, words in cases:
        job = jobs.small()
        if track:
            settings = {**settings, "poses": job.add_array("f32", 7, track)}
        refused(folder, job.add_mesh("Prop", "collider", cube, **settings), *words)
    job = jobs.small()
    refused(folder, job.add_mesh("Prop", "collider", cube, motion="deforming",
                                 shapes=job.add_array("f32", 3, [0.0] * 21)), "Prop", "multiple")
    refused(folder, jobs.small().add_mesh("Prop", "source", cube, motion="moving"), "Prop", "only colliders")
    refused(folder, jobs.small().add_mesh("Prop", "body", cube, density=-1.0), "Prop", "density")
    flat = ([(0, 0, 1), (1, 0, 1), (0, 1, 1)], [(0, 1, 2)])
    refused(folder, jobs.small().add_mesh("Leaf", "body", flat), "Leaf")
