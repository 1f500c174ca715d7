# SPDX-License-Identifier: GPL-3.0-or-later
"""Force fields and gravity that changes: what they do to sand that is free, for every solver."""
from __future__ import annotations

import math
from pathlib import Path

import jobs
import program
from bakes import check_resume
from frames import frame
from scenes import FPS, RADIUS

SOLVERS = ("dem", "mpm", "sph", "meso")
STILL = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
TO_X = [0.0, 0.0, 0.0, math.sqrt(0.5), 0.0, math.sqrt(0.5), 0.0]  # z turned to x


def cloud(solver: str, *fields: dict, gravity: tuple = (0.0, 0.0, 0.0), last: int = 5) -> jobs.Job:
    """A small block in the air; each field with its poses."""
    job = jobs.Job(frame_end=last, gravity=list(gravity), solver={"type": solver, "particle_radius": RADIUS, "friction": 0.5})
    job.add_mesh("Block", "source", jobs.box((0.0, -0.02, 0.08), (0.04, 0.02, 0.12)))
    job.data["fields"] = [{"name": f"Field {k}", **field, "poses": job.add_array("f32", 7, field.get("poses", STILL))}
                          for k, field in enumerate(fields)]
    return job


def mean(rows: list) -> list[float]:
    return [sum(row[k] for row in rows) / len(rows) for k in range(3)]


def moved(folder: Path, job: jobs.Job, last: int = 5) -> tuple[list[float], list[float]]:
    job.write(folder)
    program.run("bake", folder, check=0)
    first = mean(frame(folder / "cache", 1, "position"))
    return [b - a for a, b in zip(first, mean(frame(folder / "cache", last, "position")))], mean(frame(folder / "cache", last, "velocity"))


def test_wind_accelerates_along_its_axis(folder: Path) -> None:
    for solver in SOLVERS:
        way, speed = moved(folder / solver, cloud(solver, {"type": "wind", "strength": 6.0, "poses": TO_X}))
        t = 4 / FPS
        assert abs(speed[0] - 6.0 * t) < 0.01 and abs(way[0] - 3.0 * t * t) < 0.02 * way[0], (solver, way, speed)
        assert abs(way[1]) + abs(way[2]) < 1e-3, (solver, way)


def test_keyed_strength_and_distances(folder: Path) -> None:
    job = cloud("dem", {"type": "wind", "strength": 0.0, "poses": TO_X})
    job.data["fields"][0]["animation"] = {"strength": job.add_array("f32", 1, [0.0, 24.0, 0.0])}
    _, speed = moved(folder / "keyed", job)
    assert abs(speed[0] - 1.0) < 0.03, speed  # a triangle of two frames, looked at eight times a frame
    far = cloud("dem", {"type": "force", "strength": 50.0, "max_distance": 0.05})
    assert moved(folder / "far", far)[0] == [0.0, 0.0, 0.0]
    fading = cloud("dem", {"type": "force", "strength": 10.0, "power": 2.0, "shape": "plane", "min_distance": 0.0})
    _, speed = moved(folder / "fading", fading, 3)
    wanted = 10.0 / (1.0 + 0.1) ** 2 * 2 / FPS  # the block's middle is 0.1 above the plane
    assert abs(speed[2] - wanted) < 0.05 * wanted, (speed, wanted)


def test_vortex_harmonic_drag_and_charge(folder: Path) -> None:
    centre = [0.02, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0]
    _, speed = moved(folder / "vortex", cloud("dem", {"type": "vortex", "strength": 30.0}), 3)
    assert speed[1] > 0.0 and abs(speed[1]) > 5 * abs(speed[0]), speed  # around z: at +x that is towards +y
    # A spring of 100 / s2 from 0.1 m: a quarter of its period is 0.157 s, after 4 frames it has passed the middle.
    way, _ = moved(folder / "spring", cloud("dem", {"type": "harmonic", "strength": 100.0, "poses": [0.02, 0.0, 0.2, 1, 0, 0, 0]}))
    assert abs(way[2] - (0.1 - 0.1 * math.cos(10 * 4 / FPS))) < 0.02, way
    job = cloud("dem", {"type": "drag", "strength": 0.0, "linear_drag": 2.0})
    job.data["objects"][0]["velocity"] = [1.0, 0.0, 0.0]
    _, speed = moved(folder / "drag", job)
    assert abs(speed[0] - math.exp(-2.0 * 4 / FPS)) < 0.01, speed
    places = frame_spread(folder / "charge", cloud("dem", {"type": "charge", "strength": 200.0, "poses": centre}))
    assert places > 1.5, places


def bowl(solver: str, **limits: object) -> jobs.Job:
    """A spring of 1e4 / s2 in the middle of the block: over 8 mm it pulls at 80 m/s2 at most."""
    return cloud(solver, {"type": "harmonic", "strength": 1e4, "poses": [0.02, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0], **limits})


