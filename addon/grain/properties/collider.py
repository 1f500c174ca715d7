# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which sand collides with."""
from math import radians

from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy.types import PropertyGroup

FIXED: set[str] = set()  # not for keyframes
STICKINESS = dict(
    name="Stickiness", default=0.0, min=0.0, max=1000.0, soft_max=20.0, precision=2,
    description="How strongly the surface pulls at sand touching it, as a multiple of a particle's weight. At 0 "
                    "everything falls off, above 1 a layer hangs from a ceiling, 5 to 20 acts like tar or honey. Can "
                    "be keyframed")


class GRAIN_PG_collider(PropertyGroup):
    shape: EnumProperty(
        name="Shape", options=FIXED, default='MESH', description="What sand collides with",
        items=(('MESH', "Mesh", "The object's surface, with its modifiers"),
               ('PLANE', "Endless Floor", "An infinite plane through the object's origin. Sand lies on its +Z side. "
                                          "Faster than a large mesh, and nothing falls off its edge")))
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="Steepest slope of this surface on which a grain stays put. Glass about 15°, wood 25°, rock 35°. "
                    "Can be keyframed")
    friction_paint: StringProperty(
        name="Painted", options=FIXED, default="",
        description="Vertex group or vertex attribute that Friction is multiplied by; 0 is ice. Leave empty for a "
                    "uniform value")
    stickiness: FloatProperty(**STICKINESS)
    stickiness_paint: StringProperty(
        name="Painted", options=FIXED, default="",
        description="Vertex group or vertex attribute that Stickiness is multiplied by. Leave empty for a uniform "
                    "value")
    thickness: FloatProperty(
        name="Thickness", options=FIXED, subtype='DISTANCE', unit='LENGTH', default=0.0, min=0.0, max=1000.0, soft_max=1.0,
        step=0.1, precision=4,
        description="Thickness given to open surfaces (cloth, leaves, bowls). Closed meshes ignore it. 0 chooses "
                    "about the size of a grain")
