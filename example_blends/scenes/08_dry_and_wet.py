# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's two blocks: the same sand dry and wet."""
from __future__ import annotations

import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Dry and wet block", figure="Ihmsen 2013, figure 3",
    what="Two blocks of the same sand are released, the left one dry, the right one wet.",
    small=Size(2400, 30), picture=Size(21000, 60, 1.6), picture_frame=60)

FPS = 50
SIDE, DROP = 0.15, 0.002  # m
PLACES = (-0.20, 0.16)


def build(size: Size) -> None:
    studio.sand(size, 'SPH', fps=FPS, friction=33.0)
    for name, x, moisture in (("Dry Block", PLACES[0], 0.0), ("Wet Block", PLACES[1], 1.0)):
        block = studio.box(name, (x - SIDE / 2, -SIDE / 2, DROP), (x + SIDE / 2, SIDE / 2, DROP + SIDE))
        studio.source(block, moisture=moisture)
    studio.stage(0.2, friction=33.0)
    studio.camera((0.02, -1.05, 0.46), (-0.075, 0.0, 0.05), lens=53.0, stop=11.0)


def measure(bake: Bake) -> list[Fact]:
    """How far the front has gone beyond the block's side, over the side."""
    start, end = bake.positions(1), bake.positions()
    runs, heights = [], []
    for x in PLACES:
        own = np.abs(start[:, 0] - x) < SIDE * 0.55
        reach = np.quantile(np.maximum(np.abs(end[own, 0] - x), np.abs(end[own, 1])), 0.98)
        runs.append((reach - np.quantile(np.abs(start[own, 0] - x), 0.98)) / SIDE)
        heights.append(float(np.quantile(end[own, 2], 0.98) / np.quantile(start[own, 2], 0.98)))
    return [Fact(f"run-out over the side: dry {runs[0]:.2f}, wet {runs[1]:.2f}", runs[0] > 0.25 and runs[1] < 0.1 * runs[0]),
            Fact(f"height over that at first: dry {heights[0]:.2f}, wet {heights[1]:.2f}", heights[0] < 0.75 and heights[1] > 0.85)]
