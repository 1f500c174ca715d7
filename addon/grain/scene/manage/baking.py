# SPDX-License-Identifier: GPL-3.0-or-later
"""A bake from the scene's side: start it, take in what it made, end it. Operators and tests drive it."""
import time
from collections.abc import Callable, Iterator
from typing import Any, Optional

import bpy
import numpy as np
from bpy.types import ViewLayer

from ... import runtime, write_guard
from ...engine import bake_log, cache, cache_lock, ffi, job as job_files, job_compare, text
from ...engine.process import BakeProcess, Outcome, Stage, Status, grains_stage, simulate_stage, volume_stage
from .. import paths, simulations
from ..look import grain_object
from ..read.errors import SnapshotError
from ..show import apply, dots, playback, redraw, volumes
from ..simulations import Simulation
from . import estimate, job_builder

# Loading frames and drawing them may take this share of the time while baking; the rest is the artist's.
SHOW_SHARE = 0.1


class BakeRefused(Exception):
    """The bake cannot start; the text says why and what to do."""


def start(simulation: Simulation, view_layer: ViewLayer, restart: bool, stages: tuple[str, ...] = ('SIMULATE', 'GRAINS'),
          keep_frame: Optional[int] = None) -> runtime.Bake:
    """The simulation, and after it the render grains where they are wanted. In a window job and child wait for the first advance().
    keep_frame: frames up to there stay, the others are baked anew with the settings of now. Raises BakeRefused."""
    folder = _usable_folder(simulation)
    other = paths.shares_folder(simulation)
    if other:
        raise BakeRefused(f"{other} bakes into the same folder. Rename this simulation, or choose another cache folder")
    try:
        made, warnings = job_builder.make(simulation, view_layer)
    except SnapshotError as error:
        raise BakeRefused(str(error)) from error
    described = job_files.describe(made)
    if not restart and keep_frame is None:
        _check_same(described, folder)
    try:
        grain_object.update(simulation, view_layer.depsgraph)
    except ffi.GrainError as error:
        raise BakeRefused(f"'{simulation.grain_object.name}' cannot be a grain: {error}") from error
    apply.update_display(simulation)
    upsample = job_builder.upsample_settings(simulation)  # again: whether grains are turned depends on their object
    if upsample is not None:
        described.document["upsample"] = job_files.describe_upsample(upsample)
    where = (ffi.program(), cache.job_folder(folder), folder, simulation.thread_count)
    commands = [simulate_stage(*where, restart, keep_frame)]
    if simulation.use_upsample and 'GRAINS' in stages:
        commands.append(grains_stage(*where))

    def write_job() -> None:
        job_files.write(described, cache.job_folder(folder))
        runtime.state.outdated.pop(folder, None)

    try:
        bake = _begin(simulation, folder, commands, write_job)
    except cache_lock.Busy as error:
        raise BakeRefused(str(error)) from error
    except OSError as error:
        raise BakeRefused(f"{error.filename or folder} cannot be written: {error.strerror}. Choose another cache "
                          "folder, or free some space") from error
    for warning in warnings + _place_warnings(simulation, view_layer):
        runtime.post_message(folder, 'WARNING', warning)
    return bake


def start_grains(simulation: Simulation, view_layer: ViewLayer) -> runtime.Bake:
    """Makes render grains of what is baked, whatever became of the scene since. Raises BakeRefused."""
    if not simulation.use_upsample:
        raise BakeRefused("Render grains are switched off: turn them on in the Render Grains panel")
    grain_object.refresh(simulation, view_layer.depsgraph)
    apply.update_display(simulation)
    settings = job_files.describe_upsample(job_builder.upsample_settings(simulation))
    return _start_from_cache(simulation, "upsample", settings, grains_stage)


def start_volume(simulation: Simulation) -> runtime.Bake:
    """Makes volumes of what is baked, whatever became of the scene since. Raises BakeRefused."""
    bake = _start_from_cache(simulation, "volume", volumes.settings_of(simulation), volume_stage)
    bake.is_volume = True
    return bake


