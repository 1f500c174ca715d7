# SPDX-License-Identifier: GPL-3.0-or-later
"""How props and bodies move over the frames of a bake: poses where only the place changes, shapes where the mesh does.

Looks at the evaluated objects at every sample, whatever moves them (keys, drivers, constraints, parents, rigs, shape
keys, nodes, Blender's own physics).
"""
from collections.abc import Callable, Iterable
from typing import Optional

import numpy as np
from bpy.types import Scene
from mathutils import Matrix

from ...engine.job import JobObject
from . import motion_search
from .meshes import Key, Mesh
from .sampling import Curves

TOLERANCE = motion_search.TOLERANCE
RIGID = 1e-4  # how far a motion may be from a rotation and still count as one


class Track:
    """One mesh over time. Shapes are kept only from the moment they differ from the first."""

    def __init__(self, mesh: Mesh, entry: JobObject) -> None:
        self.entry = entry
        self.first = mesh
        self.matrices = [_array(mesh.matrix)]
        self.locals: list[Optional[np.ndarray]] = [None]
        self.problem = ""

    def add(self, mesh: Optional[Mesh]) -> None:
        if mesh is None:
            self.problem = self.problem or "disappears"
        elif mesh.local.shape != self.first.local.shape or len(mesh.triangles) != len(self.first.triangles):
            # Not which triangles: Blender cuts a quad the other way when it bends. Those of the first frame serve for all.
            self.problem = self.problem or "changes its number of vertices or faces"
        if self.problem:
            return
        self.matrices.append(_array(mesh.matrix))
        extent = float(np.ptp(self.first.local)) if self.first.local.size else 0.0
        is_same = np.abs(mesh.local - self.first.local).max() <= TOLERANCE * max(extent, 1e-6)
        self.locals.append(None if is_same else mesh.local)

    @property
    def stands(self) -> bool:
        first = self.matrices[0]
        size = max(float(np.abs(first[:3]).max()), 1e-6)
        return all(shape is None for shape in self.locals) and all(
            np.abs(matrix - first).max() <= TOLERANCE * size for matrix in self.matrices)

    def turns(self) -> Optional[list[np.ndarray]]:
        """Rotations since the first sample, or None where the mesh changes its shape or size."""
        if any(shape is not None for shape in self.locals):
            return None
        try:
            inverse = np.linalg.inv(self.matrices[0][:3, :3])
        except np.linalg.LinAlgError:
            return None
        found = [matrix[:3, :3] @ inverse for matrix in self.matrices]
        return found if all(np.abs(turn @ turn.T - np.eye(3)).max() < RIGID for turn in found) else None

    def poses(self, scale: float) -> Optional[np.ndarray]:
        turns = self.turns()
        if turns is None:
            return None
        rows = [(*(matrix[:3, 3] * scale), *Matrix(turn.tolist()).to_quaternion().normalized())
                for matrix, turn in zip(self.matrices, turns, strict=True)]
        rows[0] = (*rows[0][:3], 1.0, 0.0, 0.0, 0.0)
        return np.array(rows, np.float32)

    def take_shapes(self, scale: float) -> np.ndarray:
        """Gives up the samples one by one as it goes: they fill most of the memory."""
        stack = np.empty((len(self.locals), *self.first.local.shape), np.float32)
        for index, matrix in enumerate(self.matrices):
            shape, self.locals[index] = self.locals[index], None
            local = self.first.local if shape is None else shape
            stack[index] = (local @ matrix[:3, :3].T + matrix[:3, 3]) * scale
        return stack


def _array(matrix: Matrix) -> np.ndarray:
    return np.array(matrix, np.float64)


def run(scene: Scene, tracks: dict[Key, Track], read: Callable[[], Iterable[Mesh]], first: int, last: int,
        samples: int, scale: float, curves: Curves) -> list[str]:
    """Goes through the frames and says in each entry how it moves and changes. Returns warnings."""
    if not tracks:
        samples = 1
    for step in range(1, (last - first) * samples + 1):
        frame, part = divmod(step, samples)
        scene.frame_set(first + frame, subframe=part / samples)
        if part == 0:
            curves.sample()
        found = {mesh.key: mesh for mesh in read()} if tracks else {}
        for key, track in tracks.items():
            track.add(found.get(key))
    curves.finish()
    warnings = []
    for track in tracks.values():
        warnings += _describe(track, samples, scale, first)
    return warnings


def _describe(track: Track, samples: int, scale: float, first: int) -> list[str]:
    entry = track.entry
    if track.problem:
        return [f"'{entry.name}' {track.problem}, so it keeps its shape of frame {first}. A Remesh or Decimate modifier "
                "that gives another result in every frame is the usual cause"]
    if track.stands:
        return []
    entry.samples_per_frame = samples
    poses = track.poses(scale)
    if entry.role == "body" and (entry.release_frame is None or poses is None):
        if poses is None:
            return [f"'{entry.name}' changes its shape or size; a rigid body keeps its shape and size of frame {first}"]
        return [f"'{entry.name}' is animated, but is simulated from frame {first} on. To use its animation first, turn on "
                "Animated in its Grain panel"]
    if poses is not None:
        entry.poses = poses
    else:
        entry.shapes = track.take_shapes(scale)
    return []
