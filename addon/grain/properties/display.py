# SPDX-License-Identifier: GPL-3.0-or-later
"""How the sand is shown."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty
from bpy.types import Context, Object, PropertyGroup

from ..scene import simulations
from ..scene.look import grain_object, look_library
from ..scene.show import apply, playback

# Numbers are what files hold.
_MODES = (('AUTO', "Automatic", "Round grains as points, others as instances of their shape", 'NONE', 0),
          ('POINTS', "Points", "Round points: quick, and little memory", 'NONE', 1),
          ('INSTANCES', "Instances", "The grain's shape in the place of every grain, turned as it lies", 'NONE', 2),
          ('HIDDEN', "Hidden", "Nothing is shown or loaded", 'NONE', 3))
_VIEWPORT_MODES = (
    ('AUTO', "Automatic", "Round grains as points, many of them as dots; others as instances of their shape", 'NONE', 0),
    ('DOTS', "Dots", "Drawn by Grain itself, by far the quickest. Views with materials show points", 'NONE', 4),
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
        description="What grains are drawn as in the viewport")
    render_display: EnumProperty(
        name="Render", default='AUTO', items=_MODES, update=_on_shape,
        description="What grains are drawn as in renders")
    amount_mode: EnumProperty(
        name="Amount By", default='PERCENT', update=_on_display,
        items=(('AUTO', "Automatic", "The viewport shows as many as this computer draws smoothly, renders show all", 'NONE', 2),
               ('PERCENT', "Percentage", "A share of all grains", 'NONE', 0),
               ('COUNT', "Count", "So many grains at most, however many there are", 'NONE', 1)),
        description="How it is said how many grains are shown")
    viewport_amount: FloatProperty(
        name="Viewport Amount", subtype='PERCENTAGE', default=100.0, min=0.0, max=100.0, precision=0,
        update=_on_amount,
        description="Share of the grains shown in the viewport. They are the same grains in every frame")
    render_amount: FloatProperty(
        name="Render Amount", subtype='PERCENTAGE', default=100.0, min=0.0, max=100.0, precision=0,
        update=_on_amount,
        description="Share of the grains shown in renders. Less than all is for tests: the sand gets gaps")
    viewport_count: IntProperty(
        name="Viewport Count", default=1_000_000, min=0, max=2**31 - 1, soft_max=10_000_000, update=_on_count,
        description="Most grains shown in the viewport. A million plays smoothly on most machines")
    render_count: IntProperty(
        name="Render Count", default=100_000_000, min=0, max=2**31 - 1, update=_on_count,
        description="Most grains shown in renders")
    radius_scale: FloatProperty(
        name="Grain Size", subtype='FACTOR', default=1.0, min=0.1, soft_max=1.5, max=4.0, precision=2,
        update=_on_display,
        description="Size of the grains shown against the simulated ones. "
                    "A little above 1 closes the gaps of a coarse bake")
    shape: EnumProperty(
        name="Shape", default='AUTO', update=_on_shape,
        items=(('AUTO', "As Simulated", "The shape the grains have in the simulation"),
               ('ROUNDED', "Rounded", "A worn pebble: river and desert sand"),
               ('ANGULAR', "Angular", "A crushed stone: gravel, sharp sand, rubble"),
               ('CUBE', "Cube", "A crystal with worn edges: salt, sugar"),
               ('RICE', "Rice", "A long grain"),
               ('BEAN', "Bean", "A bean with its groove: coffee, beans"),
               ('OBJECT', "Object", "Any object, as large as a ball of radius 1")),
        description="What instances look like")
    shape_source: PointerProperty(
        name="Object", type=Object, poll=_can_be_shape, update=_on_shape,
        description="The object drawn in the place of every grain")
    use_rest: BoolProperty(
        name="Rest, Source, Age", default=False, update=_on_display,
        description="Give every grain the attributes rest (where it was born), source_id (the number of its source) and age "
                    "(seconds since then), for shaders and node groups")
    look: EnumProperty(
        name="Look", default='SAND', update=_on_look, items=look_library.ITEMS,
        description="The material that new sand gets; choosing one again gives it to the sand there is")


class GRAIN_PG_retime(PropertyGroup):
    """When what is shown; the bake itself is not touched. All of it may be keyframed."""
    mode: EnumProperty(
        name="Retime", default='TIMELINE', update=_on_display,
        items=(('TIMELINE', "Off", "Each frame shows its own sand"),
               ('SPEED', "Speed", "Slow motion, fast motion, backwards: a speed and an offset"),
               ('FRAME', "Frame", "Keyframe which frame of the bake is shown: hold it, reverse it, repeat it")),
        description="When which frame of the bake is shown")
    offset: FloatProperty(
        name="Offset", subtype='TIME', default=0.0, soft_min=-250.0, soft_max=250.0, precision=2, update=_on_display,
        description="Frames by which the sand starts later; below 0 earlier")
    speed: FloatProperty(
        name="Speed", default=1.0, min=-100.0, max=100.0, soft_min=-2.0, soft_max=2.0, precision=3, step=1,
        update=_on_display,
        description="How fast the sand goes: 0.25 is slow motion, 0 holds it, below 0 it goes back. Keys ramp it")
    frame: FloatProperty(
        name="Bake Frame", subtype='TIME', default=1.0, precision=2, update=_on_display,
        description="The frame of the bake shown now, parts of frames included. Keyframe it")
