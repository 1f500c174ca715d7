# SPDX-License-Identifier: GPL-3.0-or-later
"""A sand castle: taken out of its mould damp, it dries and falls apart."""
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
    title="Sand castle", figure="",
    what="Damp sand comes out of a bucket and stands with its battlements and walls. Then its cohesion is "
         "keyframed to 0, as if the sun dried it; it turns pale and falls apart.",
    small=Size(2200, 64), picture=Size(13000, 68, 1.3), picture_frame=37, more_pictures={"_dry": 68}, samples=36)

FPS = 50
FOOT, TOP, TALL = 0.105, 0.082, 0.165  # m: radii and height of the keep
WALL, RING = 0.050, 0.185  # thickness and distance of the wall around it
STRENGTH = 1500.0  # Pa, damp
LIFT = (4, 30)  # frames in which the bucket is lifted
DRY = (38, 48)  # frames in which it dries


def build(size: Size) -> None:
    studio.sand(size, 'SPH', fps=FPS, friction=34.0)
    keep = studio.lathe("Keep", [(0.0, 0.0), (FOOT, 0.0), (TOP, TALL), (0.0, TALL)], segments=64)
    crown(keep, TOP - 0.019, TALL, 6, 0.036, 0.036)
    keep.location.z = 0.002
    studio.source(keep)
    for item in ring_wall():
        studio.source(item)
    bucket()
    studio.fit_particles(size)
    dry()
    studio.stage(0.32, friction=34.0, colour=(0.20, 0.17, 0.13))
    studio.camera((0.34, -1.12, 0.52), (0.0, -0.035, 0.05), lens=49.0, stop=11.0, exposure=0.3)


def dry() -> None:
    settings, wet = studio.simulation(), studio.cohesion_for(STRENGTH)
    studio.key(settings, "cohesion", [(1, wet), (DRY[0], wet), (DRY[1], 0.0)])
    tree = studio.sand_material().node_tree  # damp sand is darker
    surface = next(node for node in tree.nodes if node.bl_idname == 'ShaderNodeBsdfPrincipled')
    pale = tree.nodes.new('ShaderNodeHueSaturation')
    tree.links.new(surface.inputs["Base Color"].links[0].from_socket, pale.inputs["Color"])
    tree.links.new(pale.outputs[0], surface.inputs["Base Color"])
    studio.key(pale.inputs["Value"], "default_value", [(1, 0.34), (DRY[0], 0.34), (DRY[1], 1.0)])


def crown(item: bpy.types.Object, radius: float, height: float, count: int, side: float, tall: float) -> None:
    """Battlements around the top, as part of the same mesh."""
    form = bmesh.new()
    form.from_mesh(item.data)
    for k in range(count):
        turn = Matrix.Rotation(2.0 * math.pi * (k + 0.5) / count, 4, 'Z')
        bmesh.ops.create_cube(form, size=1.0, matrix=turn @ Matrix.Translation((radius, 0.0, height + 0.5 * tall - 0.004)) @ Matrix.Diagonal((side, side * 1.25, tall, 1.0)))
    form.to_mesh(item.data)
    form.free()


def ring_wall() -> list[bpy.types.Object]:
    """Four towers and the walls between them."""
    made, half = [], RING
    for k in range(4):
        turn = Matrix.Rotation(0.5 * math.pi * k, 4, 'Z')
        tower = studio.lathe(f"Tower {k + 1}", [(0.0, 0.0), (0.056, 0.0), (0.048, 0.105), (0.0, 0.105)], segments=48)
        crown(tower, 0.033, 0.105, 4, 0.028, 0.028)
        tower.matrix_world = turn @ Matrix.Translation((half, half, 0.002))
        made.append(tower)
        if k == 2:
            continue  # towards the camera it is open
        wall = studio.box(f"Wall {k + 1}", (-half + 0.050, -0.5 * WALL, 0.0), (half - 0.050, 0.5 * WALL, 0.07))
        wall.matrix_world = turn @ Matrix.Translation((0.0, half, 0.037))
        made.append(wall)
    return made


def bucket() -> None:
    """Upside down over the keep; lifted straight up."""
    gap, thick, tall = 0.003, 0.005, TALL + 0.040
    slope = (FOOT - TOP) / TALL
    inner = [(FOOT + gap, 0.0), (FOOT + gap - slope * tall, tall)]
    outline = [inner[0], inner[1], (0.0, tall), (0.0, tall + thick), (inner[1][0] + thick, tall + thick), (inner[0][0] + thick, 0.012),
               (inner[0][0] + 0.012, 0.012), (inner[0][0] + 0.012, 0.0)]
    item = studio.lathe("Bucket", outline, studio.paint("Bucket", (0.05, 0.25, 0.55)), segments=72, smooth=False)
    studio.collider(item, friction=8.0)
    studio.key(item, "location", [(1, (0.0, 0.0, 0.002)), (LIFT[0], (0.0, 0.0, 0.002)), (LIFT[1] - 6, (0.0, 0.0, 0.25)), (LIFT[1], (0.0, 0.0, 0.75))])


def measure(bake: Bake) -> list[Fact]:
    """Heights of the keep, over that of the first frame."""
    def height(frame: int) -> float:
        places = bake.positions(frame)
        own = np.hypot(places[:, 0], places[:, 1]) < FOOT
        return float(np.quantile(places[own, 2], 0.97))
    damp, dried = (height(frame) / height(1) for frame in (DRY[0], bake.last))
    facts = [Fact(f"out of its bucket the keep stands at {100 * damp:.0f} % of its height", damp > 0.9)]
    if bake.last >= DRY[1] + 8:
        facts.append(Fact(f"dried, at {100 * dried:.0f} %", dried < 0.75))
    return facts
