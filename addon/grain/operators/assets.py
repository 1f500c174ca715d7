# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials and shapes in Blender's Asset Browser."""
from pathlib import Path

import bpy
from bpy.types import Context, Operator

FOLDER = Path(__file__).resolve().parent.parent / "assets"


def _is_known(context: Context) -> bool:
    return any(library.path and Path(library.path) == FOLDER for library in context.preferences.filepaths.asset_libraries)


class GRAIN_OT_asset_library_add(Operator):
    bl_idname = "grain.asset_library_add"
    bl_label = "Show in Asset Browser"
    bl_description = "Add Grain's materials and grain shapes to the Asset Browser, as a library named Grain"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        if _is_known(context):
            cls.poll_message_set("The Asset Browser already shows them")
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        bpy.ops.preferences.asset_library_add(directory=str(FOLDER))
        for library in context.preferences.filepaths.asset_libraries:
            if library.path and Path(library.path) == FOLDER:
                library.path, library.name = str(FOLDER), "Grain"
        return {'FINISHED'}
