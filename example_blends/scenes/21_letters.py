# SPDX-License-Identifier: GPL-3.0-or-later
"""Moisture painted on a wall of sand: what is wet stands, what is dry runs off."""
from __future__ import annotations

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Vector
from mathutils.bvhtree import BVHTree
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Painted moisture", figure="",
    what="Letters are painted as vertex weights on a wall of dry sand, which is wet there. When the wall is "
         "released, the dry sand runs off and the letters stand, dark like wet sand.",
    small=Size(6000, 30), picture=Size(28000, 40, 1.5), picture_frame=40)

FPS = 50
WALL = (0.48, 0.050, 0.135)  # m
PLINTH = 0.016  # m, wet all along: letters stand on it
TEXT, GROUP = "RAIN", "Wet"


def build(size: Size) -> None:
    studio.sand(size, 'SPH', fps=FPS, friction=33.0)
    studio.source(wall(), moisture=1.0, moisture_paint=GROUP)
    studio.stage(0.2, friction=33.0)
    studio.camera((0.09, -0.93, 0.27), (0.0, -0.007, 0.052), lens=60.0, stop=16.0)


def wall() -> bpy.types.Object:
    """A fine grid over its front and back, and the letters as a vertex group."""
    form = bmesh.new()
    columns, rows = (round(WALL[k] / 0.004) for k in (0, 2))
    corners = {}
    for side, y in enumerate((-WALL[1] / 2, WALL[1] / 2)):
        for i in range(columns + 1):
            for k in range(rows + 1):
                corners[side, i, k] = form.verts.new((WALL[0] * (i / columns - 0.5), y, 0.001 + WALL[2] * k / rows))
    for side in (0, 1):
        for i in range(columns):
            for k in range(rows):
                form.faces.new((corners[side, i, k], corners[side, i + 1, k], corners[side, i + 1, k + 1], corners[side, i, k + 1]))
    rim = [(i, 0) for i in range(columns)] + [(columns, k) for k in range(rows)] \
        + [(i, rows) for i in range(columns, 0, -1)] + [(0, k) for k in range(rows, 0, -1)]
    for a, b in zip(rim, rim[1:] + rim[:1]):
        form.faces.new((corners[(0, *a)], corners[(0, *b)], corners[(1, *b)], corners[(1, *a)]))
    item = studio.add("Wall", form)
    group, ink = item.vertex_groups.new(name=GROUP), letters()
    wet = [vertex.index for vertex in item.data.vertices if vertex.co.z < PLINTH or ink.ray_cast(Vector((vertex.co.x, -1.0, vertex.co.z)), Vector((0, 1, 0)))[0]]
    group.add(wet, 1.0, 'REPLACE')
    return item


def letters() -> BVHTree:
    """The text, as high and wide as the wall, in the x-z plane."""
    curve = bpy.data.curves.new("Text", 'FONT')
    curve.body, curve.offset, curve.space_character = TEXT, 0.028, 1.20
    item = bpy.data.objects.new("Text", curve)
    bpy.context.scene.collection.objects.link(item)
    bpy.context.view_layer.update()
    mesh = item.evaluated_get(bpy.context.evaluated_depsgraph_get()).to_mesh()
    points = np.array([vertex.co[:2] for vertex in mesh.vertices])
    low, high = points.min(axis=0), points.max(axis=0)
    room = np.array((WALL[0] - 0.05, WALL[2] - 0.004 - PLINTH))
    places = (points - low) / (high - low) * room - (room[0] / 2, -PLINTH)
    tree = BVHTree.FromPolygons([(x, 0.0, z) for x, z in places], [list(face.vertices) for face in mesh.polygons])
    item.to_mesh_clear()
    bpy.data.objects.remove(item)
    bpy.data.curves.remove(curve)
    return tree


def measure(bake: Bake) -> list[Fact]:
    """How much of their height wet and dry sand keep, in the mean."""
    wet = bake.column("moisture", bake.last) > 0.5
    start, end = bake.positions(1)[:, 2], bake.positions()[:, 2]
    kept = [float(end[own].mean() / start[own].mean()) for own in (wet, ~wet)]
    speeds = bake.speeds()
    return [Fact(f"{100 * float(np.mean(wet)):.0f} % are wet and keep {100 * kept[0]:.0f} % of their height, dry sand {100 * kept[1]:.0f} %",
                 kept[0] > 0.7 and kept[1] < 0.7 * kept[0]),
            Fact(f"{100 * float(np.mean(speeds[wet] < 0.02)):.0f} % of the wet sand is at rest", float(np.mean(speeds[wet] < 0.02)) > 0.95)]
