# SPDX-License-Identifier: GPL-3.0-or-later
"""The map of the mesoscopic model: six cylinders of different firmness and creaminess, let go on plates."""
from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="From fluid to paste", figure="Luciani 2000, figure 13",
    what="The same cylinder of six materials of one solver, each a simulation of its own, 0.6 s after its "
         "release: in front fluid, dry sand and damp sand, behind foam, cream and paste. Sand is refined into "
         "grains; the others are shown as the mesh of their surface. Counts are those of the first.",
    small=Size(150, 14), picture=Size(3000, 25), picture_frame=25, samples=80)

FPS = 40
RADIUS, HEIGHT = 0.05, 0.10  # m
PLATE = 0.135
APART = (0.31, 0.34)
GRAINS = 0.25  # million


class Material(NamedTuple):
    name: str
    firmness: float  # of the slider
    creaminess: float
    viscosity: float  # Pa s
    grains: str = ""  # look of its grains
    colour: tuple[float, float, float] = (0.8, 0.8, 0.8)  # or of its surface
    roughness: float = 0.3


MAP = (Material("Fluid", 0.30, 0.70, 3.0, colour=(0.50, 0.16, 0.02), roughness=0.08),
       Material("Dry Sand", 0.60, 1.0, 6.0, 'SAND'), Material("Damp Sand", 0.60, 1.4, 6.0, 'MUD'),
       Material("Foam", 0.10, 2.5, 6.0, colour=(0.86, 0.87, 0.90), roughness=0.7),
       Material("Cream", 0.50, 2.1, 6.0, colour=(0.85, 0.70, 0.48), roughness=0.25),
       Material("Paste", 0.80, 2.8, 10.0, colour=(0.42, 0.72, 0.66), roughness=0.3))


def place(number: int) -> tuple[float, float]:
    return APART[0] * (number % 3 - 1), APART[1] * (number // 3) - 0.1


def plate(number: int, look: bpy.types.Material) -> None:
    edge, rim, thick = PLATE, 0.020, 0.004
    outline = [(0.0, 0.002), (0.78 * edge, 0.002), (edge, 0.002 + rim), (edge + thick, 0.002 + rim),
               (0.82 * edge, 0.002 - thick), (0.0, 0.002 - thick)]
    item = studio.lathe(f"Plate {number + 1}", outline, look)
    item.location = (*place(number), 0.004)
    studio.collider(item, friction=31.0)


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.16, friction=31.0)
    china = studio.material("China", (0.62, 0.63, 0.64), 0.15, coat=0.5)
    for number, wanted in enumerate(MAP):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings = simulations.active(scene)
        settings.name = wanted.name
        studio.sand(size, 'MESO', fps=FPS, spread=0.2, density=1600.0, reach_ratio=wanted.creaminess,
                    viscosity=wanted.viscosity, elastic_reach=1.0)
        plate(number, china)
        block = studio.lathe(wanted.name, [(0.0, 0.0), (RADIUS, 0.0), (RADIUS, HEIGHT), (0.0, HEIGHT)], segments=48)
        block.location = (*place(number), 0.007)
        studio.source(block)
        studio.fit_particles(size)
        settings.firmness = wanted.firmness
        if not wanted.grains:
            studio.wish_surface(reach=5.0 if number == 0 else 3.5)  # a fluid is smooth
            continue
        settings.display.look = wanted.grains
        if size is PLAN.picture:
            settings.use_upsample, settings.upsample_mode, settings.grain_millions = True, 'TOTAL', GRAINS
    scene.grain.active_index = 0
    studio.camera((0.0, -1.30, 0.86), (0.0, 0.055, 0.0), lens=56.0, stop=16.0, width=1152, height=648)


def finish() -> None:
    """The others are baked here, and shown as what they are."""
    scene = bpy.context.scene
    for number, wanted in enumerate(MAP):
        scene.grain.active_index = number
        if number > 0:
            bpy.ops.grain.bake()
        if not wanted.grains:
            studio.show_surface(studio.material(wanted.name, wanted.colour, wanted.roughness, coat=0.3))
    scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """The fluid must have run out, dry sand too; paste stands."""
    import in_blender
    away = {}
    for number, found in enumerate(in_blender.bakes_of_all(bake)):
        off = found.positions()[:, :2] - place(number)
        away[MAP[number].name] = float(np.quantile(np.hypot(off[:, 0], off[:, 1]), 0.9)) / RADIUS
    text = ", ".join(f"{name.lower()} {radii:.1f}" for name, radii in away.items())
    first, last = MAP[0].name, MAP[-1].name
    return [Fact(f"nine tenths lie within so many radii: {text}", away[first] > 1.3 and away[first] == max(away.values()) and away[last] < 1.1)]
