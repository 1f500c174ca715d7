"""Shows the cache's frame that belongs to the scene's frame."""
import os
from pathlib import Path
from typing import Optional

import bpy
from bpy.types import Object, Scene

from .. import runtime
from ..engine import cache
from ..engine.ffi import GrainError
from ..engine.objects import CacheFrame
from ..runtime import Message, Shown
from . import apply, paths
from .units import metres_per_unit


def show(scene: Scene, is_render: bool = False) -> None:
    """Loads what is missing; doing it again does nothing. Never adds or removes data-blocks.

    Sub-frames of motion blur show the whole frame they belong to: the blur comes from the velocities.
    """
    if runtime.state.playback_paused:
        return
    item = apply.sand_object(scene)
    if item is None or item.mode == 'EDIT' or (item.hide_viewport and not is_render):
        return
    folder = paths.cache_folder(scene)
    shown = runtime.state.shown.setdefault(folder, Shown())
    try:
        manifest = cache.read_manifest(folder)
        wanted = manifest.frame_to_show(scene.frame_current) if manifest is not None else None
        shown.message = _explain(scene, folder, manifest, wanted)
        if wanted is None:
            _show_nothing(item, shown)
            return
        _load(item, shown, cache.frame_path(folder, wanted), wanted, metres_per_unit(scene))
    except (GrainError, cache.CacheError, OSError) as error:
        _show_nothing(item, shown)
        shown.message = Message('ERROR', _describe(error, scene.frame_current))
        print(f"Grain: {shown.message.text}")  # renders without a window have no panel


def _load(item: Object, shown: Shown, path: Path, frame: int, scale: float) -> None:
    stamp = hash((os.stat(path).st_mtime_ns, scale))
    is_loaded = (shown.frame == frame and shown.stamp == stamp and shown.object_name == item.name
                 and len(item.data.vertices) > 0)
    if is_loaded:
        return
    with CacheFrame(path) as cached:
        apply.set_frame(item, cached, scale)
    shown.frame, shown.stamp, shown.object_name = frame, stamp, item.name


def _show_nothing(item: Object, shown: Shown) -> None:
    apply.clear(item)
    shown.frame = None


def _explain(scene: Scene, folder: Path, manifest: Optional[cache.Manifest], shown: Optional[int]) -> Optional[Message]:
    """Why this frame does not show its own sand, or None."""
    frame = scene.frame_current
    if manifest is None:
        return Message('INFO', f"No baked frames in {folder}")
    if shown is None:
        return Message('INFO', f"Frame {frame} lies before the first baked frame ({manifest.first}): no sand yet")
    if shown == frame:
        return None
    if frame > manifest.frame_end:
        return Message('INFO', f"Frame {frame} lies after the bake: frame {shown} is held")
    return Message('INFO', f"Frame {frame} is not baked yet: frame {shown} is shown")


def _describe(error: Exception, frame: int) -> str:
    if isinstance(error, GrainError):
        if error.code == 0:  # libgrain itself is missing
            return str(error)
        return f"Frame {frame} cannot be shown: {str(error).rstrip('.')}. Bake again: only damaged frames are redone"
    if isinstance(error, OSError):
        return f"Frame {frame} cannot be read: {error.strerror} ({error.filename}). Bake again to redo it"
    return str(error)


def show_all(is_render: bool = False) -> None:
    for scene in bpy.data.scenes:
        show(scene, is_render)


def forget(scene: Scene) -> None:
    """The next show() loads anew, whatever the object holds."""
    runtime.state.shown.pop(paths.cache_folder(scene), None)
