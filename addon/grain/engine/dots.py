# SPDX-License-Identifier: GPL-3.0-or-later
"""Grains as lit dots, for viewports: by far less work than geometry, for Blender and for whatever draws them."""
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional

import numpy as np

from . import ffi, ffi_dots
from .between import Frame
from .objects import CacheFrame, LitPoints
from .read_ahead import Grains

# On a processor, pixels that all dots together may touch: a view full of large grains must not take longer than one of many.
_MOST_TOUCHED = 9_000_000
_MOST_PIXELS = 24


class Dots:
    """What is to be drawn, in the unit and the space of the object it belongs to. Arrays are not changed any more."""

    def __init__(self, position: np.ndarray, colour: np.ndarray, largest: float, bounds: np.ndarray) -> None:
        self.position, self.colour = position, colour  # float32 and uint8
        self.largest, self.bounds = largest, bounds  # radius, and the least and the greatest of the positions
        self.drawn: Any = None  # what a graphics card made of it
        self.pictures: dict[int, Any] = {}  # what a processor did, by viewport

    def __len__(self) -> int:
        return len(self.position)


def _light(position: np.ndarray, radius: np.ndarray, ids: Optional[np.ndarray], moisture: Optional[np.ndarray],
           colours: np.ndarray, wet_value: float) -> Dots:
    """colours: (256, 3), linear. Raises GrainError."""
    position = np.ascontiguousarray(position, np.float32)
    radius = np.ascontiguousarray(radius, np.float32)
    made = Dots(position, np.empty((len(position), 4), np.uint8), float(radius.max()) if len(radius) else 0.0,
                np.zeros((2, 3), np.float32))
    ids = np.ascontiguousarray(ids, np.int32) if ids is not None else None
    moisture = np.ascontiguousarray(moisture, np.float32) if moisture is not None else None
    if len(position) and made.largest > 0.0:
        ffi_dots.dots_colour(position, radius, ids, moisture, np.ascontiguousarray(colours, np.float32), wet_value, made.largest,
                        made.colour, made.bounds)
    return made


def _even_part(count: int, share: float) -> Optional[np.ndarray]:
    """Places of an even share of grains that stand in the order of their sources; the same ones in each frame. None: all."""
    if share >= 1.0:
        return None
    dice = (np.arange(count, dtype=np.uint32) * np.uint32(2654435761)) >> np.uint32(8)
    return np.flatnonzero(dice < share * 2.0**24)


@dataclass(frozen=True, eq=False)
class Style:
    """What all frames have in common."""
    colours: np.ndarray  # (256, 3), linear
    wet_value: float
    scale: float  # metres to the unit of what is drawn
    radius_scale: float  # of a grain's radius in m to what is drawn

    @cached_property
    def look(self) -> ffi.GrainPointsLook:
        return ffi_dots.dots_look(np.ascontiguousarray(self.colours, np.float32), self.wet_value)


def make(frame: Frame, style: Style, seconds: float = 0.0, numbers: Optional[np.ndarray] = None, share: float = 1.0) -> Dots:
    """The dots of a frame, or an even share of them, moved on by its velocities for some seconds. Raises GrainError."""
    position, radius = frame.column("position"), frame.column("radius")
    moisture = frame.column("moisture") if frame.has_column("moisture") else None
    ids = numbers
    chosen = _even_part(len(position), share)
    if not radius.all():  # some are gone, in kill zones or far below the scene
        chosen = np.flatnonzero(radius) if chosen is None else chosen[radius[chosen] != 0.0]
    if chosen is not None:
        position, radius, ids = position[chosen], radius[chosen], chosen if numbers is None else numbers[chosen]
        moisture = moisture[chosen] if moisture is not None else None
    if seconds != 0.0:
        velocity = frame.column("velocity")
        position = position + (velocity if chosen is None else velocity[chosen]) * np.float32(seconds)
    if style.scale != 1.0:
        position = position * np.float32(1.0 / style.scale)
    if style.radius_scale != 1.0:
        radius = radius * np.float32(style.radius_scale)
    if isinstance(frame, CacheFrame) and position.base is not None:
        position = position.copy()  # a window on a file that is about to be closed
    return _light(position, radius, ids, moisture, style.colours, style.wet_value)


def of_grains(grains: Grains, style: Style) -> Dots:
    """The same of grains that are kept in memory, and kept with them. Any thread."""
    with grains.lock:
        found = grains.kept.get("dots")
        if found is None or found[0] is not style:
            position, lit = grains.column("position"), grains.lit
            made = _of_lit(position, lit, style) if lit is not None and lit.is_made and lit.look is style.look else make(grains, style)
            found = grains.kept["dots"] = (style, made)
        return found[1]


def _of_lit(position: np.ndarray, lit: LitPoints, style: Style) -> Dots:
    """In the unit of what is drawn, where that is not the metre. Light and colours are the same in any."""
    if style.scale != 1.0:
        position = position * np.float32(1.0 / style.scale)
    return Dots(position, lit.colour, lit.largest * style.radius_scale, lit.bounds / np.float32(style.scale))


def part_of_view(dots: Dots, matrix: np.ndarray, width: int, height: int, diameter: float) -> Optional[tuple[int, int, int, int]]:
    """Left, bottom, right and top of the pixels that dots can lie in; None where none can."""
    corners = np.array([[dots.bounds[(k >> axis) & 1, axis] for axis in range(3)] + [1.0] for k in range(8)], np.float64)
    clip = corners @ matrix.T
    if clip[:, 3].min() <= 1e-6:
        return 0, 0, width, height  # reaches behind the eye
    places = (clip[:, :2] / clip[:, 3:] * 0.5 + 0.5) * (width, height)
    margin = min(diameter / clip[:, 3].min(), _MOST_PIXELS) + 1.0
    left, bottom = (max(0, int(value)) for value in np.floor(places.min(axis=0) - margin))
    right, top = (min(size, int(value)) for value, size in zip(np.ceil(places.max(axis=0) + margin), (width, height)))
    return (left, bottom, right, top) if left < right and bottom < top else None


def picture(dots: Dots, matrix: np.ndarray, width: int, height: int, part: tuple[int, int, int, int], diameter: float) -> np.ndarray:
    """Depth and colour of each pixel of the part, float32, as grain/view.h describes them. diameter: pixels of the largest grain
    where w is 1. Raises GrainError."""
    most = int(max(1.0, min(_MOST_PIXELS, (_MOST_TOUCHED / max(1, len(dots))) ** 0.5)))
    out = np.empty((part[3] - part[1]) * (part[2] - part[0]) * 2, np.float32)
    ffi_dots.dots_picture(dots.position, dots.colour, np.ascontiguousarray(matrix, np.float32), (width, height), part, diameter, most, out)
    return out
