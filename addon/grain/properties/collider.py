"""Settings of an object which sand collides with."""
from math import radians

from bpy.props import EnumProperty, FloatProperty
from bpy.types import PropertyGroup


class GRAIN_PG_collider(PropertyGroup):
    shape: EnumProperty(
        name="Shape", default='MESH', description="What sand collides with",
        items=(('MESH', "Mesh", "The object's surface, with its modifiers"),
               ('PLANE', "Endless Floor", "A floor without end: through the object's origin, sand lies on the side "
                                          "of its local Z axis. Quicker than a large mesh, and nothing falls off its "
                                          "edge")))
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="Steepest slope of this surface on which a grain stays put. Glass about 15°, wood 25°, rock 35°")
    thickness: FloatProperty(
        name="Thickness", subtype='DISTANCE', unit='LENGTH', default=0.0, min=0.0, max=1000.0, soft_max=1.0,
        step=0.1, precision=4,
        description="How thick a sheet without inside becomes: a cloth, a leaf, an open bowl. "
                    "Closed meshes ignore it. 0 chooses about the size of a grain")
