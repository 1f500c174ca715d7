# SPDX-License-Identifier: GPL-3.0-or-later
"""Arrays to the sand object: its points, their attributes, its modifier. What grains were born with is written by
birth_attributes, rigid bodies by bodies, volumes by volumes.

The points are a mesh of loose vertices: a Geometry Nodes modifier makes a point cloud of them in every version. Python
can fill point clouds from 5.1 on, without crashes from 5.2.1; with that modifier they save 3 % of Cycles' memory, and a
file with one could not be played in a Blender before.
"""
from typing import Optional, Union

import bpy
import numpy as np
from bpy.types import Mesh, Object

from ... import compat
from ...engine.between import Between
from ...engine.objects import CacheFrame
from ...engine.read_ahead import Grains
from ..look import sand_nodes
from ..simulations import Simulation

ShownFrame = Union[CacheFrame, Grains, Between]
MODIFIER_NAME = "Grain Points"
# Frames of more grains than this give them a rotation only where something is turned by it: Euler angles of a million
# take 0.1 s, three times as long as all the rest.
MOST_TURNED = 250_000

_ATTRIBUTES = (("radius", 'FLOAT'), ("velocity", 'FLOAT_VECTOR'), ("id", 'INT'))
_NUMBERED = "grain_some_are_gone"  # or are born later: points are not numbered one after another
_MOISTURE = ("moisture", 'FLOAT')  # of sand that is wet somewhere
_ROTATION = ("rotation", 'FLOAT_VECTOR')  # XYZ Euler angles, as Instance on Points takes them; of grains that have one


def sand_object(simulation: Simulation) -> Optional[Object]:
    """The simulation's sand, unless the artist deleted it."""
    item = simulation.sand_object
    if item is None or item.type != 'MESH' or simulation.id_data.objects.get(item.name) != item:
        return None
    return item


def ensure_sand_object(simulation: Simulation) -> Object:
    """Makes the object once; for operators, never for handlers."""
    item = sand_object(simulation)
    if item is not None:
        return item
    name = f"Grain {simulation.name}"
    mesh = bpy.data.meshes.new(name)
    material = sand_nodes.material(simulation.display.look)
    mesh.materials.append(material)
    item = bpy.data.objects.new(name, mesh)
    modifier = item.modifiers.new(MODIFIER_NAME, 'NODES')
    if modifier.node_group is not None:  # 3.4 and before 4.0 give a new modifier a group of its own
        bpy.data.node_groups.remove(modifier.node_group)
    modifier.node_group = sand_nodes.points_group()
    compat.set_modifier_input(modifier, sand_nodes.INPUT_MATERIAL, material)
    simulation.id_data.collection.objects.link(item)
    simulation.sand_object = item
    update_display(simulation)
    return item


def remove_sand_object(simulation: Simulation) -> None:
    item = sand_object(simulation)
    if item is not None and item.library is None:
        mesh = item.data
        bpy.data.objects.remove(item)
        if mesh.users == 0:
            bpy.data.meshes.remove(mesh)


def update_display(simulation: Simulation) -> None:
    """What the modifier says beyond the frame: points or instances, and their size."""
    item = sand_object(simulation)
    modifier = item.modifiers.get(MODIFIER_NAME) if item is not None else None
    if modifier is None:
        return
    shape = simulation.shape_object
    group = sand_nodes.instances_group() if shape is not None else sand_nodes.points_group()
    if modifier.node_group != group and modifier.node_group in (None, *_own_groups()):
        modifier.node_group = group
        compat.set_modifier_input(modifier, sand_nodes.INPUT_MATERIAL, item.data.materials[0] if item.data.materials else None)
    compat.set_modifier_input(modifier, sand_nodes.INPUT_SHAPE, shape)
    compat.set_modifier_input(modifier, sand_nodes.INPUT_SCALE, simulation.display.radius_scale)
    for name, mode in ((sand_nodes.INPUT_VIEWPORT_POINTS, simulation.display.viewport_display),
                       (sand_nodes.INPUT_RENDER_POINTS, simulation.display.render_display)):
        compat.set_modifier_input(modifier, name, mode in ('POINTS', 'DOTS'))
    item.update_tag()


