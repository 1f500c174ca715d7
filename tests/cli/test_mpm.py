"""The solver mpm from the command line: everything that moves and bends, stopped and resumed, bodies carried by sand."""
from __future__ import annotations

from pathlib import Path

import bulk
import jobs
import program

BULK = {"type": "mpm", "particle_radius": 0.006}


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    bulk.same_bytes_for_any_threads_and_stops(folder, BULK)


def test_sand_carries_a_ball(folder: Path) -> None:
    bulk.sand_carries_a_ball(folder, BULK)


def test_materials_are_named(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={**BULK, "law": "porridge"})
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
    result = program.run("bake", job.add_ground().write(folder / "job"), check=3)
    assert "solver.law" in result.stderr and "porridge" in result.stderr and "snow_wet" in result.stderr, result.stderr
