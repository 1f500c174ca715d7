# SPDX-License-Identifier: GPL-3.0-or-later
"""A statue of sand that falls apart: its grains keep the colours of its texture."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Matrix, Vector
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Bear of sand", figure="",
    what="A painted statue of dry sand is released. Every grain, down to the render grains, keeps the colour of "
         "the surface point nearest to where it started.",
    small=Size(2500, 30), picture=Size(16000, 45, 1.4), picture_frame=9, more_pictures={"_fallen": 45}, samples=36)

FPS = 50
TALL = 0.432  # m
COLOUR = "Paint"  # the attribute
FUR, CREAM, DARK, RED, WHITE = (0.30, 0.125, 0.035), (0.80, 0.56, 0.28), (0.012, 0.010, 0.010), (0.62, 0.02, 0.02), (0.85, 0.82, 0.76)


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=30.0, softness=0.25, rolling_friction=0.3, restitution=0.2)
    studio.source(bear(), use_attributes=True)
    studio.colour_by(COLOUR)
    studio.stage(0.4, friction=33.0, colour=(0.12, 0.20, 0.26))
    eye = studio.camera((0.42, -1.60, 0.62), (0.02, -0.04, 0.19), lens=72.0, stop=11.0, exposure=0.2)
    for path, standing, fallen in (("lens", 72.0, 60.0), ("shift_y", -0.055, -0.10)):  # the heap is wide and low
        studio.key(eye.data, path, [(10, standing), (40, fallen)], straight=False)


def parts() -> list[tuple[Vector, Vector]]:
    """Middles and half axes of the ellipsoids it is made of."""
    found = [((0, 0, 0.14), (0.118, 0.102, 0.138)), ((0, -0.01, 0.315), (0.104, 0.092, 0.088)), ((0, -0.098, 0.295), (0.044, 0.040, 0.034))]
    for side in (-1.0, 1.0):
        found.append(((side * 0.080, 0.0, 0.392), (0.042, 0.026, 0.040)))
        for k in range(7):  # arm and leg
            share = k / 6
            found.append(((side * (0.098 + 0.045 * share), -0.01 - 0.105 * share, 0.215 - 0.095 * share), (0.040, 0.040, 0.040)))
            found.append(((side * (0.070 + 0.050 * share), -0.03 - 0.145 * share, 0.056), (0.050, 0.050, 0.054)))
        found.append(((side * 0.122, -0.190, 0.064), (0.052, 0.028, 0.064)))
    return [(Vector(middle), Vector(axes)) for middle, axes in found]


def bear() -> bpy.types.Object:
    form = bmesh.new()
    for middle, axes in parts():
        bmesh.ops.create_icosphere(form, subdivisions=3, radius=1.0, matrix=Matrix.Translation(middle) @ Matrix.Diagonal((*axes, 1.0)))
    rough = studio.add("Parts", form)
    melt = rough.modifiers.new("Remesh", 'REMESH')
    melt.mode, melt.voxel_size = 'VOXEL', 0.006
    bpy.context.view_layer.update()
    mesh = bpy.data.meshes.new_from_object(rough.evaluated_get(bpy.context.evaluated_depsgraph_get()))
    bpy.data.objects.remove(rough)
    mesh.name = "Bear"
    texture = mesh.attributes.new(COLOUR, 'FLOAT_COLOR', 'POINT')
    for vertex, value in zip(mesh.vertices, texture.data):
        value.color = (*paint(vertex.co), 1.0)
    item = bpy.data.objects.new("Bear", mesh)
    item.location.z = 0.004
    bpy.context.scene.collection.objects.link(item)
    return item


def paint(place: Vector) -> tuple[float, float, float]:
    """The texture: fur, cream muzzle, belly, soles and ears, a striped scarf, eyes and nose."""
    x, y, z = place
    side = abs(x)

    def around(cx: float, cy: float, cz: float, radius: float) -> bool:
        return (side - cx) ** 2 + (y - cy) ** 2 + (z - cz) ** 2 < radius * radius

    if around(0.0, -0.138, 0.310, 0.020) or around(0.040, -0.092, 0.342, 0.017):
        return DARK
    if 0.222 < z < 0.252 and side < 0.125 and y > -0.10:
        return RED if int(math.degrees(math.atan2(y, x)) // 15.0) % 2 else WHITE
    if 0.030 < x < 0.062 and y < -0.070 and 0.135 < z <= 0.222:  # its end hangs down
        return RED if int(z // 0.018) % 2 else WHITE
    if around(0.0, -0.10, 0.290, 0.046) or (y < -0.205 and around(0.122, -0.215, 0.064, 0.045)):
        return CREAM
    if (side / 0.075) ** 2 + ((z - 0.13) / 0.085) ** 2 < 1.0 and y < -0.05:
        return CREAM
    if z > 0.365 and y < -0.010 and around(0.082, -0.02, 0.395, 0.027):
        return CREAM
    return FUR


def measure(bake: Bake) -> list[Fact]:
    """Height and colours: what particles carry is what the statue has where they were born."""
    start, end = bake.positions(1), bake.positions()
    height = float(np.quantile(end[:, 2], 0.99) / np.quantile(start[:, 2], 0.99))
    item = bpy.data.objects["Bear"]
    corners = np.array([item.matrix_world @ vertex.co for vertex in item.data.vertices])
    colours = np.array([tuple(value.color)[:3] for value in item.data.attributes[COLOUR].data])
    nearest = np.array([int(np.argmin(((corners - place) ** 2).sum(axis=1))) for place in start])
    carried = bake.birth(COLOUR)[:, :3]
    same = float(np.mean(np.abs(carried - colours[nearest]).max(axis=1) < 0.15))
    return [Fact(f"the heap is {100 * height:.0f} % as high as the statue", height < 0.5),
            Fact(f"{100 * same:.0f} % of the particles have the colour of the nearest vertex, the rest one between two", same > 0.85),
            Fact(f"the lowest lies {1000 * float(end[:, 2].min()):.1f} mm above the floor", end[:, 2].min() > -0.002)]
