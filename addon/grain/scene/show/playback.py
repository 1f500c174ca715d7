# SPDX-License-Identifier: GPL-3.0-or-later
"""Shows the frame of each cache that belongs to the scene's frame."""
import time
from contextlib import ExitStack
from dataclasses import dataclass
from math import floor
from pathlib import Path
from typing import Optional

from bpy.types import Depsgraph, Object, Scene

from ... import runtime
from ...engine import cache, door, dots as engine_dots, read_ahead
from ...engine.between import Between, has_same_grains
from ...engine.ffi import GrainError
from ...engine.objects import CacheFrame
from ...runtime import Message, Shown
from .. import frames, paths, simulations
from ..simulations import Simulation
from ..units import metres_per_unit
from . import apply, birth_attributes, bodies, detail, dots, redraw, retime, volumes

READ_AHEAD = 4  # frames


def show(simulation: Simulation, is_render: bool = False, depsgraph: Optional[Depsgraph] = None) -> None:
    """Loads what is missing; doing it again does nothing. Never adds or removes data-blocks.

    Between two frames, as motion blur asks for, the nearest one is shown, moved on by its velocities: Cycles then finds the
    same grains in the right place and makes the blur itself from the velocities. Sand whose time was changed is shown on the
    curve between the two.
    """
    if runtime.state.playback_paused:
        return
    item = apply.sand_object(simulation)
    if item is None:
        bodies.restore_all(simulation)
    if item is None or item.mode == 'EDIT' or (item.hide_viewport and not is_render):
        return
    folder = paths.cache_folder(simulation)
    shown = runtime.state.shown.setdefault(folder, Shown())
    try:
        now = retime.moment(simulation, depsgraph)
        volumes.follow_time(simulation, now)
        nearest = floor(now.frame + 0.5)
        manifest, source = _source(simulation, folder, nearest)
        wanted = manifest.frame_to_show(nearest) if manifest is not None else None
        shown.message = _explain(nearest, folder, manifest, wanted)
        if manifest is None and paths.problem(simulation):
            shown.message = Message('WARNING', paths.problem(simulation))
        particles = manifest.particles[wanted] if wanted is not None else 0
        shown.most = _most_grains(simulation, manifest) if manifest is not None else 0
        if not is_render:  # on a render's thread nobody looks at windows
            shown.as_dots = wanted is not None and dots.is_wanted(simulation, item, shown.most)
        amount = _amount(simulation, is_render, shown.as_dots, particles, source)
        if wanted is None or amount <= 0.0:
            _show_nothing(simulation, item, shown)
            return
        # A frame that is held stands still.
        ahead = now.frame - nearest if wanted == nearest else 0.0
        request = FrameRequest(wanted, ahead, now.rate if wanted == nearest else 0.0, amount, now.is_retimed,
                               shown.as_dots and not is_render)
        _load(simulation, item, shown, manifest, source, request)
    except (GrainError, cache.CacheError, OSError) as error:
        _show_nothing(simulation, item, shown)
        shown.message = Message('ERROR', _describe(error, simulation.id_data.frame_current))
        print(f"Grain: {shown.message.text}")  # renders without a window have no panel


@dataclass(frozen=True)
class FrameRequest:
    """Which frame of a cache to show, and how."""
    frame: int
    ahead: float  # frames from it, -0.5 to 0.5
    rate: float
    amount: float  # share of the grains that is loaded
    is_retimed: bool
    is_dots: bool = False


def share(simulation: Simulation, is_render: bool, particles: int) -> float:
    """Of the grains, 0 to 1, how many are to be seen."""
    display = simulation.display
    mode, percent, count = ((display.render_display, display.render_amount, display.render_count) if is_render else
                            (display.viewport_display, display.viewport_amount, display.viewport_count))
    if mode == 'HIDDEN' or particles == 0:
        return 0.0 if mode == 'HIDDEN' else 1.0
    if display.amount_mode == 'AUTO':
        return min(1.0, detail.most_shown(simulation) / particles) if detail.is_automatic(simulation) and not is_render else 1.0
    return percent / 100.0 if display.amount_mode == 'PERCENT' else min(1.0, count / particles)


