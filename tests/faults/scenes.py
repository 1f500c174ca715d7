# SPDX-License-Identifier: GPL-3.0-or-later
"""A small scene for each row of the table of solvers, baked once, whole and half: what every trial starts from.

Each has sources with attributes, an emitter, a kill zone, a mesh as collider, a rigid body, and all three stages: every
kind of file is there; a stage takes a quarter of a second.
"""
from __future__ import annotations

import functools
import shutil
import threading
import time
from collections.abc import Collection
from pathlib import Path

import caches
import jobs
import program
import watch

STAGES = ("bake", "upsample", "volume")
# Folders in the cache that a stage and those after it make.
MAKES = {"bake": ("grains", "volume"), "upsample": ("grains", "volume"), "volume": ("volume",)}
LAST, HALF = 6, 4

SOLVERS: dict[str, dict[str, object]] = {
    "mpm": {"type": "mpm"},
    "dem": {"type": "dem"},
    "clumps": {"type": "dem", "grain_shape": "rod", "particle_radius": 0.014},
    "sph": {"type": "sph"},
    "ihmsen2013": {"type": "sph", "model": "ihmsen2013"},
    "meso": {"type": "meso", "interaction": "ip3", "elasticity": 1e5, "viscosity": 10.0},
}


def job_of(name: str) -> jobs.Job:
    job = jobs.small(
        frame_end=LAST,
        checkpoint_every=2,
        solver={"particle_radius": 0.01, **SOLVERS[name]},
        upsample={"grains_per_particle": 6},
        volume={"dust": True, "surface": True},
    )
    heat = job.add_array("f32", 1, [0.1 * i for i in range(8)])
    job.data["objects"][0]["attributes"] = [{"name": "heat", "values": heat}]
    job.add_mesh("Brick", "body", jobs.box((0.1, -0.05, 0.1), (0.16, 0.05, 0.16)))
    job.add_mesh("Spout", "emitter", jobs.box((-0.03, -0.03, 0.4), (0.03, 0.03, 0.43)), rate=2000)
    return job.add_mesh("Drain", "kill", jobs.box((0.05, -0.1, 0.0), (0.09, 0.1, 0.19)))


class Scene:
    """A job with the caches that trials copy."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.job = job_of(name).write(folder / "job")
        self.whole, self.half = folder / "whole", folder / "half"
        self.seconds = {stage: self._make(stage) for stage in STAGES}
        program.run("bake", self.job, "--cache", self.half, "--until", HALF, "--threads", 1, check=0)
        self.digest = caches.digest(self.whole)

    def _make(self, stage: str) -> float:
        began = time.monotonic()
        program.run(stage, self.job, "--cache", self.whole, "--threads", 1, check=0)
        return time.monotonic() - began

    @property
    def patience(self) -> float:
        """The time any one stage may take while other programs keep the processor busy."""
        return 4.0 * max(self.seconds.values())

    def before(self, stage: str, folder: Path, inside: str = "cache") -> watch.World:
        """A world in which this stage is the next to run."""
        world = watch.World(folder, self.job)
        world.cache = folder / inside
        if stage != "bake":
            shutil.copytree(self.whole, world.cache, ignore=shutil.ignore_patterns(*MAKES[stage]), dirs_exist_ok=True)
        return world

    def run(self, stage: str, world: watch.World, **options: object) -> program.Result:
        return watch.run(stage, world.job, "--cache", world.cache, "--threads", 1, seconds=self.patience, **options)

    def complete(self, world: watch.World, *, first: str = "bake", lacking: Collection[str] = ()) -> None:
        """Baked to the end, the cache has the bytes of an undisturbed bake, and no more; `lacking` may be missing."""
        for stage in STAGES[STAGES.index(first) :]:
            self.run(stage, world, codes={watch.DONE})
        found = caches.digest(world.cache)
        other = sorted(
            k for k in {*found, *self.digest} if found.get(k) != self.digest.get(k) and (k in found or k not in lacking)
        )
        watch.ensure(not other, f"not the bytes of an undisturbed bake: {', '.join(other[:5])}")
        watch.run("verify", world.cache, codes={watch.DONE})
        world.check_outside()


class Scenes:
    """Made when first asked for; several threads may ask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._locks = {name: threading.Lock() for name in SOLVERS}
        self._make = functools.cache(lambda name: Scene(name, folder / name))

    def __getitem__(self, name: str) -> Scene:
        with self._locks[name]:
            return self._make(name)
