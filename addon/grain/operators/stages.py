# SPDX-License-Identifier: GPL-3.0-or-later
"""The stages of a bake: simulation, render grains, volume. Each is baked, paused, resumed and freed on its own."""
import bpy
from bpy.props import EnumProperty, IntProperty, StringProperty
from bpy.types import Context, Event, Operator

from .. import runtime
from ..engine import cache, text
from ..panels.text import draw_wrapped
from ..scene import paths, simulations
from ..scene.manage import baking
from ..scene.show import playback, volumes
from ..scene.simulations import Simulation
from .bake import BakeRunner, can_bake, is_free
from .cache import draw_deletion
from .simulation import has_simulation

STAGES = (('SIMULATE', "Simulation", "The motion of the particles"),
          ('GRAINS', "Render Grains", "Many small grains made from the simulated particles"),
          ('VOLUME', "Volume", "Fog, dust and surfaces made from particles or render grains"))
FOLDERS = {'SIMULATE': "", 'GRAINS': cache.GRAINS_FOLDER, 'VOLUME': cache.VOLUME_FOLDER}


class GRAIN_OT_bake_stage(BakeRunner, Operator):
    bl_idname = "grain.bake_stage"
    bl_label = "Bake Stage"
    bl_description = "Bake only this stage, or resume it where it was paused"
    bl_options = {'REGISTER'}

    stage: EnumProperty(name="Stage", default='SIMULATE', items=STAGES, description="What to bake")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_free(cls) and has_simulation(cls, context)

    def begin(self, context: Context) -> runtime.Bake:
        simulation = context.scene.grain.active
        if self.stage == 'GRAINS':
            return baking.start_grains(simulation, context.view_layer)
        if self.stage == 'VOLUME':
            return baking.start_volume(simulation)
        return baking.start(simulation, context.view_layer, False, stages=('SIMULATE',))


class GRAIN_OT_free_stage(Operator):
    bl_idname = "grain.free_stage"
    bl_label = "Free Stage"
    bl_description = "Delete the frames of this stage. Freeing the simulation also frees its render grains and volume"
    bl_options = {'REGISTER'}

    stage: EnumProperty(name="Stage", default='GRAINS', items=STAGES, description="What to delete")

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not has_simulation(cls, context):
            return False
        if runtime.is_baking(paths.cache_folder(context.scene.grain.active)):
            cls.poll_message_set("Pause the bake first")
            return False
        return True

    def _folder(self, context: Context) -> cache.Path:
        return paths.cache_folder(context.scene.grain.active) / FOLDERS[self.stage]

    def invoke(self, context: Context, event: Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context: Context) -> None:
        draw_deletion(self.layout, context, self._folder(context))

    def execute(self, context: Context) -> set[str]:
        simulation = context.scene.grain.active
        folder = paths.cache_folder(simulation)
        try:
            byte_count = cache.free(folder, FOLDERS[self.stage])
        except cache.CacheError as error:
            self.report({'ERROR'}, str(error))
            return {'CANCELLED'}
        if self.stage == 'SIMULATE':
            runtime.state.messages.pop(folder, None)
            runtime.state.outdated.pop(folder, None)
        playback.forget(simulation)
        playback.show(simulation)
        if volumes.volume_object(simulation) is not None:
            volumes.volume_object(simulation).data.grids.unload()
        self.report({'INFO'}, f"Freed {text.size(byte_count)}")
        return {'FINISHED'}


