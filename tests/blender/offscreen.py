# SPDX-License-Identifier: GPL-3.0-or-later
"""Dots drawn without a window, for test_drawing.py: in a Blender of its own, as a process chooses its backend once."""
import ctypes
import subprocess
from pathlib import Path
from typing import Any

import bpy
import gpu
import numpy as np
from mathutils import Matrix

WIDTH, HEIGHT = 160, 120
BACKGROUND = (0.0, 0.0, 0.2, 1.0)
NO_DRIVER, READY = "GRAIN: NO DRIVER", "GRAIN: READY"
# The ball in the middle, and what is laid over: left, bottom, right, top of pixels, depth, bytes of the colour's root.
BALL, BALL_PIXELS = (80, 60), 41
PART = (10, 20, 130, 100)
PATCHES = (((20, 50, 70, 70), 0.5, (128, 255, 64)), ((110, 80, 125, 90), 0.2, (64, 96, 255)))


def choose_backend(name: str) -> None:
    """What `blender --gpu-backend` does. A module has no command line and always starts with OpenGL, so the function
    behind that option is called, found in the library's symbols."""
    if bpy.app.binary_path:
        return
    mapped = next(line.split() for line in Path("/proc/self/maps").read_text().splitlines()
                  if Path(line.split()[-1]).match("bpy/__init__*.so"))
    start = int(mapped[0].split("-")[0], 16) - int(mapped[2], 16)
    listed = subprocess.run(["nm", mapped[-1]], capture_output=True, text=True, check=True).stdout
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in listed.splitlines()
               if "GPU_backend_type_selection" in line}
    number = bpy.types.PreferencesSystem.bl_rna.properties["gpu_backend"].enum_items[name].value
    place = {word: next(symbols[symbol] for symbol in symbols if f"_{word}E" in symbol and ".cold" not in symbol)
             for word in ("set_override", "detect")}
    ctypes.CFUNCTYPE(None, ctypes.c_int)(start + place["set_override"])(number)
    ctypes.CFUNCTYPE(ctypes.c_bool)(start + place["detect"])()


def _balls() -> tuple[np.ndarray, np.ndarray]:
    """Many small ones, all of them whole in the picture, behind a large white one in the middle."""
    dice = np.random.default_rng(1)
    position = (dice.random((400, 3)) * 1.5 - 0.75).astype(np.float32)
    colour = dice.integers(100, 256, (400, 4), dtype=np.uint8)
    colour[:, 3] = dice.integers(10, 100, 400)
    position[0], colour[0] = (0.0, 0.0, -0.9), 255
    return position, colour


def _draw(what: str) -> dict[str, np.ndarray]:
    from grain import drawing
    from grain.engine.dots import Dots
    target = gpu.types.GPUOffScreen(WIDTH, HEIGHT)
    with target.bind():
        buffer = gpu.state.active_framebuffer_get()
        buffer.clear(color=BACKGROUND, depth=1.0)
        with drawing.depth_tested():
            if what == "points":
                position, colour = _balls()
                drawing.draw_points(Dots(position, colour, 1.0, np.array((position.min(axis=0), position.max(axis=0)))),
                                    Matrix.Identity(4), BALL_PIXELS, WIDTH, HEIGHT)
            else:
                drawing.lay_over(_texture(), PART, WIDTH, HEIGHT)
        pixels = np.array(buffer.read_color(0, 0, WIDTH, HEIGHT, 4, 0, 'FLOAT').to_list(), np.float32)
        depths = np.array(buffer.read_depth(0, 0, WIDTH, HEIGHT).to_list(), np.float32)
    target.free()
    return {what: pixels.reshape(HEIGHT, WIDTH, 4), f"{what}_depth": depths.reshape(HEIGHT, WIDTH)}


def _texture() -> Any:
    pixels = np.full((HEIGHT, WIDTH, 2), 2.0, np.float32)  # depths beyond everything
    for (left, bottom, right, top), depth, (red, green, blue) in PATCHES:
        pixels[bottom:top, left:right] = depth, red << 16 | green << 8 | blue
    pixels = np.ascontiguousarray(pixels[PART[1]:PART[3], PART[0]:PART[2]]).reshape(-1)
    return gpu.types.GPUTexture((PART[2] - PART[0], PART[3] - PART[1]), format='RG32F',
                                data=gpu.types.Buffer('FLOAT', len(pixels), pixels))


def draw(backend: str, path: str) -> None:
    """Writes what is drawn with it, or says that there is no driver for it."""
    try:
        choose_backend(backend)
        gpu.init()
    except (KeyError, SystemError) as error:
        print(NO_DRIVER, error)
        return
    if gpu.platform.backend_type_get() != backend:
        print(NO_DRIVER, f"Blender chose {gpu.platform.backend_type_get()} instead")
        return
    print(f"# {backend}: {gpu.platform.renderer_get()}, {gpu.platform.version_get()}")
    print(READY, flush=True)
    np.savez(path, **_draw("points"), **_draw("picture"))
