"""The map of the mesoscopic model: six cylinders of different firmness and creaminess, let go."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="From fluid to paste", figure="Luciani 2000, figure 13",
    what="The same cylinder of six materials of one solver, each a simulation of its own, 0.7 s after it was let go: in front "
         "fluid, soft and dry grains, behind foam, cream and paste. Firmer to the right, farther reach of viscosity behind. "
         "Counts are those of the first.",
    small=Size(150, 14), picture=Size(600, 30), picture_frame=30)

FPS = 40
RADIUS, HEIGHT = 0.05, 0.10  # m
# Name, firmness, creaminess, viscosity (Pa s), reach of elasticity, look
MAP = (("Fluid", 0.20, 0.67, 2.0, 1.5, 'SALT'), ("Soft Grains", 0.45, 1.0, 3.0, 1.0, 'SAND'),
       ("Dry Grains", 0.80, 1.0, 6.0, 1.0, 'GRAVEL'), ("Foam", 0.15, 2.5, 4.0, 1.0, 'SNOW'),
       ("Cream", 0.50, 2.0, 8.0, 1.0, 'RICE'), ("Paste", 0.80, 2.5, 20.0, 1.0, 'MUD'))


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    studio.stage(0.16, friction=31.0)
    for number, (name, firmness, creaminess, viscosity, reach, look) in enumerate(MAP):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings = simulations.active(scene)
        settings.name = name
        studio.sand(size, 'MESO', fps=FPS, spread=0.2, density=1600.0, reach_ratio=creaminess, viscosity=viscosity,
                    elastic_reach=reach)
        block = studio.lathe(name, [(0.0, 0.0), (RADIUS, 0.0), (RADIUS, HEIGHT), (0.0, HEIGHT)], segments=48)
        block.location = (0.30 * (number % 3 - 1), 0.34 * (number // 3) - 0.1, 0.001)
        studio.source(block)
        studio.fit_particles(size)
        settings.firmness = firmness
        settings.display.look = look
    scene.grain.active_index = 0
    studio.camera((0.0, -1.35, 0.75), (0.0, 0.06, 0.02), lens=58.0, stop=16.0)


def finish() -> None:
    """The others are baked here."""
    from grain.scene import apply, simulations
    scene = bpy.context.scene
    for number in range(len(MAP)):
        scene.grain.active_index = number
        if apply.sand_object(simulations.active(scene)) is None:
            bpy.ops.grain.bake()
    scene.grain.active_index = 0


def measure(bake: Bake) -> list[Fact]:
    """The first is the fluid: it must have run out."""
    end = bake.positions()
    away = float(np.quantile(np.hypot(end[:, 0] - np.median(end[:, 0]), end[:, 1] - np.median(end[:, 1])), 0.9))
    return [Fact(f"the fluid has spread to {away / RADIUS:.1f} times its radius", away > 1.3 * RADIUS)]
