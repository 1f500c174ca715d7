# SPDX-License-Identifier: GPL-3.0-or-later
"""Viscosity that reaches farther makes cream of grains: the same cylinder four times."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="From grains to cream", figure="Luciani 2000, figure 12",
    what="The same cylinder of four materials, 1 s after its release, each a simulation of its own. On the left, "
         "viscosity reaches as far as elasticity; to the right, two, three and four times as far. Counts are "
         "those of the first.",
    small=Size(200, 20), picture=Size(2000, 26), picture_frame=26, samples=64)

FPS = 25
RATIO = (1.0, 2.0, 3.0, 4.0)
RADIUS, HEIGHT, APART = 0.08, 0.16, 0.36  # m


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.24, friction=31.0)
    for number, ratio in enumerate(RATIO):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings = simulations.active(scene)
        settings.name = f"Reach {ratio:.0f}"
        studio.sand(size, 'MESO', fps=FPS, spread=0.2, density=2600.0, reach_ratio=ratio, viscosity=20.0, elastic_reach=1.0,
                    elasticity=27000.0)
        block = studio.lathe(f"Cylinder {number + 1}", [(0.0, 0.0), (RADIUS, 0.0), (RADIUS, HEIGHT), (0.0, HEIGHT)], segments=48)
        block.location = (APART * (number - 1.5), 0.0, 0.001)
        studio.source(block)
        studio.fit_particles(size)
        if number > 0:
            studio.wish_surface()
            continue
        settings.display.look = 'SAND'
        if size is PLAN.picture:
            settings.use_upsample, settings.upsample_mode, settings.grain_millions = True, 'TOTAL', 0.2
    scene.grain.active_index = 0
    studio.camera((-0.07, -2.3, 0.75), (-0.07, 0.0, 0.03), lens=54.0, width=1024, height=320)


def finish() -> None:
    """The others are baked here, and shown as their surface."""
    look = studio.material("Cream", (0.85, 0.70, 0.48), 0.25, coat=0.3)
    for number in range(1, len(RATIO)):
        bpy.context.scene.grain.active_index = number
        bpy.ops.grain.bake()
        studio.show_surface(look)
    bpy.context.scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """The first are grains: they have run apart; the farther viscosity reaches, the less."""
    import in_blender
    away, heights = [], []
    for number, found in enumerate(in_blender.bakes_of_all(bake)):
        end = found.positions()
        away.append(float(np.quantile(np.hypot(end[:, 0] - APART * (number - 1.5), end[:, 1]), 0.9)) / RADIUS)
        heights.append(float(np.quantile(end[:, 2], 0.98)) / HEIGHT)
    return [Fact(f"from the left, nine tenths lie within {', '.join(f'{a:.1f}' for a in away)} radii of the middle",
                 away[0] > 1.3 and away == sorted(away, reverse=True)),
            Fact(f"they stand at {', '.join(f'{100 * h:.0f}' for h in heights)} % of their height", heights == sorted(heights))]
