# SPDX-License-Identifier: GPL-3.0-or-later
"""Oozing paste: a rope comes down in folds that keep their shape, and sink."""
from __future__ import annotations

import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Oozing paste", figure="Luciani 2000, figure 11",
    what="A rope of paste is lowered onto a table with the solver *Viscous*: it forms coils and folds, which pile "
         "up, keep their shape for seconds and sink together. Shown as the mesh of its surface.",
    small=Size(500, 30), picture=Size(5000, 116), picture_frame=104,
    samples=96)

FPS = 40
THICK, LONG, DROP = 0.012, 1.15, 0.004  # m: radius of the rope, its length, above the table
SPEED = 0.45  # m/s, at which it is let down


def build(size: Size) -> None:
    # Thin ropes of few particles would be too short: what is made shorter with them keeps its shape.
    long = LONG * min(1.0, size.particles / 4000.0) ** 0.5
    # What surrounds it lets it fall no faster than SPEED.
    studio.sand(size, 'MESO', fps=FPS, density=1400.0, reach_ratio=2.0, viscosity=60.0, elasticity=6000.0,
                ambient_viscosity=9.81 / SPEED)
    rope = studio.lathe("Paste", [(0.0, 0.0), (THICK, 0.0), (THICK, long), (0.0, long)], segments=32)
    rope.location.z = DROP
    rope.rotation_euler.x = 0.02  # no rope stands quite upright
    studio.source(rope, velocity=(0.0, 0.0, -SPEED))
    studio.stage(0.12, friction=40.0)
    studio.wish_surface()
    studio.camera((0.24, -0.56, 0.24), (0.0, 0.0, 0.042), lens=82.0, stop=11.0)


def finish() -> None:
    studio.show_surface(studio.material("Toothpaste", (0.42, 0.72, 0.66), 0.22, coat=0.6))


def measure(bake: Bake) -> list[Fact]:
    """The paste comes down and still stands as a heap: a fluid of that much would lie flat."""
    start, end = bake.positions(1), bake.positions()
    height, wide = float(np.quantile(end[:, 2], 0.98)), float(np.quantile(np.hypot(end[:, 0], end[:, 1]), 0.9))
    volume = np.pi * THICK ** 2 * float(np.ptp(start[:, 2]))
    flat = volume / (np.pi * wide ** 2)
    return [Fact(f"a heap {1000 * height:.0f} mm high and {2000 * wide:.0f} mm wide", height > 1.2 * flat and wide > THICK)]