def _start_from_cache(simulation: Simulation, key: str, settings: dict[str, Any], stage: Callable[..., Stage]) -> runtime.Bake:
    folder = _usable_folder(simulation)
    if not paths.holds_cache(folder):
        raise BakeRefused("Nothing is baked yet. Bake the simulation first")
    try:
        return _begin(simulation, folder, [stage(ffi.program(), cache.job_folder(folder), folder, simulation.thread_count)],
                      lambda: job_files.set_part(cache.job_folder(folder), key, settings))
    except cache_lock.Busy as error:
        raise BakeRefused(str(error)) from error
    except OSError as error:
        raise BakeRefused(f"{error.filename or folder} cannot be used: {error.strerror}. Bake the simulation again, or "
                          "choose another cache folder") from error


def _usable_folder(simulation: Simulation) -> cache.Path:
    problem = ffi.problem()
    if problem is not None:
        raise BakeRefused(problem)
    problem = paths.problem(simulation)
    if problem:
        raise BakeRefused(problem)
    folder = paths.cache_folder(simulation)
    runtime.state.messages.pop(folder, None)
    return folder


def _begin(simulation: Simulation, folder: cache.Path, commands: list[Stage], write_job: Callable[[], None]) -> runtime.Bake:
    def claim() -> cache_lock.CacheLock:
        return cache.claim(folder, write_job)

    is_window = not bpy.app.background
    process = BakeProcess(commands, folder / bake_log.FILE, is_beside_interface=is_window, waits=is_window, before=claim)
    runtime.state.bake = runtime.Bake(folder, simulation.name, process)
    return runtime.state.bake


def _check_same(described: job_files.Description, folder: cache.Path) -> None:
    try:
        manifest = cache.read_manifest(folder)
    except cache.CacheError as error:
        raise BakeRefused(str(error)) from error
    if manifest is None:
        return
    settings, objects = job_compare.changes(described, cache.job_folder(folder))
    if objects:  # the panel sees changed settings by itself
        runtime.state.outdated[folder] = text.listing(objects)
    if settings or objects:
        raise BakeRefused(f"Changed since the bake: {text.listing(settings + objects)}. Use Bake Anew to delete the baked "
                          "frames and start again, or undo the change to keep them")


def _place_warnings(simulation: Simulation, view_layer: ViewLayer) -> list[str]:
    result = []
    if paths.is_temporary(simulation):
        result.append("This file is not saved, so frames go to a temporary folder that Blender deletes when it quits. "
                      "Save the file to move them next to it")
    expected = estimate.of_simulation(simulation, view_layer.depsgraph)
    if expected.free_bytes is not None and expected.byte_count > expected.free_bytes:
        result.append(f"The frames need about {text.size(expected.byte_count)}, but the disk has "
                      f"{text.size(expected.free_bytes)} free. The bake stops when the disk is full, and can be resumed "
                      "after you free some space")
    return result


def simulation_of(bake: runtime.Bake) -> Optional[Simulation]:
    """The simulation of a bake, unless it was removed meanwhile."""
    return next((simulation for simulation in simulations.of_file()
                 if paths.cache_folder(simulation) == bake.folder), None)


def advance(bake: runtime.Bake) -> Optional[Outcome]:
    """Takes in news, shows new frames; the outcome once the child has ended. Never waits. The first call in a window has it start."""
    bake.process.go()
    outcome = bake.process.poll()
    written = bake.process.status.frames_written
    now = time.monotonic()
    if written != bake.seen_frames and now >= bake.show_after and outcome is None and not is_rendering():
        bake.seen_frames = written
        _show_new_frames(bake)
        bake.show_after = now + (time.monotonic() - now + runtime.state.view_seconds) / SHOW_SHARE
    if outcome is not None:
        _finish(bake, outcome)
    return outcome


def is_rendering() -> bool:
    """While a render runs in the window, the sand belongs to the frame handler on the render's thread."""
    return bpy.app.is_job_running('RENDER') or bpy.context.window_manager.is_interface_locked


