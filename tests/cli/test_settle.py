# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand that has come to rest before the first frame."""
from __future__ import annotations

import math
import signal
from pathlib import Path

import jobs
import program
from bakes import stop_at
from frames import frame

SOLVERS = ("dem", "mpm", "sph", "meso")
RADIUS = 0.006


def tray(solver: str, last: int, settle: float, radius: float = RADIUS, **source: object) -> jobs.Job:
    """A tray of 12 cm, filled 5 cm high; the sand starts a little above its floor."""
    settings = {"interaction": "ip3", "elasticity": 1e5, "viscosity": 20.0} if solver == "meso" else {"friction": 0.6}
    job = jobs.Job(frame_end=last, solver={"type": solver, "particle_radius": radius, **settings})
    job.add_mesh("Sand", "source", jobs.box((-0.06, -0.06, 0.01), (0.06, 0.06, 0.06)), **source)
    if settle > 0.0:
        job.data["objects"][-1]["settle"] = settle
    job.add_mesh("Floor", "collider", jobs.box((-0.1, -0.1, -0.04), (0.1, 0.1, 0.0)))
    for name, low, high in (("West", (-0.1, -0.1, 0.0), (-0.06, 0.1, 0.1)), ("East", (0.06, -0.1, 0.0), (0.1, 0.1, 0.1)),
                            ("South", (-0.06, -0.1, 0.0), (0.06, -0.06, 0.1)), ("North", (-0.06, 0.06, 0.0), (0.06, 0.1, 0.1))):
        job.add_mesh(name, "collider", jobs.box(low, high))
    return job


def bake(folder: Path, job: jobs.Job) -> Path:
    program.run("bake", job.write(folder), check=0)
    return folder / "cache"


def ways(cache: Path, first: int, last: int) -> list[float]:
    """How far particles have come, in radii; the farthest last."""
    return sorted(math.dist(a, b) / RADIUS for a, b in zip(frame(cache, first, "position"), frame(cache, last, "position")))


def test_a_filled_tray_lies_still_from_the_first_frame(folder: Path) -> None:
    for solver in SOLVERS:
        still, falls = (bake(folder / f"{name}_{solver}", tray(solver, 11, settle)) for name, settle in (("still", 5.0), ("falls", 0.0)))
        rest = [ways(still, number, number + 1) for number in range(1, 11)]
        most = max(row[-1] for row in rest)
        drop = max(ways(falls, number, number + 1)[-1] for number in range(1, 11))
        assert most < 0.02, (solver, most)
        assert drop > 0.3, (solver, drop)


def test_other_sand_waits_until_it_is_at_rest(folder: Path) -> None:
    """A block in the air that does not settle, thrown down on a tray that does."""
    for solver in SOLVERS:
        job = tray(solver, 8, 5.0)
        job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.12), (0.05, 0.05, 0.16)), velocity=[0, 0, -0.5])
        cache = bake(folder / solver, job)
        start, later, sources = frame(cache, 1, "position"), frame(cache, 2, "position"), frame(cache, 1, "velocity")
        falling = [i for i, row in enumerate(start) if row[2] > 0.1]
        assert len(falling) > 20 and all(abs(sources[i][2] + 0.5) < 1e-5 for i in falling), solver
        way = sum(start[i][2] - later[i][2] for i in falling) / len(falling)
        t = 1.0 / 24.0
        assert abs(way - (0.5 * t + 4.905 * t * t)) < 0.05 * way, (solver, way)
        lying = max(math.dist(start[i], later[i]) for i in range(len(start)) if i not in set(falling))
        assert lying < 0.1 * RADIUS, (solver, lying)
        assert max(row[2] for row in frame(cache, 8, "position")) < 0.12, solver


def test_props_stand_at_their_first_pose_meanwhile(folder: Path) -> None:
    """A lid that presses down from frame 1 on, a floor that bends: neither moves while the sand settles."""
    for solver in SOLVERS:
        job = tray(solver, 6, 4.0)
        lid = jobs.box((-0.05, -0.05, 0.06), (0.05, 0.05, 0.07))
        job.add_mesh("Lid", "collider", lid)
        job.data["objects"][-1].update(motion="moving", poses=job.add_array("f32", 7, [0, 0, 0.06, 1, 0, 0, 0, 0, 0, 0.02, 1, 0, 0, 0]),
                                       samples_per_frame=1)
        cache = bake(folder / solver, job)
        first = ways(cache, 1, 2)
        top = max(row[2] for row in frame(cache, 1, "position"))
        # The lid comes down to 2 cm in the first frame: what lies higher is pushed.
        assert top > 0.024 and first[-1] > 0.2, (solver, top, first[-1])


def test_the_same_bytes_however_it_is_baked(folder: Path) -> None:
    for solver in SOLVERS:
        job = tray(solver, 5, 3.0, radius=0.004)
        job.add_mesh("Block", "source", jobs.box((-0.03, -0.03, 0.12), (0.03, 0.03, 0.15)))
        path = job.write(folder / solver)
        whole, cache = folder / f"whole_{solver}", folder / f"stopped_{solver}"
        events = program.run("bake", path, "--cache", whole, check=0).events
        stages = [event["stage"] for event in events if event["event"] == "preparing"]
        assert "settling" in stages, stages
        program.run("bake", path, "--cache", folder / f"one_{solver}", "--threads", 1, check=0)
        assert program.digest(folder / f"one_{solver}") == program.digest(whole), solver
        for event in ("preparing", "progress"):  # while it settles, and in a frame
            result = stop_at(folder, path, cache, event, signal.SIGTERM)
            assert result.code == 5, (solver, event, result)
        program.run("bake", path, "--cache", cache, check=0)
        assert program.digest(cache) == program.digest(whole), solver


def test_sand_that_never_rests_is_told(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={"type": "dem", "particle_radius": 0.01})
    job.add_mesh("Sand", "source", jobs.box((0, 0, 0), (0.1, 0.1, 0.1)), settle=0.2).add_ground(-50.0)
    warnings = [event["message"] for event in program.run("bake", job.write(folder / "falls"), check=0).events
                if event["event"] == "warning"]
    assert len(warnings) == 1 and "0.2 s of settling 100 %" in warnings[0], warnings
    job.data["objects"][0]["velocity"] = [0.0, 0.0, -1.0]
    text = program.run("bake", job.write(folder / "thrown"), check=3).stderr
    assert "'Sand'" in text and "starts at rest" in text, text
