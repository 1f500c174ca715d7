# SPDX-License-Identifier: GPL-3.0-or-later
"""How colliders hold on to sand: friction and stickiness, keyed and painted, on colliders that stand, move and bend."""
from __future__ import annotations

from pathlib import Path

import jobs
import program
from bakes import check_resume
from frames import frame
from slab_scenes import RADIUS, half_painted, plate, slope, solver_of, with_motion

SOLVERS = ("dem", "mpm", "sph", "meso")


def bake(folder: Path, job: jobs.Job) -> Path:
    program.run("bake", job.write(folder), check=0)
    return folder / "cache"


def ways(cache: Path, first: int, last: int) -> tuple[float, float]:
    """How far the middle particle has come along the slope, of y below 0 and above, in radii."""
    start, end = frame(cache, first, "position"), frame(cache, last, "position")
    found = []
    for side in (-1.0, 1.0):
        way = sorted(b[0] - a[0] for a, b in zip(start, end) if a[1] * side > 0.0)
        found.append(way[len(way) // 2] / RADIUS)
    return found[0], found[1]


def test_a_slope_painted_half_rough_keeps_half_of_the_sand(folder: Path) -> None:
    for solver in SOLVERS:
        for motion in ("static", "moving", "deforming"):
            cache = bake(folder / f"{solver}_{motion}", half_painted(slope(solver, motion, 11), "friction_paint"))
            smooth, rough = ways(cache, 1, 11)
            # Free of friction it slides 5.6 m/s2 / 2 * (10 / 24 s)2 = 0.49 m, 81 radii.
            assert smooth > 70.0 and rough < 4.0, (solver, motion, smooth, rough)


def test_friction_that_is_keyed_lets_go(folder: Path) -> None:
    for solver in SOLVERS:
        job = slope(solver, "static", 16)
        job.data["objects"][-1]["animation"] = {"friction": job.add_array("f32", 1, [1.5] * 7 + [0.0])}
        cache = bake(folder / solver, job)
        before, after = max(ways(cache, 1, 7)), min(ways(cache, 8, 16))
        assert before < 4.0 and after > 30.0, (solver, before, after)


def ceiling(solver: str, motion: str, last: int, **collider: object) -> jobs.Job:
    """Sand below a slab: for 7 frames it is pressed on, then down is down."""
    job = jobs.Job(frame_end=last, solver=solver_of(solver))
    job.data["animation"] = {"gravity": job.add_array("f32", 3, [0, 0, 9.81] * 7 + [0, 0, -9.81])}
    job.add_mesh("Sand", "source", jobs.box((-0.06, -0.06, 0.44), (0.06, 0.06, 0.5)))
    mesh = plate(0.5, 0.6)
    return with_motion(job.add_mesh("Ceiling", "collider", mesh, friction=0.8, **collider), motion, mesh)


def hanging(cache: Path, number: int) -> tuple[int, int]:
    """Particles of the layer that touches the ceiling, of y below 0 and above."""
    high = [row for row in frame(cache, number, "position") if row[2] > 0.5 - 2.0 * RADIUS]
    return sum(1 for row in high if row[1] < -2 * RADIUS), sum(1 for row in high if row[1] > 2 * RADIUS)


def test_a_sticky_ceiling_keeps_a_layer_and_a_dry_one_none(folder: Path) -> None:
    for solver in SOLVERS:
        for name, stickiness in (("dry", 0.0), ("damp", 0.5)):  # half its weight holds nobody
            job = ceiling(solver, "static", 20, stickiness=stickiness)
            assert hanging(bake(folder / f"{name}_{solver}", job), 20) == (0, 0), (solver, name)
        for motion in ("static", "moving", "deforming"):
            job = half_painted(ceiling(solver, motion, 20, stickiness=4.0), "stickiness_paint")
            cache = bake(folder / f"{solver}_{motion}", job)
            pressed, (below, above) = hanging(cache, 7), hanging(cache, 20)
            assert min(pressed) > 20 and below == 0 and above > 0.8 * pressed[1], (solver, motion, pressed, below, above)


def test_stickiness_that_is_keyed_lets_fall(folder: Path) -> None:
    for solver in SOLVERS:
        job = ceiling(solver, "static", 26)
        job.data["objects"][-1]["animation"] = {"stickiness": job.add_array("f32", 1, [5.0] * 15 + [0.0])}
        cache = bake(folder / solver, job)
        pressed, held, fallen = (sum(hanging(cache, number)) for number in (7, 15, 26))
        assert held > 0.8 * pressed and fallen == 0, (solver, pressed, held, fallen)


def test_stopped_on_paint_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    for solver, motion in zip(SOLVERS, ("deforming", "static", "moving", "deforming")):
        job = half_painted(half_painted(slope(solver, motion, 4, stickiness=1.0), "friction_paint"), "stickiness_paint", 0.5)
        job.data["solver"]["particle_radius"] = 0.004
        job.data["objects"][-1]["animation"] = {"friction": job.add_array("f32", 1, [1.5, 0.5, 1.0]),
                                                "stickiness": job.add_array("f32", 1, [0.0, 2.0, 0.0])}
        check_resume(folder, job.write(folder / solver))


def test_errors_name_the_collider(folder: Path) -> None:
    def message(name: str, job: jobs.Job) -> str:
        return program.run("bake", job.write(folder / name), check=3).stderr

    job = slope("dem", "static", 3).add_ground(friction_paint=0)
    assert "'Ground' is an endless plane" in message("a", job)
    job = slope("dem", "static", 3)
    job.data["objects"][-1]["stickiness_paint"] = job.add_array("f32", 1, [1.0, 0.5])
    text = message("b", job)
    assert "'Slab'.stickiness_paint has 2 numbers where the mesh has 16 vertices" in text, text
    job = slope("dem", "static", 3, stickiness=-1.0)
    assert "'Slab'.stickiness is -1" in message("c", job)
    job = slope("dem", "static", 3)
    job.data["objects"][-1]["animation"] = {"thickness": job.add_array("f32", 1, [1.0])}
    assert "thickness" in message("d", job)
