# SPDX-License-Identifier: GPL-3.0-or-later
"""Small jobs for the tests, written as libgrain/docs/formats.md says, without any of the add-on's code."""
from __future__ import annotations

import array
import copy
import json
import math
from pathlib import Path

Mesh = tuple[list[tuple[float, float, float]], list[tuple[int, int, int]]]


def box(low: tuple[float, float, float], high: tuple[float, float, float]) -> Mesh:
    """A closed box with outward winding."""
    corners = [(x, y, z) for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0])]
    quads = [(0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5)]
    return corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]


def ball(centre: tuple[float, float, float], radius: float, rings: int = 24) -> Mesh:
    """A closed sphere of latitude rings."""
    points = [(centre[0], centre[1], centre[2] + radius)]
    for i in range(1, rings):
        tilt = math.pi * i / rings
        for j in range(2 * rings):
            turn = math.pi * j / rings
            points.append((centre[0] + radius * math.sin(tilt) * math.cos(turn),
                           centre[1] + radius * math.sin(tilt) * math.sin(turn), centre[2] + radius * math.cos(tilt)))
    points.append((centre[0], centre[1], centre[2] - radius))
    around, last, triangles = 2 * rings, len(points) - 1, []
    for j in range(around):
        k = (j + 1) % around
        triangles.append((0, 1 + j, 1 + k))
        for i in range(rings - 2):
            a, b = 1 + i * around, 1 + (i + 1) * around
            triangles += [(a + j, b + j, b + k), (a + j, b + k, a + k)]
        triangles.append((last, last - around + k, last - around + j))
    return points, triangles


class Job:
    """A job in memory; change `data` at will, then write it."""

    def __init__(self, **settings: object) -> None:
        self.blob = bytearray()
        solver = {"type": "dem", "particle_radius": 0.01, "size_spread": 0.2, "friction": 0.6, "restitution": 0.3}
        solver.update(settings.pop("solver", {}))
        self.data: dict = {"schema": 1, "name": "test", "writer": "tests", "fps": 24.0, "frame_start": 1, "frame_end": 5,
                           "gravity": [0.0, 0.0, -9.81], "seed": 7, "solver": solver,
                           "geometry": {"file": "geometry.bin", "bytes": 0}, "arrays": [], "objects": []}
        self.data.update(settings)

    def add_array(self, type_name: str, components: int, values: list) -> int:
        self.blob += bytes(-len(self.blob) % 64)
        packed = array.array("f" if type_name == "f32" else "i", values)
        self.data["arrays"].append({"type": type_name, "components": components, "count": len(values) // components,
                                    "offset": len(self.blob)})
        self.blob += packed.tobytes()
        return len(self.data["arrays"]) - 1

    def add_mesh(self, name: str, role: str, mesh: Mesh, **settings: object) -> Job:
        points, triangles = mesh
        entry = {"name": name, "role": role, "motion": "static",
                 "positions": self.add_array("f32", 3, [c for p in points for c in p]),
                 "triangles": self.add_array("i32", 3, [i for t in triangles for i in t])}
        entry.update(settings)
        self.data["objects"].append(entry)
        return self

    def add_ground(self, height: float = 0.0, **settings: object) -> Job:
        self.data["objects"].append({"name": "Ground", "role": "collider", "friction": 0.6,
                                     "plane": {"point": [0, 0, height], "normal": [0, 0, 1]}, **settings})
        return self

    def write(self, folder: Path) -> Path:
        folder.mkdir(parents=True, exist_ok=True)
        data = copy.deepcopy(self.data)
        if data.get("geometry", {}).get("bytes") == 0:
            data["geometry"]["bytes"] = len(self.blob)
        (folder / "geometry.bin").write_bytes(self.blob)
        (folder / "job.json").write_text(json.dumps(data))
        return folder


def small(**settings: object) -> Job:
    """Some hundred grains fall on a ball on the ground: every kind of contact, in well under a second."""
    job = Job(**settings)
    job.add_mesh("Block", "source", box((-0.08, -0.08, 0.2), (0.08, 0.08, 0.3)))
    job.add_mesh("Ball", "collider", ball((0.0, 0.0, 0.08), 0.08), friction=0.5)
    return job.add_ground()


def change(job: Path, section: str, settings: dict[str, object]) -> None:
    """Other settings for one section of a job that is written already."""
    document = json.loads((job / "job.json").read_text())
    document[section] = settings
    (job / "job.json").write_text(json.dumps(document))
