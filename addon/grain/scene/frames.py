# SPDX-License-Identifier: GPL-3.0-or-later
"""Which frames are baked, and going to them."""
from collections.abc import Iterator
from contextlib import contextmanager

from bpy.types import Scene

from .. import runtime
from .simulations import Simulation


def bake_range(simulation: Simulation) -> tuple[int, int]:
    if simulation.use_frame_range:
        return simulation.frame_start, simulation.frame_end
    return simulation.id_data.frame_start, simulation.id_data.frame_end


def frames_per_second(scene: Scene) -> float:
    return scene.render.fps / scene.render.fps_base


@contextmanager
def visiting(scene: Scene) -> Iterator[None]:
    """Lets the body go to other frames; gives the artist's frame back, and loads no sand meanwhile."""
    frame, subframe = scene.frame_current, scene.frame_subframe
    paused, runtime.state.playback_paused = runtime.state.playback_paused, True
    try:
        yield
    finally:
        if (scene.frame_current, scene.frame_subframe) != (frame, subframe):
            scene.frame_set(frame, subframe=subframe)
        runtime.state.playback_paused = paused


def spread_order(first: int, last: int) -> list[int]:
    """Every frame once, coarse to fine (ends, middle, quarters ...): cut short anywhere it still covers the range."""
    order, seen = [first], {first}
    step = last - first
    while step >= 1:
        for frame in range(first, last + 1, step):
            if frame not in seen:
                order.append(frame)
                seen.add(frame)
        step //= 2
    return order
