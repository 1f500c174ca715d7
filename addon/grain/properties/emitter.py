# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object that sand comes out of. What they share with a source (velocity, moisture, own material) stands in
`object.grain.source`."""
from bpy.props import EnumProperty, FloatProperty
from bpy.types import PropertyGroup

from . import from_schema


class GRAIN_PG_emitter(PropertyGroup):
    active: from_schema.flag("emitter.active")
    place: from_schema.choice("emitter.from")
    rate_unit: from_schema.choice("emitter.rate_unit")
    rate: from_schema.number("emitter.rate", step=10000, precision=0)
    litres: FloatProperty(
        name="Rate", default=0.5, min=0.0, max=1e6, soft_max=100.0, step=10, precision=3,
        description="Litres of sand per second. A sugar pourer gives 0.1, a bucket emptied in two seconds 5")
    space: EnumProperty(
        name="Axes", default='LOCAL', description="Axes of the velocity",
        items=(('LOCAL', "Local", "Turns with the object"), ('WORLD', "World", "Stays as it is")))
    normal_speed: from_schema.number("emitter.normal_speed", unit='VELOCITY', precision=2)
    jitter: from_schema.number("emitter.jitter", unit='VELOCITY', precision=2)
    inherit_velocity: from_schema.number("emitter.inherit_velocity", subtype='FACTOR', precision=2)
