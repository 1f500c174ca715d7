# SPDX-License-Identifier: GPL-3.0-or-later
"""Jobs that several tests bake."""
from __future__ import annotations

import jobs

RADIUS = 0.005  # m, of their particles
FPS = 24.0


def poses(count: int, pivot: tuple[float, float, float], way: tuple[float, float, float]) -> list[float]:
    """Samples of a steady motion without turning."""
    return [number for k in range(count)
            for number in (*(p + k * w for p, w in zip(pivot, way)), 1.0, 0.0, 0.0, 0.0)]


def moving(**settings: object) -> jobs.Job:
    """Sand and two bodies fall on a ball that drives sideways and a sheet that sags."""
    job = jobs.Job(frame_end=10, **settings)
    job.add_mesh("Block", "source", jobs.box((-0.08, -0.08, 0.2), (0.08, 0.08, 0.28)))
    track = job.add_array("f32", 7, poses(12, (0.0, 0.0, 0.06), (0.005, 0.0, 0.0)))
    job.add_mesh("Ball", "collider", jobs.ball((0.0, 0.0, 0.06), 0.06), motion="moving", poses=track, friction=0.5)
    sheet = [(-0.1, 0.1, 0.1), (0.1, 0.1, 0.1), (0.1, 0.2, 0.1), (-0.1, 0.2, 0.1)]
    shapes = [c for k in range(12) for i, p in enumerate(sheet) for c in (p[0], p[1], p[2] - 0.004 * k * (i % 2))]
    job.add_mesh("Sheet", "collider", (sheet, [(0, 1, 2), (0, 2, 3)]), motion="deforming",
                 shapes=job.add_array("f32", 3, shapes))
    job.add_mesh("Crate", "body", jobs.box((-0.03, -0.03, 0.3), (0.03, 0.03, 0.36)), density=400.0, pivot=[0, 0, 0.3])
    held = job.add_array("f32", 7, poses(6, (0.0, 0.0, 0.45), (0.0, 0.002, 0.0)))
    job.add_mesh("Shot", "body", jobs.ball((0.0, 0.0, 0.45), 0.03), density=7800.0, motion="moving", poses=held,
                 release_frame=4)
    return job.add_ground()


def tap(solver: str = "dem", **settings: object) -> jobs.Job:
    """A box that lets sand fall from 0.3 m."""
    job = jobs.Job(frame_end=settings.pop("frame_end", 6), solver={"type": solver, "particle_radius": RADIUS})
    return job.add_mesh("Tap", "emitter", jobs.box((-0.04, -0.04, 0.3), (0.04, 0.04, 0.34)),
                        **{"rate": 2400, "velocity": [0, 0, -1], **settings})


def flowing(solver: str, **settings: object) -> jobs.Job:
    """Everything at once: a source, two emitters, one of them wet and painted, a drain that moves, a ball."""
    job = tap(solver, frame_end=8, **settings)
    job.data["solver"]["size_spread"] = 0.2
    wet = jobs.box((0.1, -0.03, 0.2), (0.16, 0.03, 0.22))
    job.add_mesh("Wet", "emitter", wet, rate=1500, jitter=0.2, moisture=0.8,
                 attributes=[{"name": "height", "values": job.add_array("f32", 1, [p[2] for p in wet[0]])}])
    job.add_mesh("Heap", "source", jobs.box((-0.2, -0.05, 0.0), (-0.1, 0.05, 0.05)))
    job.add_mesh("Ball", "collider", jobs.ball((0.0, 0.0, 0.05), 0.05))
    job.add_mesh("Drain", "kill", jobs.box((-0.05, -0.2, 0.0), (0.0, 0.2, 0.03)), motion="moving",
                 poses=job.add_array("f32", 7, [c for k in range(9) for c in (-0.01 * k, 0, 0, 1, 0, 0, 0)]))
    return job.add_ground()


def castle(solver: str, last: int, **settings: object) -> jobs.Job:
    """A column as high as twice its width, on the ground."""
    job = jobs.Job(frame_end=last, solver={"type": solver, "particle_radius": RADIUS, "rolling_friction": 0.3, **settings})
    return job.add_mesh("Castle", "source", jobs.box((-0.02, -0.02, 0.0), (0.02, 0.02, 0.08))).add_ground()


def keyed(job: jobs.Job, name: str, values: list[float]) -> jobs.Job:
    job.data["solver"].setdefault("animation", {})[name] = job.add_array("f32", 1, values)
    return job
