# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of an object which sand and other bodies move."""
from bpy.props import BoolProperty, FloatVectorProperty, StringProperty
from bpy.types import Context, PropertyGroup

from ..scene import simulations
from ..scene.show import playback
from . import from_schema
from .collider import FIXED


def _on_follow(group: "GRAIN_PG_rigid", context: Context) -> None:
    simulation = simulations.of_object(group.id_data, context.scene)
    if simulation is not None:
        playback.forget(simulation)
        playback.show(simulation)


class GRAIN_PG_rigid(PropertyGroup):
    density: from_schema.number("body.density", options=FIXED, step=1000, precision=0)
    friction_angle: from_schema.number(
        "body.friction", step=100, precision=1,
        description="Steepest slope of this surface on which a grain stays put. Contacts between two bodies mix both. Can be keyframed")
    stickiness: from_schema.number("body.stickiness", precision=2)
    use_animation: BoolProperty(
        name="Animated", options=FIXED, default=False,
        description="The object's own animation moves it until the given frame; then the simulation takes over")
    release_frame: from_schema.integer("body.release_frame", options=FIXED)
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
