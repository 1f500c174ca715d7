# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes: bake them, show them, mesh their surface."""
from bpy.types import Context, Operator

from .. import runtime
from ..scene import paths
from ..scene.manage import baking
from ..scene.show import volumes
from .bake import BakeRunner, is_free
from .simulation import has_simulation


class GRAIN_OT_bake_volume(BakeRunner, Operator):
    bl_idname = "grain.bake_volume"
    bl_label = "Bake Volume"
    bl_description = ("Turn the baked sand into an OpenVDB sequence and show it as a Volume object. The simulation is not "
                      "changed; a paused bake resumes where it left off")
    bl_options = {'REGISTER'}
    done_text = "The volume is baked"

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not is_free(cls) or not has_simulation(cls, context):
            return False
        if not paths.has_cache(context.scene.grain.active):
            cls.poll_message_set("Bake the simulation first")
            return False
        return True

    def begin(self, context: Context) -> runtime.Bake:
        return baking.start_volume(context.scene.grain.active)


class GRAIN_OT_show_volume(Operator):
    bl_idname = "grain.show_volume"
    bl_label = "Show Volume"
    bl_description = "Add the Volume object that plays the baked sequence, or point it at the files again"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not cache_has_volume(context):
            cls.poll_message_set("Bake the volume first")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        volumes.refresh(context.scene.grain.active)
        return {'FINISHED'}


class GRAIN_OT_surface_mesh(Operator):
    bl_idname = "grain.surface_mesh"
    bl_label = "Surface Mesh"
    bl_description = "Add a mesh of the volume's surface, for wet sand, mud or snow. Blender rebuilds it in every frame"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not cache_has_volume(context) or "surface" not in volumes.grid_names(context.scene.grain.active):
            cls.poll_message_set("Bake a volume with Surface switched on first")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        volumes.refresh(context.scene.grain.active)
        item = volumes.ensure_mesh(context.scene.grain.active)
        for other in context.selected_objects:
            other.select_set(False)
        item.select_set(True)
        context.view_layer.objects.active = item
        return {'FINISHED'}


def cache_has_volume(context: Context) -> bool:
    simulation = context.scene.grain.active
    return simulation is not None and volumes.manifest_of(simulation) is not None
