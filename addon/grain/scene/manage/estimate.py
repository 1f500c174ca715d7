# SPDX-License-Identifier: GPL-3.0-or-later
"""How many particles a bake will have and how much disk it will need, before it starts."""
from dataclasses import dataclass
from math import pi, sqrt
from typing import Optional

import numpy as np
from bpy.types import Depsgraph, Object

from ...engine import cache, schema
from .. import frames, keyframe_paths, paths, simulations
from ..read import meshes
from ..read.errors import SnapshotError
from ..simulations import Simulation
from ..units import metres_per_unit

PARTICLES_WANTED = 30_000  # in the first source: bakes in minutes, reads as sand
PARTICLES_IN_EMITTER = 1_000  # that fit into the first emitter at once
BYTES_PER_PARTICLE = 28  # of a frame: position, velocity, radius
# Packed position, velocity, orientation, while everything moves; at rest there are none. A checkpoint beside the frames
# holds them as they are.
BYTES_PER_GRAIN = 7
BYTES_PER_ORIENTATION = 4
CHECKPOINT_BYTES_PER_GRAIN = 40


@dataclass(frozen=True)
class Body:
    """Size of a source, in Blender units."""
    volume: float
    area: float


@dataclass(frozen=True)
class Estimate:
    particles: float
    byte_count: float  # of the whole cache
    memory: float  # bytes of the program that bakes, at most
    free_bytes: Optional[int]


_bodies: dict[str, Body] = {}  # by object name; the handler forgets those that changed


def forget(item: Object) -> None:
    _bodies.pop(item.name, None)


def forget_all() -> None:
    _bodies.clear()


def source_body(item: Object, depsgraph: Depsgraph) -> Body:
    """What an object encloses as it is now, with modifiers and instances; nothing where it has no inside."""
    if item.name not in _bodies:
        try:
            found = meshes.of_object(item, depsgraph)
        except SnapshotError:
            found = []  # the bake says what is wrong with it
        measured = [measure(mesh.positions(), mesh.triangles) for mesh in found]
        _bodies[item.name] = Body(sum(body.volume for body in measured), sum(body.area for body in measured))
    return _bodies[item.name]


def measure(positions: np.ndarray, triangles: np.ndarray) -> Body:
    """Volume as a sum of signed tetrahedra: for a closed mesh it does not depend on the origin."""
    if len(triangles) == 0:
        return Body(0.0, 0.0)
    corners = (positions - positions.mean(axis=0)).astype(np.float64)[triangles]
    volume = np.einsum('ij,ij->', corners[:, 0], np.cross(corners[:, 1], corners[:, 2])) / 6.0
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = float(np.linalg.norm(across, axis=1).sum() / 2.0)
    # What rounding leaves of a flat or open surface is no inside.
    return Body(abs(float(volume)) if abs(volume) > 1e-6 * area ** 1.5 else 0.0, area)


def particles_in(body: Body, radius: float, size_spread: float) -> float:
    """As libgrain fills (src/fill/fill.c): a close packing of the largest grains, whole grains only, so the space
    shrinks by a radius all around (exact for balls and boxes)."""
    if body.volume <= 0.0:
        return 0.0
    inner = max(0.0, 1.0 - body.area * radius / (3.0 * body.volume)) ** 3
    return body.volume * inner * sqrt(2.0) / (2.0 * radius * (1.0 + size_spread)) ** 3


def fitting_radius(sources: list[Object], depsgraph: Depsgraph, size_spread: float,
                   wanted: int = PARTICLES_WANTED) -> Optional[float]:
    """The radius (Blender units) at which about this many fill the sources, with two digits."""
    bodies = [source_body(item, depsgraph) for item in sources]
    bodies = [body for body in bodies if body.volume > 0.0]
    if not bodies:
        return None
    small, large = 1e-9, sum(body.volume for body in bodies) ** (1.0 / 3.0)
    for _ in range(60):
        radius = sqrt(small * large)
        if sum(particles_in(body, radius, size_spread) for body in bodies) > wanted:
            small = radius
        else:
            large = radius
    return float(f"{small:.2g}")


def emitted(item: Object, simulation: Simulation) -> float:
    """Particles that are due by the last frame, as keyed, whether or not there is room for them."""
    settings = item.grain.emitter
    rate_name = "rate" if settings.rate_unit == 'PARTICLES' else "litres"
    keyed = {name: keyframe_paths.find(item, f"grain.emitter.{name}") for name in (rate_name, "active")}

    def value(name: str, frame: int) -> float:
        curve = keyed[name]
        return float(getattr(settings, name)) if curve is None else curve.evaluate(frame)

    first, last = frames.bake_range(simulation)
    due = sum(value(rate_name, frame) for frame in range(first, last) if value("active", frame) > 0.5)
    due /= frames.frames_per_second(simulation.id_data)
    return due if settings.rate_unit == 'PARTICLES' else due * 1e-3 / room_of_particle(simulation)


def room_of_particle(simulation: Simulation) -> float:
    """m³ of sand that a particle stands for, the room between grains counted (libgrain/src/sim/solver.c)."""
    radius = simulation.particle_radius * metres_per_unit(simulation.id_data)
    if not schema.SOLVERS[simulation.solver.lower()]["continuum"]:
        return 4.0 / 3.0 * pi * radius ** 3 * (1.0 + simulation.size_spread ** 2) / schema.CONSTANTS["heap_packing"]
    return (2.0 * radius * (1.0 + simulation.size_spread)) ** 3 / sqrt(2.0)


def of_simulation(simulation: Simulation, depsgraph: Depsgraph) -> Estimate:
    particles = sum(particles_in(source_body(item, depsgraph), simulation.particle_radius, simulation.size_spread)
                    for item in simulations.objects(simulation, 'SOURCE'))
    first, last = frames.bake_range(simulation)
    frame_count = last - first + 1
    saved = frame_count // simulation.checkpoint_every
    kept = schema.CONSTANTS["checkpoints_kept"]
    checkpoints = 1 + min(saved, kept) + max(0, saved - kept) // kept
    born = sum(emitted(item, simulation) for item in simulations.objects(simulation, 'EMITTER'))
    solver = schema.SOLVERS[simulation.solver.lower()]
    # Those that are born on the way are there for half of the frames.
    byte_count = (particles + 0.5 * born) * (BYTES_PER_PARTICLE * frame_count + solver["checkpoint"] * checkpoints)
    particles += born
    if simulation.use_upsample:
        grains = (simulation.grain_millions * 1e6 if simulation.upsample_mode == 'TOTAL'
                  else particles * simulation.grains_per_particle)
        packed = BYTES_PER_GRAIN + (BYTES_PER_ORIENTATION if simulation.shape_object is not None else 0)
        byte_count += grains * (packed * frame_count + CHECKPOINT_BYTES_PER_GRAIN)
    balls = 1
    if not solver["continuum"]:
        balls = schema.CONSTANTS["balls"].get(simulation.grain_shape.lower(), simulation.grain_balls)
    memory = particles * solver["memory"] * balls
    return Estimate(particles, byte_count + cache.FRAME_HEADER_BYTES * frame_count, memory,
                    cache.free_space(paths.cache_folder(simulation)))
