# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object that sand comes out of. What they share with a source (velocity, moisture, own material) stands in
`object.grain.source`."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty
from bpy.types import PropertyGroup


class GRAIN_PG_emitter(PropertyGroup):
    active: BoolProperty(
        name="Emit", default=True,
        description="Whether sand comes out. Keyframe it to start and stop the stream: the value holds until the next "
                    "keyframe")
    place: EnumProperty(
        name="From", default='VOLUME', description="Where sand comes out",
        items=(('VOLUME', "Volume", "Anywhere inside. The mesh must be closed"),
               ('SURFACE', "Surface", "From its faces. The mesh may be open")))
    rate_unit: EnumProperty(
        name="Unit", default='PARTICLES', description="What the rate counts",
        items=(('PARTICLES', "Particles", "Simulated particles per second"),
               ('LITRES', "Litres", "Litres of heaped sand per second: the same flow at any particle size")))
    rate: FloatProperty(
        name="Rate", default=2000.0, min=0.0, max=1e8, soft_max=100000.0, step=10000, precision=0,
        description="Particles per second. Particles that would overlap others are skipped: give a fast stream more "
                    "room or speed")
    litres: FloatProperty(
        name="Rate", default=0.5, min=0.0, max=1e6, soft_max=100.0, step=10, precision=3,
        description="Litres of sand per second. A sugar pourer gives 0.1, a bucket emptied in two seconds 5")
    space: EnumProperty(
        name="Axes", default='LOCAL', description="Axes of the velocity",
        items=(('LOCAL', "Local", "The velocity turns with the object"), ('WORLD', "World", "The velocity does not turn with the object")))
    normal_speed: FloatProperty(
        name="Along Normal", unit='VELOCITY', default=0.0, min=-1000.0, max=1000.0, soft_min=-20.0, soft_max=20.0, precision=2,
        description="Speed out of the nearest face, added to the velocity")
    jitter: FloatProperty(
        name="Jitter", unit='VELOCITY', default=0.0, min=0.0, max=1000.0, soft_max=5.0, precision=2,
        description="Random velocity added to each particle: turns a jet into a spray")
    inherit_velocity: FloatProperty(
        name="Inherit Motion", subtype='FACTOR', default=1.0, min=-10.0, max=10.0, soft_min=0.0, soft_max=1.0, precision=2,
        description="How much of the object's own motion is added to the sand: 1 for a shaken box, 0 for sand that "
                    "appears at rest")
