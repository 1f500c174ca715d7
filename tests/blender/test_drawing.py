# SPDX-License-Identifier: GPL-3.0-or-later
"""What Grain draws itself, with each of the backends that Blender has. From 5.2 that can be done without a window."""
from pathlib import Path

import bpy
import harness
import numpy as np
import offscreen
import support


def drawn(backend: str, folder: Path) -> dict[str, np.ndarray]:
    """Pixels and depths, rows from below. Raises Skip where that backend cannot draw here."""
    if bpy.app.version < (5, 2, 0):
        raise harness.Skip("before 5.2 Blender draws nothing without a window")
    path = folder / f"{backend}.npz"
    chosen = ("--gpu-backend", backend.lower()) if bpy.app.binary_path else ()
    done = support.run_blender(folder, *chosen, script=f"import offscreen; offscreen.draw({backend!r}, {str(path)!r})")
    for line in done.stdout.splitlines():
        if line.startswith(offscreen.NO_DRIVER):
            raise harness.Skip(f"no driver draws with {backend} here: {line.removeprefix(offscreen.NO_DRIVER).strip()}")
        if line.startswith("# "):
            print(line)
    if done.returncode < 0 and offscreen.READY not in done.stdout:
        raise harness.Skip(f"Blender ends while it looks for a driver that draws with {backend}")
    assert done.returncode == 0 and path.is_file(), support.fail_output(done)
    with np.load(path) as kept:
        return dict(kept)


def check_ball(pixels: np.ndarray, depths: np.ndarray) -> None:
    """Round, lit from above, before all others."""
    (across, up), half = offscreen.BALL, offscreen.BALL_PIXELS // 2
    ball = pixels[up - half:up + half + 1, across - half:across + half + 1, 1]
    assert abs(ball[half, half] - 0.81) < 0.02, f"{ball[half, half]:.3f} in the middle, white is 0.9 squared there"
    above, below = ball[half + half // 2, half], ball[half - half // 2, half]
    assert above > below + 0.1, f"lit from below: {above:.3f} above the middle, {below:.3f} under it"
    left, right = ball[half, half - half // 2], ball[half, half + half // 2]
    assert abs(left - right) < 0.02, (left, right)
    front = np.abs(depths - 0.05) < 1e-3  # its z is -0.9
    expected = np.pi / 4.0 * offscreen.BALL_PIXELS ** 2
    assert abs(front.sum() / expected - 1.0) < 0.02, f"{front.sum()} pixels, a disk has {expected:.0f}"
    assert not front[up - half, across - half] and front[up, across - half + 1], "its corners are cut off"


def check_picture(pixels: np.ndarray, depths: np.ndarray) -> None:
    """Each pixel in its place, with its depth; what is beyond everything leaves what was there."""
    colours = np.broadcast_to(np.array(offscreen.BACKGROUND, np.float32), pixels.shape).copy()
    places = np.ones_like(depths)
    for (left, bottom, right, top), depth, colour in offscreen.PATCHES:
        colours[bottom:top, left:right, :3] = (np.array(colour) / 255.0) ** 2
        places[bottom:top, left:right] = depth
    assert np.abs(pixels - colours).max() < 1.5 / 255.0, np.abs(pixels - colours).max()
    assert np.abs(depths - places).max() < 1e-6


def check(backend: str, folder: Path) -> None:
    found = drawn(backend, folder)
    check_ball(found["points"], found["points_depth"])
    check_picture(found["picture"], found["picture_depth"])


def test_dots_with_opengl(folder: Path) -> None:
    check('OPENGL', folder)


def test_dots_with_vulkan(folder: Path) -> None:
    check('VULKAN', folder)


def test_the_same_pixels_with_both(folder: Path) -> None:
    one, other = drawn('OPENGL', folder), drawn('VULKAN', folder)
    for name in one:
        between = np.abs(one[name] - other[name]).reshape(offscreen.HEIGHT, offscreen.WIDTH, -1)
        differing = between.max(axis=2) > 2.0 / 255.0
        print(f"# {name}: {differing.sum()} of {differing.size} pixels differ")
        # A small dot's edge may fall on either side of a pixel's middle.
        assert differing.mean() < 0.01, f"{name}: {differing.sum()} of {differing.size} pixels differ"
