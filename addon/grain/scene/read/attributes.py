# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours, UV maps and attributes of a source's mesh, for the grains that fill it."""
from dataclasses import dataclass

import numpy as np
from bpy.types import Mesh

# What libgrain and the sand object use themselves, and what says nothing about a place on the surface.
_RESERVED = {"position", "velocity", "radius", "orientation", "moisture", "rotation", "id", "rest", "source_id", "age", "crease_vert",
             "crease_edge", "bevel_weight_vert", "bevel_weight_edge"}
_COMPONENTS = {'FLOAT': (1, "value"), 'FLOAT2': (2, "vector"), 'FLOAT_VECTOR': (3, "vector"), 'FLOAT_COLOR': (4, "color"),
               'BYTE_COLOR': (4, "color")}
MOST = 16  # of a job
_LONGEST_NAME = 31  # bytes


@dataclass(frozen=True)
class Attribute:
    name: str
    domain: str  # vertex, or corner: three elements to a triangle
    values: np.ndarray  # float32 (elements, components)


def read(mesh: Mesh) -> list[Attribute]:
    """Of a mesh whose loop triangles are there; by name."""
    found: dict[str, Attribute] = {}
    loops = np.empty(len(mesh.loop_triangles) * 3, np.int32)
    mesh.loop_triangles.foreach_get("loops", loops)
    faces = np.empty(len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("polygon_index", faces)
    for attribute in mesh.attributes:
        if attribute.data_type not in _COMPONENTS or not _is_usable(attribute.name):
            continue
        components, member = _COMPONENTS[attribute.data_type]
        values = np.empty(len(attribute.data) * components, np.float32)
        attribute.data.foreach_get(member, values)
        values = values.reshape(-1, components)
        if attribute.domain == 'POINT':
            found[attribute.name] = Attribute(attribute.name, "vertex", values)
        elif attribute.domain == 'CORNER':
            found[attribute.name] = Attribute(attribute.name, "corner", values[loops])
        elif attribute.domain == 'FACE':
            found[attribute.name] = Attribute(attribute.name, "corner", np.repeat(values[faces], 3, axis=0))
    for layer in mesh.uv_layers:  # before 3.5 they are no attributes
        if layer.name not in found and _is_usable(layer.name):
            values = np.empty(len(layer.data) * 2, np.float32)
            layer.data.foreach_get("uv", values)
            found[layer.name] = Attribute(layer.name, "corner", values.reshape(-1, 2)[loops])
    return [found[name] for name in sorted(found)][:MOST]


def mirrored(attribute: Attribute) -> Attribute:
    """For triangles whose corners are listed the other way round."""
    if attribute.domain != "corner":
        return attribute
    width = attribute.values.shape[1]
    turned = attribute.values.reshape(-1, 3, width)[:, ::-1].reshape(-1, width)
    return Attribute(attribute.name, attribute.domain, np.ascontiguousarray(turned))


def _is_usable(name: str) -> bool:
    return not name.startswith(".") and name not in _RESERVED and 0 < len(name.encode("utf-8")) <= _LONGEST_NAME
