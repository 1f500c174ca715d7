# SPDX-License-Identifier: GPL-3.0-or-later
"""Three snowballs thrown on the ground: powder, chunky and wet snow."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Snowballs", figure="Stomakhin 2013, figure 9",
    what="The same ball of powder, chunky and wet snow, each a simulation of its own, half a second after hitting "
         "the ground at 6 m/s: powder bursts, chunky snow breaks into clumps, wet snow stays in one piece and "
         "sheds little. Counts are those of the first.",
    small=Size(6000, 26), picture=Size(14000, 26, 1.8), picture_frame=26, samples=48)

FPS = 50
RADIUS, SPEED, APART = 0.1, 6.0, 0.62  # m, m/s, m
KINDS = (("Powder", 'SNOW_POWDER'), ("Chunky", 'SNOW_CHUNKY'), ("Wet", 'SNOW_WET'))


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.5, friction=27.0, colour=(0.035, 0.055, 0.085))  # large: the same light on all three
    for number, (name, law) in enumerate(KINDS):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings = simulations.active(scene)
        settings.name = name
        studio.sand(size, 'MPM', fps=FPS, law=law, density=667.0)
        studio.source(studio.ball(name, (APART * (number - 1), 0.0, 1.05 * RADIUS), RADIUS), velocity=(0.0, 0.0, -SPEED))
        studio.fit_particles(size)
        settings.display.look = 'SNOW'
    scene.grain.active_index = 0
    studio.camera((0.0, -2.1, 0.72), (-0.10, 0.0, 0.05), lens=39.0, stop=16.0, height=300)
    bpy.data.lights["Rim"].energy *= 0.25  # it shines on the right one only
    scene.cycles.diffuse_bounces = 4  # light goes on in snow


def finish() -> None:
    """The others are baked here."""
    from grain.scene import simulations
    from grain.scene.show import apply
    scene = bpy.context.scene
    for number in range(len(KINDS)):
        scene.grain.active_index = number
        if apply.sand_object(simulations.active(scene)) is None:
            bpy.ops.grain.bake()
    scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """A good part of the powder must have come off; the wetter, the less does."""
    import in_blender
    off = []
    for number, found in enumerate(in_blender.bakes_of_all(bake)):
        end = found.positions()
        off.append(float(np.mean(np.hypot(end[:, 0] - APART * (number - 1), end[:, 1]) > 1.5 * RADIUS)))
    return [Fact(f"{', '.join(f'{100 * share:.0f}' for share in off)} % of the powder, the chunky and the wet snow lie more than half a radius beyond the ball",
                 0.01 < off[0] < 0.6 and off == sorted(off, reverse=True))]
