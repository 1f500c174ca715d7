# SPDX-License-Identifier: GPL-3.0-or-later
"""Elasticity rising makes grains of a fluid: the same dam breaks in four trays."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="From fluid to grains", figure="Luciani 2000, figure 8",
    what="The same dam in four glass trays, 4 s after it broke, each a simulation of its own. The elasticity "
         "rises from the lowest tray (1,300 Pa, a soft fluid, nearly level and compressed) to the highest "
         "(270,000 Pa, hard grains that lie as they fell). Counts are those of the lowest.",
    small=Size(300, 30), picture=Size(1500, 101), picture_frame=101, samples=64)

FPS = 25
ELASTICITY = (1300.0, 5300.0, 27000.0, 270000.0)  # Pa
LENGTH, WIDTH, WALL = 0.8, 0.08, 0.006  # m
COLUMN = (0.24, 0.30)  # long, high
SHELF = 0.165


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.30, friction=31.0, is_floor=False)
    glass = studio.glass()
    for number, elasticity in enumerate(ELASTICITY):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings = simulations.active(scene)
        settings.name = f"{elasticity:.0f} Pa"
        studio.sand(size, 'MESO', fps=FPS, spread=0.2, density=2600.0, reach_ratio=1.0, viscosity=10.0, elastic_reach=1.0,
                    elasticity=elasticity)
        bottom = 0.03 + SHELF * number
        # What is seen is low; what holds the dam while it breaks is not seen.
        for name, high in ((f"Tray {number + 1}", 0.1), (f"Walls {number + 1}", 1.3 * COLUMN[1])):
            walls = studio.tray(name, (LENGTH, WIDTH, high), WALL, glass)
            walls.location.z = bottom
        walls.hide_render, walls.display_type = True, 'WIRE'
        studio.collider(walls, friction=31.0)
        left = -0.5 * LENGTH + 0.002
        column = studio.box(f"Dam {number + 1}", (left, -0.48 * WIDTH, bottom + 0.001),
                            (left + COLUMN[0], 0.48 * WIDTH, bottom + COLUMN[1]))
        studio.source(column)
        studio.fit_particles(size)
        settings.display.look = 'SAND'
        if size is PLAN.picture:
            settings.use_upsample, settings.upsample_mode, settings.grain_millions = True, 'TOTAL', 0.12
    scene.grain.active_index = 0
    studio.camera((0.25, -2.6, 0.62), (0.0, 0.0, 0.33), lens=80.0, width=864, height=648)


def finish() -> None:
    """The others are baked here."""
    for number in range(1, len(ELASTICITY)):
        bpy.context.scene.grain.active_index = number
        bpy.ops.grain.bake()
    bpy.context.scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """The harder, the higher what lies where the dam was: soft material is pressed together by its own weight."""
    import in_blender
    runs, heights = [], []
    for number, found in enumerate(in_blender.bakes_of_all(bake)):
        end = found.positions()
        runs.append(float(np.quantile(end[:, 0], 0.98)) + 0.5 * LENGTH)
        heights.append(float(np.quantile(end[end[:, 0] < COLUMN[0] - 0.5 * LENGTH, 2], 0.9)) - 0.03 - SHELF * number)
    return [Fact(f"from the softest to the hardest they have run {', '.join(f'{1000 * run:.0f}' for run in runs)} mm", min(runs) > 1.2 * COLUMN[0]),
            Fact(f"and are {', '.join(f'{1000 * height:.0f}' for height in heights)} mm high where the dam was", heights == sorted(heights))]
