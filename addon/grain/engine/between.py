# SPDX-License-Identifier: GPL-3.0-or-later
"""A moment between two frames of a cache, for slow motion."""
from typing import Optional, Protocol

import numpy as np


class Frame(Protocol):
    particles: int

    def has_column(self, name: str) -> bool: ...

    def column(self, name: str) -> np.ndarray: ...


def has_same_grains(before: Frame, after: Frame) -> bool:
    """Whether both frames hold the same grains in the same order."""
    if len(before.column("position")) != len(after.column("position")):
        return False
    if not before.has_column("id") and not after.has_column("id"):
        return True
    return (before.has_column("id") and after.has_column("id")
            and np.array_equal(before.column("id"), after.column("id")))


class Between:
    """Grains on the smooth curve through two frames that has their velocities at its ends (a cubic by Hermite): no jump
    where one pair of frames follows another, at any speed."""

    def __init__(self, before: Frame, after: Frame, part: float, seconds: float) -> None:
        """part of the way, 0 to 1; seconds from one frame to the other."""
        self.particles = before.particles
        self._before, self._after = before, after
        self._part, self._seconds = np.float32(part), np.float32(seconds)

    def has_column(self, name: str) -> bool:
        return self._before.has_column(name)

    def column(self, name: str) -> np.ndarray:
        before = self._before.column(name)
        if name == "position":
            return self._position()
        after: Optional[np.ndarray] = self._after.column(name) if self._after.has_column(name) else None
        if after is None or name in ("id", "radius"):
            return before
        if name == "orientation":
            # Opposite quaternions turn alike: the nearer of the two.
            after = np.where(np.einsum('ij,ij->i', before, after)[:, None] < 0.0, -after, after)
        mixed = before + (after - before) * self._part
        if name == "orientation":
            mixed /= np.linalg.norm(mixed, axis=1, keepdims=True)
        return mixed

    def _position(self) -> np.ndarray:
        t, seconds = self._part, self._seconds
        return ((1 + 2 * t) * (1 - t) ** 2 * self._before.column("position")
                + t * (1 - t) ** 2 * seconds * self._before.column("velocity")
                + t * t * (3 - 2 * t) * self._after.column("position")
                + t * t * (t - 1) * seconds * self._after.column("velocity"))
