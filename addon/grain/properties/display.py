# SPDX-License-Identifier: GPL-3.0-or-later
"""Display of the sand."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import Context, Object, PropertyGroup

from ..scene import simulations
from ..scene.look import grain_object, look_library
from ..scene.show import apply, playback

# Numbers are what files hold.
_MODES = (('AUTO', "Automatic", "Spheres as points, other grains as instances of their shape", 'NONE', 0),
          ('POINTS', "Points", "Round points: fast, with little memory", 'NONE', 1),
          ('INSTANCES', "Instances", "An instance of the grain shape for every grain, with its rotation", 'NONE', 2),
          ('HIDDEN', "Hidden", "Show and load nothing", 'NONE', 3))
_VIEWPORT_MODES = (
    ('AUTO', "Automatic", "Spheres as points, or as dots if there are many; other grains as instances of their shape", 'NONE', 0),
    ('DOTS', "Dots", "Drawn by Grain itself: by far the fastest. Views with materials show points instead", 'NONE', 4),
    *_MODES[1:])


def _on_amount(group: "GRAIN_PG_display", context: Context) -> None:
    if group.amount_mode == 'AUTO':
        group.amount_mode = 'PERCENT'
    _on_display(group, context)


def _on_count(group: "GRAIN_PG_display", context: Context) -> None:
    if group.amount_mode == 'AUTO':
        group.amount_mode = 'COUNT'
    _on_display(group, context)


def _on_display(group: "GRAIN_PG_display", context: Context) -> None:
    simulation = simulations.owner_of(group)
    apply.update_display(simulation)
    playback.forget(simulation)
    playback.show(simulation)


def _on_shape(group: "GRAIN_PG_display", context: Context) -> None:
    grain_object.refresh(simulations.owner_of(group), context.evaluated_depsgraph_get())
    _on_display(group, context)


def _on_look(group: "GRAIN_PG_display", context: Context) -> None:
    apply.set_look(simulations.owner_of(group))


def _can_be_shape(group: "GRAIN_PG_display", item: Object) -> bool:
    return item.type in grain_object.SHAPE_TYPES and item.grain.type == 'NONE'


class GRAIN_PG_display(PropertyGroup):
    viewport_display: EnumProperty(
        name="Viewport", default='AUTO', items=_VIEWPORT_MODES, update=_on_shape,
        description="How grains are drawn in the viewport")
    render_display: EnumProperty(
        name="Render", default='AUTO', items=_MODES, update=_on_shape,
        description="How grains are drawn in renders")
    amount_mode: EnumProperty(
        name="Amount By", default='PERCENT', update=_on_display,
        items=(('AUTO', "Automatic", "The viewport shows as many grains as this computer can draw smoothly, renders show all", 'NONE', 2),
               ('PERCENT', "Percentage", "A share of all grains", 'NONE', 0),
               ('COUNT', "Count", "At most this many grains", 'NONE', 1)),
        description="How the number of visible grains is specified")
    viewport_amount: FloatProperty(
        name="Viewport Amount", subtype='PERCENTAGE', default=100.0, min=0.0, max=100.0, precision=0,
        update=_on_amount,
        description="Share of the grains shown in the viewport. The same grains are shown in every frame")
    render_amount: FloatProperty(
        name="Render Amount", subtype='PERCENTAGE', default=100.0, min=0.0, max=100.0, precision=0,
        update=_on_amount,
        description="Share of the grains shown in renders. Use less than 100% for tests only: the sand gets gaps")
    viewport_count: IntProperty(
        name="Viewport Count", default=1_000_000, min=0, max=2**31 - 1, soft_max=10_000_000, update=_on_count,
        description="Largest number of grains shown in the viewport. A million plays smoothly on most machines")
    render_count: IntProperty(
        name="Render Count", default=100_000_000, min=0, max=2**31 - 1, update=_on_count,
        description="Largest number of grains shown in renders")
    radius_scale: FloatProperty(
        name="Grain Size", subtype='FACTOR', default=1.0, min=0.1, soft_max=1.5, max=4.0, precision=2,
        update=_on_display,
        description="Displayed size of the grains relative to their simulated size. "
                    "A value slightly above 1 closes the gaps of a coarse bake")
    shape: EnumProperty(
        name="Shape", default='AUTO', update=_on_shape,
        items=(('AUTO', "As Simulated", "The shape of the grains in the simulation"),
               ('ROUNDED', "Rounded", "A worn pebble: river and desert sand"),
               ('ANGULAR', "Angular", "A crushed stone: gravel, sharp sand, rubble"),
               ('CUBE', "Cube", "A crystal with worn edges: salt, sugar"),
               ('RICE', "Rice", "A long grain"),
               ('BEAN', "Bean", "A bean with its groove: coffee, beans"),
               ('OBJECT', "Object", "Any object that fits into a sphere of radius 1")),
        description="Shape of the instances")
    shape_source: PointerProperty(
        name="Object", type=Object, poll=_can_be_shape, update=_on_shape,
        description="The object drawn for every grain")
    use_rest: BoolProperty(
        name="Rest, Source, Age", default=False, update=_on_display,
        description="Add the attributes rest (initial position), source_id (number of the source) and age (seconds since the "
                    "grain appeared) for shaders and node groups")
    look: EnumProperty(
        name="Look", default='SAND', update=_on_look, items=look_library.ITEMS,
        description="Material of the sand. Choosing a look assigns its material to the existing sand")


class GRAIN_PG_retime(PropertyGroup):
    """Maps scene frames to baked frames; the bake itself is not changed. Everything can be keyframed."""
    mode: EnumProperty(
        name="Retime", default='TIMELINE', update=_on_display,
        items=(('TIMELINE', "Off", "Every scene frame shows the baked frame of the same number"),
               ('SPEED', "Speed", "Slow motion, fast motion or reverse, with a speed and an offset"),
               ('FRAME', "Frame", "Keyframe the baked frame to hold, reverse or repeat the motion")),
        description="Map scene frames to baked frames")
    offset: FloatProperty(
        name="Offset", subtype='TIME', default=0.0, soft_min=-250.0, soft_max=250.0, precision=2, update=_on_display,
        description="Number of frames by which the sand starts later; negative values start it earlier")
    speed: FloatProperty(
        name="Speed", default=1.0, min=-100.0, max=100.0, soft_min=-2.0, soft_max=2.0, precision=3, step=1,
        update=_on_display,
        description="Playback speed: 0.25 is slow motion, 0 freezes the sand, negative plays backwards. "
                    "Can be keyframed for speed ramps")
    frame: FloatProperty(
        name="Bake Frame", subtype='TIME', default=1.0, precision=2, update=_on_display,
        description="The baked frame to show; fractions lie between two frames. Keyframe it")
