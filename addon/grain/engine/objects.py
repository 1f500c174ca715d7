"""libgrain's objects as Python sees them. Arrays are windows on libgrain's memory: use them inside the `with`."""
from pathlib import Path
from types import TracebackType
from typing import Optional

import numpy as np

from . import ffi

_TYPES = (np.float32, np.int32, np.float64, np.int64)  # by GrainType


class CacheFrame:
    """One frame file, read whole and checked by libgrain.

    with CacheFrame(path) as frame:
        frame.column("position")   # float32, (particles, 3), m
    """

    def __init__(self, path: Path) -> None:
        self._handle = ffi.frame_read(path)
        try:
            info = ffi.frame_info(self._handle)
        except ffi.GrainError:
            self.close()
            raise
        self.frame: int = info.frame
        self.time: float = info.time
        self.particles: int = info.particles

    def column(self, name: str) -> np.ndarray:
        """A read-only window, without a copy; (particles,) or (particles, components)."""
        memory, view = ffi.frame_column(self._handle, name)
        shape = (view.count,) if view.components == 1 else (view.count, view.components)
        array = np.frombuffer(memory, _TYPES[view.type]).reshape(shape)
        array.flags.writeable = False
        return array

    def close(self) -> None:
        if self._handle:
            ffi.frame_destroy(self._handle)
            self._handle = None

    def __enter__(self) -> "CacheFrame":
        return self

    def __exit__(self, kind: Optional[type[BaseException]], value: Optional[BaseException],
                 trace: Optional[TracebackType]) -> None:
        self.close()