def _most_grains(simulation: Simulation, manifest: cache.Manifest) -> int:
    """Asked for in the viewport in any frame: what is decided by it must not change while sand pours in, or with the time that
    drawing takes."""
    most = max(manifest.particles.values(), default=0)
    return most if simulation.display.amount_mode == 'AUTO' else round(share(simulation, False, most) * most)


def _amount(simulation: Simulation, is_render: bool, is_dots: bool, particles: int, source: Path) -> float:
    """The share that is loaded. The first tenth of render grains is an even sample of them, so no more is loaded than is to
    be seen; simulated particles are in the order of their sources, so all are loaded and the modifier leaves some out."""
    viewport, render = share(simulation, False, particles), share(simulation, True, particles)
    if source.name == cache.GRAINS_FOLDER:
        apply.show_share(simulation, 1.0 if viewport > 0.0 and not is_dots else 0.0, 1.0 if render > 0.0 else 0.0)
        return render if is_render else viewport
    apply.show_share(simulation, 0.0 if is_dots else viewport, render)
    if is_dots and not is_render:
        return viewport
    return 1.0 if (render if is_render else viewport) > 0.0 else 0.0


def _source(simulation: Simulation, folder: Path, nearest: int) -> tuple[Optional[cache.Manifest], Path]:
    """The render grains where they are wanted and made up to this frame, otherwise the simulated particles."""
    manifest = cache.read_manifest(folder)
    if simulation.use_upsample and manifest is not None:
        grains = cache.read_manifest(cache.grains_folder(folder))
        if grains is not None and grains.frame_to_show(nearest) == manifest.frame_to_show(nearest):
            return grains, cache.grains_folder(folder)
    return manifest, folder


def _load(simulation: Simulation, item: Object, shown: Shown, manifest: cache.Manifest, source: Path,
          request: FrameRequest) -> None:
    path, scale, folder = cache.frame_path(source, request.frame), metres_per_unit(simulation.id_data), paths.cache_folder(simulation)
    stamp = (door.state(path).st_mtime_ns, scale, request, path.name, dots.look_key(item) if request.is_dots else ())
    is_loaded = (shown.stamp == stamp and shown.object_name == item.name and (shown.dots is not None) == request.is_dots
                 and (len(item.data.vertices) > 0 or manifest.particles[request.frame] == 0))
    if is_loaded:
        return
    began = time.monotonic()
    seconds = request.ahead / frames.frames_per_second(simulation.id_data)
    if source == folder:
        with CacheFrame(path) as cached:
            _fill(simulation, item, shown, cached, manifest, source, request, seconds, scale)
            bodies.show(simulation, manifest.bodies, cached, scale, seconds)
    else:
        grains = read_ahead.grains(path, request.amount)
        _fill(simulation, item, shown, grains, manifest, source, request, seconds, scale)
        style = dots.style(simulation, item, scale) if request.is_dots and not grains.has_column("id") else None
        _expect_next(shown, manifest, source, request.frame, grains, style)
        coarse = cache.read_manifest(folder)
        if coarse is not None and coarse.bodies:
            with CacheFrame(cache.frame_path(folder, request.frame)) as cached:
                bodies.show(simulation, coarse.bodies, cached, scale, seconds)
    if not request.is_dots:
        birth_attributes.show(item, folder, source, manifest, simulation.display.use_rest, scale, request.frame + request.ahead)
    shown.frame, shown.stamp, shown.object_name = request.frame, stamp, item.name
    shown.all_count = manifest.particles[request.frame]
    shown.count = len(shown.dots) if shown.dots is not None else round(share(simulation, False, shown.all_count) * shown.all_count)
    shown.load_began, shown.load_seconds = began, time.monotonic() - began


