# SPDX-License-Identifier: GPL-3.0-or-later
"""Covers: particles on an object's surface, as an object of their own that moves with it."""
from math import pi, sqrt
from typing import Optional

import bpy
import numpy as np
from bpy.types import Context, Material, Mesh, Object, PropertyGroup
from mathutils import Matrix

from ... import compat
from ...engine.ffi import GrainError
from ...engine.objects import Cover, Surface
from ..look import sand_nodes
from ..read import meshes
from ..read.errors import SnapshotError
from . import estimate

MODIFIER_NAME = "Grain Points"
MATERIAL_NAME = "Grain Cover"
PARTICLES_WANTED = 4_000  # when nobody chose a radius: enough to see the shape, made in a blink
MOST_PARTICLES = 2_000_000  # Blender waits while they are made
SETTINGS = ("radius", "offset", "density", "seed")

_ATTRIBUTES = (("radius", 'FLOAT'), ("id", 'INT'), ("grain_normal", 'FLOAT_VECTOR'), ("grain_weight", 'FLOAT'))

_is_filling = False  # settings are being written by code, not by the artist


def is_cover(item: Optional[Object]) -> bool:
    return item is not None and item.type == 'MESH' and item.grain.cover.surface is not None


def find(surface: Object) -> Optional[Object]:
    """The cover an object has already."""
    return next((item for item in bpy.data.objects if item.type == 'MESH' and item.grain.cover.surface == surface),
                None)


def read_surface(item: Object, context: Context) -> Surface:
    """The object as it looks now. SnapshotError where it has no surface."""
    item.update_from_editmode()
    context.view_layer.update()
    positions, triangles = meshes.surface_of(item, context.evaluated_depsgraph_get())
    if len(triangles) == 0:
        raise SnapshotError(f"'{item.name}' has no faces to cover. Give it a surface, or "
                                     "check its modifiers")
    return Surface(positions, triangles)


def fitting_radius(surface: Surface) -> float:
    """The radius at which about PARTICLES_WANTED cover the surface, with two digits."""
    area = estimate.measure(surface.positions, surface.triangles).area
    return float(f"{sqrt(area / (PARTICLES_WANTED * pi)):.2g}") if area > 0.0 else 0.01


def make(item: Object, surface: Surface, settings: dict[str, float], context: Context) -> Object:
    """Covers an object, or covers it anew; returns the cover. GrainError says what libgrain could not do."""
    with Cover(surface, max_count=MOST_PARTICLES, **settings) as cover:
        made = find(item) or _new_object(item, context)
        # Particles are in world space now, and move with the object from here on.
        made.matrix_parent_inverse = item.matrix_world.inverted_safe()
        made.matrix_basis = Matrix()
        _fill(made.data, cover, settings["radius"])
        _note(made.grain.cover, cover, settings, surface)
    return made


def update(group: PropertyGroup, context: Context) -> None:
    """The artist changed a setting in the panel."""
    if _is_filling or group.surface is None:
        return
    try:
        make(group.surface, read_surface(group.surface, context), {name: getattr(group, name) for name in SETTINGS},
             context)
    except (GrainError, SnapshotError) as error:  # the panel shows it: an update has no other way to tell
        group.problem = str(error)


def _new_object(item: Object, context: Context) -> Object:
    mesh = bpy.data.meshes.new(f"{item.name} Cover")
    material = _material()
    mesh.materials.append(material)
    made = bpy.data.objects.new(f"{item.name} Cover", mesh)
    modifier = made.modifiers.new(MODIFIER_NAME, 'NODES')
    if modifier.node_group is not None:  # 3.4 and before 4.0 give a new modifier a group of its own
        bpy.data.node_groups.remove(modifier.node_group)
    modifier.node_group = sand_nodes.points_group()
    compat.set_modifier_input(modifier, sand_nodes.INPUT_MATERIAL, material)
    collections = item.users_collection
    (collections[0] if collections else context.scene.collection).objects.link(made)
    made.parent = item
    made.grain.cover.surface = item
    return made


def _material() -> Material:
    material = bpy.data.materials.get(MATERIAL_NAME)
    if material is None:
        material = bpy.data.materials.new(MATERIAL_NAME)
        material.diffuse_color = (0.15, 0.35, 0.6, 1.0)
        compat.use_nodes(material)
        shader = next((node for node in material.node_tree.nodes if node.type == 'BSDF_PRINCIPLED'), None)
        if shader is not None:
            shader.inputs["Base Color"].default_value = material.diffuse_color
    return material


def _fill(mesh: Mesh, cover: Cover, radius: float) -> None:
    position = cover.position
    mesh.clear_geometry()
    mesh.vertices.add(len(position))
    mesh.vertices.foreach_set("co", position.reshape(-1))
    for name, kind in _ATTRIBUTES:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
        mesh.attributes.new(name, kind, 'POINT')
    mesh.attributes["radius"].data.foreach_set("value", np.full(len(position), radius, np.float32))
    mesh.attributes["id"].data.foreach_set("value", cover.id.astype(np.int32))
    mesh.attributes["grain_normal"].data.foreach_set("vector", cover.normal.reshape(-1))
    mesh.attributes["grain_weight"].data.foreach_set("value", cover.weight)
    mesh.update()


def _note(group: PropertyGroup, cover: Cover, settings: dict[str, float], surface: Surface) -> None:
    """Settings and figures, for the panel."""
    global _is_filling
    quality = cover.quality
    spacing, mean = quality.spacing or 1.0, quality.nearest_mean or 1.0
    _is_filling = True
    try:
        for name in SETTINGS:
            setattr(group, name, settings[name])
        group.problem = ""
        group.count, group.count_wanted = quality.count, quality.count_wanted
        group.nearest = quality.nearest_mean / spacing
        group.deviation = quality.nearest_deviation / mean
        group.smallest = quality.nearest_smallest / spacing
        group.gap = quality.largest_gap / spacing
        group.off_surface = quality.largest_distance / settings["radius"]
        group.report = surface.report()
    finally:
        _is_filling = False
