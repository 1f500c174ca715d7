"""The solver sph from the command line: everything that moves and bends, stopped and resumed, bodies carried by sand."""
from __future__ import annotations

from pathlib import Path

import bulk
import jobs
import program
from test_rigid import column

BULK = {"type": "sph", "particle_radius": 0.006}


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    bulk.same_bytes_for_any_threads_and_stops(folder, BULK)


def test_sand_carries_a_ball(folder: Path) -> None:
    bulk.sand_carries_a_ball(folder, BULK)


def test_moisture_is_written_and_a_wet_block_stands(folder: Path) -> None:
    """Two blocks of 10 cm, one wet: after half a second it is as high as before, the dry one has run out."""
    job = jobs.Job(frame_end=12, solver=BULK)
    job.add_mesh("Dry", "source", jobs.box((-0.25, -0.05, 0.0), (-0.15, 0.05, 0.1)))
    job.add_mesh("Wet", "source", jobs.box((0.15, -0.05, 0.0), (0.25, 0.05, 0.1)), moisture=1.0)
    program.run("bake", job.add_ground().write(folder / "job"), "--cache", folder / "cache", check=0)
    frame = folder / "cache" / "coarse_000012.grain"
    moisture = [row[0] for row in column(frame, "moisture")]
    assert set(moisture) == {0.0, 1.0}, set(moisture)
    heights = {wet: [p[2] for p, m in zip(column(frame, "position"), moisture) if m == wet] for wet in (0.0, 1.0)}
    assert max(heights[1.0]) > 0.08 > 0.07 > max(heights[0.0]), {wet: max(z) for wet, z in heights.items()}


def test_models_are_named(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={**BULK, "model": "water"})
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
    result = program.run("bake", job.add_ground().write(folder / "job"), check=3)
    assert "solver.model" in result.stderr and "water" in result.stderr and "ihmsen2013" in result.stderr, result.stderr
