"""Which frames are baked, and going to them."""
from collections.abc import Iterator
from contextlib import contextmanager

from bpy.types import Scene

from .. import runtime


def bake_range(scene: Scene) -> tuple[int, int]:
    settings = scene.grain
    if settings.use_frame_range:
        return settings.frame_start, settings.frame_end
    return scene.frame_start, scene.frame_end


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
