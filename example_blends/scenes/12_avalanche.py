# SPDX-License-Identifier: GPL-3.0-or-later
"""Bell's avalanche: sand comes down a slope and takes buildings of bricks along."""
from __future__ import annotations

import math

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Avalanche", figure="Bell 2005, figure 7",
    what="Sand comes down a slope onto walls and gates of loose blocks: they stand for a moment and deflect it, "
         "then are carried along.",
    small=Size(5000, 55), picture=Size(30000, 48, 1.0), picture_frame=46,
    timings=(Timing("", Size(73705, 12, as_paper=True), "73,705 grains of 294,820 spheres", "1,584"),))

FPS = 50
SLOPE = math.radians(34.0)
FOOT, TOP, HALF = -0.35, -2.3, 0.62  # x where the slope ends and begins; half its width
DEPTH = 0.20  # of the sand on it
BRICK = (0.10, 0.20, 0.085)


def on_slope(x: float, up: float) -> tuple[float, float]:
    """x and height of a place above the slope."""
    return x - up * math.sin(SLOPE) * -1.0, (FOOT - x) * math.tan(SLOPE) + up * math.cos(SLOPE)


def build(size: Size) -> None:
    if size.as_paper:
        studio.sand(size, 'DEM', fps=FPS, friction=28.0, softness=0.25, rolling_friction=0.0, grain_shape='TETRAHEDRON')
    else:
        studio.sand(size, 'MPM', fps=FPS, friction=29.0)
    rock = studio.material("Rock", (0.10, 0.095, 0.09), 0.8)
    ramp = studio.prism("Slope", [(FOOT, -0.2), (FOOT, 0.0), (TOP - 0.6, (FOOT - TOP + 0.6) * math.tan(SLOPE)), (TOP - 0.6, -0.2)], 2 * HALF + 0.3, rock)
    studio.collider(ramp, friction=20.0)
    for side in (-1.0, 1.0):
        bank = studio.prism("Bank", [(FOOT - 0.05, 0.0), (FOOT - 0.05, 0.12), (TOP - 0.6, 0.30 + (FOOT - TOP + 0.6) * math.tan(SLOPE)), (TOP - 0.6, 0.0)],
                            0.10, rock)
        bank.location.y = side * (HALF + 0.05)
        studio.collider(bank, friction=20.0)
    low, high = FOOT - 0.55, TOP
    outline = [on_slope(low, 0.006), on_slope(low - 0.12, DEPTH), on_slope(high, DEPTH), on_slope(high, 0.006)]
    studio.source(studio.prism("Avalanche", outline, 2 * HALF - 0.01), velocity=(2.2 * math.cos(SLOPE), 0.0, -2.2 * math.sin(SLOPE)))
    buildings()
    studio.stage(1.0, friction=30.0, colour=(0.19, 0.20, 0.20))
    studio.camera((2.9, -3.1, 1.75), (-0.15, 0.0, 0.28), lens=50.0)


def buildings() -> None:
    """Walls of bricks, and gates of pillars and beams behind them."""
    brick, stone, wood = studio.paint("Brick", (0.36, 0.09, 0.05)), studio.material("Stone", (0.46, 0.43, 0.38), 0.7), studio.pine(0.5)
    deep, long, high = BRICK
    for wall in (-0.34, 0.34):
        for row in range(4):
            for k in range(2):
                y = wall + (k - 0.5) * (long + 0.003) + (0.025 if row % 2 else -0.025)
                block(f"Brick {wall:+.2f} {row} {k}", (0.12, y, row * (high + 0.0003)), (deep, long, high), brick, 1100.0)
    for k, y in enumerate((-0.42, 0.0, 0.42)):
        for side in (-0.11, 0.11):
            block(f"Pillar {k} {side:+.2f}", (0.62, y + side, 0.0), (0.08, 0.08, 0.34), stone, 1400.0)
        block(f"Beam {k}", (0.62, y, 0.3404), (0.10, 0.36, 0.07), wood, 700.0)
        block(f"Roof {k}", (0.62, y, 0.4108), (0.16, 0.18, 0.06), stone, 900.0)


def block(name: str, foot: tuple[float, float, float], sides: tuple[float, float, float], material: bpy.types.Material,
          density: float) -> None:
    item = studio.box(name, tuple(c - 0.5 * s if k < 2 else c + 0.0006 for k, (c, s) in enumerate(zip(foot, sides))),
                      tuple(c + 0.5 * s if k < 2 else c + 0.0006 + s for k, (c, s) in enumerate(zip(foot, sides))), material, bevel=0.006)
    studio.body(item, density, friction=32.0)


def measure(bake: Bake) -> list[Fact]:
    """What the sand has moved, and what did not move before it came."""
    start, end = bake.body_positions(1), bake.body_positions()
    moved = np.linalg.norm(end - start, axis=1)
    early = np.linalg.norm(bake.body_positions(6) - start, axis=1)
    bricks = np.array([name.startswith("Brick") for name in bake.bodies])
    places = bake.positions()
    below = int(np.sum(places[:, 2] < -0.01))
    return [Fact(f"in the first 0.1 s no block has moved by more than {1000 * float(early.max()):.1f} mm", early.max() < 0.1 * BRICK[2]),
            Fact(f"then {100 * float(np.mean(moved[bricks] > 0.05)):.0f} % of the bricks are carried off, the farthest by {float(moved.max()):.2f} m",
                 np.mean(moved[bricks] > 0.05) > 0.5),
            Fact(f"{below} particles are below the floor", below == 0)]
