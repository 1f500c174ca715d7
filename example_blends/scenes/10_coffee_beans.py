# SPDX-License-Identifier: GPL-3.0-or-later
"""Grains as real shapes: coffee beans poured into a bowl."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Matrix
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Coffee beans", figure="",
    what="Every bean is a clump of up to ten balls that touches, rolls and interlocks with others, drawn as the "
         "bean that the balls fill.",
    small=Size(160, 30), picture=Size(1700, 70), picture_frame=70)

FPS = 50
BOWL, DEPTH = 0.075, 0.052  # m, inside
POUR, TALL = 0.042, 0.19  # radius and height of the column that is let go
LIFT = 0.075


def bean() -> bpy.types.Object:
    """Half an ellipsoid with a furrow along its flat side."""
    form = bmesh.new()
    bmesh.ops.create_uvsphere(form, u_segments=40, v_segments=24, radius=1.0, matrix=Matrix.Rotation(math.pi / 2, 4, 'Y'))
    for vertex in form.verts:
        x, y, z = vertex.co
        z = 0.50 * z if z > 0.0 else 0.13 * z
        dent = 0.15 * math.exp(-((y + 0.05 * math.sin(2.2 * x)) / 0.10) ** 2) * max(1.0 - x * x, 0.0)
        vertex.co = (x, 0.72 * y, z + (dent if z <= 0.0 else 0.0))
    return studio.add("Coffee Bean", form, roast(), smooth=True)


def roast() -> bpy.types.Material:
    """Each bean in its own brown."""
    made = studio.material("Roast", (0.07, 0.03, 0.012), 0.36)
    tree = made.node_tree
    own = tree.nodes.new('ShaderNodeObjectInfo')
    ramp = tree.nodes.new('ShaderNodeValToRGB')
    for element, colour in zip(ramp.color_ramp.elements, ((0.030, 0.012, 0.006), (0.125, 0.052, 0.020))):
        element.color = (*colour, 1.0)
    tree.links.new(own.outputs["Random"], ramp.inputs["Fac"])
    tree.links.new(ramp.outputs["Color"], tree.nodes["Principled BSDF"].inputs["Base Color"])
    return made


def build(size: Size) -> None:
    item = bean()
    item.location = (0.0, 0.0, -1.0)  # out of sight: only its shape matters
    item.scale = (0.01,) * 3
    studio.sand(size, 'DEM', fps=FPS, friction=27.0, spread=0.08, density=1100.0, restitution=0.25, softness=0.25,
                rolling_friction=0.0, grain_shape='MESH', grain_object=item, grain_balls=10)
    column = studio.lathe("Beans", [(0.0, 0.0), (POUR, 0.0), (POUR, TALL), (0.0, TALL)])
    column.location.z = LIFT
    studio.source(column, velocity=(0.0, 0.0, -0.5))
    outline = [(0.0, 0.0)] + [(BOWL * math.sin(a), 0.006 + DEPTH * (1.0 - math.cos(a))) for a in
                             (math.radians(8.0 + 7.45 * k) for k in range(12))]
    lip = outline[-1]
    outer = [(r + 0.004, z - 0.004) for r, z in outline[:0:-1]]
    bowl = studio.lathe("Bowl", [(0.0, 0.006), *outline[1:], (lip[0] + 0.002, lip[1] + 0.002), *outer[:-2], (0.030, 0.0), (0.0, 0.0)],
                        studio.material("Porcelain", (0.80, 0.79, 0.75), 0.25, coat=0.6))
    studio.collider(bowl, friction=18.0)
    studio.stage(0.1, friction=24.0, colour=(0.30, 0.20, 0.13))
    studio.camera((0.10, -0.42, 0.30), (0.0, -0.005, 0.032), lens=62.0, stop=5.6)


def measure(bake: Bake) -> list[Fact]:
    places, speeds = bake.positions(), bake.speeds()
    inside = np.hypot(places[:, 0], places[:, 1]) < BOWL + 0.004
    through = int(np.sum(places[:, 2] < 0.0))
    return [Fact(f"{100 * float(np.mean(inside)):.0f} % lie in the bowl", float(np.mean(inside)) > 0.6),
            Fact(f"{through} beans are below the table", through == 0),
            Fact(f"the median bean in the bowl moves at {1000 * float(np.median(speeds[inside])):.1f} mm/s", float(np.median(speeds[inside])) < 20.0e-3 * 5)]
