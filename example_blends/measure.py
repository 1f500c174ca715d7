# SPDX-License-Identifier: GPL-3.0-or-later
"""What a bake brought, read from its cache for measurements."""
from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Optional

import numpy as np


@dataclass(frozen=True)
class Fact:
    """Something measured, and whether it is as it must be."""
    text: str  # "pile angle 29.4 degrees (30 asked)"
    holds: bool


class Bake:
    """The frames of a cache folder."""

    def __init__(self, folder: Path, fps: float) -> None:
        from grain.engine import cache
        self._cache = cache
        self.folder, self.fps = folder, fps
        self.manifest = cache.read_manifest(folder)
        if self.manifest is None:
            raise RuntimeError(f"nothing is baked in {folder}")

    @property
    def last(self) -> int:
        return self.manifest.last

    @property
    def bodies(self) -> tuple[str, ...]:
        return self.manifest.bodies

    def column(self, name: str, frame: int, grains: bool = False) -> np.ndarray:
        """A copy of a column of the particles, or of the render grains."""
        from grain.engine.objects import CacheFrame
        folder = self._cache.grains_folder(self.folder) if grains else self.folder
        with CacheFrame(self._cache.frame_path(folder, frame)) as found:
            return np.array(found.column(name))

    def birth(self, name: str, grains: bool = False) -> np.ndarray:
        """What the particles of the first frame, or the render grains, were born with: "rest", or what their source gave them."""
        from grain.engine.objects import CacheFrame
        folder = self._cache.grains_folder(self.folder) if grains else self.folder
        with CacheFrame(self._cache.birth_path(folder, 1)) as found:
            return np.array(found.column(name))

    def positions(self, frame: Optional[int] = None, grains: bool = False) -> np.ndarray:
        return self.column("position", self.last if frame is None else frame, grains)

    def velocities(self, frame: Optional[int] = None) -> np.ndarray:
        return self.column("velocity", self.last if frame is None else frame)

    def speeds(self, frame: Optional[int] = None) -> np.ndarray:
        return np.linalg.norm(self.velocities(frame), axis=1)

    def particles(self, frame: Optional[int] = None) -> int:
        return self.manifest.particles[self.last if frame is None else frame]

    def body(self, column: str, frame: int, name: str) -> np.ndarray:
        """Of one body: "position", "velocity", "spin" or "orientation"."""
        return self.column(f"body.{column}", frame)[self.bodies.index(name)]

    def body_positions(self, frame: Optional[int] = None) -> np.ndarray:
        return self.column("body.position", self.last if frame is None else frame)


def bulk_mass(bake: Bake, density: float = 2600.0) -> float:
    """Of one particle of a bulk: six tenths of its room are grains, and the room is that of close packed balls."""
    return 0.6 * density * float(2.0 * bake.column("radius", bake.last)[0]) ** 3 / 2.0 ** 0.5


def flank_angle(places: np.ndarray, middle: tuple[float, float] = (0.0, 0.0), rings: int = 12) -> float:
    """Slope in degrees of a heap around a middle: a line through the heights of its surface, between the rounded top and
    the thin foot."""
    out = np.hypot(places[:, 0] - middle[0], places[:, 1] - middle[1])
    reach = np.quantile(out, 0.95)
    edges = np.linspace(0.0, reach, rings + 1)
    heights = np.array([np.quantile(places[(out >= a) & (out < b), 2], 0.98) if np.any((out >= a) & (out < b)) else 0.0
                        for a, b in zip(edges, edges[1:])])
    centres = 0.5 * (edges[1:] + edges[:-1])
    first, last = int(0.2 * rings), int(0.85 * rings)
    slope = np.polyfit(centres[first:last], heights[first:last], 1)[0]
    return float(np.degrees(np.arctan(-slope)))