def set_look(simulation: Simulation) -> None:
    """Gives the sand and its instances the material of the look chosen."""
    item = sand_object(simulation)
    material = sand_nodes.material(simulation.display.look)
    for owner in (item, simulation.shape_object):
        if owner is None or owner.library is not None:
            continue
        if owner.data.materials:
            owner.data.materials[0] = material
        else:
            owner.data.materials.append(material)
    modifier = item.modifiers.get(MODIFIER_NAME) if item is not None else None
    if modifier is not None:
        compat.set_modifier_input(modifier, sand_nodes.INPUT_MATERIAL, material)
        item.update_tag()


def _own_groups() -> list[bpy.types.NodeTree]:
    """Not those an artist made: they stay."""
    groups = (bpy.data.node_groups.get(name) for name in (sand_nodes.GROUP_NAME, sand_nodes.INSTANCES_GROUP_NAME))
    return [group for group in groups if group is not None]


def show_share(simulation: Simulation, viewport: float, render: float) -> None:
    """Of the points in the object, how many are shown here and there."""
    item = sand_object(simulation)
    modifier = item.modifiers.get(MODIFIER_NAME) if item is not None else None
    if modifier is None:
        return
    for name, amount in ((sand_nodes.INPUT_AMOUNT, viewport), (sand_nodes.INPUT_RENDER_AMOUNT, render)):
        now = compat.modifier_input(modifier, name)
        if now is None or abs(now - amount) > 1e-6:  # kept as float32
            compat.set_modifier_input(modifier, name, amount)


def set_frame(item: Object, frame: ShownFrame, scale: float, seconds: float = 0.0, rate: float = 1.0,
              numbers: Optional[np.ndarray] = None) -> None:
    """Fills the object with a frame, or the first part of it, moved on by its velocities for some seconds. scale is metres
    to a Blender unit, rate how fast the sand's time goes against the scene's, numbers the grains' own where they are not their
    places in the frame. At scale and rate 1 each array goes into Blender's memory without a copy between."""
    mesh: Mesh = item.data
    position, velocity, radius = (frame.column(name) for name in ("position", "velocity", "radius"))
    gone = np.flatnonzero(radius == 0.0)  # in kill zones, or far below the scene: no point of the frame, but its number stays
    alive = np.flatnonzero(radius) if len(gone) else None
    if alive is not None:
        position, velocity, radius = position[alive], velocity[alive], radius[alive]
    count = len(position)
    if seconds != 0.0:
        position = position + velocity * np.float32(seconds)
    if scale != 1.0:
        inverse = np.float32(1.0 / scale)
        position, radius = position * inverse, radius * inverse
    if rate != scale:
        velocity = velocity * np.float32(rate / scale)
    turned = (frame.particles <= MOST_TURNED or _has_instances(item)) and frame.has_column("orientation")
    attributes = (*_ATTRIBUTES, _ROTATION) if turned else _ATTRIBUTES
    if frame.has_column("moisture"):
        attributes = (*attributes, _MOISTURE)
    if len(mesh.vertices) != count or not _has_attributes(mesh, attributes):
        _resize(mesh, count, attributes)
    if count:
        mesh.vertices.foreach_set("co", position.reshape(-1))
        mesh.attributes["radius"].data.foreach_set("value", radius)
        mesh.attributes["velocity"].data.foreach_set("vector", velocity.reshape(-1))
        if _MOISTURE in attributes:
            moisture = frame.column("moisture")
            mesh.attributes["moisture"].data.foreach_set("value", moisture[:count] if alive is None else moisture[alive])
        if _ROTATION in attributes:
            orientation = frame.column("orientation")
            angles = euler_angles(orientation if alive is None else orientation[alive])
            mesh.attributes["rotation"].data.foreach_set("vector", angles.reshape(-1))
    _set_ids(mesh, count, alive, numbers)
    mesh.update()


