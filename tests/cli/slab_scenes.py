# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand on a slab whose surface is painted: what holds it and what lets it slide."""
from __future__ import annotations

import math

import jobs

RADIUS = 0.006
EDGE = 0.004  # half as wide as what lies between one paint and the other
LEAN = math.radians(35.0)


def plate(low: float, high: float) -> jobs.Mesh:
    """A slab with two rows of vertices along its middle, so that one side of y = 0 can be painted."""
    ys = (-0.12, -EDGE, EDGE, 0.12)
    points = [(x, y, z) for z in (low, high) for y in ys for x in (-0.3, 0.9)]
    triangles = []
    for k in range(3):
        a, b, c, d = 2 * k, 2 * k + 1, 2 * k + 3, 2 * k + 2
        triangles += [(a, c, b), (a, d, c), (a + 8, b + 8, c + 8), (a + 8, c + 8, d + 8)]  # below, above
        triangles += [(a, a + 8, d + 8), (a, d + 8, d), (b, c + 8, b + 8), (b, c, c + 8)]  # the sides along x
    triangles += [(0, 1, 9), (0, 9, 8), (6, 15, 7), (6, 14, 15)]
    return points, triangles


def half_painted(job: jobs.Job, name: str, half: float = 1.0) -> jobs.Job:
    """Of the last object: y above 0 has all of it, y below this much less."""
    points = plate(0.0, 1.0)[0]
    job.data["objects"][-1][name] = job.add_array("f32", 1, [1.0 if y > 0.0 else 1.0 - half for _, y, _ in points])
    return job


def with_motion(job: jobs.Job, motion: str, mesh: jobs.Mesh) -> jobs.Job:
    entry = job.data["objects"][-1]
    if motion == "moving":
        entry.update(motion=motion, poses=job.add_array("f32", 7, [0, 0, 0, 1, 0, 0, 0] * 2))
    if motion == "deforming":
        entry.update(motion=motion, shapes=job.add_array("f32", 3, [c for point in mesh[0] for c in point] * 2))
    return job


def solver_of(name: str, **settings: object) -> dict:
    if name == "meso":
        return {"type": name, "particle_radius": RADIUS, "interaction": "ip3", "elasticity": 1e5, "viscosity": 10.0, **settings}
    return {"type": name, "particle_radius": RADIUS, "friction": 1.2, "rolling_friction": 1.0, **settings}


def slope(solver: str, motion: str, last: int, **collider: object) -> jobs.Job:
    """Two patches of sand on a slab that leans by 35 degrees, one on either side of its middle."""
    job = jobs.Job(frame_end=last, gravity=[9.81 * math.sin(LEAN), 0.0, -9.81 * math.cos(LEAN)], solver=solver_of(solver))
    for name, y in (("Smooth", -0.07), ("Rough", 0.07)):
        job.add_mesh(name, "source", jobs.box((-0.04, y - 0.04, 0.0), (0.04, y + 0.04, 0.02)))
    mesh = plate(-0.1, 0.0)
    return with_motion(job.add_mesh("Slab", "collider", mesh, friction=1.5, **collider), motion, mesh)
