"""How many particles a bake will have and how much disk it will need, before it starts."""
from dataclasses import dataclass
from math import pi
from typing import Optional

import numpy as np
from bpy.types import Depsgraph, Object, Scene

from ..engine import cache
from . import frames, paths, snapshot

PARTICLES_WANTED = 30_000  # in the first source: bakes in minutes, reads as sand
FILL_FRACTION = 0.58  # share of a source's volume taken up by grains, as libgrain fills it
BYTES_PER_PARTICLE = 28  # of a frame: position, velocity, radius
CHECKPOINT_BYTES_PER_PARTICLE = 120
CHECKPOINT_EVERY = 10  # frames

_volumes: dict[str, float] = {}  # m3 by object name; the handler forgets what changed


@dataclass(frozen=True)
class Estimate:
    particles: float
    byte_count: float  # of the whole cache
    free_bytes: Optional[int]


def forget(item: Object) -> None:
    _volumes.pop(item.name, None)


def forget_all() -> None:
    _volumes.clear()


def source_volume(item: Object, depsgraph: Depsgraph, scale: float) -> float:
    """m3 enclosed by an object as it is now, with modifiers; 0 where it has no inside."""
    if item.name not in _volumes:
        try:
            meshes = snapshot.meshes_of(item, depsgraph)
        except snapshot.SnapshotError:
            meshes = []  # the bake says what is wrong with it
        _volumes[item.name] = sum(enclosed_volume(mesh.positions, mesh.triangles) for mesh in meshes)
    return _volumes[item.name] * scale ** 3


def enclosed_volume(positions: np.ndarray, triangles: np.ndarray) -> float:
    """Sum of signed tetrahedra; for a closed mesh independent of the origin, so the middle keeps it exact."""
    if len(triangles) == 0:
        return 0.0
    corners = (positions - positions.mean(axis=0)).astype(np.float64)[triangles]
    return abs(float(np.einsum('ij,ij->', corners[:, 0], np.cross(corners[:, 1], corners[:, 2])))) / 6.0


def fitting_radius(sources: list[Object], depsgraph: Depsgraph) -> Optional[float]:
    """The radius (Blender units) at which about PARTICLES_WANTED fill the sources, with two digits."""
    volume = 0.0
    for item in sources:
        size = item.dimensions
        volume += source_volume(item, depsgraph, 1.0) or size.x * size.y * size.z
    if volume <= 0.0:
        return None
    radius = (volume * FILL_FRACTION / PARTICLES_WANTED * 3.0 / (4.0 * pi)) ** (1.0 / 3.0)
    return float(f"{radius:.2g}")


def particles_in(volume: float, radius: float, size_spread: float) -> float:
    """Radii even between 1 - s and 1 + s of the radius: the mean volume is (1 + s^2) times that of the radius."""
    return volume * FILL_FRACTION / (4.0 / 3.0 * pi * radius ** 3 * (1.0 + size_spread ** 2))


def of_scene(scene: Scene, depsgraph: Depsgraph) -> Estimate:
    scale = scene.unit_settings.scale_length
    settings = scene.grain
    volume = sum(source_volume(item, depsgraph, scale) for item in scene.objects if item.grain.type == 'SOURCE')
    particles = particles_in(volume, settings.particle_radius * scale, settings.size_spread)
    first, last = frames.bake_range(scene)
    frame_count = last - first + 1
    checkpoints = 1 + frame_count // CHECKPOINT_EVERY
    byte_count = particles * (BYTES_PER_PARTICLE * frame_count + CHECKPOINT_BYTES_PER_PARTICLE * checkpoints)
    return Estimate(particles, byte_count + cache.FRAME_HEADER_BYTES * frame_count,
                    cache.free_space(paths.cache_folder(scene)))
