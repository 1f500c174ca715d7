# SPDX-License-Identifier: GPL-3.0-or-later
"""The sand object, and a radius that fits."""
import bpy
from bpy.types import Context, Menu, Operator

from .. import runtime
from ..scene import paths, simulations
from ..scene.manage import estimate
from ..scene.show import apply, dots, playback
from .simulation import has_simulation


class GRAIN_OT_show_sand(Operator):
    bl_idname = "grain.show_sand"
    bl_label = "Show Sand"
    bl_description = "Add the object that plays the baked frames back"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        if not paths.has_cache(context.scene.grain.active):
            cls.poll_message_set("Bake the simulation first")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        simulation = context.scene.grain.active
        apply.ensure_sand_object(simulation)
        playback.forget(simulation)
        playback.show(simulation)
        return {'FINISHED'}


class GRAIN_OT_viewport_picture(Operator):
    bl_idname = "grain.viewport_picture"
    bl_label = "Viewport Render Image with Sand"
    bl_description = "Render an image of the viewport with the sand that is drawn as dots, which Blender's own command leaves out"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return bpy.ops.render.opengl.poll()

    def execute(self, context: Context) -> set[str]:
        with dots.during('PICTURE'):
            playback.show_scene(context.scene)
            context.view_layer.update()
            bpy.ops.render.opengl()  # at once: invoked, it would come later, when the points are gone again
        playback.show_scene(context.scene)
        bpy.ops.render.view_show('INVOKE_DEFAULT')
        return {'FINISHED'}


class GRAIN_OT_plain_drawing(Operator):
    bl_idname = "grain.plain_drawing"
    bl_label = "Switch Off Anti-Aliasing"
    bl_description = ("Draw viewports and wires without anti-aliasing, which takes most of the drawing time without a graphics "
                      "card. Changes Anti-Aliasing and Smooth Wires in Preferences > Viewport")
    bl_options = {'REGISTER'}

    def execute(self, context: Context) -> set[str]:
        system = context.preferences.system
        system.viewport_aa, system.use_overlay_smooth_wire = 'OFF', False
        return {'FINISHED'}


def draw_view_menu(menu: Menu, context: Context) -> None:
    """Where dots are shown."""
    if any(shown.dots is not None for shown in runtime.state.shown.values()):
        menu.layout.operator("grain.viewport_picture", icon='RENDER_STILL')


class GRAIN_OT_radius_fit(Operator):
    bl_idname = "grain.radius_fit"
    bl_label = "Fit Radius to Source"
    bl_description = "Choose a radius at which about 30,000 particles fill the sources: quick to bake, and fine enough to look like sand"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        if not simulations.objects(context.scene.grain.active, 'SOURCE'):
            cls.poll_message_set("Make an object a Source first")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        settings = context.scene.grain.active
        sources = simulations.objects(settings, 'SOURCE')
        radius = estimate.fitting_radius(sources, context.view_layer.depsgraph, settings.size_spread)
        if radius is None:
            self.report({'ERROR'}, "The sources enclose no space: give them a closed surface")
            return {'CANCELLED'}
        settings.particle_radius = radius
        settings.is_radius_chosen = False
        return {'FINISHED'}
