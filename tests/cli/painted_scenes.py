# SPDX-License-Identifier: GPL-3.0-or-later
"""Sources with attributes."""
from __future__ import annotations

import jobs

RADIUS = 0.006
LOW, HIGH = (-0.06, -0.05, 0.12), (0.06, 0.05, 0.2)
COLOURS = [(0.1 * k, 1.0 - 0.1 * k, 0.5, 1.0) for k in range(6)]


def slope(point: tuple[float, ...]) -> float:
    """A painted number that is linear in space, so that triangles interpolate it exactly."""
    return 3.0 * point[0] - 2.0 * point[1] + 5.0 * point[2]


def painted(**settings: object) -> jobs.Job:
    """A box with a colour on each face, a slope by vertex, UV by corner, and one with nothing painted on it."""
    job = jobs.Job(**{"frame_end": 4, "upsample": {"grains_per_particle": 20}, "solver": {"particle_radius": RADIUS}, **settings})
    mesh = jobs.box(LOW, HIGH)
    attributes = [
        {"name": "Color", "domain": "corner",
         "values": job.add_array("f32", 4, [c for k in range(12) for _ in range(3) for c in COLOURS[k // 2]])},
        {"name": "slope", "values": job.add_array("f32", 1, [slope(p) for p in mesh[0]])},
        {"name": "UVMap", "domain": "corner",
         "values": job.add_array("f32", 2, [c for t in mesh[1] for i in t for c in mesh[0][i][:2]])}]
    job.add_mesh("Painted", "source", mesh, attributes=attributes)
    job.add_mesh("Plain", "source", jobs.box((0.2, -0.05, 0.05), (0.3, 0.05, 0.1)))
    return job.add_ground()
