# SPDX-License-Identifier: GPL-3.0-or-later
"""Packed grains in Blender: what the object holds, frames read ahead, and how long a million of them take to load."""
import threading
import time
from pathlib import Path

import bpy
import harness
import numpy as np
import support
from baked import positions, sand_scene


def wait_for_reader() -> None:
    from grain.engine import read_ahead
    end = time.monotonic() + 10.0
    while any(frame._reader is not None and not frame._reader.is_done(frame._number) for frame in read_ahead._expected):
        assert time.monotonic() < end, "what is expected is read"
        time.sleep(0.01)


def test_frames_are_read_ahead_in_bounds(folder: Path) -> None:
    from grain.engine import read_ahead
    scene = sand_scene(folder, 6)
    bpy.ops.grain.bake()
    cache = folder / "grain_cache/Sand/grains"
    for frame in (2, 3, 4, 3, 2):
        scene.frame_set(frame)
        expected = support.read_frame(cache / f"grains_{frame:06d}.grain")
        assert np.array_equal(positions(scene), expected["position"])
    wait_for_reader()
    assert threading.active_count() == 1, "no thread of Python's runs beside Blender"
    shown = {Path(key[0]).name for key, frame in read_ahead._kept.items() if frame.byte_count()}
    assert "grains_000001.grain" in shown, "going back, the frame before is read"
    read_ahead.forget()
    scene.frame_set(1)
    wait_for_reader()
    shown = {Path(key[0]).name for key, frame in read_ahead._kept.items() if frame.byte_count()}
    assert {f"grains_{frame:06d}.grain" for frame in (2, 3, 4, 5)} <= shown, "at the first frame, those that follow"
    read_ahead.forget()
    scene.frame_set(2)
    wait_for_reader()
    shown = {Path(key[0]).name for key, frame in read_ahead._kept.items() if frame.byte_count()}
    assert {f"grains_{frame:06d}.grain" for frame in (3, 4, 5, 6)} <= shown, "going on, some more than the next"
    one = max(frame.byte_count() for frame in read_ahead._kept.values())
    read_ahead.MOST_BYTES, before = 2 * one, read_ahead.MOST_BYTES
    try:
        for frame in (1, 2, 3, 4, 5, 6):
            scene.frame_set(frame)
            wait_for_reader()
        read_ahead.trim()
        assert sum(frame.byte_count() for frame in read_ahead._kept.values()) <= 2 * one
    finally:
        read_ahead.MOST_BYTES = before
    support.disable()
    assert read_ahead._reader is None and not read_ahead._kept
    support.enable()


def test_a_frame_made_again_is_read_again(folder: Path) -> None:
    scene = sand_scene(folder, 3)
    bpy.ops.grain.bake()
    scene.frame_set(2)
    before = positions(scene)
    scene.grain.active.grain_seed = 5
    bpy.ops.grain.bake()
    scene.frame_set(2)
    expected = support.read_frame(folder / "grain_cache/Sand/grains/grains_000002.grain")
    assert np.array_equal(positions(scene), expected["position"]) and not np.array_equal(positions(scene), before)


def test_damaged_grains_are_reported_not_shown(folder: Path) -> None:
    from grain import runtime
    scene = sand_scene(folder, 3)
    bpy.ops.grain.bake()
    path = folder / "grain_cache/Sand/grains/grains_000003.grain"
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 4
    path.write_bytes(data)
    scene.frame_set(3)
    assert len(positions(scene)) == 0
    text = next(iter(runtime.state.shown.values())).message.text
    assert "grains_000003.grain" in text and "damaged" in text, text


def seconds_to_load(scene: bpy.types.Scene, path: Path, amount: float) -> float:
    from grain.engine import read_ahead
    from grain.scene.show import apply
    best = 1e30
    for _ in range(4):  # the first gives the mesh its size
        read_ahead.forget()
        began = time.perf_counter()
        apply.set_frame(scene.grain.active.sand_object, read_ahead.grains(path, amount), 1.0)
        best = min(best, time.perf_counter() - began)
    return best


def frames_per_second(scene: bpy.types.Scene, frames: list[int]) -> float:
    """Of scrubbing: the handler, and Blender's own work on what it has loaded."""
    began = time.perf_counter()
    for frame in frames:
        scene.frame_set(frame)
        bpy.context.evaluated_depsgraph_get().update()
    return len(frames) / (time.perf_counter() - began)


def test_a_million_grains_load_quickly(folder: Path) -> None:
    """Prints the figures; what they may be depends on the machine, so only heavy runs, which have it to themselves, ask for
    them: a million scrub at 10 frames a second, five million load within a second. A prefix of a tenth must not read the
    rest, which any machine shows."""
    scene = sand_scene(folder, 2)
    scene.grain.active.particle_radius *= 0.3
    scene.grain.active.upsample_mode = 'TOTAL'
    scene.grain.active.grain_millions = 1.0 if not harness.is_heavy() else 5.0
    bpy.ops.grain.bake()
    path = folder / "grain_cache/Sand/grains/grains_000002.grain"
    whole, tenth = seconds_to_load(scene, path, 1.0), seconds_to_load(scene, path, 0.1)
    millions = len(positions(scene)) * 1e-5
    print(f"# {millions:.1f} M grains: {whole:.3f} s, a tenth of them {tenth:.3f} s ({100 * tenth / whole:.0f} %)")
    assert tenth < 0.5 * whole
    display = scene.grain.active.display
    display.amount_mode, display.viewport_count = 'COUNT', 1_000_000
    scene.frame_set(1)
    scrubbed = frames_per_second(scene, [2, 1, 2, 1, 2, 1, 2, 1])
    print(f"# {len(positions(scene)):,} grains shown scrub at {scrubbed:.1f} frames a second")
    if harness.is_heavy():
        assert whole < 1.0, f"5 million grains took {whole:.2f} s"
        assert scrubbed >= 10.0, f"a million grains scrub at {scrubbed:.1f} frames a second"
