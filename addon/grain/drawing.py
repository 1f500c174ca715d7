# SPDX-License-Identifier: GPL-3.0-or-later
"""What Grain draws with shaders of its own, into whatever is bound: a viewport, or a picture in memory.

Written for OpenGL, Vulkan and Metal; tested with the first two. Pixels count from below in all of them, but within a
point gl_PointCoord counts from above in OpenGL and from below in Blender's Vulkan, so it is not used.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import gpu
import numpy as np

from .engine.dots import Dots

_shaders: dict[str, Any] = {}

_POINT_VERTEX = """
void main()
{
  gl_Position = matrix * vec4(position, 1.0);
  gl_PointSize = clamp(diameter * colour.a / gl_Position.w, 1.0, 64.0);
  shade = vec4(colour.rgb * colour.rgb, gl_PointSize);
  middle = (gl_Position.xy / gl_Position.w * 0.5 + 0.5) * size;
}
"""
# Points of some pixels are round, and lit as balls; the others are what they are.
_POINT_FRAGMENT = """
void main()
{
  vec3 result = shade.rgb;
  if (shade.a >= 3.5) {
    vec2 from = (gl_FragCoord.xy - middle) * (2.0 / shade.a);
    float towards = 1.0 - dot(from, from);
    if (towards <= 0.0) {
      discard;
    }
    float brightness = 0.55 + 0.35 * sqrt(towards) + 0.1 * from.y;
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
        between.flat('VEC2', "middle")
        made.push_constant('MAT4', "matrix")
        made.push_constant('VEC2', "size")
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


def draw_points(grains: Dots, matrix: Any, diameter: float, width: int, height: int) -> None:
    """diameter: pixels of the largest grain where w is 1; width and height: of what is drawn into."""
    shader = _shader("points")
    if grains.drawn is None:
        grains.drawn = _buffer([("position", 'F32', 'FLOAT', grains.position),
                                ("colour", 'U8', 'INT_TO_FLOAT_UNIT', grains.colour)], 'POINTS')
    shader.bind()
    shader.uniform_float("matrix", matrix)
    shader.uniform_float("size", (width, height))
    shader.uniform_float("diameter", diameter)
    gpu.state.program_point_size_set(True)
    grains.drawn.draw(shader)
    gpu.state.program_point_size_set(False)


def lay_over(texture: Any, part: tuple[int, int, int, int], width: int, height: int) -> None:
    """A picture of dots with its depths, as engine/dots.py makes it, over its part of width by height pixels."""
    low = np.array(part[:2], np.float32)
    size = np.array((width, height), np.float32)
    left, bottom, right, top = (*(low / size * 2.0 - 1.0), *(np.array(part[2:]) / size * 2.0 - 1.0))
    shader = _shader("picture")
    shader.bind()
    shader.uniform_float("low", tuple(low))
    shader.uniform_sampler("picture", texture)
    corners = np.array(((left, bottom), (right, bottom), (left, top), (right, top)), np.float32)
    _buffer([("corner", 'F32', 'FLOAT', corners)], 'TRI_STRIP').draw(shader)


@contextmanager
def depth_tested() -> Iterator[None]:
    gpu.state.depth_test_set('LESS_EQUAL')
    gpu.state.depth_mask_set(True)
    gpu.state.blend_set('NONE')
    try:
        yield
    finally:
        gpu.state.depth_mask_set(False)
        gpu.state.depth_test_set('NONE')


def forget() -> None:
    _shaders.clear()
