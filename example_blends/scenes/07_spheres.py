# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's three spheres: balls of different density are tossed into a pool of sand."""
from __future__ import annotations

import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Three spheres", figure="Ihmsen 2013, figure 5",
    what="Three balls, half as dense as the sand, as dense, and three times as dense: the heavier sink deeper, "
         "but the sand carries them all. Timed with *Smoothed Particles*; the picture and the tests use "
         "*Continuum*, which is faster.",
    small=Size(5000, 45), picture=Size(30000, 60, 2.0), picture_frame=60, samples=36,
    timings=(Timing("", Size(96000, 11, 11.3, as_paper=True), "96K particles, 11.3M grains", "3.1 + 5.8"),))

FPS = 50
POOL = (1.5, 0.9, 0.26)  # m
RADIUS = 0.105
BULK = 0.6 * 2600.0
BALLS = (("Light Ball", 0.5, (0.85, 0.80, 0.70), -0.45), ("Ball", 1.0, (0.62, 0.06, 0.04), 0.0), ("Heavy Ball", 3.0, (0.02, 0.02, 0.024), 0.45))


def build(size: Size) -> None:
    studio.sand(size, 'SPH' if size.as_paper else 'MPM', fps=FPS, friction=33.0)
    pool = studio.tray("Pool", (POOL[0], POOL[1], POOL[2] + 0.05), 0.045, studio.wood(scale=0.35), bottom=0.05)
    pool.location.z = 0.05
    studio.collider(pool, friction=25.0)
    bed = studio.box("Bed", (-POOL[0] / 2 + 0.001, -POOL[1] / 2 + 0.001, 0.051), (POOL[0] / 2 - 0.001, POOL[1] / 2 - 0.001, 0.05 + POOL[2]))
    studio.source(bed)
    drop = 0.02 if size.as_paper else 0.40  # what is timed begins when they are about to hit
    for name, density, colour, x in BALLS:
        ball = studio.ball(name, (x, -0.05, 0.05 + POOL[2] + RADIUS + drop), RADIUS, studio.paint(name, colour))
        studio.body(ball, density * BULK, friction=25.0)
    studio.stage(0.6)
    studio.camera((0.95, -2.6, 1.75), (0.0, -0.03, 0.20), lens=58.0, stop=11.0)


def measure(bake: Bake) -> list[Fact]:
    surface = 0.05 + POOL[2]
    depths, speeds = [], []
    for name, *_ in BALLS:
        depths.append((surface - (float(bake.body("position", bake.last, name)[2]) - RADIUS)) / RADIUS)
        speeds.append(float(np.linalg.norm(bake.body("velocity", bake.last, name))))
    text = ", ".join(f"{depth:.2f}" for depth in depths)
    places = bake.positions()
    out = float(np.mean((np.abs(places[:, 0]) > POOL[0] / 2) | (np.abs(places[:, 1]) > POOL[1] / 2)))
    return [Fact(f"depth in radii, the lightest first: {text}", depths[0] < depths[1] < depths[2] < 3.0),
            Fact(f"the fastest ball still goes at {1000 * max(speeds):.0f} mm/s", max(speeds) < 0.12),
            Fact(f"{100 * out:.1f} % were thrown out of the pool", out < 0.03)]