class GRAIN_OT_bake_from(BakeRunner, Operator):
    bl_idname = "grain.bake_from"
    bl_label = "Bake From Frame"
    bl_description = ("Keep the frames up to a restart point and bake the rest again with the current settings and scene: for "
                      "changes in the middle of a shot")
    bl_options = {'REGISTER'}

    frame: IntProperty(name="Frame", default=1, description="Frame to continue from. The last restart point at or before it is used")

    @classmethod
    def poll(cls, context: Context) -> bool:
        if not can_bake(cls, context):
            return False
        if not _saved(context.scene.grain.active):
            cls.poll_message_set("No restart point is saved yet (see Cache > Restart Interval)")
            return False
        return True

    def invoke(self, context: Context, event: Event) -> set[str]:
        if self.properties.is_property_set("frame"):
            return super().invoke(context, event)
        saved = _saved(context.scene.grain.active)
        self.frame = max((frame for frame in saved if frame <= context.scene.frame_current), default=saved[0])
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context: Context) -> None:
        saved = _saved(context.scene.grain.active)
        self.layout.prop(self, "frame")
        used = max((frame for frame in saved if frame <= self.frame), default=None)
        words = (f"Frames after {used} are baked again; earlier frames are kept" if used is not None else
                 f"The earliest restart point is frame {saved[0]}")
        draw_wrapped(self.layout, context, words, icon='INFO', width=400)
        draw_wrapped(self.layout, context, f"Restart points: {', '.join(map(str, saved))}", width=400)

    def execute(self, context: Context) -> set[str]:
        if context.window is not None and self.options.is_invoke:  # confirmed in the dialog: runs in the background
            return BakeRunner.invoke(self, context, None)
        return BakeRunner.execute(self, context)

    def begin(self, context: Context) -> runtime.Bake:
        simulation = context.scene.grain.active
        used = max((frame for frame in _saved(simulation) if frame <= self.frame), default=None)
        if used is None:
            raise baking.BakeRefused(f"There is no restart point at or before frame {self.frame}. The earliest is frame "
                                     f"{_saved(simulation)[0]}")
        return baking.start(simulation, context.view_layer, False, keep_frame=used)


def _saved(simulation: Simulation) -> list[int]:
    try:
        return cache.checkpoint_frames(paths.cache_folder(simulation))
    except (cache.CacheError, OSError):
        return []


class GRAIN_OT_bake_all(Operator):
    bl_idname = "grain.bake_all"
    bl_label = "Bake All"
    bl_description = "Bake every simulation in the file with its render grains, and its volume if it has one"
    bl_options = {'REGISTER'}

    scene: StringProperty(name="Scene", default="", description="Bake only the scene of this name. Leave empty to bake all scenes")
    restart: EnumProperty(
        name="Existing Frames", default='RESUME',
        items=(('RESUME', "Resume", "Keep existing frames and bake what is missing. Frames baked with other settings are an error"),
               ('ANEW', "Bake Anew", "Delete existing frames and start again")),
        description="What to do with frames that are already baked")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return is_free(cls)

    def execute(self, context: Context) -> set[str]:
        found = [item for item in simulations.of_file() if self.scene in ("", item.id_data.name)]
        found = [item for item in found if simulations.objects(item, 'SOURCE', 'EMITTER', 'BODY')]
        if not found:
            self.report({'ERROR'}, "There is nothing to bake: make a closed mesh a Source first")
            return {'CANCELLED'}
        failed = []
        for place in [(item.id_data.name, item.name) for item in found]:
            problem = _bake_one(*place, self.restart == 'ANEW')
            if problem:
                failed.append(f"'{place[1]}': {problem}")
        if failed:
            self.report({'ERROR'}, "; ".join(failed))
            return {'CANCELLED'}
        self.report({'INFO'}, f"Baked {text.plural(len(found), 'simulation')}")
        return {'FINISHED'}


def _bake_one(scene_name: str, name: str, restart: bool) -> str:
    """Waits for it. Returns what went wrong, or ''."""
    scene = bpy.data.scenes[scene_name]
    simulation = simulations.find(scene, name)
    with_volume = volumes.volume_object(simulation) is not None
    try:
        problem = _wait(baking.start(simulation, scene.view_layers[0], restart))
        if not problem and with_volume:
            problem = _wait(baking.start_volume(simulation))
    except baking.BakeRefused as error:
        return str(error)
    return problem


def _wait(bake: runtime.Bake) -> str:
    last = ""
    try:
        while True:
            outcome = baking.advance(bake)
            line = f"Grain: {bake.name}: {baking.summary(bake)}"
            if line != last:
                print(line, flush=True)
                last = line
            if outcome is not None:
                return "" if outcome.kind == "done" else outcome.text or outcome.kind
            bake.process.wait(0.1)
    finally:
        runtime.end_bake()
