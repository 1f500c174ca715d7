# SPDX-License-Identifier: GPL-3.0-or-later
"""Twenty small jobs that go through every solver and stage: what must give the same bytes on every platform.

Each takes about a second natively, so that an emulated processor is through with all of them in minutes.
"""
from __future__ import annotations

import hashlib
import math
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import jobs
from painted_scenes import painted as with_attributes
from scenes import castle, flowing, keyed, moving
from slab_scenes import half_painted, slope

GRAINS = {"grains_per_particle": 12, "size_spread": 0.4}
PASTE = {"type": "meso", "particle_radius": 0.006, "interaction": "ip3", "elasticity": 1e5, "viscosity": 10.0}


def fall(solver: dict, **settings: object) -> jobs.Job:
    """Sand falls on a ball and is refined."""
    return jobs.small(frame_end=4, solver={"particle_radius": 0.008, **solver}, upsample=GRAINS, **settings)


def two_materials() -> jobs.Job:
    job = jobs.Job(frame_end=5, solver={"type": "mpm", "particle_radius": 0.006}, upsample=GRAINS)
    job.add_mesh("Sand", "source", jobs.box((-0.12, -0.05, 0.02), (-0.02, 0.05, 0.1)))
    job.add_mesh("Snow", "source", jobs.box((0.02, -0.05, 0.02), (0.12, 0.05, 0.1)), material={"law": "snow_chunky", "density": 400.0})
    return job.add_ground()


def bricks() -> jobs.Job:
    job = jobs.small(frame_end=3, solver={"particle_radius": 0.02, "grain_shape": "mesh", "grain_balls": 6, "integrator": "rkf45",
                                          "tolerance": 1e-4, "normal_law": "hertz"})
    return job.add_mesh("Brick", "grain", jobs.box((0, 0, 0), (2.0, 1.0, 1.0)))


def wind() -> jobs.Job:
    job = fall({"type": "mpm"})
    still = job.add_array("f32", 7, [0.0, 0.0, 0.1, 1.0, 0.0, 0.0, 0.0])
    job.data["fields"] = [{"name": kind.title(), "type": kind, "strength": strength, "poses": still}
                          for kind, strength in (("wind", 3.0), ("vortex", 2.0), ("turbulence", 4.0))]
    return job


def settled() -> jobs.Job:
    job = fall({"type": "sph"})
    job.data["objects"][0]["settle"] = 0.1
    return job


def turned_gravity() -> jobs.Job:
    """Angles in every direction: sines and cosines that no table holds."""
    lean = math.radians(17.3)
    return fall({"type": "dem", "rolling_friction": 0.2}, gravity=[9.81 * math.sin(lean), 0.7, -9.81 * math.cos(lean)])


JOBS: dict[str, Callable[[], jobs.Job]] = {
    "dem": lambda: fall({"type": "dem"}),
    "dem_hertz": lambda: fall({"type": "dem", "normal_law": "hertz"}),
    "dem_rods": lambda: fall({"type": "dem", "grain_shape": "rod"}),
    "dem_bricks": bricks,
    "dem_leaning": turned_gravity,
    "dem_moving": lambda: moving(solver={"type": "dem", "particle_radius": 0.006}, upsample=GRAINS),
    "dem_flow": lambda: flowing("dem"),
    "mpm": lambda: fall({"type": "mpm"}, volume={"source": "coarse", "dust": True, "dust_speed": 0.2, "surface": True}),
    "mpm_snow": lambda: fall({"type": "mpm", "law": "snow_wet"}),
    "mpm_mixed": two_materials,
    "mpm_moving": lambda: moving(solver={"type": "mpm", "particle_radius": 0.006}, upsample=GRAINS),
    "mpm_flow": lambda: flowing("mpm"),
    "mpm_wind": wind,
    "sph": lambda: fall({"type": "sph"}, volume={"source": "grains"}),
    "sph_ihmsen2013": lambda: fall({"type": "sph", "model": "ihmsen2013"}),
    "sph_settled": settled,
    "sph_painted": lambda: half_painted(slope("sph", "moving", 4), "friction_paint"),
    "meso": lambda: fall(PASTE),
    "castle_dries": lambda: keyed(castle("mpm", 5), "cohesion", [60.0 - 15.0 * k for k in range(5)]),
    "attributes": with_attributes,
}


def digests(cache: Path) -> dict[str, str]:
    """Every file of a cache and of the grains and volumes in it, but the lock."""
    return {str(path.relative_to(cache)): hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(cache.rglob("*")) if path.is_file() and path.name != "lock"}


def run(command: list[str], stage: str, place: Path, *options: str, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run([*command, stage, str(place), *options], capture_output=True, text=True, errors="replace", timeout=1800,
                          env={**os.environ, **(environment or {})})
    assert done.returncode == 0, f"{place.name}: grain {stage}: exit code {done.returncode}: {done.stderr.strip()}"


def bake(command: list[str], name: str, folder: Path, has_volumes: bool = True,
         environment: dict[str, str] | None = None) -> dict[str, str]:
    """Through all its stages by this `grain`; the files it made, by their hashes."""
    job = JOBS[name]()
    place = job.write(folder / name)
    for stage in ("bake", *(stage for stage in ("upsample", "volume") if stage in job.data and (has_volumes or stage == "upsample"))):
        run(command, stage, place, environment=environment)
    found = digests(place / "cache")
    shutil.rmtree(place)
    return found


def hand_over(first: list[str], second: list[str], name: str, folder: Path) -> dict[str, str]:
    """A bake that one `grain` begins, another goes on with, and the first one ends; each then makes half of the grains."""
    place = JOBS[name]().write(folder / name)
    run(first, "bake", place, "--until", "2")
    run(second, "bake", place, "--until", "3")
    run(first, "bake", place)
    run(first, "upsample", place, "--shard", "1/2")
    run(second, "upsample", place, "--shard", "2/2")
    found = digests(place / "cache")
    shutil.rmtree(place)
    return found


def check_hand_over(first: list[str], second: list[str], folder: Path) -> None:
    """By every solver: two programs that take turns make what one of them makes alone."""
    for name in ("dem", "mpm", "sph", "meso"):
        expected, found = (hand_over(first, other, name, folder) for other in (first, second))
        assert len(expected) >= 14 and found == expected, (name, [file for file in expected if found.get(file) != expected[file]])
