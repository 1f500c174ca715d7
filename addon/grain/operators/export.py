# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand for other programs."""
from pathlib import Path

import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator

from ..scene import frames, paths
from ..scene.manage import export
from .simulation import has_simulation


class GRAIN_OT_export(Operator):
    bl_idname = "grain.export"
    bl_label = "Export Sand"
    bl_description = "Write the baked sand to files for other programs"
    bl_options = {'REGISTER'}

    filepath: StringProperty(subtype='FILE_PATH', description="Formats with one file per frame add the frame number")
    format: EnumProperty(
        name="Format", default='PLY',
        items=(('PLY', "PLY", "One file per frame: positions, velocities, radii, orientations, attributes"),
               ('VDB_POINTS', "OpenVDB Points", "One small file per frame, for Houdini: P, v, pscale, orient, id"),
               ('ALEMBIC', "Alembic", "The sand object, written by Blender's own exporter if this build has it"),
               ('USD', "USD", "The sand object, written by Blender's own exporter if this build has it")))
    frame_start: IntProperty(name="Frame Start", default=1, description="First frame")
    frame_end: IntProperty(name="End", default=1, description="Last frame")

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        if not paths.has_cache(context.scene.grain.active):
            cls.poll_message_set("Bake the simulation first")
            return False
        return True

    def invoke(self, context: Context, event: Event) -> set[str]:
        self.frame_start, self.frame_end = frames.bake_range(context.scene.grain.active)
        if not self.filepath:
            self.filepath = str(Path(bpy.data.filepath).with_name(context.scene.grain.active.name)) if bpy.data.filepath else "sand"
        context.window_manager.fileselect_add(self)
        return {'RUNNING_MODAL'}

    def execute(self, context: Context) -> set[str]:
        path, simulation = Path(bpy.path.abspath(self.filepath)), context.scene.grain.active
        try:
            if self.format in export.GRAIN_FORMATS:
                written = export.write_frames(simulation, path, self.format, self.frame_start, self.frame_end)
            else:
                written = [export.write_by_blender(context, simulation, path, self.format, self.frame_start, self.frame_end)]
        except export.ExportError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        self.report({'INFO'}, f"Wrote {written[0].name}" if len(written) == 1 else
                    f"Wrote {len(written)} files, {written[0].name} to {written[-1].name}")
        return {'FINISHED'}
