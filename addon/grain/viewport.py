# SPDX-License-Identifier: GPL-3.0-or-later
"""Draws the dots of the sand into 3D viewports, and notices when they should be something else.

A graphics card gets every grain as a point. Where there is none, points would be drawn by a program that takes a fifth of a
microsecond for each; there libgrain makes a picture of them all, which is laid over the view with its depths.
"""
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Optional

import bpy
import gpu
import numpy as np
from bpy.types import Context, Object, Region

from . import runtime, writing
from .engine import dots as engine_dots
from .engine.dots import Dots
from .scene import apply, baking, detail, dots, paths, playback, redraw

_handlers: list[Any] = []
_shaders: dict[str, Any] = {}
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

_POINT_VERTEX = """
void main()
{
  gl_Position = matrix * vec4(position, 1.0);
  gl_PointSize = clamp(diameter * colour.a / gl_Position.w, 1.0, 64.0);
  shade = vec4(colour.rgb * colour.rgb, gl_PointSize);
}
"""
# Points of some pixels are round, and lit as balls; the others are what they are.
_POINT_FRAGMENT = """
void main()
{
  vec3 result = shade.rgb;
  if (shade.a >= 3.5) {
    vec2 from = gl_PointCoord * 2.0 - 1.0;
    float towards = 1.0 - dot(from, from);
    if (towards <= 0.0) {
      discard;
    }
    float brightness = 0.55 + 0.35 * sqrt(towards) - 0.1 * from.y;
    result *= brightness * brightness;
  }
  outcome = vec4(result, 1.0);
}
"""
_PICTURE_VERTEX = """
void main()
{
  gl_Position = vec4(corner, 0.0, 1.0);
}
"""
_PICTURE_FRAGMENT = """
void main()
{
  vec4 pixel = texelFetch(picture, ivec2(gl_FragCoord.xy - low), 0);
  if (pixel.r > 1.0) {
    discard;
  }
  int three = int(pixel.g);
  vec3 root = vec3(float((three >> 16) & 255), float((three >> 8) & 255), float(three & 255)) / 255.0;
  outcome = vec4(root * root, 1.0);
  gl_FragDepth = pixel.r;
}
"""


def _shader(name: str) -> Any:
    if name in _shaders:
        return _shaders[name]
    made = gpu.types.GPUShaderCreateInfo()
    if name == "points":
        between = gpu.types.GPUStageInterfaceInfo("grain_dots")
        between.flat('VEC4', "shade")
        made.push_constant('MAT4', "matrix")
        made.push_constant('FLOAT', "diameter")
        made.vertex_in(0, 'VEC3', "position")
        made.vertex_in(1, 'VEC4', "colour")
        made.vertex_out(between)
        made.vertex_source(_POINT_VERTEX)
        made.fragment_source(_POINT_FRAGMENT)
    else:
        made.push_constant('VEC2', "low")
        made.sampler(0, 'FLOAT_2D', "picture")
        made.vertex_in(0, 'VEC2', "corner")
        made.vertex_source(_PICTURE_VERTEX)
        if hasattr(made, "depth_write"):
            made.depth_write('ANY')
        made.fragment_source(_PICTURE_FRAGMENT)
    made.fragment_out(0, 'VEC4', "outcome")
    _shaders[name] = gpu.shader.create_from_info(made)
    return _shaders[name]


def _buffer(attributes: list[tuple[str, str, str, np.ndarray]], kind: str) -> Any:
    layout = gpu.types.GPUVertFormat()
    for name, component, fetch, array in attributes:
        layout.attr_add(id=name, comp_type=component, len=array.shape[1], fetch_mode=fetch)
    buffer = gpu.types.GPUVertBuf(layout, len(attributes[0][3]))
    for name, _, _, array in attributes:
        buffer.attr_fill(name, array)
    return gpu.types.GPUBatch(type=kind, buf=buffer)


def _draw_points(grains: Dots, matrix: Any, diameter: float) -> None:
    shader = _shader("points")
    if grains.drawn is None:
        grains.drawn = _buffer([("position", 'F32', 'FLOAT', grains.position),
                                ("colour", 'U8', 'INT_TO_FLOAT_UNIT', grains.colour)], 'POINTS')
    shader.bind()
    shader.uniform_float("matrix", matrix)
    shader.uniform_float("diameter", diameter)
    gpu.state.program_point_size_set(True)
    grains.drawn.draw(shader)
    gpu.state.program_point_size_set(False)


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
    _lay_over(made.texture, made.part, region.width, region.height)


def _lay_over(texture: Any, part: tuple[int, int, int, int], width: int, height: int) -> None:
    low = np.array(part[:2], np.float32)
    size = np.array((width, height), np.float32)
    left, bottom, right, top = (*(low / size * 2.0 - 1.0), *(np.array(part[2:]) / size * 2.0 - 1.0))
    shader = _shader("picture")
    shader.bind()
    shader.uniform_float("low", tuple(low))
    shader.uniform_sampler("picture", texture)
    corners = np.array(((left, bottom), (right, bottom), (left, top), (right, top)), np.float32)
    _buffer([("corner", 'F32', 'FLOAT', corners)], 'TRI_STRIP').draw(shader)


def _draw_nothing() -> None:
    """A picture of no grains: what has to be compiled for the first one of a session then takes no time from it."""
    width, height = 7, 5  # as no powers of two are: for these Mesa compiles something else
    pixels = np.full(2 * width * height, 2.0, np.float32)  # depths beyond everything
    texture = gpu.types.GPUTexture((width, height), format='RG32F', data=gpu.types.Buffer('FLOAT', len(pixels), pixels))
    with _dots_state():
        _lay_over(texture, (0, 0, width, height), bpy.context.region.width, bpy.context.region.height)


def _draw_dots(shown: runtime.Shown, item: Object, context: Context) -> None:
    grains, view = shown.dots, context.region_data
    matrix = view.perspective_matrix @ item.matrix_world
    # Of a sphere as far as w says: 1 away in perspective, anywhere without.
    # Fewer grains fill the same space where each is larger.
    larger = max(1.0, shown.all_count / max(1, shown.count)) ** (1.0 / 3.0)
    diameter = larger * grains.largest * item.matrix_world.median_scale * view.window_matrix[1][1] * context.region.height
    with _dots_state():
        if is_software():
            _draw_picture(grains, matrix, diameter, context)
        else:
            _draw_points(grains, matrix, diameter)


@contextmanager
def _dots_state() -> Iterator[None]:
    gpu.state.depth_test_set('LESS_EQUAL')
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set('NONE')
    try:
        yield
    finally:
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set('NONE')


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


@writing.always_writes
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
    _shaders.clear()
    forget()
