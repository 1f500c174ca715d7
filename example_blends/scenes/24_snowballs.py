"""Three snowballs thrown on the ground: powder, chunky and wet snow."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Snowballs", figure="Stomakhin 2013, figure 9",
    what="The same ball of powder, chunky and wet snow, each a simulation of its own, half a second after it hit the ground at 6 m/s: "
         "powder bursts, chunky snow breaks in clumps, wet snow stays a lump and sheds little. Counts are those of the first.",
    small=Size(6000, 26), picture=Size(14000, 26, 0.9), picture_frame=26, samples=28)

FPS = 50
RADIUS, SPEED, APART = 0.1, 6.0, 0.62  # m, m/s, m
KINDS = (("Powder", 'SNOW_POWDER'), ("Chunky", 'SNOW_CHUNKY'), ("Wet", 'SNOW_WET'))


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.26, friction=27.0, colour=(0.022, 0.034, 0.055))
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
    studio.camera((0.0, -2.1, 0.85), (-0.09, 0.0, 0.045), lens=41.0, stop=16.0, height=320, exposure=0.4)
    scene.cycles.diffuse_bounces = 4  # light goes on in snow


def finish() -> None:
    """The others are baked here."""
    from grain.scene import apply, simulations
    scene = bpy.context.scene
    for number in range(len(KINDS)):
        scene.grain.active_index = number
        if apply.sand_object(simulations.active(scene)) is None:
            bpy.ops.grain.bake()
    scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """The first is the powder: a good part of it must have come off, and the rest lie where it fell."""
    end = bake.positions()
    away = np.hypot(end[:, 0] + APART, end[:, 1])
    off = float(np.mean(away > 1.5 * RADIUS))
    return [Fact(f"{100 * off:.0f} % of the powder lie more than half a radius beyond the ball", 0.01 < off < 0.6)]
