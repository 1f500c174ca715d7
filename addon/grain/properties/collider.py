# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which sand collides with."""
from math import radians

from bpy.props import EnumProperty, FloatProperty, StringProperty
from bpy.types import PropertyGroup

FIXED: set[str] = set()  # not for keyframes
STICKINESS = dict(
    name="Stickiness", default=0.0, min=0.0, max=1000.0, soft_max=20.0, precision=2,
    description="How hard it pulls at the sand that touches it, over the weight of a particle. 0 lets everything fall, with more "
                "than 1 a layer hangs from a ceiling, 5 to 20 is tar and honey. Can be keyframed")


class GRAIN_PG_collider(PropertyGroup):
    shape: EnumProperty(
        name="Shape", options=FIXED, default='MESH', description="What sand collides with",
        items=(('MESH', "Mesh", "The object's surface, with its modifiers"),
               ('PLANE', "Endless Floor", "A floor without end: through the object's origin, sand lies on the side "
                                          "of its local Z axis. Quicker than a large mesh, and nothing falls off its "
                                          "edge")))
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="Steepest slope of this surface on which a grain stays put. Glass about 15°, wood 25°, rock 35°. "
                    "Can be keyframed")
    friction_paint: StringProperty(
        name="Painted", options=FIXED, default="",
        description="Vertex group, or attribute of the vertices, that says where it is rough: Friction is multiplied by it, so 0 is "
                    "ice. Empty: everywhere alike")
    stickiness: FloatProperty(**STICKINESS)
    stickiness_paint: StringProperty(
        name="Painted", options=FIXED, default="",
        description="Vertex group, or attribute of the vertices, that says where it is sticky: Stickiness is multiplied by it. "
                    "Empty: everywhere alike")
    thickness: FloatProperty(
        name="Thickness", options=FIXED, subtype='DISTANCE', unit='LENGTH', default=0.0, min=0.0, max=1000.0, soft_max=1.0,
        step=0.1, precision=4,
        description="How thick a sheet without inside becomes: a cloth, a leaf, an open bowl. "
                    "Closed meshes ignore it. 0 chooses about the size of a grain")