def _set_ids(mesh: Mesh, count: int, alive: Optional[np.ndarray], numbers: Optional[np.ndarray]) -> None:
    """The numbers of the points; only looked at where they are not their places, or were not in the frame before."""
    if alive is None and numbers is None:
        if not mesh.get(_NUMBERED):
            return
        ids = np.arange(count)
        del mesh[_NUMBERED]
    else:
        ids = alive if numbers is None else numbers if alive is None else numbers[alive]
        mesh[_NUMBERED] = True
    if count:
        mesh.attributes["id"].data.foreach_set("value", ids.astype(np.int32))


def _has_instances(item: Object) -> bool:
    modifier = item.modifiers.get(MODIFIER_NAME)
    group = modifier.node_group if modifier is not None else None
    return group is not None and group.name == sand_nodes.INSTANCES_GROUP_NAME


def has_only_own_modifier(item: Object) -> bool:
    """Whether nothing but Grain makes anything of the points."""
    modifier = item.modifiers.get(MODIFIER_NAME)
    return modifier is not None and len(item.modifiers) == 1 and modifier.show_viewport and modifier.node_group in _own_groups()


_CORNER_VERTICES, _CORNER_EDGES = 32, 24
_CORNER_PART = 0.12  # of the box's sides


def set_corners(item: Object, low: np.ndarray, high: np.ndarray) -> None:
    """In the place of grains that are drawn as dots: the corners of the box around them."""
    mesh: Mesh = item.data
    if len(mesh.vertices) != _CORNER_VERTICES or len(mesh.edges) != _CORNER_EDGES:
        if len(mesh.vertices):  # where there is nothing it would only have all editors drawn again
            mesh.clear_geometry()
        mesh.vertices.add(_CORNER_VERTICES)
        mesh.edges.add(_CORNER_EDGES)
        # A corner is four vertices, the first in the middle.
        pairs = [(4 * corner, 4 * corner + arm) for corner in range(8) for arm in (1, 2, 3)]
        mesh.edges.foreach_set("vertices", np.array(pairs, np.int32).reshape(-1))
        compat.mark_loose_edges(mesh)
    places = np.empty((8, 4, 3), np.float32)
    for corner in range(8):
        side = np.array([(corner >> axis) & 1 for axis in range(3)])
        places[corner] = np.where(side, high, low)
        places[corner, 1:] += np.diag(np.where(side, -1.0, 1.0) * _CORNER_PART * (high - low))
    mesh.vertices.foreach_set("co", places.reshape(-1))
    mesh.update_tag()  # update() would have all editors drawn again, not only the viewports


def clear(item: Object) -> None:
    """No sand at this frame."""
    if len(item.data.vertices):
        item.data.clear_geometry()
        item.data.update()


def euler_angles(orientation: np.ndarray) -> np.ndarray:
    """Unit quaternions w, x, y, z as XYZ Euler angles; both (grains, n), float32."""
    w, x, y, z = orientation.T
    return np.stack((np.arctan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
                     np.arcsin(np.clip(2.0 * (w * y - z * x), -1.0, 1.0)),
                     np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))), axis=1).astype(np.float32)


def _has_attributes(mesh: Mesh, attributes: tuple[tuple[str, str], ...]) -> bool:
    return all(name in mesh.attributes and mesh.attributes[name].data_type == kind
               and mesh.attributes[name].domain == 'POINT' for name, kind in attributes)


def _resize(mesh: Mesh, particles: int, attributes: tuple[tuple[str, str], ...]) -> None:
    mesh.clear_geometry()
    mesh.vertices.add(particles)
    for name, kind in attributes:
        if name in mesh.attributes:
            mesh.attributes.remove(mesh.attributes[name])
        mesh.attributes.new(name, kind, 'POINT')
    if particles:
        mesh.attributes["id"].data.foreach_set("value", np.arange(particles, dtype=np.int32))
