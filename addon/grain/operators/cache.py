# SPDX-License-Identifier: GPL-3.0-or-later
"""Deleting a bake, and looking at its files."""
import bpy
from bpy.types import Context, Event, Operator, UILayout

from .. import runtime
from ..engine import cache, files, text
from ..panels.text import draw_wrapped
from ..scene import paths
from ..scene.show import playback
from .simulation import has_simulation


class GRAIN_OT_free(Operator):
    bl_idname = "grain.free"
    bl_label = "Free Bake"
    bl_description = "Delete the baked frames. Files that Grain did not write are never deleted"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        folder = paths.cache_folder(context.scene.grain.active)
        if runtime.is_baking(folder):
            cls.poll_message_set("Pause the bake first")
            return False
        if not cache.own_files(folder):
            cls.poll_message_set("Nothing is baked yet")
            return False
        return True

    def invoke(self, context: Context, event: Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context: Context) -> None:
        folder = paths.cache_folder(context.scene.grain.active)
        draw_deletion(self.layout, context, folder)

    def execute(self, context: Context) -> set[str]:
        simulation = context.scene.grain.active
        folder = paths.cache_folder(simulation)
        try:
            byte_count = cache.free(folder)
        except cache.CacheError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        runtime.state.messages.pop(folder, None)
        runtime.state.outdated.pop(folder, None)
        playback.show(simulation)
        self.report({'INFO'}, f"Freed {text.size(byte_count)}")
        return {'FINISHED'}


def draw_deletion(layout: UILayout, context: Context, folder: cache.Path) -> None:
    """The body of a dialog which asks before frames are deleted."""
    try:
        manifest = cache.read_manifest(folder)
    except cache.CacheError:
        manifest = None
    what = text.plural(len(manifest.particles), "baked frame") if manifest else "the unfinished bake"
    draw_wrapped(layout, context, f"This deletes {what} in {folder}. It cannot be undone", icon='TRASH', width=400)


class GRAIN_OT_open_folder(Operator):
    bl_idname = "grain.open_folder"
    bl_label = "Open Cache Folder"
    bl_description = "Open the folder with the baked files in the file manager"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        if not paths.cache_folder(context.scene.grain.active).is_dir():
            cls.poll_message_set("Nothing is baked yet")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        bpy.ops.wm.path_open(filepath=str(files.plain(paths.cache_folder(context.scene.grain.active))))
        return {'FINISHED'}
