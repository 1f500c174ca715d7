# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender calls these when frames change and files are read, written or left. Small, and harmless when called twice."""
import atexit
from typing import Any, Callable, Optional

import bpy
from bpy.app.handlers import persistent
from bpy.types import Depsgraph, Object, Scene

from . import compat, runtime, viewport, write_guard
from .scene import paths, simulations
from .scene.manage import baking, estimate, migrate, relocate
from .scene.show import apply, dots, playback, redraw, volumes


@persistent
@write_guard.always_writes
def on_frame_change(scene: Scene, depsgraph: Optional[Depsgraph] = None) -> None:
    with dots.during('FRAME_CHANGE'):
        playback.show_scene(scene, depsgraph is not None and depsgraph.mode == 'RENDER', depsgraph)


@persistent
def on_render_end(*_: Any) -> None:
    """A render has left its own amount of grains in the sand object; the viewport's comes back once nothing is rendered."""
    if not bpy.app.background and not bpy.app.timers.is_registered(_show_viewport):
        bpy.app.timers.register(_show_viewport, first_interval=0.1)


def _show_viewport() -> Optional[float]:
    if baking.is_rendering():
        return 0.1
    _show_all()
    return None


@write_guard.always_writes
def _show_all() -> None:
    playback.show_all()


@persistent
def on_load_pre(*_: Any) -> None:
    runtime.end_bake()


@persistent
@write_guard.always_writes
def on_load_post(*_: Any) -> None:
    runtime.forget()
    viewport.forget()
    estimate.forget_all()
    _take_over_open_file()


def _take_over_open_file() -> None:
    for scene in bpy.data.scenes:
        migrate.from_single(scene)
        migrate.keep_defaults(scene)
        migrate.place_volumes(scene)
    for simulation in simulations.of_file():
        volumes.follow_cache(simulation)
    _know_places()
    playback.show_all(is_render=bpy.app.background)


def _know_places() -> None:
    """From 4.2 on objects have no place in the world before they are evaluated, and bodies are posed from there."""
    if any(item.grain.type == 'BODY' for item in bpy.data.objects):
        for scene in bpy.data.scenes:
            for layer in scene.view_layers:
                layer.update()


@persistent
def on_import(*_: Any) -> None:
    """Linked or appended from a file of another Blender."""
    volumes.keep_places()


@persistent
@write_guard.always_writes
def on_undo(*_: Any) -> None:
    """The sand's mesh went back in time with everything else."""
    dots.note_change()
    runtime.state.shown.clear()
    estimate.forget_all()
    _know_places()
    playback.show_all()


@persistent
@write_guard.always_writes
def on_save_pre(*_: Any) -> None:
    """Points belong in the cache: a .blend with a million of them in it would carry 32 MB for nothing."""
    for simulation in simulations.of_file():
        item = apply.sand_object(simulation)
        if item is not None and item.mode != 'EDIT' and paths.has_cache(simulation):
            apply.clear(item)
            playback.forget(simulation)


@persistent
@write_guard.always_writes
def on_save_post(*_: Any) -> None:
    for simulation in simulations.of_file():
        relocate.after_save(simulation)
    playback.show_all()


@persistent
def on_depsgraph_update(scene: Scene, depsgraph: Optional[Depsgraph] = None) -> None:
    """Estimates of an object that changed are made anew; so is the verdict on whether its bake still holds."""
    dots.note_change()
    if depsgraph is None:
        return
    for update in depsgraph.updates:
        if isinstance(update.id, Object) and (update.is_updated_geometry or update.is_updated_transform):
            item = update.id.original
            if item.grain.type != 'NONE':
                estimate.forget(item)
                for simulation in scene.grain.simulations:
                    if simulations.takes_part(item, simulation):
                        runtime.state.outdated.pop(paths.cache_folder(simulation), None)


_HANDLERS: tuple[tuple[tuple[str, ...], Callable[..., None]], ...] = (
    (("frame_change_post",), on_frame_change),
    (("render_complete", "render_cancel"), on_render_end),
    (("load_pre", "exit_pre"), on_load_pre),
    (("load_post",), on_load_post),
    (("blend_import_post",), on_import),
    (("undo_post", "redo_post"), on_undo),
    (("save_pre",), on_save_pre),
    (("save_post", "save_post_fail"), on_save_post),
    (("depsgraph_update_post",), on_depsgraph_update),
)


def register() -> None:
    for names, function in _HANDLERS:
        for handlers in compat.handler_lists(*names):
            handlers.append(function)
    atexit.register(runtime.end_process)
    # Enabled in the middle of a session: an open file's sand appears. While an add-on registers, data is not there to be
    # touched.
    if not bpy.app.background:
        bpy.app.timers.register(_take_over_open_file, first_interval=0.0)


def unregister() -> None:
    for timer in (_take_over_open_file, _show_viewport, redraw.views, redraw.panels, baking.show_ended):
        if bpy.app.timers.is_registered(timer):
            bpy.app.timers.unregister(timer)
    atexit.unregister(runtime.end_process)
    runtime.forget()
    for names, function in reversed(_HANDLERS):
        for handlers in compat.handler_lists(*names):
            if function in handlers:
                handlers.remove(function)