def preparations(bake: runtime.Bake) -> Iterator[str]:
    """In a window, before the child starts: what has more drawn than the panel, each in a turn of Blender's loop of its own. All in
    one, with the child on all cores, took 0.15 s where a processor draws, and 0.2 to 0.28 s on a machine that had never drawn lines and
    dots before and had to compile shaders for them. Says what was done."""
    simulation = simulation_of(bake)
    if bake.is_volume or simulation is None:
        return
    _lock_renders(simulation)
    if apply.sand_object(simulation) is not None:
        return
    apply.ensure_sand_object(simulation)  # every editor is drawn
    bake.made_object = True
    _keep_from_undo("Add Grain Sand")
    yield "added"
    simulation = simulation_of(bake)
    item = apply.sand_object(simulation) if simulation is not None else None
    if item is not None and not is_rendering():
        apply.set_corners(item, *np.zeros((2, 3)))  # where dots will want them
        redraw.views()
        yield "corners"
    if dots.prepare_drawing():
        redraw.views()
        yield "dots"


def _lock_renders(simulation: Simulation) -> None:
    """Frames are swapped while rendering: without this Blender may draw a mesh that is being changed. Setting it has everything
    drawn, even to what it is."""
    render = simulation.id_data.render
    if not render.use_lock_interface:
        render.use_lock_interface = True


def _show_new_frames(bake: runtime.Bake) -> None:
    simulation = simulation_of(bake)
    if is_rendering() or simulation is None or not paths.holds_cache(bake.folder):
        return
    if bake.is_volume:
        is_new = volumes.volume_object(simulation) is None
        volumes.refresh(simulation)
        if is_new:
            _keep_from_undo("Add Grain Volume")
        return
    _lock_renders(simulation)
    if apply.sand_object(simulation) is None:
        apply.ensure_sand_object(simulation)
        _keep_from_undo("Add Grain Sand")
    playback.show(simulation)


def _keep_from_undo(message: str) -> None:
    """An undo of something else must not take away what a bake added."""
    if not bpy.app.background:
        with bpy.context.temp_override(window=bpy.context.window or bpy.context.window_manager.windows[0]):  # timers have none
            bpy.ops.ed.undo_push(message=message)


def _show_last_frames(bake: runtime.Bake) -> None:
    """In a window in the next turn of Blender's loop: not in one go with panels that say how the bake ended."""
    if bake.timer is None:
        _show_new_frames(bake)
        return
    runtime.state.ended = bake
    if not bpy.app.timers.is_registered(show_ended):
        bpy.app.timers.register(show_ended, first_interval=redraw.NEXT_TURN)


@write_guard.always_writes
def show_ended() -> None:
    if runtime.state.ended is not None:
        _show_new_frames(runtime.state.ended)
        runtime.state.ended = None


def _finish(bake: runtime.Bake, outcome: Outcome) -> None:
    runtime.end_bake()
    _show_last_frames(bake)
    if bake.made_object and not paths.holds_cache(bake.folder) and simulation_of(bake) is not None:
        apply.remove_sand_object(simulation_of(bake))  # there is nothing to show
    for warning in bake.process.status.warnings:
        runtime.post_message(bake.folder, 'WARNING', warning)
    if outcome.kind in ("failed", "died"):
        runtime.post_message(bake.folder, 'ERROR', outcome.text)
    elif outcome.kind == "other_job":
        runtime.state.outdated[bake.folder] = "settings or objects"


def summary(bake: runtime.Bake) -> str:
    """One line for the status bar and the console."""
    status = bake.process.status
    if bake.process.is_stopping:
        return "Pausing: saving a restart point" if bake.process.pid is not None else "Pausing"
    if status.particles == 0:
        return status.stage
    return ", ".join(part for part in (
        f"Frame {status.frame} of {status.frame_end}", text.plural(status.particles, "particle"), speed(status))
        if part)


def speed(status: Status) -> str:
    parts = []
    if status.seconds_per_frame > 0.0:
        parts.append(text.per_frame(status.seconds_per_frame))
    if status.seconds_left >= 0.0:
        parts.append(f"{text.duration(status.seconds_left)} left")
    if status.bytes_written > 0:
        parts.append(f"{text.size(status.bytes_written)} written")
    return ", ".join(parts)
