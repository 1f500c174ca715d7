# SPDX-License-Identifier: GPL-3.0-or-later
"""Bell's splash: a steel ball hits a heap of sand in front of a glass wall."""
from __future__ import annotations

import math

import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Splash", figure="Bell 2005, figure 5",
    what="A steel ball hits a heap at 10 m/s. A glass wall stops the wave, and sand piles up at its foot. Timed "
         "with grains of four balls, like the paper's; the picture uses spheres and refines them.",
    small=Size(3000, 40), picture=Size(26000, 45, 2.4), picture_frame=14,
    timings=(Timing("", Size(45494, 12, as_paper=True), "45,494 grains of 181,976 spheres", "205"),),
    preview=range(1, 30, 3))

FPS = 50
REACH, HEIGHT = 0.55, 0.30  # m, of the heap
BALL, STEEL = 0.10, 7850.0
SPEED = (5.0, 0.0, -9.0)
HIT, START = (-0.16, -0.04, 0.345), 4  # where the ball is about to touch the heap, and in which frame it is let go
WALL = 0.60  # where the glass stands


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=30.0, softness=0.25, restitution=0.4,
                rolling_friction=0.0 if size.as_paper else 0.25, grain_shape='TETRAHEDRON' if size.as_paper else 'SPHERE')
    heap = studio.lathe("Heap", [(0.0, 0.001), (REACH, 0.001), (0.03, HEIGHT * (1.0 - 0.03 / REACH)), (0.0, HEIGHT * 0.97)])
    studio.source(heap)
    wall = studio.box("Glass Wall", (WALL, -0.62, 0.0), (WALL + 0.02, 0.62, 0.52), studio.glass(), bevel=0.002)
    studio.collider(wall, friction=15.0)
    ball = studio.ball("Steel Ball", HIT, BALL, studio.steel())
    start = 2 if size.as_paper else START
    studio.body(ball, STEEL, friction=20.0, use_animation=True, release_frame=start)
    studio.key(ball, "location", [(frame, [p + v * (frame - start) / FPS for p, v in zip(HIT, SPEED)])
                                  for frame in (1, start + 5)])  # it is let go in flight
    studio.stage(0.5, friction=33.0)
    studio.camera((0.75, -2.35, 0.95), (0.09, 0.0, 0.17), lens=62.0, stop=11.0)


def measure(bake: Bake) -> list[Fact]:
    """What the ball loses the sand gains, less what the floor takes."""
    ball = STEEL * 4.0 / 3.0 * math.pi * BALL ** 3
    grain = 4.0 / 3.0 * math.pi * 2600.0 * float((bake.column("radius", 1).astype(float) ** 3).mean())
    coming = ball * np.array(SPEED)
    after = START + 1  # most of the wave has not reached the floor yet
    of_ball, of_sand = ball * bake.body("velocity", after, "Steel Ball"), grain * bake.velocities(after).sum(axis=0)
    share = float(of_sand[0] / (coming[0] - of_ball[0]))
    speeds = [float(bake.speeds(frame).max()) for frame in range(START, bake.last + 1)]
    places, end = bake.positions(), bake.body("velocity", bake.last, "Steel Ball")
    behind = float(np.mean((places[:, 0] > WALL + 0.01) & (np.abs(places[:, 1]) < 0.6) & (places[:, 2] < 0.5)
                           & (places[:, 0] < WALL + 0.3)))
    lowest = float(places[:, 2].min())
    facts = [Fact(f"20 ms after the hit the sand carries {100 * share:.0f} % of what the ball lost of its momentum along the "
                  "floor, whose friction has the rest", 0.6 < share < 1.02),
             Fact(f"the fastest grain goes at {max(speeds):.1f} m/s, the ball came at {math.hypot(*SPEED):.1f}",
                  max(speeds) < 2.2 * math.hypot(*SPEED)),
             Fact(f"the lowest grain lies {1000 * lowest:.1f} mm above the floor", lowest > -0.002)]
    if bake.last >= 40:  # not where only time was measured
        facts.append(Fact(f"the ball has come to {np.linalg.norm(end):.2f} m/s", np.linalg.norm(end) < 2.0))
        facts.append(Fact(f"{100 * behind:.1f} % lie behind the wall", behind < 0.02))
    return facts
