# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated objects to triangles: the only place that asks Blender for the artist's geometry."""
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
from bpy.types import Depsgraph, DepsgraphObjectInstance, Object
from mathutils import Matrix

from .. import simulations
from ..simulations import Simulation
from . import attributes, paint
from .attributes import Attribute
from .errors import SnapshotError

MESH_TYPES = ('MESH', 'CURVE', 'SURFACE', 'META', 'FONT')

Key = tuple[str, str, tuple[int, ...]]  # the same mesh in every frame: names and, of instances, their persistent id


@dataclass
class Mesh:
    """The triangles of an object, or of one instance."""
    name: str
    owner: Object  # the original which has the role
    matrix: Matrix
    local: np.ndarray  # float32 (vertices, 3), before the matrix
    triangles: np.ndarray  # int32 (triangles, 3)
    key: Key
    paint: dict[str, np.ndarray] = field(default_factory=dict)  # float32 (vertices, 1), 0 to 1, by the job's key
    attributes: list[Attribute] = field(default_factory=list)  # of a source that gives them to its grains

    def positions(self, scale: float = 1.0) -> np.ndarray:
        """In world space, float32 (vertices, 3); Blender units, or metres by their scale."""
        transform = np.array(self.matrix, np.float64)
        world = self.local @ transform[:3, :3].T
        world += transform[:3, 3]
        positions = world.astype(np.float32)
        if scale != 1.0:
            positions *= np.float32(scale)
        return positions


def of_object(item: Object, depsgraph: Depsgraph) -> list[Mesh]:
    """One object's own surface and that of its instances."""
    return list(_shown(depsgraph, {item}, only=item))


def of_simulation(simulation: Simulation, depsgraph: Depsgraph, roles: set[Object]) -> Iterator[Mesh]:
    """Every visible mesh and instance that takes part, then those of `roles` which are hidden."""
    return _shown(depsgraph, roles, simulation)


def again(simulation: Simulation, depsgraph: Depsgraph, roles: set[Object], keys: Container[Key]) -> Iterator[Mesh]:
    """Of the same meshes those with these keys, at a later frame: without what is painted on them."""
    return _shown(depsgraph, roles, simulation, keys=keys)


def surface_of(item: Object, depsgraph: Depsgraph) -> tuple[np.ndarray, np.ndarray]:
    """One object as it looks, whatever its role: modifiers and instances included, in one mesh. World space, Blender
    units; float32 (vertices, 3) and int32 (triangles, 3)."""
    found: list[Mesh] = []
    for instance in depsgraph.object_instances:
        shown = instance.object
        owner = instance.parent if instance.is_instance else shown
        if owner is None or owner.original != item or shown.type not in MESH_TYPES:
            continue
        if not (instance.is_instance and _is_own_surface(instance)):
            found += _read(shown, item, instance.matrix_world.copy(), instance.is_instance, _key(shown, item))
    if not found:  # hidden in the viewport
        evaluated = item.evaluated_get(depsgraph)
        if evaluated.type in MESH_TYPES:
            found += _read(evaluated, item, evaluated.matrix_world.copy(), False, _key(evaluated, item))
    positions = [mesh.positions() for mesh in found] or [np.empty((0, 3), np.float32)]
    offsets = np.cumsum([0] + [len(part) for part in positions])
    triangles = [mesh.triangles + np.int32(offset) for mesh, offset in zip(found, offsets[:-1], strict=True)]
    return np.concatenate(positions), np.concatenate(triangles or [np.empty((0, 3), np.int32)])


def _role_owner(item: Object, instancer: Optional[Object], simulation: Optional[Simulation]) -> Optional[Object]:
    for candidate in (item.original, instancer.original if instancer is not None else None):
        if candidate is not None and candidate.grain.type != 'NONE':
            if simulation is None or simulations.takes_part(candidate, simulation):
                return candidate
    return None


def _shown(depsgraph: Depsgraph, roles: set[Object], simulation: Optional[Simulation] = None,
           only: Optional[Object] = None, keys: Optional[Container[Key]] = None) -> Iterator[Mesh]:
    """simulation: None for any. keys: of the meshes that are read, without paint; None for all, with it."""
    seen: set[Object] = set()
    for instance in depsgraph.object_instances:
        item = instance.object
        owner = _role_owner(item, instance.parent if instance.is_instance else None, simulation)
        if owner is None or (only is not None and owner != only) or is_plane(owner) or item.type not in MESH_TYPES:
            continue
        if instance.is_instance and _is_own_surface(instance):
            continue
        seen.add(owner)
        key = _key(item, owner, tuple(instance.persistent_id) if instance.is_instance else ())
        if keys is None or key in keys:
            yield from _read(item, owner, instance.matrix_world.copy(), instance.is_instance, key, keys is None)
    for owner in sorted(roles - seen, key=lambda item: item.name):
        item = owner.evaluated_get(depsgraph)
        key = _key(item, owner)
        if item.is_evaluated and item.type in MESH_TYPES and not is_plane(owner) and (keys is None or key in keys):
            yield from _read(item, owner, item.matrix_world.copy(), False, key, keys is None)


def _key(item: Object, owner: Object, instance: tuple[int, ...] = ()) -> Key:
    return owner.name, item.original.name, instance


def _is_own_surface(instance: DepsgraphObjectInstance) -> bool:
    """Blender lists a curve, text or metaball twice: as itself, and as an instance of the mesh it turns into."""
    parent = instance.parent
    return (parent is not None and parent.type != 'MESH' and instance.object.original == parent.original
            and instance.matrix_world == parent.matrix_world)


def is_plane(owner: Object) -> bool:
    return owner.grain.type == 'COLLIDER' and owner.grain.collider.shape == 'PLANE'


def _read(item: Object, owner: Object, matrix: Matrix, is_instance: bool, key: Key,
          with_paint: bool = True) -> Iterator[Mesh]:
    try:
        mesh = item.to_mesh()
    except RuntimeError as error:  # a metaball whose family another one draws
        raise SnapshotError(f"'{item.original.name}' gives no surface of its own: {error}") from error
    if mesh is None:
        return
    try:
        mesh.calc_loop_triangles()
        positions = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", positions)
        triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
        painted = paint.read(item, mesh, owner) if with_paint else {}
        takes_attributes = with_paint and owner.grain.type == 'SOURCE' and owner.grain.source.use_attributes
        found = attributes.read(mesh) if takes_attributes else []
    finally:
        item.to_mesh_clear()
    if is_instance and len(triangles) == 0:
        return
    corners = triangles.reshape(-1, 3)
    if matrix.is_negative:
        corners = np.ascontiguousarray(corners[:, ::-1])  # a mirrored object is still wound outward
        found = [attributes.mirrored(entry) for entry in found]
    yield Mesh(item.original.name, owner, matrix, positions.reshape(-1, 3), corners, key, painted, found)


def count_open_edges(triangles: np.ndarray) -> int:
    """Edges that belong to an odd number of triangles."""
    edges = np.sort(np.concatenate((triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)])), axis=1)
    keys = edges[:, 0].astype(np.int64) << 32 | edges[:, 1]
    return int(np.count_nonzero(np.unique(keys, return_counts=True)[1] % 2))
