"""Shows the frame of each cache that belongs to the scene's frame."""
import os
from math import floor
from pathlib import Path
from typing import Optional

from bpy.types import Object, Scene

from .. import runtime
from ..engine import cache, read_ahead
from ..engine.ffi import GrainError
from ..engine.objects import CacheFrame
from ..runtime import Message, Shown
from . import apply, bodies, frames, paths, simulations
from .simulations import Simulation
from .units import metres_per_unit


def show(simulation: Simulation, is_render: bool = False) -> None:
    """Loads what is missing; doing it again does nothing. Never adds or removes data-blocks.

    Between two frames, as motion blur and slow motion ask for, the nearest one is shown, moved on by its velocities:
    Cycles then finds the same grains in the right place and makes the blur itself from the velocities.
    """
    if runtime.state.playback_paused:
        return
    scene = simulation.id_data
    item = apply.sand_object(simulation)
    if item is None:
        bodies.restore_all(simulation)
    if item is None or item.mode == 'EDIT' or (item.hide_viewport and not is_render):
        return
    folder = paths.cache_folder(simulation)
    shown = runtime.state.shown.setdefault(folder, Shown())
    try:
        manifest, source = _source(simulation, folder)
        nearest = floor(scene.frame_current_final + 0.5)
        wanted = manifest.frame_to_show(nearest) if manifest is not None else None
        shown.message = _explain(nearest, folder, manifest, wanted)
        if wanted is None:
            _show_nothing(simulation, item, shown)
            return
        # A frame that is held stands still.
        ahead = scene.frame_current_final - nearest if wanted == nearest else 0.0
        # The first tenth of the grains is an even sample of them: no more is loaded than the viewport shows.
        amount = 1.0
        if source != folder:
            amount = 1.0 if is_render else simulation.display.viewport_amount / 100.0
        apply.show_share(simulation, simulation.display.viewport_amount / 100.0 if source == folder else 1.0)
        _load(simulation, item, shown, manifest, source, wanted, ahead / frames.frames_per_second(scene), amount)
    except (GrainError, cache.CacheError, OSError) as error:
        _show_nothing(simulation, item, shown)
        shown.message = Message('ERROR', _describe(error, scene.frame_current))
        print(f"Grain: {shown.message.text}")  # renders without a window have no panel


def _source(simulation: Simulation, folder: Path) -> tuple[Optional[cache.Manifest], Path]:
    """The render grains where they are wanted and made up to this frame, otherwise the simulated particles."""
    manifest = cache.read_manifest(folder)
    if simulation.use_upsample and manifest is not None:
        grains = cache.read_manifest(cache.grains_folder(folder))
        nearest = floor(simulation.id_data.frame_current_final + 0.5)
        if grains is not None and grains.frame_to_show(nearest) == manifest.frame_to_show(nearest):
            return manifest, cache.grains_folder(folder)
    return manifest, folder


def _load(simulation: Simulation, item: Object, shown: Shown, manifest: cache.Manifest, source: Path, frame: int,
          seconds: float, amount: float) -> None:
    path, scale, folder = cache.frame_path(source, frame), metres_per_unit(simulation.id_data), paths.cache_folder(simulation)
    stamp = (os.stat(path).st_mtime_ns, scale, seconds, amount, path.name)
    is_loaded = (shown.frame == frame and shown.stamp == stamp and shown.object_name == item.name
                 and (len(item.data.vertices) > 0 or manifest.particles[frame] == 0))
    if is_loaded:
        return
    if source == folder:
        with CacheFrame(path) as cached:
            apply.set_frame(item, cached, scale, seconds)
            bodies.show(simulation, manifest.bodies, cached, scale, seconds)
    else:
        _load_grains(item, shown, manifest, source, frame, scale, seconds, amount)
        if manifest.bodies:
            with CacheFrame(cache.frame_path(folder, frame)) as coarse:
                bodies.show(simulation, manifest.bodies, coarse, scale, seconds)
    shown.frame, shown.stamp, shown.object_name = frame, stamp, item.name


def _load_grains(item: Object, shown: Shown, manifest: cache.Manifest, source: Path, frame: int, scale: float,
                 seconds: float, amount: float) -> None:
    """And has the next frame read meanwhile, the one after this or before it, whichever way the artist goes."""
    grains = read_ahead.grains(cache.frame_path(source, frame), amount)
    apply.set_frame(item, grains, scale, seconds)
    following = frame - 1 if shown.frame is not None and shown.frame > frame else frame + 1
    if following in manifest.particles:
        read_ahead.expect(cache.frame_path(source, following), grains)


def _show_nothing(simulation: Simulation, item: Object, shown: Shown) -> None:
    apply.clear(item)
    bodies.restore_all(simulation)
    shown.frame = None


def _explain(frame: int, folder: Path, manifest: Optional[cache.Manifest], shown: Optional[int]) -> Optional[Message]:
    """Why this frame does not show its own sand, or None."""
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


def show_scene(scene: Scene, is_render: bool = False) -> None:
    for simulation in scene.grain.simulations:
        show(simulation, is_render)


def show_all(is_render: bool = False) -> None:
    for simulation in simulations.of_file():
        show(simulation, is_render)


def forget(simulation: Simulation) -> None:
    """The next show() loads anew, whatever the object holds."""
    runtime.state.shown.pop(paths.cache_folder(simulation), None)


def let_go(simulation: Simulation) -> None:
    """The simulation goes: what it moved stands where it was placed."""
    bodies.restore_all(simulation)
    forget(simulation)
