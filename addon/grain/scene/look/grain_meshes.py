# SPDX-License-Identifier: GPL-3.0-or-later
"""Meshes of single grains, each in the ball of radius 1 around its origin, smooth enough for close-ups and light enough for
millions of instances. The long axis of rice and bean is X, as in libgrain's rods and beans; a bean's groove faces Y."""
from collections.abc import Callable
from math import cos, pi, sin, sqrt

import bmesh
import bpy
from bmesh.types import BMesh
from bpy.types import Mesh
from mathutils import Vector, noise

_SUBDIVISIONS = 3  # 320 triangles of an icosphere
_STONE_CORNERS = 22


def make(kind: str, name: str) -> Mesh:
    """ROUNDED, ANGULAR, CUBE, RICE or BEAN."""
    build = bmesh.new()
    _MAKERS[kind](build)
    reach = max(vertex.co.length for vertex in build.verts)
    for vertex in build.verts:
        vertex.co /= reach
    bmesh.ops.recalc_face_normals(build, faces=build.faces)
    for face in build.faces:
        face.smooth = kind != 'ANGULAR'
    mesh = bpy.data.meshes.new(name)
    build.to_mesh(mesh)
    build.free()
    return mesh


def _from_sphere(place: Callable[[Vector], Vector]) -> Callable[[BMesh], None]:
    def maker(build: BMesh) -> None:
        bmesh.ops.create_icosphere(build, subdivisions=_SUBDIVISIONS, radius=1.0)
        for vertex in build.verts:
            vertex.co = place(vertex.co.normalized())
    return maker


def _pebble(direction: Vector) -> Vector:
    """Unequal axes, and bumps as long as the pebble itself."""
    return Vector((direction.x, 0.86 * direction.y, 0.74 * direction.z)) * (1.0 + 0.13 * noise.noise(1.7 * direction))


def _rice(direction: Vector) -> Vector:
    """A blunt spindle, a little bent, with the notch of the germ at one end."""
    x = direction.x
    width = 0.37 * (1.0 - abs(x) ** 3.2) ** 0.62 / max(sqrt(1.0 - x * x), 1e-3)
    width *= 1.0 - 0.22 * max(0.0, (x - 0.7) / 0.3) * max(0.0, direction.y)
    return Vector((x, width * direction.y + 0.035 * (1.0 - x * x), 0.9 * width * direction.z))


def _bean(direction: Vector) -> Vector:
    """Domed towards -Y, nearly flat towards Y, where a groove runs from end to end."""
    x, y, z = direction
    flat = 0.42 if y > 0.0 else 0.62
    groove = 0.17 * max(0.0, y) * (1.0 - x * x) ** 0.5 / (1.0 + (z / 0.11) ** 2)
    return Vector((0.98 * x, flat * y - groove + 0.1 * x * x - 0.02, 0.66 * z))


def _cube(build: BMesh) -> None:
    """A rounded box: what lies outside the inner box is drawn to one distance from it."""
    inner, rounding = 0.47, 0.18
    bmesh.ops.create_cube(build, size=2.0)
    bmesh.ops.subdivide_edges(build, edges=build.edges, cuts=6, use_grid_fill=True)
    for vertex in build.verts:
        core = Vector([max(-inner, min(inner, component * (inner + rounding))) for component in vertex.co])
        vertex.co = core + (vertex.co * (inner + rounding) - core).normalized() * rounding


def _stone(build: BMesh) -> None:
    """Corners spread evenly over an uneven ball, and the flat faces between them: broken, not worn."""
    for corner in range(_STONE_CORNERS):
        height = 1.0 - (2.0 * corner + 1.0) / _STONE_CORNERS
        turn, width = corner * pi * (3.0 - sqrt(5.0)), sqrt(1.0 - height * height)
        direction = Vector((width * cos(turn), width * sin(turn), height))
        wild = Vector(noise.cell_vector(Vector((corner + 0.5, 0.5, 0.5)))) - Vector((0.5, 0.5, 0.5))
        build.verts.new((direction + 0.55 * wild) * Vector((1.0, 0.85, 0.8)))
    hull = bmesh.ops.convex_hull(build, input=build.verts)
    inside = [item for item in hull["geom_interior"] if isinstance(item, bmesh.types.BMVert)]
    bmesh.ops.delete(build, geom=inside, context='VERTS')


_MAKERS: dict[str, Callable[[BMesh], None]] = {
    'ROUNDED': _from_sphere(_pebble), 'ANGULAR': _stone, 'CUBE': _cube, 'RICE': _from_sphere(_rice),
    'BEAN': _from_sphere(_bean),
}
KINDS = tuple(_MAKERS)