def _fill(simulation: Simulation, item: Object, shown: Shown, frame: apply.ShownFrame, manifest: cache.Manifest,
          source: Path, request: FrameRequest, seconds: float, scale: float) -> None:
    def put(what: apply.ShownFrame, ahead: float) -> None:
        if request.is_dots:
            shown.look = dots.look_key(item)
            if isinstance(what, read_ahead.Grains) and ahead == 0.0 and numbers is None:
                shown.dots = engine_dots.of_grains(what, style)
            else:
                shown.dots = engine_dots.make(what, style, ahead, numbers, request.amount if source.name != cache.GRAINS_FOLDER else 1.0)
            apply.set_corners(item, *shown.dots.bounds)
            redraw.views()
        else:
            shown.dots = None
            apply.set_frame(item, what, scale, ahead, request.rate, numbers)

    style = dots.style(simulation, item, scale)
    neighbour = request.frame + (1 if request.ahead > 0.0 else -1)
    numbers = birth_attributes.numbers(source, manifest, frame) if source.name == cache.GRAINS_FOLDER else None
    if not request.is_retimed or request.ahead == 0.0 or neighbour not in manifest.particles:
        put(frame, seconds)
        return
    with ExitStack() as stack:
        path = cache.frame_path(source, neighbour)
        other: apply.ShownFrame = (read_ahead.grains(path, request.amount) if source.name == cache.GRAINS_FOLDER
                              else stack.enter_context(CacheFrame(path)))
        if not has_same_grains(frame, other):
            put(frame, seconds)
            return
        length = 1.0 / frames.frames_per_second(simulation.id_data)
        between = (Between(frame, other, request.ahead, length) if request.ahead > 0.0
                   else Between(other, frame, 1.0 + request.ahead, length))
        put(between, 0.0)


def _expect_next(shown: Shown, manifest: cache.Manifest, source: Path, frame: int, like: read_ahead.Grains,
                 style: Optional[engine_dots.Style]) -> None:
    """Has the next frames read meanwhile, those after this or before it, whichever way the artist goes; at the end of that way, those
    of the way back: who goes to the first frame is about to play."""
    step = -1 if shown.frame is not None and shown.frame > frame else 1
    both = [[number for number in range(frame + way, frame + way * (READ_AHEAD + 1), way) if number in manifest.particles]
            for way in (step, -step)]
    following = both[0] or both[1]
    read_ahead.expect([cache.frame_path(source, number) for number in following], like, style.look if style is not None else None)


def _show_nothing(simulation: Simulation, item: Object, shown: Shown) -> None:
    apply.clear(item)
    bodies.restore_all(simulation)
    shown.frame, shown.stamp, shown.dots = None, (), None


def _explain(frame: int, folder: Path, manifest: Optional[cache.Manifest], shown: Optional[int]) -> Optional[Message]:
    """Why this frame does not show its own sand, or None."""
    if manifest is None:
        return Message('INFO', f"No baked frames in {folder}")
    if shown is None:
        return Message('INFO', f"Frame {frame} is before the first baked frame ({manifest.first}): there is no sand yet")
    if shown == frame:
        return None
    if frame > manifest.frame_end:
        return Message('INFO', f"Frame {frame} is after the end of the bake: showing frame {shown}")
    return Message('INFO', f"Frame {frame} is not baked yet: showing frame {shown}")


def _describe(error: Exception, frame: int) -> str:
    if isinstance(error, GrainError):
        if error.code == 0:  # libgrain itself is missing
            return str(error)
        return f"Frame {frame} cannot be shown: {str(error).rstrip('.')}. Bake again: only damaged frames are baked again"
    if isinstance(error, OSError):
        return f"Frame {frame} cannot be read: {error.strerror} ({error.filename}). Bake again to redo it"
    return str(error)


def show_scene(scene: Scene, is_render: bool = False, depsgraph: Optional[Depsgraph] = None) -> None:
    for simulation in scene.grain.simulations:
        show(simulation, is_render, depsgraph)


def show_all(is_render: bool = False) -> None:
    for simulation in simulations.of_file():
        show(simulation, is_render)


def is_out_of_date(simulation: Simulation, item: Object, shown: Shown) -> bool:
    """Whether show() would do something although the frame is the same: the views changed, or the dots' colour."""
    if item.mode == 'EDIT' or item.hide_viewport:
        return False
    if (shown.dots is not None) != dots.is_wanted(simulation, item, shown.most):
        return True
    return shown.dots is not None and shown.look != dots.look_key(item)


def forget(simulation: Simulation) -> None:
    """The next show() loads anew, whatever the object holds."""
    runtime.state.shown.pop(paths.cache_folder(simulation), None)


def let_go(simulation: Simulation) -> None:
    """The simulation goes: what it moved stands where it was placed."""
    bodies.restore_all(simulation)
    forget(simulation)
