# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings that change over the shot: friction, cohesion and viscosity, for every solver that has them."""
from __future__ import annotations

import math
from pathlib import Path

import jobs
import program
from bakes import check_resume
from frames import frame
from scenes import castle, keyed

SOLVERS = ("dem", "mpm", "sph")
# Weights of a grain that hold a column of 8 cm together: grains pull only where they touch, a bulk everywhere.
HOLDS = {"dem": 60.0, "mpm": 60.0, "sph": 60.0}


def height(cache: Path, number: int) -> float:
    """What nineteen of twenty particles are below, m."""
    heights = sorted(row[2] for row in frame(cache, number, "position"))
    return heights[len(heights) * 19 // 20]


def bake(folder: Path, job: jobs.Job) -> Path:
    program.run("bake", job.write(folder), check=0)
    return folder / "cache"


def test_a_castle_that_dries_collapses(folder: Path) -> None:
    """Damp it stands, and sleeps; from frame 16 on it dries within 4 frames and is a heap at frame 32."""
    for solver in SOLVERS:
        damp = HOLDS[solver]
        wet = bake(folder / f"wet_{solver}", castle(solver, 32, cohesion=damp))
        dries = bake(folder / f"dries_{solver}",
                     keyed(castle(solver, 32, cohesion=damp), "cohesion", [damp] * 15 + [0.75 * damp, 0.5 * damp, 0.25 * damp, 0.0]))
        heights = height(wet, 32), height(dries, 15), height(dries, 32)
        assert heights[0] > 0.05 and heights[1] > 0.05, (solver, heights)
        # Dry columns twice as high as wide end up a third as high.
        assert heights[2] < 0.6 * heights[1], (solver, heights)


def test_less_friction_lets_a_slope_flow(folder: Path) -> None:
    """A layer on ground that leans by 15 degrees: friction of 35 holds it, of 3 does not."""
    lean = math.radians(15.0)
    for solver in SOLVERS:
        def way(name: str, values: list[float], solver: str = solver) -> tuple[float, float]:
            job = jobs.Job(frame_end=26, gravity=[9.81 * math.sin(lean), 0, -9.81 * math.cos(lean)],
                           solver={"type": solver, "particle_radius": 0.003, "friction": 0.7})
            job.add_mesh("Layer", "source", jobs.box((-0.05, -0.02, 0.0), (0.05, 0.02, 0.03))).add_ground(friction=1.0)
            cache = bake(folder / f"{name}_{solver}", keyed(job, "friction", values))
            places = [[row[0] for row in frame(cache, number, "position")] for number in (12, 18, 26)]
            before, between, after = (sum(xs) / len(xs) for xs in places)
            return between - before, after - between

        held, flows = way("held", [0.7]), way("flows", [0.7] * 18 + [0.05])
        # The block's edges slump first, by less than a particle's radius.
        assert flows[0] == held[0] < 0.003 and held[1] < 0.003, (solver, held)
        assert flows[1] > 0.005 and flows[1] > 4.0 * held[1], (solver, held, flows)


def test_viscosity_that_is_keyed_stops_a_stir(folder: Path) -> None:
    """Two parcels of paste are thrown apart sideways; thick they come to rest, thin they go on."""
    def speed(name: str, values: list[float]) -> float:
        job = jobs.Job(frame_end=12, gravity=[0, 0, 0], solver={"type": "meso", "particle_radius": 0.01, "interaction": "ip5"})
        job.add_mesh("Left", "source", jobs.box((-0.05, -0.05, 0.0), (0.0, 0.05, 0.1)), velocity=[0, 0.1, 0])
        job.add_mesh("Right", "source", jobs.box((0.0, -0.05, 0.0), (0.05, 0.05, 0.1)), velocity=[0, -0.1, 0])
        cache = bake(folder / name, keyed(job, "viscosity", values))
        rows = frame(cache, 12, "velocity")
        return sum(abs(row[1]) for row in rows) / len(rows)

    thin, thick, late = speed("thin", [0.0]), speed("thick", [300.0]), speed("late", [0.0, 0.0, 0.0, 0.0, 300.0])
    assert thin > 0.08 and thick < 0.5 * thin and late < 0.5 * thin, (thin, thick, late)


def test_a_source_keys_its_own_material(folder: Path) -> None:
    """Two columns of one shot; one of them dries."""
    for solver in SOLVERS:
        damp = HOLDS[solver]
        job = castle(solver, 30, cohesion=damp)
        job.add_mesh("Other", "source", jobs.box((0.28, -0.02, 0.0), (0.32, 0.02, 0.08)))
        job.data["objects"][-1]["material"] = {"cohesion": damp, "animation": {
            "cohesion": job.add_array("f32", 1, [damp] * 12 + [0.0])}}
        rows = frame(bake(folder / solver, job), 30, "position")
        stands = sorted(row[2] for row in rows if row[0] < 0.15)
        lies = sorted(row[2] for row in rows if row[0] > 0.15)
        assert stands[-1] > 1.4 * lies[len(lies) * 19 // 20], (solver, stands[-1], lies[-1])


def test_stopped_while_settings_change_and_resumed_gives_the_same_bytes(folder: Path) -> None:
    for solver in (*SOLVERS, "meso"):
        job = castle(solver, 10)
        job.data["solver"]["particle_radius"] = 0.0025
        if solver == "meso":
            keyed(job, "viscosity", [5.0, 40.0, 0.0, 80.0])
        else:
            keyed(keyed(job, "cohesion", [20.0, 10.0, 0.0, 5.0, 0.0]), "friction", [0.9, 0.2, 0.6, 0.1])
        check_resume(folder, job.write(folder / solver))


def test_a_key_without_meaning_is_refused(folder: Path) -> None:
    def message(name: str, job: jobs.Job) -> str:
        return program.run("bake", job.write(folder / name), check=3).stderr

    text = message("a", keyed(castle("dem", 5), "viscosity", [1.0, 2.0]))
    assert "solver.animation.viscosity" in text and "'dem' has no viscosity" in text and "meso" in text, text
    text = message("b", keyed(castle("meso", 5), "friction", [0.1, 0.2]))
    assert "'meso' has no friction" in text, text
    text = message("c", keyed(castle("mpm", 5, law="snow_wet"), "cohesion", [0.1, 0.2]))
    assert "'snow_wet' has no cohesion" in text and "these have: sand, mud" in text, text
    text = message("d", keyed(castle("dem", 5), "friction", [0.1, 7.0]))
    assert "friction: number 1 is 7" in text, text
    text = message("e", keyed(castle("dem", 5), "density", [1000.0]))
    assert "density" in text and "friction" in text, text
    text = message("f", keyed(castle("meso", 5, reach_ratio=0.0), "viscosity", [1.0, math.pi]))
    assert "reach_ratio is 0" in text, text


def test_the_cache_tells_that_keys_changed(folder: Path) -> None:
    job = keyed(castle("dem", 3), "cohesion", [1.0, 2.0])
    bake(folder / "job", job)
    other = keyed(castle("dem", 3), "cohesion", [1.0, 3.0])
    text = program.run("bake", other.write(folder / "job"), check=8).stderr
    assert "solver.animation.cohesion" in text, text
