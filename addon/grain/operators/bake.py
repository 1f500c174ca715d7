# SPDX-License-Identifier: GPL-3.0-or-later
"""Baking: start, pause, resume, bake anew."""
import time
from collections.abc import Iterator
from typing import Optional

import bpy
from bpy.props import BoolProperty, StringProperty
from bpy.types import Context, Event, Operator

from .. import runtime
from ..engine import ffi
from ..engine.process import Outcome
from ..scene import paths, simulations
from ..scene.manage import bake_state, baking
from ..scene.show import redraw
from ..scene.simulations import Simulation
from .cache import draw_deletion
from .simulation import has_simulation

TIMER_SECONDS = 0.1
STATUS_SECONDS = 0.5  # drawing status bar and panel takes a slow computer 0.1 s while a bake has its cores


def is_free(cls: type[Operator]) -> bool:
    """Whether a child process may be started at all."""
    if ffi.problem() is not None:
        cls.poll_message_set("Grain's library could not be loaded: see the message in the panel")
        return False
    if runtime.is_baking():
        cls.poll_message_set("A bake is running: pause it first")
        return False
    return True


def can_bake(cls: type[Operator], context: Context) -> bool:
    if not is_free(cls) or not has_simulation(cls, context):
        return False
    if not any(item.grain.type in ('SOURCE', 'EMITTER', 'BODY') for item in bpy.data.objects):
        cls.poll_message_set("There is no sand: make a closed mesh a Source first")
        return False
    return True


class BakeRunner:
    """What operators that bake share. Run from a script, one waits until the bake is done; from a button it lets the
    artist go on working."""
    _bake: Optional[runtime.Bake] = None
    _workspace: str = ""
    _status: str = ""  # as it stands in the status bar
    _status_after: float = 0.0
    _preparations: Optional[Iterator[str]] = None  # before the child starts
    done_text = "The bake is done"

    def chosen(self, context: Context) -> Simulation:
        return context.scene.grain.active

    def begin(self, context: Context) -> runtime.Bake:
        """The bake, which advance() has start. Raises BakeRefused."""
        raise NotImplementedError

    def _start(self, context: Context) -> bool:
        try:
            self._bake = self.begin(context)
        except baking.BakeRefused as error:
            simulation = self.chosen(context)
            folder = paths.cache_folder(simulation)
            if not bake_state.changed_settings(simulation, folder):  # else the panel says it anyway
                runtime.post_message(folder, 'ERROR', str(error))
            self.report({'ERROR'}, str(error))
            return False
        return True

    def execute(self, context: Context) -> set[str]:
        if not self._start(context):
            return {'CANCELLED'}
        last = ""
        try:
            while True:
                outcome = baking.advance(self._bake)
                line = baking.summary(self._bake)
                if line != last:
                    print(f"Grain: {line}", flush=True)
                    last = line
                if outcome is not None:
                    return self._end(context, outcome)
                self._bake.process.wait(TIMER_SECONDS)
        finally:
            runtime.end_bake()

    def invoke(self, context: Context, event: Event) -> set[str]:
        if bpy.app.background:
            return self.execute(context)
        if not self._start(context):
            return {'CANCELLED'}
        manager = context.window_manager
        self._bake.timer = manager.event_timer_add(TIMER_SECONDS, window=context.window)
        manager.modal_handler_add(self)
        self._show_status(context)
        return {'RUNNING_MODAL'}

    def modal(self, context: Context, event: Event) -> set[str]:
        if runtime.state.bake is not self._bake:  # ended by another file or by the add-on's end
            self._clear_status()
            return {'CANCELLED'}
        if event.type == 'ESC' and event.value == 'PRESS':
            self._bake.process.stop()
            self._show_status(context)
            return {'RUNNING_MODAL'}
        if event.type != 'TIMER':
            return {'PASS_THROUGH'}
        shown_before = self._bake.seen_frames
        try:
            outcome = self._advance()
        except Exception:  # Blender drops a modal operator that raises; its child must not go on unseen
            runtime.end_bake()
            self._clear_status()
            raise
        if outcome is None:
            # Not in one go with a new frame: the viewport is drawn for that.
            if self._bake.seen_frames == shown_before and time.monotonic() >= self._status_after:
                self._show_status(context)
            return {'PASS_THROUGH'}
        self._clear_status()
        redraw.panels()
        return self._end(context, outcome)

    def _advance(self) -> Optional[Outcome]:
        if self._preparations is None:
            self._preparations = baking.preparations(self._bake)  # not in one go with the click: what shows it is drawn for that
        is_prepared = self._bake.process.is_stopping or next(self._preparations, None) is None
        return baking.advance(self._bake) if is_prepared else None

    def cancel(self, context: Context) -> None:
        runtime.end_bake()
        self._clear_status()

    def _end(self, context: Context, outcome: Outcome) -> set[str]:
        warnings = [message.text for message in runtime.state.messages.get(self._bake.folder, [])
                    if message.level == 'WARNING']
        for warning in warnings:
            self.report({'WARNING'}, warning)
        if outcome.kind == "done":
            self.report({'INFO'}, self.done_text)
            return {'FINISHED'}
        if outcome.kind == "stopped":
            self.report({'INFO'}, outcome.text)
            return {'CANCELLED'}
        if outcome.kind == "other_job":
            self.report({'ERROR'}, "The baked frames were made with other settings or from another scene. Use Bake Anew to "
                                   "delete them and start again, or choose another cache folder to keep them")
            return {'CANCELLED'}
        self.report({'ERROR'}, outcome.text)
        return {'CANCELLED'}

    def _show_status(self, context: Context) -> None:
        if context.workspace.name != self._workspace:
            self._clear_status()
            self._workspace = context.workspace.name
        self._status_after = time.monotonic() + STATUS_SECONDS
        status = f"Grain: {baking.summary(self._bake)}      ESC  Pause"
        if status != self._status:
            context.workspace.status_text_set(status)
            self._status = status
        redraw.panels()

    def _clear_status(self) -> None:
        workspace = bpy.data.workspaces.get(self._workspace)
        if workspace is not None:
            workspace.status_text_set(None)
        self._workspace = self._status = ""


