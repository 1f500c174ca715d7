# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigid bodies in Blender: their objects follow the poses in the cache.

An object's own location, rotation and animation are never written to. What the bake adds goes into its delta
transforms, which Blender keeps apart for such purposes, and is taken out again when there is nothing to show.
"""
from typing import Optional

import numpy as np
from bpy.types import Object
from mathutils import Euler, Matrix, Quaternion, Vector

from ...engine.objects import CacheFrame
from .. import simulations
from ..simulations import Simulation


def moved_by(simulation: Simulation) -> list[Object]:
    """The bodies of a simulation, without those that follow another one."""
    scene = simulation.id_data
    return [item for item in simulations.objects(simulation, 'BODY')
            if simulations.of_object(item, scene) == simulation]


def note_rest(item: Object, name: str, matrix: Matrix) -> None:
    """A bake starts: this is how it knows the object."""
    settings = item.grain.rigid
    settings.baked_name = name
    settings.rest_matrix = [number for row in matrix for number in row]


def show(simulation: Simulation, names: tuple[str, ...], frame: CacheFrame, scale: float, seconds: float) -> None:
    """Moves every body to where it is in this frame, moved on by its velocities for some seconds."""
    numbers = {name: index for index, name in enumerate(names)}
    if not numbers:
        return
    columns = {name: frame.column(f"body.{name}") for name in ("position", "orientation", "velocity", "spin")}
    for item in moved_by(simulation):
        index = numbers.get(item.grain.rigid.baked_name)
        if index is None or index >= min(map(len, columns.values())) or not item.grain.rigid.follow:
            restore(item)
            continue
        location, turned = _pose(columns, index, seconds)
        _pose_object(item, world_matrix(item, location / scale, turned))


def _pose(columns: dict[str, np.ndarray], index: int, seconds: float) -> tuple[Vector, Quaternion]:
    location, turned = Vector(columns["position"][index]), Quaternion(columns["orientation"][index])
    if seconds != 0.0:
        location += Vector(columns["velocity"][index]) * seconds
        spin = Vector(columns["spin"][index])
        if spin.length > 0.0:
            turned = Quaternion(spin, spin.length * seconds) @ turned
    return location, turned


def world_matrix(item: Object, location: Vector, turned: Quaternion) -> Matrix:
    """Where the object is when its origin is there and it has turned so far since the bake's first frame."""
    rest = rest_matrix(item)
    return Matrix.Translation(location) @ turned.to_matrix().to_4x4() @ Matrix.Translation(-rest.translation) @ rest


def rest_matrix(item: Object) -> Matrix:
    numbers = item.grain.rigid.rest_matrix
    return Matrix([numbers[row * 4:row * 4 + 4] for row in range(4)])


def own_rotation(item: Object) -> Quaternion:
    """As the object's own channels say, without deltas."""
    if item.rotation_mode == 'QUATERNION':
        return item.rotation_quaternion.normalized()
    if item.rotation_mode == 'AXIS_ANGLE':
        angle, *axis = item.rotation_axis_angle
        return Quaternion(axis, angle)
    return item.rotation_euler.to_quaternion()


def local_target(item: Object, world: Matrix) -> tuple[Vector, Quaternion]:
    """Location and rotation, before parents, that put the object there."""
    above = item.matrix_world @ item.matrix_basis.inverted_safe()
    location, rotation, _scale = (above.inverted_safe() @ world).decompose()
    return location, rotation


def _pose_object(item: Object, world: Matrix) -> None:
    _keep(item)
    location, rotation = local_target(item, world)
    delta = rotation @ own_rotation(item).inverted()
    item.delta_location = location - item.location
    if item.rotation_mode == 'QUATERNION':
        item.delta_rotation_quaternion = delta
    else:
        item.delta_rotation_euler = delta.to_euler(item.rotation_mode, item.delta_rotation_euler)


def _keep(item: Object) -> None:
    settings = item.grain.rigid
    if settings.is_posed:
        return
    settings.kept_location = item.delta_location
    if item.rotation_mode == 'QUATERNION':
        settings.kept_rotation = item.delta_rotation_quaternion
    else:
        settings.kept_rotation = (*item.delta_rotation_euler, 0.0)
    settings.is_posed = True


def restore(item: Object) -> None:
    """The object stands again where it was placed. Doing it twice does nothing."""
    settings = item.grain.rigid
    if not settings.is_posed:
        return
    item.delta_location = settings.kept_location
    if item.rotation_mode == 'QUATERNION':
        item.delta_rotation_quaternion = Quaternion(settings.kept_rotation)
    else:
        item.delta_rotation_euler = Euler(settings.kept_rotation[:3], item.rotation_mode)
    settings.is_posed = False


def restore_all(simulation: Simulation) -> None:
    for item in moved_by(simulation):
        restore(item)


def write_keyframes(item: Object, frame: int, location: Vector, turned: Quaternion,
                    before: Optional[Quaternion]) -> Quaternion:
    """Keys of location and rotation at a frame; the rotation goes the short way from the one before."""
    target, rotation = local_target(item, world_matrix(item, location, turned))
    # Deltas, where the artist has any, come on top.
    item.location = target - item.delta_location
    if item.rotation_mode == 'QUATERNION':
        own = item.delta_rotation_quaternion.inverted() @ rotation
        if before is not None:
            own.make_compatible(before)
        item.rotation_quaternion = own
        item.keyframe_insert("rotation_quaternion", frame=frame)
    else:
        own = item.delta_rotation_euler.to_quaternion().inverted() @ rotation
        item.rotation_euler = own.to_euler(item.rotation_mode, item.rotation_euler)
        item.keyframe_insert("rotation_euler", frame=frame)
    item.keyframe_insert("location", frame=frame)
    return own
