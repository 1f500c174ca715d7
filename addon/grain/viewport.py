# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the dots of the sand into 3D viewports, and notices when they should be something else.

A graphics card gets every grain as a point. Where there is none, points would be drawn by a program that takes a fifth of a
microsecond for each; there libgrain makes a picture of them all, which is laid over the view with its depths.
"""
import time
import weakref
from dataclasses import dataclass
from typing import Any, Optional

import bpy
import gpu
import numpy as np
from bpy.types import Context, Object, Region

from . import drawing, runtime, write_guard
from .engine import dots as engine_dots
from .engine.dots import Dots
from .scene import paths
from .scene.manage import baking
from .scene.show import apply, detail, dots, playback, redraw

_handlers: list[Any] = []
_pictures: list[tuple["weakref.ref[Dots]", int, int]] = []  # kept with their dots: these, the region, bytes; the oldest first
_began: dict[int, float] = {}  # by region: when it began to be drawn


MOST_PICTURE_BYTES = 1 << 27


@dataclass
class _Picture:
    view: tuple
    part: Optional[tuple[int, int, int, int]]
    texture: Any = None


def is_software() -> bool:
    """Whether a processor draws the viewport. Only where something is drawn at all."""
    return gpu.platform.device_type_get() == 'SOFTWARE'


# --- drawing --------------------------------------------------------------------------------------

def _make_picture(grains: Dots, rows: np.ndarray, diameter: float, region: Region, view: tuple) -> _Picture:
    part = engine_dots.part_of_view(grains, rows, region.width, region.height, diameter)
    made = grains.pictures[region.as_pointer()] = _Picture(view, part)
    if part is not None:
        pixels = engine_dots.picture(grains, rows, region.width, region.height, part, diameter)
        made.texture = gpu.types.GPUTexture((part[2] - part[0], part[3] - part[1]), format='RG32F',
                                            data=gpu.types.Buffer('FLOAT', len(pixels), pixels))
        _keep_picture(grains, region.as_pointer(), pixels.nbytes)
    return made


def _keep_picture(grains: Dots, key: int, byte_count: int) -> None:
    """Scrubbing to and fro shows the same frames from the same place again; not too many of them, though."""
    _pictures[:] = [entry for entry in _pictures if entry[0]() is not None and (entry[0]() is not grains or entry[1] != key)]
    _pictures.append((weakref.ref(grains), key, byte_count))
    while len(_pictures) > 1 and sum(size for _, _, size in _pictures) > MOST_PICTURE_BYTES:
        _drop_picture()


def _drop_picture() -> None:
    grains, key, _ = _pictures.pop(0)
    if grains() is not None:
        grains().pictures.pop(key, None)


def _draw_picture(grains: Dots, matrix: Any, diameter: float, context: Context) -> None:
    region = context.region
    rows = np.array(matrix, np.float64)
    view = (rows.tobytes(), region.width, region.height, diameter)
    made = grains.pictures.get(region.as_pointer())
    if made is None or made.view != view:  # else the frame was seen from here before, or something beside it was redrawn
        made = _make_picture(grains, rows, diameter, region, view)
    if made.part is None:
        return
    drawing.lay_over(made.texture, made.part, region.width, region.height)


def _draw_nothing() -> None:
    """A picture of no grains: what has to be compiled for the first one of a session then takes no time from it."""
    width, height = 7, 5  # as no powers of two are: for these Mesa compiles something else
    pixels = np.full(2 * width * height, 2.0, np.float32)  # depths beyond everything
    texture = gpu.types.GPUTexture((width, height), format='RG32F', data=gpu.types.Buffer('FLOAT', len(pixels), pixels))
    with drawing.depth_tested():
        drawing.lay_over(texture, (0, 0, width, height), bpy.context.region.width, bpy.context.region.height)


def _draw_dots(shown: runtime.Shown, item: Object, context: Context) -> None:
    grains, view = shown.dots, context.region_data
    matrix = view.perspective_matrix @ item.matrix_world
    # Of a sphere as far as w says: 1 away in perspective, anywhere without.
    # Fewer grains fill the same space where each is larger.
    larger = max(1.0, shown.all_count / max(1, shown.count)) ** (1.0 / 3.0)
    diameter = larger * grains.largest * item.matrix_world.median_scale * view.window_matrix[1][1] * context.region.height
    with drawing.depth_tested():
        if is_software():
            _draw_picture(grains, matrix, diameter, context)
        else:
            drawing.draw_points(grains, matrix, diameter, context.region.width, context.region.height)


def _before_view() -> None:
    _began[bpy.context.region.as_pointer()] = time.monotonic()


def _after_view() -> None:
    context = bpy.context
    space = context.space_data
    if space is None or space.type != 'VIEW_3D' or context.region_data is None or runtime.state.playback_paused:
        return
    if dots.is_solid(space.shading) and dots.is_to_be_prepared() and is_software():
        try:
            _draw_nothing()
        except Exception as error:
            dots.give_up(str(error))
    changed = False
    for simulation in context.scene.grain.simulations:
        shown = runtime.state.shown.get(paths.cache_folder(simulation))
        item = apply.sand_object(simulation)
        if shown is None or shown.frame is None or item is None:
            continue
        began = time.monotonic()
        if shown.dots is not None and dots.is_solid(space.shading) and _is_seen(item, context):
            try:
                _draw_dots(shown, item, context)
            except Exception as error:  # a driver that cannot; Blender's own points then have to do
                dots.give_up(str(error))
        changed |= detail.note_drawn(simulation, shown, time.monotonic() - began)
        changed |= playback.is_out_of_date(simulation, item, shown)
    runtime.state.view_seconds = time.monotonic() - _began.get(context.region.as_pointer(), time.monotonic())
    if changed and not bpy.app.timers.is_registered(_follow):
        bpy.app.timers.register(_follow, first_interval=0.0)


def _is_seen(item: Object, context: Context) -> bool:
    return (item.display_type in ('SOLID', 'TEXTURED') and item.mode != 'EDIT'
            and item.visible_get(view_layer=context.view_layer, viewport=context.space_data))


@write_guard.always_writes
def _show() -> None:
    playback.show_all()


def _follow() -> Optional[float]:
    """While something is drawn nothing may be changed; right after it may."""
    if baking.is_rendering():
        return 0.2
    _show()
    redraw.views()
    if not runtime.is_baking():
        redraw.panels_soon()  # they tell how many grains are shown
    return None


def forget() -> None:
    while _pictures:
        _drop_picture()
    _began.clear()


def register() -> None:
    if bpy.app.background:
        return
    view = bpy.types.SpaceView3D
    _handlers.append(view.draw_handler_add(_before_view, (), 'WINDOW', 'PRE_VIEW'))
    _handlers.append(view.draw_handler_add(_after_view, (), 'WINDOW', 'POST_VIEW'))


def unregister() -> None:
    if bpy.app.timers.is_registered(_follow):
        bpy.app.timers.unregister(_follow)
    for handler in _handlers:
        bpy.types.SpaceView3D.draw_handler_remove(handler, 'WINDOW')
    _handlers.clear()
    drawing.forget()
    forget()
