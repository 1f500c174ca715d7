# SPDX-License-Identifier: GPL-3.0-or-later
"""What artists paint on meshes by vertex, for the bake: where sources are wet, where colliders are rough and sticky."""
import numpy as np
from bpy.types import Mesh, Object

from .errors import SnapshotError


def read(item: Object, mesh: Mesh, owner: Object) -> dict[str, np.ndarray]:
    """Of an evaluated object's mesh; float32 (vertices, 1), 0 to 1, by the job's key. Raises SnapshotError."""
    return {key: _weights(item, mesh, name, where) for key, name, where in _painted(owner)}


def _painted(owner: Object) -> list[tuple[str, str, str]]:
    """What is painted on an object: key of the job, name of the vertex group, and what that says, for messages."""
    source, collider = owner.grain.source, owner.grain.collider
    if owner.grain.type == 'SOURCE' and source.moisture > 0.0:
        found = [("moisture_paint", source.moisture_paint, "where it is wet. Choose another one in its Source panel, or none")]
    elif owner.grain.type == 'COLLIDER':
        found = [("friction_paint", collider.friction_paint, "where it is rough. Choose another one in its Collider panel, or none"),
                 ("stickiness_paint", collider.stickiness_paint,
                  "where it is sticky. Choose another one in its Collider panel, or none")]
    else:
        found = []
    return [entry for entry in found if entry[1]]


def _weights(item: Object, mesh: Mesh, name: str, where: str) -> np.ndarray:
    """By vertex: an attribute of that name, or else a vertex group."""
    weights = np.zeros(len(mesh.vertices), np.float32)
    attribute = mesh.attributes.get(name)
    group = item.vertex_groups.get(name) if item.type == 'MESH' else None
    if attribute is not None and attribute.domain == 'POINT' and attribute.data_type == 'FLOAT':
        attribute.data.foreach_get("value", weights)
    elif group is not None:
        for vertex in mesh.vertices:
            for element in vertex.groups:
                if element.group == group.index:
                    weights[vertex.index] = element.weight
    else:
        raise SnapshotError(f"'{item.original.name}' has no vertex group or attribute '{name}', which should say {where}")
    return np.clip(weights, 0.0, 1.0).reshape(-1, 1)
