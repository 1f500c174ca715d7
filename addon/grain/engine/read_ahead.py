"""Frames of grains in memory, a few of them: the last ones shown, and the next ones, read while nobody waits.

One thread reads ahead. It touches no Blender data, only files, libgrain and arrays of its own.
"""
import os
from collections import OrderedDict
from concurrent.futures import Future, ThreadPoolExecutor
from math import ceil
from pathlib import Path
from threading import Lock
from typing import Any, Callable, Optional

import numpy as np

from . import priority
from .objects import CacheFrame

MOST_BYTES = 1 << 30  # kept in memory; a frame that is larger by itself is kept alone


class Grains:
    """The first part of a frame's grains, columns as they are asked for. Any thread."""

    def __init__(self, path: Path, amount: float) -> None:
        self.path, self.amount = path, amount
        self._columns: dict[str, Optional[np.ndarray]] = {}
        self.kept: dict[str, Any] = {}  # what was made of them
        self.making = Lock()  # held while something is, so that nobody makes it twice
        self._lock = Lock()
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
        with self._lock:
            missing = [name for name in names if name not in self._columns]
            if missing:
                with CacheFrame(self.path) as frame:
                    for name in missing:
                        self._columns[name] = frame.column(name, self.count) if frame.has_column(name) else None
            return {name: self._columns[name] for name in names}

    def names(self) -> list[str]:
        return list(self._columns)

    def byte_count(self) -> int:
        return sum(array.nbytes for array in list(self._columns.values()) if array is not None)


_Key = tuple[str, int, int, float]
_Wanted = tuple[Path, float, list[str], Optional[Callable[[Grains], Any]]]
_kept: "OrderedDict[_Key, Grains]" = OrderedDict()  # the one used last is last
_wanted: list[_Wanted] = []  # to be read ahead, the most urgent first
_lock = Lock()  # for both
_thread: Optional[ThreadPoolExecutor] = None
_task: Optional[Future] = None
_is_at_work = False  # the task will look at _wanted once more


def _key(path: Path, amount: float) -> _Key:
    state = os.stat(path)
    return str(path), state.st_mtime_ns, state.st_size, amount


def grains(path: Path, amount: float) -> Grains:
    """The frame, from memory where it is there. Raises OSError, GrainError."""
    key = _key(path, amount)
    with _lock:
        found = _kept.get(key)
        if found is not None:
            _kept.move_to_end(key)
            return found
    found = Grains(path, amount)
    with _lock:
        _kept[key] = found
    return found


def expect(paths: list[Path], like: Grains, prepare: Optional[Callable[[Grains], Any]] = None) -> None:
    """These frames may be wanted next, in this order, with the same columns, and with what prepare makes of them, on the other
    thread; what was expected before is not any more. Returns at once; whatever fails is told when it is wanted."""
    global _thread, _task, _is_at_work
    trim()
    room = MOST_BYTES // 2 // max(1, like.byte_count())
    with _lock:
        _wanted[:] = [(path, like.amount, like.names(), prepare) for path in paths[:room]]
        if _is_at_work or not _wanted:
            return
        _is_at_work = True
    if _thread is None:
        _thread = ThreadPoolExecutor(1, "grain read-ahead", initializer=priority.let_interface_first)
    _task = _thread.submit(_read_all)


def _read_all() -> None:
    global _is_at_work
    while True:
        with _lock:
            if not _wanted:
                _is_at_work = False
                return
            path, amount, names, prepare = _wanted.pop(0)
        try:
            found = grains(path, amount)
            found.columns(names)
            if prepare is not None:
                prepare(found)
        except Exception:  # of whatever kind: it comes again, and is told, when the frame is wanted
            continue


def trim() -> None:
    """Forgets what was used longest ago, until the rest is small enough."""
    with _lock:
        while len(_kept) > 1 and sum(frame.byte_count() for frame in _kept.values()) > MOST_BYTES:
            _kept.popitem(last=False)


def forget() -> None:
    """Nothing is kept, no thread is left."""
    global _thread, _task, _is_at_work
    with _lock:
        _wanted.clear()
    if _thread is not None:
        _thread.shutdown(wait=True, cancel_futures=True)
    _thread, _task, _is_at_work = None, None, False
    with _lock:
        _kept.clear()