def test_a_strong_field_of_short_reach_is_baked(folder: Path) -> None:
    for solver in SOLVERS:
        job = bowl(solver, max_distance=0.008).write(folder / solver)
        program.run("bake", job, check=0)
        # From the rim to the middle a spring gives 8 mm times the root of 1e4: 0.8 m/s.
        for number in (2, 5):
            fastest = max(math.dist(v, (0.0, 0.0, 0.0)) for v in frame(job / "cache", number, "velocity"))
            assert fastest < 1.0, (solver, number, fastest)
        still = [a == b for a, b in zip(frame(job / "cache", 1, "position"), frame(job / "cache", 2, "position"))]
        assert not all(still), solver
    text = program.run("bake", bowl("mpm").write(folder / "endless"), check=3).stderr
    assert "up to 5e+03 m/s" in text, text
    # A bat of 1 cm that is moved by a metre a frame throws as fast as it is.
    job = bowl("mpm", max_distance=0.01)
    job.data["fields"][0]["poses"] = job.add_array("f32", 7, [c for k in range(5) for c in (k * 100.0, 0, 0.1, 1, 0, 0, 0)])
    assert "up to 5e+03 m/s" in program.run("bake", job.write(folder / "bat"), check=3).stderr


def frame_spread(folder: Path, job: jobs.Job) -> float:
    moved(folder, job)
    def size(number: int) -> float:
        places = frame(folder / "cache", number, "position")
        middle = mean(places)
        return math.sqrt(sum(math.dist(p, middle) ** 2 for p in places) / len(places))
    return size(5) / size(1)


def test_turbulence_scatters_and_repeats(folder: Path) -> None:
    def bake(name: str, seed: int) -> list:
        moved(folder / name, cloud("dem", {"type": "turbulence", "strength": 40.0, "size": 0.02, "seed": seed}))
        return frame(folder / name / "cache", 5, "velocity")
    one, again, other = bake("one", 1), bake("again", 1), bake("other", 2)
    assert one == again and one != other
    assert sum(math.dist(v, mean(one)) for v in one) / len(one) > 0.05


def test_gravity_changes_and_wakes_what_sleeps(folder: Path) -> None:
    """A heap that has come to rest; then down becomes sideways."""
    for solver in SOLVERS:
        job = jobs.Job(frame_end=34, solver={"type": solver, "particle_radius": RADIUS})
        job.add_mesh("Block", "source", jobs.box((-0.04, -0.04, 0.0), (0.04, 0.04, 0.03))).add_ground()
        job.data["animation"] = {"gravity": job.add_array("f32", 3, [0, 0, -9.81] * 30 + [9.81, 0, 0])}
        job.write(folder / solver)
        program.run("bake", folder / solver, check=0)
        before = mean(frame(folder / solver / "cache", 29, "position"))
        after = mean(frame(folder / solver / "cache", 34, "position"))
        t = 3.5 / FPS
        assert after[0] - before[0] > 0.6 * 0.5 * 9.81 * t * t, (solver, before, after)


def test_stopped_in_a_field_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    for solver in SOLVERS:
        job = cloud(solver, {"type": "turbulence", "strength": 30.0, "size": 0.03, "noise": 5.0, "seed": 3},
                    {"type": "vortex", "strength": 20.0, "flow": 0.5}, gravity=(0.0, 0.0, -9.81), last=8)
        job.data["solver"]["particle_radius"] = 0.004
        job.add_mesh("Crate", "body", jobs.box((0.06, -0.02, 0.08), (0.1, 0.02, 0.12)), density=600.0)
        job.data["animation"] = {"gravity": job.add_array("f32", 3, [0, 0, -9.81, 0, 1, -9.81, 0, 3, -9.0])}
        check_resume(folder, job.add_ground().write(folder / solver))


def test_errors_name_the_field(folder: Path) -> None:
    job = cloud("dem", {"type": "wind", "strength": 1.0, "storm": 2})
    text = program.run("bake", job.write(folder / "a"), check=3).stderr
    assert "Field 0" in text and "storm" in text, text
    text = program.run("bake", cloud("dem", {"type": "magic"}).write(folder / "b"), check=3).stderr
    assert "Field 0" in text and "vortex" in text, text


def test_bodies_feel_fields_as_sand_does(folder: Path) -> None:
    """A light and a heavy one in the wind, with and without sand, for every solver; one out of its reach."""
    for solver in SOLVERS:
        job = cloud(solver, {"type": "wind", "strength": 6.0, "poses": TO_X}, gravity=(0.0, 0.0, -1.0))
        job.add_mesh("Cork", "body", jobs.box((0.2, 0.2, 0.2), (0.25, 0.25, 0.25)), density=240.0)
        job.add_mesh("Shot", "body", jobs.ball((0.0, 0.5, 0.3), 0.03), density=7800.0)
        moved(folder / solver, job)
        t = 4 / FPS
        for row in frame(folder / solver / "cache", 5, "body.velocity"):
            assert abs(row[0] - 6.0 * t) < 1e-3 and abs(row[1]) < 1e-6 and abs(row[2] + t) < 1e-3, (solver, row)
        for row in frame(folder / solver / "cache", 5, "body.orientation"):
            assert abs(abs(row[0]) - 1.0) < 1e-9, (solver, row)
    alone = jobs.Job(frame_end=5, gravity=[0.0, 0.0, 0.0], solver={"particle_radius": RADIUS})
    alone.add_mesh("Near", "body", jobs.ball((0.0, 0.0, 0.1), 0.02))
    alone.add_mesh("Far", "body", jobs.ball((0.0, 0.0, 0.5), 0.02))
    alone.data["fields"] = [{"name": "Push", "type": "force", "strength": 3.0, "max_distance": 0.3, "poses": alone.add_array("f32", 7, STILL)}]
    alone.write(folder / "alone")
    program.run("bake", folder / "alone", check=0)
    near, far = frame(folder / "alone/cache", 5, "body.velocity")
    assert abs(near[2] - 3.0 * 4 / FPS) < 0.01 and max(map(abs, far)) == 0.0, (near, far)