class GRAIN_OT_bake(BakeRunner, Operator):
    bl_idname = "grain.bake"
    bl_label = "Bake"
    bl_description = "Simulate the sand and save every frame. A paused bake resumes where it left off"
    bl_options = {'REGISTER'}

    restart: BoolProperty(name="Restart", default=False, options={'HIDDEN', 'SKIP_SAVE'},
                          description="Delete the baked frames and start again")
    simulation: StringProperty(name="Simulation", default="", options={'HIDDEN', 'SKIP_SAVE'},
                               description="Name of the simulation to bake, for scripts. Empty is the active one")

    @classmethod
    def poll(cls, context: Context) -> bool:
        return can_bake(cls, context)

    def begin(self, context: Context) -> runtime.Bake:
        if self.simulation and simulations.find(context.scene, self.simulation) is None:
            raise baking.BakeRefused(f"Scene '{context.scene.name}' has no simulation '{self.simulation}'")
        return baking.start(self.chosen(context), context.view_layer, self.restart)

    def chosen(self, context: Context) -> Simulation:
        return simulations.find(context.scene, self.simulation) or context.scene.grain.active


class GRAIN_OT_bake_anew(Operator):
    bl_idname = "grain.bake_anew"
    bl_label = "Bake Anew"
    bl_description = "The scene has changed since the bake: delete the baked frames and start again"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return can_bake(cls, context)

    def invoke(self, context: Context, event: Event) -> set[str]:
        return context.window_manager.invoke_props_dialog(self, width=420)

    def draw(self, context: Context) -> None:
        draw_deletion(self.layout, context, paths.cache_folder(context.scene.grain.active))

    def execute(self, context: Context) -> set[str]:
        result = bpy.ops.grain.bake('INVOKE_DEFAULT', restart=True)
        return {'CANCELLED'} if 'CANCELLED' in result else {'FINISHED'}


class GRAIN_OT_stop(Operator):
    bl_idname = "grain.stop"
    bl_label = "Pause"
    bl_description = "Pause the bake. Baked frames are kept, and Resume continues from there"
    bl_options = {'REGISTER'}

    @classmethod
    def poll(cls, context: Context) -> bool:
        return runtime.is_baking()

    def execute(self, context: Context) -> set[str]:
        runtime.state.bake.process.stop()
        return {'FINISHED'}
