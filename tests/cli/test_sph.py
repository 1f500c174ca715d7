# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver sph from the command line: everything that moves and bends, stopped and resumed, bodies carried by sand."""
from __future__ import annotations

from pathlib import Path

import bulk
import jobs
import program
from frames import column

BULK = {"type": "sph", "particle_radius": 0.006}


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    bulk.same_bytes_for_any_threads_and_stops(folder, BULK)


def test_sand_carries_a_ball(folder: Path) -> None:
    bulk.sand_carries_a_ball(folder, BULK)


def test_heavy_sand_lies_on_light_sand(folder: Path) -> None:
    bulk.heavy_sand_lies_on_light_sand(folder, BULK)


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


def test_moisture_can_be_painted(folder: Path) -> None:
    """Wet to the right, dry to the left, a straight way in between: particles take it from the nearest point."""
    mesh = jobs.box((-0.06, -0.05, 0.0), (0.06, 0.05, 0.08))
    for kind in ("sph", "mpm"):
        job = jobs.Job(frame_end=2, solver={**BULK, "type": kind})
        paint = job.add_array("f32", 1, [float(p[0] > 0.0) for p in mesh[0]])
        job.add_mesh("Block", "source", mesh, moisture=0.8, moisture_paint=paint)
        program.run("bake", job.add_ground().write(folder / kind), check=0)
        for frame in ("coarse_000001.grain", "coarse_000002.grain"):
            moisture = [row[0] for row in column(folder / kind / "cache" / frame, "moisture")]
            rest = column(folder / kind / "cache/birth_000001.grain", "rest")
            for place, m in zip(rest, moisture):
                at_an_end = 0.06 - abs(place[0]) < min(0.05 - abs(place[1]), place[2], 0.08 - place[2])
                expected = 0.8 * ((place[0] > 0.0) if at_an_end else (place[0] + 0.06) / 0.12)
                assert abs(m - expected) < 1e-4, (kind, frame, place, m, expected)
    job = jobs.Job(frame_end=2, solver=BULK)
    job.add_mesh("Block", "source", mesh, moisture=1.0, moisture_paint=job.add_array("f32", 1, [1.5] * 8))
    assert "moisture_paint: number 0 is 1.5" in program.run("bake", job.write(folder / "wrong"), check=3).stderr


def test_models_are_named(folder: Path) -> None:
    job = jobs.Job(frame_end=2, solver={**BULK, "model": "water"})
    job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
    result = program.run("bake", job.add_ground().write(folder / "job"), check=3)
    assert "solver.model" in result.stderr and "water" in result.stderr and "ihmsen2013" in result.stderr, result.stderr
