# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's piles: three sands of different friction, heaped up."""
from __future__ import annotations

import math

import numpy as np
import studio
from measure import Bake, Fact, flank_angle
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Three piles", figure="Ihmsen 2013, figure 2",
    what="The same volume of three sands with friction angles of 30, 45 and 60 degrees in one simulation, built "
         "slightly less steep than that and released: the piles stand. Poured sand of 25 to 45 degrees heaps up "
         "at its angle too ([measurements](../libgrain/docs/measurements/mpm.md#heaps)).",
    small=Size(9000, 40), picture=Size(24000, 30, 1.5), picture_frame=30,
    timings=(Timing("", Size(45000, 12, as_paper=True), "45K particles", "1.6"),))

FPS = 50
LITRES = 2.4  # of each pile
ANGLES = (30.0, 45.0, 60.0)
PLACES = ((-0.205, -0.15), (0.02, 0.0), (0.20, 0.15))
LESS = 2.0  # degrees below the friction angle


def build(size: Size) -> None:
    studio.sand(size, 'MPM', fps=FPS, friction=ANGLES[0])
    for angle, (x, y) in zip(ANGLES, PLACES):
        slope = math.tan(math.radians(angle - LESS))
        foot = (3.0 * 0.001 * LITRES / (math.pi * slope)) ** (1.0 / 3.0)
        cone = studio.lathe(f"Sand of {angle:.0f} degrees", [(0.0, 0.0), (foot, 0.0), (0.0, foot * slope)], segments=64, smooth=False)
        cone.location = (x, y, 0.001)
        studio.source(cone, use_material=True, friction_angle=math.radians(angle))
    studio.stage(0.28, friction=60.0)
    studio.camera((0.06, -1.22, 0.43), (-0.035, 0.0, 0.058), lens=56.0, stop=11.0)


def measure(bake: Bake) -> list[Fact]:
    """The slope of each pile, before and after. Sand of this solver creeps by a degree or two before it rests, hence 3."""
    first, speeds = bake.positions(1), bake.speeds()
    owner = np.argmin([np.hypot(first[:, 0] - x, first[:, 1] - y) for x, y in PLACES], axis=0)
    before, after = ([flank_angle(places[owner == k], middle) for k, middle in enumerate(PLACES)] for places in (first, bake.positions()))
    return [Fact("slopes of " + ", ".join(f"{slope:.0f}" for slope in after) + " degrees, heaped up at " + ", ".join(f"{slope:.0f}" for slope in before),
                 all(was - now < 3.0 for was, now in zip(before, after))),
            Fact(f"{100 * float(np.mean(speeds > 0.01)):.1f} % go faster than 10 mm/s", float(np.mean(speeds > 0.01)) < 0.01)]
