# SPDX-License-Identifier: GPL-3.0-or-later
"""From a mesh to sand in one step: role, preset, radius, and something to fall on."""
from typing import Optional

import bpy
import numpy as np
from bpy.types import Context, Object
from mathutils import Vector

from .. import simulations
from ..read import meshes
from . import presets, roles

FLOOR_NAME = "Grain Floor"
FLOOR_WIDTHS = 6.0  # of the sources


def make(context: Context, sources: list[Object], preset: str, surroundings: str) -> None:
    """Gives the roles. surroundings: FLOOR, OBJECTS or NONE."""
    for item in sources:
        item.grain.type = 'SOURCE'
    context.view_layer.update()
    simulation = simulations.of_object(sources[0], context.scene)
    presets.use(simulation, preset, context.evaluated_depsgraph_get())
    if surroundings == 'OBJECTS':
        for item in neighbours(context, sources):
            item.grain.type = 'COLLIDER'
    elif surroundings == 'FLOOR':
        add_floor(context, sources)


def likely_surroundings(context: Context, sources: list[Object]) -> str:
    """What an artist most likely wants: nothing where colliders are, the objects there are, or else a floor."""
    if any(item.grain.type == 'COLLIDER' for item in context.scene.objects):
        return 'NONE'
    return 'OBJECTS' if neighbours(context, sources) else 'FLOOR'


def neighbours(context: Context, sources: list[Object]) -> list[Object]:
    """Visible objects with a surface that have no part yet."""
    return [item for item in context.view_layer.objects
            if item not in sources and item.grain.type == 'NONE' and item.type in meshes.MESH_TYPES
            and item.visible_get() and not item.hide_render and roles.can_have_role(item)]


def bounds(context: Context, items: list[Object]) -> Optional[tuple[Vector, Vector]]:
    """Of the objects as they look, in Blender units."""
    depsgraph = context.evaluated_depsgraph_get()
    places = [meshes.surface_of(item, depsgraph)[0] for item in items]
    places = [positions for positions in places if len(positions)]
    if not places:
        return None
    every = np.concatenate(places)
    return Vector(every.min(axis=0)), Vector(every.max(axis=0))


def add_floor(context: Context, sources: list[Object]) -> Optional[Object]:
    """An endless floor, as deep under the sand as the sand is high: a fall to see, and no long wait for it."""
    found = bounds(context, sources)
    if found is None:
        return None
    low, high = found
    reach = 0.5 * FLOOR_WIDTHS * max((high - low).x, (high - low).y, (high - low).z)
    corners = [(-reach, -reach, 0.0), (reach, -reach, 0.0), (reach, reach, 0.0), (-reach, reach, 0.0)]
    mesh = bpy.data.meshes.new(FLOOR_NAME)
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    item = bpy.data.objects.new(FLOOR_NAME, mesh)
    context.collection.objects.link(item)
    item.location = (0.5 * (low.x + high.x), 0.5 * (low.y + high.y), low.z - (high.z - low.z))
    item.grain.type = 'COLLIDER'
    item.grain.collider.shape = 'PLANE'
    return item

