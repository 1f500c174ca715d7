# SPDX-License-Identifier: GPL-3.0-or-later
"""Statistics and logs of bakes; jobs for render farms."""
import platform
from pathlib import Path

import bpy
from bpy.props import StringProperty
from bpy.types import Context, Event, Operator

from .. import ADDON_VERSION, compat
from ..engine import bake_log, door, ffi, job as job_files, text
from ..scene import paths
from ..scene.manage import job_builder
from ..scene.read.errors import SnapshotError
from ..scene.show import volumes
from .simulation import has_simulation

LOG_TEXT = "Grain Log"


def _log_path(context: Context) -> Path:
    return paths.cache_folder(context.scene.grain.active) / bake_log.FILE


def _has_log(cls: type[Operator], context: Context) -> bool:
    if not has_simulation(cls, context):
        return False
    if not door.is_file(_log_path(context)):
        cls.poll_message_set("Bake the simulation first")
        return False
    return True


class GRAIN_OT_statistics_export(Operator):
    bl_idname = "grain.statistics_export"
    bl_label = "Export Statistics"
    bl_description = "Write a CSV table with one row per baked frame: time, particles, bytes, substeps, contacts, energies"
    bl_options = {'REGISTER'}

    filepath: StringProperty(subtype='FILE_PATH', default="", description="The table")
    filter_glob: StringProperty(default="*.csv", options={'HIDDEN'})

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _has_log(cls, context)

    def invoke(self, context: Context, event: Event) -> set[str]:
        if not self.filepath:
            name = f"{bpy.path.clean_name(context.scene.grain.active.name)}_statistics.csv"
            self.filepath = str(Path(bpy.data.filepath).with_name(name)) if bpy.data.filepath else name
        context.window_manager.fileselect_add(self)
        return {'RUNNING_MODAL'}

    def execute(self, context: Context) -> set[str]:
        path = Path(bpy.path.abspath(self.filepath)).with_suffix(".csv")
        try:
            rows = bake_log.write_csv(bake_log.read(_log_path(context)), path)
        except OSError as error:
            self.report({'ERROR'}, f"{path} cannot be written: {error.strerror}")
            return {'CANCELLED'}
        self.report({'INFO'}, f"Wrote {text.plural(rows, 'row')} to {path.name}")
        return {'FINISHED'}


class GRAIN_OT_log_show(Operator):
    bl_idname = "grain.log_show"
    bl_label = "Log to Text Editor"
    bl_description = "Copy the bake log and version information to a text block, for a bug report"
    bl_options = {'REGISTER', 'UNDO'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return _has_log(cls, context)

    def execute(self, context: Context) -> set[str]:
        try:
            log = bake_log.cleaned(_log_path(context))
        except OSError as error:
            self.report({'ERROR'}, f"{error.filename} cannot be read: {error.strerror}")
            return {'CANCELLED'}
        shown = bpy.data.texts.get(LOG_TEXT) or bpy.data.texts.new(LOG_TEXT)
        shown.clear()
        shown.write(f"Grain {ADDON_VERSION}, library {ffi.version()}, Blender {compat.VERSION_TEXT}, {platform.platform()}\n\n")
        shown.write(log)
        self.report({'INFO'}, f"The log is in the text block '{LOG_TEXT}'")
        return {'FINISHED'}


class GRAIN_OT_job_export(Operator):
    bl_idname = "grain.job_export"
    bl_label = "Export Job"
    bl_description = "Write the scene to a folder that the grain program can bake without Blender, for example on a render farm"
    bl_options = {'REGISTER'}

    directory: StringProperty(subtype='DIR_PATH', default="", description="The folder to write, created if it is missing")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return has_simulation(cls, context)

    def invoke(self, context: Context, event: Event) -> set[str]:
        context.window_manager.fileselect_add(self)
        return {'RUNNING_MODAL'}

    def execute(self, context: Context) -> set[str]:
        simulation, folder = context.scene.grain.active, Path(bpy.path.abspath(self.directory)).resolve()
        try:
            made, warnings = job_builder.make(simulation, context.view_layer)
            job_files.write(job_files.describe(made), folder)
            if volumes.volume_object(simulation) is not None:
                job_files.set_part(folder, "volume", volumes.settings_of(simulation))
            door.replace(folder / "README.txt", _farm_notes(simulation.use_upsample).encode("utf-8"))
        except SnapshotError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        except OSError as error:
            self.report({'ERROR'}, f"{error.filename or folder} cannot be written: {error.strerror}")
            return {'CANCELLED'}
        for warning in warnings:
            self.report({'WARNING'}, warning)
        self.report({'INFO'}, f"Wrote the job to {folder}")
        return {'FINISHED'}


def _farm_notes(with_grains: bool) -> str:
    lines = ["A Grain job. On the farm, run these commands in this folder:", "",
             "  grain bake . --cache cache              on one machine; run it again to resume"]
    if with_grains:
        lines.append("  grain upsample . --cache cache --shard 1/8    on any number of machines, one shard each")
    lines += ["  grain volume . --cache cache            only if you need a volume", "",
              "Then set Cache > Folder in Blender to the folder 'cache'. Exit code 0 means done; 5 means interrupted: run the command again.", ""]
    return "\n".join(lines)
