# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver mpm from the command line: everything that moves and bends, stopped and resumed, bodies carried by sand."""
from __future__ import annotations

from pathlib import Path

import bulk
import jobs
import program
from frames import column

BULK = {"type": "mpm", "particle_radius": 0.006}


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    bulk.same_bytes_for_any_threads_and_stops(folder, BULK)


def test_sand_carries_a_ball(folder: Path) -> None:
    bulk.sand_carries_a_ball(folder, BULK)


def test_heavy_sand_lies_on_light_sand(folder: Path) -> None:
    bulk.heavy_sand_lies_on_light_sand(folder, BULK)


def test_a_source_has_a_law_of_its_own(folder: Path) -> None:
    """Blocks of sand and of snow side by side: the sand runs out, the snow stands."""
    job = jobs.Job(frame_end=16, solver=BULK)
    job.add_mesh("Sand", "source", jobs.box((-0.25, -0.05, 0.0), (-0.15, 0.05, 0.1)))
    job.add_mesh("Snow", "source", jobs.box((0.15, -0.05, 0.0), (0.25, 0.05, 0.1)),
                 material={"law": "snow_wet", "density": 700.0})
    program.run("bake", job.add_ground().write(folder / "job"), "--cache", folder / "cache", check=0)
    places = column(folder / "cache/coarse_000016.grain", "position")
    sand, snow = (max(p[2] for p in places if (p[0] > 0.0) == is_snow) for is_snow in (False, True))
    assert snow > 0.075 > 0.05 > sand, (sand, snow)


def test_a_law_of_a_source_that_there_is_not_is_named(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver=BULK)
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)), material={"law": "porridge"})
    text = program.run("bake", job.add_ground().write(folder / "job"), check=3).stderr
    assert "material.law" in text and "porridge" in text and "snow_wet" in text, text
    job.data["objects"][0]["material"] = {"law": "snow_wet", "animation": {"cohesion": job.add_array("f32", 1, [0.0, 1.0])}}
    text = program.run("bake", job.write(folder / "keyed"), check=3).stderr
    assert "'snow_wet' has no cohesion" in text, text


def test_materials_are_named(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={**BULK, "law": "porridge"})
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
    result = program.run("bake", job.add_ground().write(folder / "job"), check=3)
    assert "solver.law" in result.stderr and "porridge" in result.stderr and "snow_wet" in result.stderr, result.stderr


def test_what_is_too_fast_is_refused_with_figures(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={"type": "mpm", "particle_radius": 0.002, "size_spread": 0.0})
    job.add_mesh("Block", "source", jobs.box((-0.02, -0.02, 0.1), (0.02, 0.02, 0.14)), velocity=[0.0, 0.0, -1000.0])
    result = program.run("bake", job.add_ground().write(folder / "job"), check=3)
    assert "1e+03 m/s" in result.stderr and "0.002 m radius" in result.stderr and "1.9 times as large" in result.stderr, result.stderr


def test_sand_without_weight_stays(folder: Path) -> None:
    job = jobs.Job(frame_end=4, solver=BULK, gravity=[0.0, 0.0, 0.0])
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
    program.run("bake", job.write(folder / "job"), "--cache", folder / "cache", check=0)
    first, last = (column(folder / "cache" / f"coarse_{n:06d}.grain", "position") for n in (1, 4))
    moved = max(abs(a - b) for p, q in zip(first, last) for a, b in zip(p, q))
    assert moved < 1e-3, f"something has moved by {moved} m"
