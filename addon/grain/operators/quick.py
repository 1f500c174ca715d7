# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand in one click, and materials by name."""
from bpy.props import EnumProperty
from bpy.types import Context, Menu, Object, Operator

from .. import runtime
from ..engine import text
from ..scene import simulations
from ..scene.manage import estimate, presets, quick, roles
from .simulation import has_simulation


def _idle(cls: type[Operator]) -> bool:
    if runtime.is_baking():
        cls.poll_message_set("A bake is running: pause it first")
        return False
    return True


class GRAIN_OT_quick_sand(Operator):
    bl_idname = "grain.quick_sand"
    bl_label = "Quick Sand"
    bl_description = "Turn the selected objects into sand: fill them, choose a grain size, and give the sand something to fall on"
    bl_options = {'REGISTER', 'UNDO'}

    preset: EnumProperty(name="Material", default='DRY_SAND', items=presets.ITEMS, description="The material of the sand")
    surroundings: EnumProperty(
        name="Falls On", default='AUTO',
        items=(('AUTO', "Automatic", "Existing colliders; without any, the visible objects; otherwise a new floor"),
               ('FLOOR', "New Floor", "Add an endless floor below the sand"),
               ('OBJECTS', "Visible Objects", "Make the other visible objects colliders"),
               ('NONE', "Existing Colliders", "Add nothing")),
        description="What the sand falls on")

    @classmethod
    def poll(cls, context: Context) -> bool:
        if context.mode != 'OBJECT':
            cls.poll_message_set("Leave Edit Mode first")
            return False
        if not any(map(roles.can_have_role, context.selected_objects)):
            cls.poll_message_set("Select a closed mesh, curve, text or metaball")
            return False
        return _idle(cls)

    def _sources(self, context: Context) -> list[Object]:
        return [item for item in context.selected_objects if roles.can_have_role(item)]

    def execute(self, context: Context) -> set[str]:
        sources = self._sources(context)
        depsgraph = context.evaluated_depsgraph_get()
        hollow = [item.name for item in sources if estimate.source_body(item, depsgraph).volume <= 0.0]
        if hollow:
            quoted = [f"'{name}'" for name in hollow]
            self.report({'ERROR'}, f"{text.listing(quoted)} {'encloses' if len(quoted) == 1 else 'enclose'} no space: sand needs "
                                   "a closed surface. Close the holes, or add a Solidify modifier")
            return {'CANCELLED'}
        wanted = self.surroundings
        quick.make(context, sources, self.preset,
                   quick.likely_surroundings(context, sources) if wanted == 'AUTO' else wanted)
        _show_physics_tab(context)
        simulation = simulations.of_object(sources[0], context.scene)
        expected = estimate.of_simulation(simulation, context.evaluated_depsgraph_get())
        self.report({'INFO'}, f"About {text.about(expected.particles)} grains. Press Bake in Properties > Physics")
        return {'FINISHED'}


def _show_physics_tab(context: Context) -> None:
    """Where the Bake button is. An editor that shows something pinned stays as it is."""
    for area in context.screen.areas if context.screen is not None else ():
        space = area.spaces.active
        if area.type == 'PROPERTIES' and not space.use_pin_id:
            try:
                space.context = 'PHYSICS'
            except TypeError:  # no active object, so there is no such tab
                pass


class GRAIN_OT_floor_add(Operator):
    bl_idname = "grain.floor_add"
    bl_label = "Add Floor"
    bl_description = "Add an endless floor below the sand"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_simulation(cls, context) and _idle(cls)

    def execute(self, context: Context) -> set[str]:
        sources = simulations.objects(context.scene.grain.active, 'SOURCE', 'EMITTER', 'BODY')
        if quick.add_floor(context, sources) is None:
            self.report({'ERROR'}, "There is no sand yet: make a closed mesh a Source first")
            return {'CANCELLED'}
        return {'FINISHED'}


class GRAIN_OT_preset(Operator):
    bl_idname = "grain.preset"
    bl_label = "Material Preset"
    bl_description = "Set solver, friction, cohesion, density, grain shape and look at once"
    bl_options = {'REGISTER', 'UNDO'}

    preset: EnumProperty(name="Material", default='DRY_SAND', items=presets.ITEMS, description="The material of the sand")

    @classmethod
    def description(cls, context: Context, properties: "GRAIN_OT_preset") -> str:
        return presets.PRESETS[properties.preset].description

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_simulation(cls, context) and _idle(cls)

    def execute(self, context: Context) -> set[str]:
        presets.use(context.scene.grain.active, self.preset, context.evaluated_depsgraph_get())
        return {'FINISHED'}


class GRAIN_MT_presets(Menu):
    bl_idname = "GRAIN_MT_presets"
    bl_label = "Material Presets"

    def draw(self, context: Context) -> None:
        for name, preset in presets.PRESETS.items():
            self.layout.operator("grain.preset", text=preset.label).preset = name


def draw_menu(menu: Menu, context: Context) -> None:
    """In Object > Quick Effects, beside smoke and liquid, and in the Object menu itself."""
    menu.layout.operator(GRAIN_OT_quick_sand.bl_idname)
