# SPDX-License-Identifier: GPL-3.0-or-later
"""The solver meso from the command line: everything that moves and bends, stopped and resumed, bodies carried by it."""
from __future__ import annotations

from pathlib import Path

import bulk
import jobs
import program
from frames import column

GRAINS = {"type": "meso", "particle_radius": 0.006, "elasticity": 40000.0, "viscosity": 20.0}
PASTE = {**GRAINS, "interaction": "ip5", "elasticity": 10000.0}


def test_same_bytes_for_any_threads_and_stops(folder: Path) -> None:
    bulk.same_bytes_for_any_threads_and_stops(folder, PASTE)


def test_grains_carry_a_ball(folder: Path) -> None:
    """Without friction it floats as in a liquid twice as dense: its centre near the surface, which settles to 5 cm."""
    bulk.sand_carries_a_ball(folder, GRAINS, lowest=0.042)


def test_paste_stands_longer_than_fluid(folder: Path) -> None:
    """Blocks of 10 cm after half a second: paste is higher than grains, and grains than a fluid."""
    tops = {}
    for name, solver in (("paste", {"interaction": "ip5"}), ("grains", {"elasticity": 40000.0}),
                         ("fluid", {"interaction": "ip4", "elasticity": 800.0, "viscosity": 2.0})):
        job = jobs.Job(frame_end=12, solver={"type": "meso", "particle_radius": 0.006, **solver})
        job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.0), (0.05, 0.05, 0.1)))
        program.run("bake", job.add_ground().write(folder / name), "--cache", folder / f"{name}_cache", check=0)
        heights = sorted(p[2] for p in column(folder / f"{name}_cache" / "coarse_000012.grain", "position"))
        tops[name] = heights[len(heights) * 9 // 10]
    assert tops["paste"] > 1.3 * tops["grains"] > 1.3 * tops["fluid"], tops


def test_wrong_numbers_are_named(folder: Path) -> None:
    for number, (settings, words) in enumerate((
            ({"interaction": "ip7"}, ("solver.interaction", "ip7", "ip5")),
            ({"elasticity": -1.0}, ("solver.elasticity", "-1")),
            ({"elastic_reach": 4.0, "reach_ratio": 6.0}, ("elastic_reach times reach_ratio is 24", "8 diameters")),
            ({"elastic_pieces": [[100.0, 1.0, 1.2, 1.0]]}, ("solver.elastic_pieces[0]", "[strength, rest, from, to]")),
            ({"viscous_pieces": [[1.0, 0.0, 1.0]] * 4}, ("solver.viscous_pieces", "at most 3 pieces")))):
        job = jobs.Job(frame_end=2, solver={**GRAINS, **settings})
        job.add_mesh("Block", "source", jobs.box((-0.05, -0.05, 0.1), (0.05, 0.05, 0.2)))
        result = program.run("bake", job.add_ground().write(folder / str(number)), check=3)
        assert all(word in result.stderr for word in words), result.stderr
