"""Arrays to Blender: the sand object, its points and their attributes. The only writer.

The points are a mesh of loose vertices: point clouds cannot be filled from Python before 5.1, and a Geometry Nodes
modifier makes one of the vertices in every version.
"""
from math import ceil
from typing import Optional

import bpy
import numpy as np
from bpy.types import Mesh, Object, Scene

from .. import compat
from ..engine.objects import CacheFrame
from . import look

OBJECT_NAME = "Grain Sand"
MODIFIER_NAME = "Grain Points"

_ATTRIBUTES = (("radius", 'FLOAT'), ("velocity", 'FLOAT_VECTOR'), ("id", 'INT'))


def sand_object(scene: Scene) -> Optional[Object]:
    """The scene's sand, unless the artist deleted it."""
    item = scene.grain.sand_object
    if item is None or item.type != 'MESH' or scene.objects.get(item.name) != item:
        return None
    return item


def ensure_sand_object(scene: Scene) -> Object:
    """Makes the object once; for operators, never for handlers."""
    item = sand_object(scene)
    if item is not None:
        return item
    mesh = bpy.data.meshes.new(OBJECT_NAME)
    material = look.sand_material()
    mesh.materials.append(material)
    item = bpy.data.objects.new(OBJECT_NAME, mesh)
    modifier = item.modifiers.new(MODIFIER_NAME, 'NODES')
    if modifier.node_group is not None:  # 3.4 and before 4.0 give a new modifier a group of its own
        bpy.data.node_groups.remove(modifier.node_group)
    modifier.node_group = look.points_group()
    compat.set_modifier_input(modifier, look.INPUT_MATERIAL, material)
    scene.collection.objects.link(item)
    scene.grain.sand_object = item
    update_display(scene)
    return item


def update_display(scene: Scene) -> None:
    item = sand_object(scene)
    modifier = item.modifiers.get(MODIFIER_NAME) if item is not None else None
    if modifier is None:
        return
    compat.set_modifier_input(modifier, look.INPUT_SCALE, scene.grain.display.radius_scale)
    show_share(scene, scene.grain.display.viewport_amount / 100.0)
    item.update_tag()


def show_share(scene: Scene, amount: float) -> None:
    """Of the points in the object, how many the viewport shows; render grains are all shown that are loaded."""
    item = sand_object(scene)
    modifier = item.modifiers.get(MODIFIER_NAME) if item is not None else None
    if modifier is None:
        return
    now = compat.modifier_input(modifier, look.INPUT_AMOUNT)
    if now is None or abs(now - amount) > 1e-6:  # kept as float32
        compat.set_modifier_input(modifier, look.INPUT_AMOUNT, amount)


def set_frame(item: Object, frame: CacheFrame, scale: float, seconds: float = 0.0, amount: float = 1.0) -> None:
    """Fills the object with a frame of the cache, or the first part of it, moved on by its velocities for some seconds.
    scale is metres to a Blender unit. A whole frame at scale 1 goes from libgrain's memory into Blender's without a copy
    between."""
    mesh: Mesh = item.data
    count = ceil(frame.particles * amount)
    position, velocity, radius = (frame.column(name)[:count] for name in ("position", "velocity", "radius"))
    if seconds != 0.0:
        position = position + velocity * np.float32(seconds)
    if scale != 1.0:
        inverse = np.float32(1.0 / scale)
        position, velocity, radius = position * inverse, velocity * inverse, radius * inverse
    if len(mesh.vertices) != count or not _has_attributes(mesh):
        _resize(mesh, count)
    if count:
        mesh.vertices.foreach_set("co", position.reshape(-1))
        mesh.attributes["radius"].data.foreach_set("value", radius)
        mesh.attributes["velocity"].data.foreach_set("vector", velocity.reshape(-1))
    mesh.update()


def clear(item: Object) -> None:
    """No sand at this frame."""
    if len(item.data.vertices):
        item.data.clear_geometry()
        item.data.update()


def _has_attributes(mesh: Mesh) -> bool:
    return all(name in mesh.attributes and mesh.attributes[name].data_type == kind
               and mesh.attributes[name].domain == 'POINT' for name, kind in _ATTRIBUTES)


def _resize(mesh: Mesh, particles: int) -> None:
    mesh.clear_geometry()
    mesh.vertices.add(particles)
    for name, kind in _ATTRIBUTES:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
        mesh.attributes.new(name, kind, 'POINT')
    if particles:
        mesh.attributes["id"].data.foreach_set("value", np.arange(particles, dtype=np.int32))
