"""Settings of an object which is filled with sand."""
from bpy.props import FloatVectorProperty
from bpy.types import PropertyGroup


class GRAIN_PG_source(PropertyGroup):
    velocity: FloatVectorProperty(
        name="Velocity", subtype='VELOCITY', unit='VELOCITY', size=3, default=(0.0, 0.0, 0.0),
        soft_min=-100.0, soft_max=100.0, min=-1000.0, max=1000.0,
        description="Speed of the sand at the first frame, along the world's axes")
