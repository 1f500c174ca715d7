# SPDX-License-Identifier: GPL-3.0-or-later
"""libgrain's objects as Python sees them. Arrays are windows on libgrain's memory: use them inside the `with`."""
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Optional

import numpy as np

from . import ffi, ffi_dots

_TYPES = (np.float32, np.int32, np.float64, np.int64)  # by GrainType


Layout = tuple[tuple[int, ...], type]  # shape and type of an array
_ALIGNED = 64  # bytes


def side_by_side(layouts: dict[str, Layout]) -> dict[str, np.ndarray]:
    """Arrays to be filled, in one piece of memory. NumPy has the system use large pages for pieces of 4 MB and more, where that can
    be: to get 4 MB in small ones takes 2 ms, as long as to unpack a million radii into them."""
    sizes = [-(-int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize // _ALIGNED) * _ALIGNED for shape, kind in layouts.values()]
    piece = np.empty(sum(sizes), np.uint8)
    arrays, at = {}, 0
    for (name, (shape, kind)), size in zip(layouts.items(), sizes):
        arrays[name] = piece[at:at + int(np.prod(shape, dtype=np.int64)) * np.dtype(kind).itemsize].view(kind).reshape(shape)
        at += size
    return arrays


def _window(memory: Any, view: ffi.GrainView) -> np.ndarray:
    """A read-only array on libgrain's memory, without a copy; (count,) or (count, components)."""
    shape = (view.count,) if view.components == 1 else (view.count, view.components)
    array = np.frombuffer(memory, _TYPES[view.type]).reshape(shape)
    array.flags.writeable = False
    return array


# What columns must be, where the add-on uses them: components and type. All but those of bodies have a row for each particle.
_KNOWN: dict[str, tuple[int, type]] = {
    "position": (3, np.float32), "velocity": (3, np.float32), "radius": (1, np.float32), "orientation": (4, np.float32),
    "moisture": (1, np.float32), "birth_time": (1, np.float32), "id": (1, np.int64), "rest": (3, np.float32), "source_id": (1, np.int32),
    "body.position": (3, np.float32), "body.orientation": (4, np.float32), "body.velocity": (3, np.float32), "body.spin": (3, np.float32)}
KNOWN_COLUMNS = frozenset(_KNOWN)
_MOST_COMPONENTS = 4  # of other columns, which are attributes


class CacheFrame:
    """One frame file, checked by libgrain; of packed grains each column as it is read.

    with CacheFrame(path) as frame:
        frame.column("position")   # float32, (particles, 3), m
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._handle: Any = ffi.frame_open(path)
        try:
            info = ffi.frame_info(self._handle)
        except ffi.GrainError:
            self.close()
            raise
        self.frame: int = info.frame
        self.time: float = info.time
        self.particles: int = info.particles

    def has_column(self, name: str) -> bool:
        try:
            ffi.frame_column(self._handle, name)
        except ffi.GrainError:
            return False
        return True

    def _view(self, name: str) -> tuple[Any, ffi.GrainView]:
        """Raises GrainError, also where it is not what such a column must be."""
        memory, view = ffi.frame_column(self._handle, name)
        known = _KNOWN.get(name)
        fits = (view.components <= _MOST_COMPONENTS if known is None else (view.components, _TYPES[view.type]) == known)
        if not fits or (view.count != self.particles and not name.startswith("body.")):
            raise ffi.GrainError(ffi.ERROR_DAMAGED, f"'{self._path}' is damaged: its column '{name}' is not what it must be")
        return memory, view

    def column(self, name: str, count: Optional[int] = None) -> np.ndarray:
        """Its first elements, or all; (particles,) or (particles, components). A read-only window on libgrain's memory,
        without a copy, or, of packed grains, an array of its own."""
        memory, view = self._view(name)
        if memory is not None:
            return _window(memory, view)[:count]
        array = self.room(name, view.count if count is None else count)
        ffi.frame_load(self._handle, name, len(array), array.ctypes.data)
        return array

    def room(self, name: str, count: int) -> np.ndarray:
        """Room for this many elements of a column, to be filled."""
        return np.empty(*self.layout(name, count))

    def layout(self, name: str, count: int) -> Layout:
        """This many elements of a column."""
        _, view = self._view(name)
        return (count,) if view.components == 1 else (count, view.components), _TYPES[view.type]

    def close(self) -> None:
        if self._handle:
            ffi.frame_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> "CacheFrame":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()


@dataclass
class LitPoints:
    """Dots that a Reader makes: colours as grain/view.h describes them, of all grains or none."""
    look: ffi.GrainPointsLook
    colour: np.ndarray
    is_made: bool = False
    largest: float = 0.0  # radius in m
    bounds: Optional[np.ndarray] = None  # (2, 3), m


class Reader:
    """A thread of libgrain's that reads frames ahead, one after another."""

    def __init__(self) -> None:
        self._handle: Any = ffi_dots.ahead_create()

    def add(self, path: Path, count: int, columns: dict[str, np.ndarray], lit: Optional[LitPoints]) -> int:
        """Fills the arrays, and dots in a look. Nobody touches or frees them before the number returned is dropped or finished, or
        the reader is closed. Raises GrainError."""
        return ffi_dots.ahead_add(self._handle, path, count, columns, lit.look if lit is not None else None,
                                  lit.colour if lit is not None else None)

    def drop(self, number: int) -> bool:
        """Whether it had not begun; it never will."""
        return ffi_dots.ahead_drop(self._handle, number)

    def is_done(self, number: int) -> bool:
        return ffi_dots.ahead_is_done(self._handle, number)

    def finish(self, number: int, lit: Optional[LitPoints]) -> None:
        """Waits for it, or does it now where it has not begun. Raises GrainError."""
        made = ffi_dots.ahead_finish(self._handle, number)
        if lit is not None:
            lit.is_made, lit.largest = bool(made.are_made), made.largest_radius
            lit.bounds = np.array(made.bounds, np.float32).reshape(2, 3)

    def close(self) -> None:
        if self._handle:
            ffi_dots.ahead_destroy(self._handle)
            self._handle = None


class Surface:
    """A triangle mesh that libgrain can read; keeps the arrays alive. Lengths in any unit, as long as it is the same."""

    def __init__(self, positions: np.ndarray, triangles: np.ndarray) -> None:
        self.positions = np.ascontiguousarray(positions, np.float32).reshape(-1, 3)
        self.triangles = np.ascontiguousarray(triangles, np.int32).reshape(-1, 3)
        self.mesh = ffi.mesh(self.positions.ctypes.data, len(self.positions),
                             self.triangles.ctypes.data, len(self.triangles))

    def report(self) -> str:
        """What is wrong with it, in words; a line for each finding."""
        return ffi.mesh_report(self.mesh)


class Cover:
    """Particles spread evenly over a surface.

    with Cover(surface, radius=0.01, offset=0.0, density=1.0, seed=0) as cover:
        cover.position   # float32, (particles, 3)

    Arrays are windows that hold until the cover changes: read them anew after follow().
    """

    def __init__(self, surface: Surface, **settings: float) -> None:
        self._handle: Any = ffi.cover_mesh(surface.mesh, settings)

    @property
    def position(self) -> np.ndarray:
        return _window(*ffi.cover_attribute(self._handle, 0))

    @property
    def normal(self) -> np.ndarray:
        return _window(*ffi.cover_attribute(self._handle, 1))

    @property
    def weight(self) -> np.ndarray:
        return _window(*ffi.cover_attribute(self._handle, 2))

    @property
    def velocity(self) -> np.ndarray:
        return _window(*ffi.cover_attribute(self._handle, 3))

    @property
    def id(self) -> np.ndarray:
        return _window(*ffi.cover_attribute(self._handle, 4))

    @property
    def quality(self) -> ffi.GrainCoverQuality:
        return ffi.cover_quality(self._handle)

    def bind(self, surface: Surface) -> None:
        """Ties each particle to the surface, which must be where the cover is."""
        ffi.cover_bind(self._handle, surface.mesh)

    def follow(self, positions: np.ndarray, seconds: float) -> None:
        """The surface's vertices are here now, this many seconds later."""
        places = np.ascontiguousarray(positions, np.float32).reshape(-1, 3)
        ffi.cover_follow(self._handle, places.ctypes.data, len(places), seconds)

    def close(self) -> None:
        if self._handle:
            ffi.cover_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> "Cover":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
