# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which sand and other bodies move."""
from math import radians

from bpy.props import BoolProperty, FloatProperty, FloatVectorProperty, IntProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ..scene import simulations
from ..scene.show import playback
from .collider import FIXED, STICKINESS


def _on_follow(group: "GRAIN_PG_rigid", context: Context) -> None:
    simulation = simulations.of_object(group.id_data, context.scene)
    if simulation is not None:
        playback.forget(simulation)
        playback.show(simulation)


class GRAIN_PG_rigid(PropertyGroup):
    density: FloatProperty(
        name="Density", options=FIXED, default=1000.0, min=0.001, max=1e6, soft_min=10.0, soft_max=20000.0, step=1000, precision=0,
        description="In kg/m³; the mass follows from the volume. Wood 600, water 1000, stone 2600, iron 7870. Heaped "
                    "sand has about 1600: lighter bodies rise in it when it is shaken")
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="Steepest slope of this surface on which a grain stays put. Contacts between two bodies use the "
                    "geometric mean of both. Can be keyframed")
    stickiness: FloatProperty(**STICKINESS)
    use_animation: BoolProperty(
        name="Animated", options=FIXED, default=False,
        description="The object's own animation moves it until the given frame; then the simulation takes over")
    release_frame: IntProperty(
        name="Until Frame", options=FIXED, default=10, min=-1048574, max=1048574,
        description="Frame at which the object's own animation ends and the simulation takes over")
    follow: BoolProperty(
        name="Follow Bake", options=FIXED, default=True, update=_on_follow,
        description="Show the object where the bake has moved it. If off, it stays where you placed it")

    # What the object had before the bake moved it, given back when there is nothing to show.
    is_posed: BoolProperty(options={'HIDDEN'})
    kept_location: FloatVectorProperty(size=3, options={'HIDDEN'})
    kept_rotation: FloatVectorProperty(size=4, options={'HIDDEN'})
    # How the bake knows it: by its name then, and where it stood at the first frame (row by row).
    baked_name: StringProperty(options={'HIDDEN'})
    rest_matrix: FloatVectorProperty(size=16, options={'HIDDEN'})
