# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which sand collides with."""
from bpy.props import EnumProperty
from bpy.types import PropertyGroup

from . import from_schema

FIXED: set[str] = set()  # not for keyframes


class GRAIN_PG_collider(PropertyGroup):
    shape: EnumProperty(
        name="Shape", options=FIXED, default='MESH', description="What sand collides with",
        items=(('MESH', "Mesh", "The object's surface, with its modifiers"),
               ('PLANE', "Endless Floor", "An infinite floor through the object's origin. Sand lies on its +Z side. "
                                          "Faster than a large mesh, and nothing falls off its edge")))
    friction_angle: from_schema.number("collider.friction", step=100, precision=1)
    friction_paint: from_schema.painted("collider.friction_paint", options=FIXED)
    stickiness: from_schema.number("collider.stickiness", precision=2)
    stickiness_paint: from_schema.painted("collider.stickiness_paint", options=FIXED)
    thickness: from_schema.number(
        "collider.thickness", options=FIXED, subtype='DISTANCE', unit='LENGTH', step=0.1, precision=4)
