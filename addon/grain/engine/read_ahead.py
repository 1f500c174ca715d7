# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames of grains in memory, a few of them: the last ones shown, and the next ones, read while nobody waits.

libgrain reads ahead, on a thread of its own. No thread of Python's may: Blender 3.4 changes Python's objects while it draws without
having Python's lock, and crashes when another thread has it.
"""
import atexit
from collections import OrderedDict
from math import ceil
from pathlib import Path
from threading import RLock
from typing import Any, Optional

import numpy as np

from . import door
from .ffi import GrainError, GrainPointsLook
from .objects import CacheFrame, LitPoints, Reader, side_by_side

_COLOUR = "colour"  # of dots; no column of a file
MOST_BYTES = 1 << 30  # kept in memory; a frame that is larger by itself is kept alone


class Grains:
    """The first part of a frame's grains, columns as they are asked for. Any thread: renders have their own."""

    def __init__(self, path: Path, amount: float) -> None:
        self.path, self.amount = path, amount
        self.lit: Optional[LitPoints] = None  # as dots, where that was made ahead
        self.kept: dict[str, Any] = {}  # what was made of them
        self.lock = RLock()  # held while something is, so that nobody makes it twice
        self._columns: dict[str, Optional[np.ndarray]] = {}
        self._ahead: dict[str, np.ndarray] = {}  # columns that are being read
        self._reader: Optional[Reader] = None
        self._number = 0  # the reader's
        with CacheFrame(path) as frame:
            self.particles = frame.particles  # of the whole frame
        self.count = ceil(self.particles * amount)

    def has_column(self, name: str) -> bool:
        return self.columns([name])[name] is not None

    def column(self, name: str) -> np.ndarray:
        found = self.columns([name])[name]
        assert found is not None, name
        return found

    def columns(self, names: list[str]) -> dict[str, Optional[np.ndarray]]:
        """None for what the file has not. Missing ones are read and checked now. Raises GrainError."""
        with self.lock:
            self._finish()
            missing = [name for name in names if name not in self._columns]
            if missing:
                with CacheFrame(self.path) as frame:
                    for name in missing:
                        self._columns[name] = frame.column(name, self.count) if frame.has_column(name) else None
            return {name: self._columns[name] for name in names}

    def names(self) -> list[str]:
        return list(self._columns)

    def byte_count(self) -> int:
        arrays = [*self._columns.values(), *self._ahead.values()]
        return sum(array.nbytes for array in arrays if array is not None)

    def read_ahead(self, reader: Reader, names: list[str], look: Optional[GrainPointsLook]) -> bool:
        """Has missing columns read by the reader, and dots made of them in a look. Whether anything was. Raises GrainError."""
        with self.lock:
            missing = [name for name in names if name not in self._columns and name not in self._ahead]
            if self._reader is not None or not missing:
                return False
            with CacheFrame(self.path) as frame:
                layouts = {name: frame.layout(name, self.count) for name in missing if frame.has_column(name)}
            self._columns.update((name, None) for name in missing if name not in layouts)
            if not layouts:
                return False
            if look is not None and {"position", "radius"} <= set(layouts):
                arrays = side_by_side({**layouts, _COLOUR: ((self.count, 4), np.uint8)})
                lit: Optional[LitPoints] = LitPoints(look, arrays.pop(_COLOUR))
            else:
                arrays, lit = side_by_side(layouts), None
            self._number = reader.add(self.path, self.count, arrays, lit)
            self._reader, self._ahead, self.lit = reader, arrays, lit
            return True

    def is_read_ahead(self) -> bool:
        """Whether the reader still has to do with it. What has waited so far does so no more."""
        with self.lock:
            if self._reader is not None and self._reader.drop(self._number):
                self._reader, self._ahead, self.lit = None, {}, None
            elif self._reader is not None and self._reader.is_done(self._number):
                self._finish()
            return self._reader is not None

    def _finish(self) -> None:
        if self._reader is None:
            return
        reader, self._reader, columns, self._ahead = self._reader, None, self._ahead, {}
        try:
            reader.finish(self._number, self.lit)
            self._columns.update(columns)
        except GrainError:  # it comes again, and is told, when the columns are wanted
            self.lit = None


_Key = tuple[str, int, int, float]
_kept: "OrderedDict[_Key, Grains]" = OrderedDict()  # the one used last is last
_expected: list[Grains] = []  # which the reader has, even if they are not kept any more: it writes to their memory
_reader: Optional[Reader] = None
_lock = RLock()  # for all three


def _key(path: Path, amount: float) -> _Key:
    state = door.state(path)
    return str(path), state.st_mtime_ns, state.st_size, amount


def grains(path: Path, amount: float) -> Grains:
    """The frame, from memory where it is there. Raises OSError, GrainError."""
    key = _key(path, amount)
    with _lock:
        if key not in _kept:
            _kept[key] = Grains(path, amount)
        _kept.move_to_end(key)
        return _kept[key]


def expect(paths: list[Path], like: Grains, look: Optional[GrainPointsLook] = None) -> None:
    """These frames may be wanted next, in this order, with the same columns, and as dots in this look; what was expected before is
    not any more. Returns at once; whatever fails is told when it is wanted."""
    global _reader
    with _lock:
        trim()
        _expected[:] = [frame for frame in _expected if frame.is_read_ahead()]
        for path in paths[:MOST_BYTES // 2 // max(1, like.byte_count())]:
            try:
                if _reader is None:
                    _reader = Reader()
                    atexit.register(forget)  # arrays must not go while it writes to them
                frame = grains(path, like.amount)
                if frame.read_ahead(_reader, like.names(), look):
                    _expected.append(frame)
            except (OSError, GrainError):
                continue


def trim() -> None:
    """Forgets what was used longest ago, until the rest is small enough."""
    with _lock:
        while len(_kept) > 1 and sum(frame.byte_count() for frame in _kept.values()) > MOST_BYTES:
            _kept.popitem(last=False)


def forget() -> None:
    """Nothing is kept, no thread is left."""
    global _reader
    with _lock:
        if _reader is not None:
            _reader.close()
            atexit.unregister(forget)
        _reader = None
        _expected.clear()
        _kept.clear()
