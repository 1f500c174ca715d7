"""A sand castle: taken out of its mould damp, it dries and falls apart."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Matrix
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Sand castle", figure="",
    what="Damp sand is taken out of a bucket: it stands with its battlements and walls. Then its cohesion is keyed to nothing, as the "
         "sun dries it, and it falls apart.",
    small=Size(4000, 64), picture=Size(24000, 66, 1.6), picture_frame=36, more_pictures={"_dry": 64})

FPS = 50
FOOT, TOP, TALL = 0.085, 0.062, 0.16  # m: radii and height of the keep
WALL, RING = 0.055, 0.20  # thickness and distance of the wall around it
STRENGTH = 1500.0  # Pa, damp
LIFT = (4, 30)  # frames in which the bucket is lifted
DRY = (38, 52)  # frames in which it dries


def build(size: Size) -> None:
    studio.sand(size, 'MPM', fps=FPS, friction=34.0)
    keep = studio.lathe("Keep", [(0.0, 0.0), (FOOT, 0.0), (TOP, TALL), (0.0, TALL)], segments=64)
    crown(keep, TOP - 0.011, TALL, 8, 0.020, 0.024)
    keep.location.z = 0.002
    studio.source(keep)
    for item in ring_wall():
        studio.source(item)
    bucket()
    studio.fit_particles(size)
    dry()
    studio.stage(0.32, friction=34.0, colour=(0.20, 0.17, 0.13))
    studio.camera((0.36, -1.15, 0.62), (0.0, -0.01, 0.075), lens=58.0, stop=11.0)


def dry() -> None:
    """Cohesion is a pull over a grain's weight; what counts is the strength that many such pulls make."""
    settings = studio.simulation()
    wet = STRENGTH / (1.5 * math.pi / 3.0 * settings.density * 9.81 * settings.particle_radius)
    studio.key(settings, "cohesion", [(1, wet), (DRY[0], wet), (DRY[1], 0.0)])


def crown(item: bpy.types.Object, radius: float, height: float, count: int, side: float, tall: float) -> None:
    """Battlements around the top, as part of the same mesh."""
    form = bmesh.new()
    form.from_mesh(item.data)
    for k in range(count):
        turn = Matrix.Rotation(2.0 * math.pi * (k + 0.5) / count, 4, 'Z')
        bmesh.ops.create_cube(form, size=1.0, matrix=turn @ Matrix.Translation((radius, 0.0, height + 0.5 * tall - 0.004)) @ Matrix.Diagonal((side, side * 1.25, tall, 1.0)))
    form.to_mesh(item.data)
    form.free()


def ring_wall() -> list[bpy.types.Object]:
    """Four towers and the walls between them."""
    made, half = [], RING
    for k in range(4):
        turn = Matrix.Rotation(0.5 * math.pi * k, 4, 'Z')
        tower = studio.lathe(f"Tower {k + 1}", [(0.0, 0.0), (0.048, 0.0), (0.040, 0.105), (0.0, 0.105)], segments=48)
        crown(tower, 0.030, 0.105, 5, 0.015, 0.018)
        tower.matrix_world = turn @ Matrix.Translation((half, half, 0.002))
        made.append(tower)
        if k == 2:
            continue  # towards the camera it is open
        wall = studio.box(f"Wall {k + 1}", (-half + 0.046, -0.5 * WALL, 0.0), (half - 0.046, 0.5 * WALL, 0.07))
        wall.matrix_world = turn @ Matrix.Translation((0.0, half, 0.037))
        made.append(wall)
    return made


def bucket() -> None:
    """Upside down over the keep; lifted straight up."""
    gap, thick, tall = 0.003, 0.005, TALL + 0.036
    slope = (FOOT - TOP) / TALL
    inner = [(FOOT + gap, 0.0), (FOOT + gap - slope * tall, tall)]
    outline = [inner[0], inner[1], (0.0, tall), (0.0, tall + thick), (inner[1][0] + thick, tall + thick), (inner[0][0] + thick, 0.012),
               (inner[0][0] + 0.012, 0.012), (inner[0][0] + 0.012, 0.0)]
    item = studio.lathe("Bucket", outline, studio.paint("Bucket", (0.05, 0.25, 0.55)), segments=72, smooth=False)
    studio.collider(item, friction=8.0)
    studio.key(item, "location", [(1, (0.0, 0.0, 0.002)), (LIFT[0], (0.0, 0.0, 0.002)), (LIFT[1] - 6, (0.0, 0.0, 0.25)), (LIFT[1], (0.0, 0.0, 0.75))])


def measure(bake: Bake) -> list[Fact]:
    """Heights of the keep, over that of the first frame."""
    def height(frame: int) -> float:
        places = bake.positions(frame)
        own = np.hypot(places[:, 0], places[:, 1]) < FOOT
        return float(np.quantile(places[own, 2], 0.97))
    damp, dried = (height(frame) / height(1) for frame in (DRY[0], bake.last))
    facts = [Fact(f"out of its bucket the keep stands at {100 * damp:.0f} % of its height", damp > 0.9)]
    if bake.last >= DRY[1] + 8:
        facts.append(Fact(f"dried, at {100 * dried:.0f} %", dried < 0.75))
    return facts
