# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which is filled with sand."""
from math import radians

from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ..scene.read import materials

FIXED: set[str] = set()  # not for keyframes


def _on_law(source: "GRAIN_PG_source", context: Context) -> None:
    """Snow is not as heavy as sand; a density that somebody has chosen stays."""
    if source.density in materials.USUAL_DENSITY.values():
        source.density = materials.USUAL_DENSITY[source.law]


class GRAIN_PG_source(PropertyGroup):
    velocity: FloatVectorProperty(
        name="Velocity", subtype='VELOCITY', unit='VELOCITY', size=3, default=(0.0, 0.0, 0.0),
        soft_min=-100.0, soft_max=100.0, min=-1000.0, max=1000.0,
        description="Velocity of the sand at the first frame, along the world axes")
    use_settle: BoolProperty(
        name="Settle", options=FIXED, default=False,
        description="Let the sand come to rest before the first frame, under gravity and with all objects held at "
                    "their first-frame position: a filled tray does not drop or burst. The sand ends up lower than it "
                    "is filled, because it packs")
    settle_seconds: FloatProperty(
        name="At Most", options=FIXED, subtype='TIME_ABSOLUTE', unit='TIME_ABSOLUTE', default=5.0, min=0.1, max=1000.0,
        soft_max=30.0, precision=1, step=50,
        description="How long the sand may take to come to rest, in simulated seconds before the first frame. "
                    "Settling ends as soon as everything lies still")
    moisture: FloatProperty(
        name="Moisture", subtype='FACTOR', default=0.0, min=0.0, max=1.0, precision=2,
        description="0 is dry, 1 is the wet sand of castles: it stands upright, flows like paste and is darker")
    moisture_paint: StringProperty(
        name="Painted", default="",
        description="Vertex group or vertex attribute that Moisture is multiplied by. Leave empty for a uniform value")
    use_attributes: BoolProperty(
        name="Carry Attributes", default=False,
        description="Copy colours, UV maps and named attributes of this mesh to its grains, under their own names. "
                    "Each grain keeps the value of the surface point nearest to where it started")
    use_material: BoolProperty(
        name="Own Material", default=False,
        description="Sand from this object differs from the rest of the simulation: sand on snow, gravel in dust. Not "
                    "available with Viscous. Contacts between two materials of Individual Grains use the geometric "
                    "mean of their settings")
    law: EnumProperty(
        name="Material", options=FIXED, default='SAND', items=materials.LAWS, update=_on_law,
        description="What this source is made of")
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1, description="Friction between grains of this material. Can be keyframed")
    rolling_friction: FloatProperty(
        name="Rolling Friction", options=FIXED, subtype='FACTOR', default=0.3, min=0.0, max=2.0, soft_max=1.0, precision=2,
        description="How much grains of this material resist rolling")
    density: FloatProperty(
        name="Density", options=FIXED, default=2600.0, min=1.0, max=30000.0, soft_min=500.0, soft_max=8000.0, step=1000, precision=0,
        description="Density of a single grain, in kg/m³")
    restitution: FloatProperty(
        name="Bounciness", options=FIXED, subtype='FACTOR', default=0.3, min=0.05, max=1.0, precision=2,
        description="Share of its speed a grain keeps when it hits something head-on")
    cohesion: FloatProperty(
        name="Cohesion", default=0.0, min=0.0, max=1000.0, soft_max=20.0, precision=2,
        description="How strongly grains of this material stick to each other, as a multiple of the weight of one. "
                    "Can be keyframed")
