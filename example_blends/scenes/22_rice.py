# SPDX-License-Identifier: GPL-3.0-or-later
"""Grains as real shapes: rice poured onto a slate."""
from __future__ import annotations

import numpy as np
import studio
from measure import Bake, Fact, flank_angle
from plan import Plan, Size

PLAN = Plan(
    title="Rice", figure="",
    what="A column of long grains, four balls in a row each, is released onto a slate. The grains come to lie "
         "flat, bridge gaps and lean on each other, as only individual grains with a shape can.",
    small=Size(250, 30), picture=Size(4500, 90), picture_frame=90, samples=40)

FPS = 60
POUR, TALL, LIFT = 0.026, 0.105, 0.012  # m: radius and height of the column, above the slate
SLATE = 0.006


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=24.0, spread=0.1, density=1450.0, restitution=0.3, softness=0.25,
                rolling_friction=0.0, grain_shape='ROD')
    column = studio.lathe("Rice", [(0.0, 0.0), (POUR, 0.0), (POUR, TALL), (0.0, TALL)])
    column.location.z = SLATE + LIFT
    studio.source(column, velocity=(0.0, 0.0, -0.3))
    slate = studio.box("Slate", (-0.105, -0.075, 0.0), (0.105, 0.075, SLATE), studio.material("Slate", (0.035, 0.037, 0.042), 0.7), bevel=0.0012)
    studio.collider(slate, friction=30.0)
    studio.simulation().display.look = 'RICE'
    studio.simulation().display.shape = 'RICE'
    studio.stage(0.1, friction=25.0, colour=(0.42, 0.27, 0.15))
    studio.camera((0.075, -0.33, 0.185), (0.0, -0.002, 0.012), lens=84.0, stop=22.0)


def axes(bake: Bake, frame: int) -> np.ndarray:
    """Where rods point: their own x axis, turned."""
    w, x, y, z = bake.column("orientation", frame).T
    return np.stack((1.0 - 2.0 * (y * y + z * z), 2.0 * (x * y + w * z), 2.0 * (x * z - w * y)), axis=1)


def measure(bake: Bake) -> list[Fact]:
    places, speeds = bake.positions(), bake.speeds()
    tilt = [float(np.degrees(np.median(np.arcsin(np.clip(np.abs(axes(bake, frame)[:, 2]), 0.0, 1.0))))) for frame in (1, bake.last)]
    below = int(np.sum(places[:, 2] < -0.001))
    facts = [Fact(f"half of the grains lean by more than {tilt[0]:.0f} degrees at first, {tilt[1]:.0f} at last", tilt[1] < 0.75 * tilt[0]),
             Fact(f"{below} are below the table", below == 0),
             Fact(f"the median grain moves at {1000 * float(np.median(speeds)):.1f} mm/s", float(np.median(speeds)) < 0.03)]
    if len(places) > 1000:
        facts.append(Fact(f"the heap's slope is {flank_angle(places):.0f} degrees", 10.0 < flank_angle(places) < 40.0))
    return facts
