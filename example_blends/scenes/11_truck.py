# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ihmsen et al. name as their failure: a dump truck that drives off with its load, and tips it."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Matrix, Vector
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Accelerating truck", figure="",
    what="A truck drives off at 2 m/s2 with a heap on its bed, brakes and tips. Ihmsen et al. 2013 name this shot "
         "as one their sand cannot do, because it has no static friction.",
    small=Size(4000, 70), picture=Size(9000, 178, 1.0), picture_frame=62, more_pictures={"_tipped": 172}, samples=40)

FPS = 50
SCALE = 0.5  # of a real one
BED = (2.4 * SCALE, 1.7 * SCALE, 0.42 * SCALE)  # m, inside
FLOOR = 0.80 * SCALE  # height of the bed
REST, DRIVE, ROLL = 12, 62, 66  # frames: at rest until, drives off until, rolls until, then brakes
PUSH = 2.0  # m/s2
TIP_FROM, TIP_TO, TIP = 120, 158, math.radians(52.0)
FRICTION, FLANK = 36.0, 21.0


def way(frame: float) -> float:
    """Metres since the start."""
    def ramp(a: float, b: float, push: float) -> float:
        """Way by a push from a to b."""
        t = max(frame - a, 0.0) / FPS
        whole = (b - a) / FPS
        return 0.5 * push * t * t if t < whole else push * whole * (t - 0.5 * whole)
    return ramp(REST, DRIVE, PUSH) - ramp(ROLL, ROLL + (DRIVE - REST), PUSH)


def load() -> list[tuple[float, float]]:
    """Outline of the heap in x-z, as long as the bed, above its floor."""
    half = BED[0] / 2 - 0.003
    level = 0.55 * BED[2]
    peak = level + math.tan(math.radians(FLANK)) * half * 0.8
    return [(-half, 0.004), (half, 0.004), (half, level), (0.2 * half, peak), (-0.2 * half, peak), (-half, level)]


def build(size: Size) -> None:
    outline = load()
    width = BED[1] - 0.006
    studio.sand(size, 'SPH', fps=FPS, friction=FRICTION)
    heap = studio.prism("Load", outline, width)
    heap.location.z = FLOOR
    studio.source(heap)
    mover = bpy.data.objects.new("Truck", None)
    bpy.context.scene.collection.objects.link(mover)
    tipper = bpy.data.objects.new("Hinge", None)
    bpy.context.scene.collection.objects.link(tipper)
    tipper.parent = mover
    tipper.location = (-BED[0] / 2, 0.0, FLOOR - 0.03)
    studio.key(mover, "location", [(frame, (way(frame), 0.0, 0.0)) for frame in range(1, size.frames + 1)])
    turns = [(frame, (0.0, -TIP * ease((frame - TIP_FROM) / (TIP_TO - TIP_FROM)), 0.0)) for frame in range(1, size.frames + 1)]
    studio.key(tipper, "rotation_euler", turns)
    bed = bed_of_truck()
    bed.parent = tipper
    bed.location = (BED[0] / 2, 0.0, 0.03)
    studio.collider(bed, friction=32.0)
    gate = studio.box("Gate", (-0.012, -BED[1] / 2, -BED[2]), (0.012, BED[1] / 2, 0.0), bed.data.materials[0])
    gate.data.transform(Matrix.Translation((0.0, 0.0, -BED[2] / 2)))  # it hangs from its upper edge
    gate.parent = tipper
    gate.location = (-0.012, 0.0, 0.03 + BED[2])
    studio.collider(gate, friction=32.0)
    studio.key(gate, "rotation_euler", [(frame, (0.0, TIP * 1.5 * ease((frame - TIP_FROM) / 25.0), 0.0)) for frame in range(1, size.frames + 1)])
    for part in chassis():
        part.parent = mover
    studio.stage(0.9 * SCALE * 2, friction=33.0, colour=(0.15, 0.16, 0.17))
    for k in range(-3, 9):  # the road's marks show that it goes
        studio.box("Mark", (0.9 * k, -0.85, 0.0), (0.9 * k + 0.45, -0.79, 0.001), studio.material("Mark", (0.62, 0.62, 0.58), 0.6))
    eye = studio.camera(*view(1), lens=62.0)
    studio.key(eye, "location", [(frame, view(frame)[0]) for frame in range(1, size.frames + 1)])
    studio.key(eye, "rotation_euler", [(frame, studio.facing(*view(frame))) for frame in range(1, size.frames + 1)])


def view(frame: int) -> tuple[Vector, Vector]:
    """Where the camera is and looks: beside the truck as it drives, then it goes round to where the load comes out."""
    along, round_it = 0.9 * way(frame), ease((frame - ROLL) / (TIP_TO - ROLL))
    driving, tipping = Vector((1.9, -4.7, 1.75)), Vector((-3.75, -4.75, 1.75))
    target = Vector((0.22, 0.0, 0.36)).lerp(Vector((-0.1, 0.0, 0.62)), round_it)
    return driving.lerp(tipping, round_it) + Vector((along, 0.0, 0.0)), target + Vector((along, 0.0, 0.0))


def ease(share: float) -> float:
    share = min(max(share, 0.0), 1.0)
    return share * share * (3.0 - 2.0 * share)


def bed_of_truck() -> bpy.types.Object:
    """A floor, two sides and a front, as one closed form; the gate is behind."""
    form, wall = bmesh.new(), 0.03
    x, y, z = BED[0] / 2, BED[1] / 2, BED[2]
    outer = [(-x, -y - wall), (x + wall, -y - wall), (x + wall, y + wall), (-x, y + wall)]
    inner = [(-x, -y), (x, -y), (x, y), (-x, y)]
    ring = outer + inner[::-1]  # a U seen from above
    low, high = ([form.verts.new((px, py, h)) for px, py in ring] for h in (-wall, z))
    sill = [form.verts.new((px, py, 0.0)) for px, py in inner]
    for k in range(3):  # outside
        form.faces.new((low[k], low[k + 1], high[k + 1], high[k]))
    form.faces.new(low[:4])
    form.faces.new(sill[::-1])
    inner_high = {k: high[4 + (3 - k)] for k in range(4)}
    for k in range(3):  # inside
        form.faces.new((sill[k + 1], sill[k], inner_high[k], inner_high[k + 1]))
    for k in range(3):  # rim
        form.faces.new((high[k], high[k + 1], inner_high[k + 1], inner_high[k]))
    form.faces.new((low[0], high[0], inner_high[0], sill[0]))
    form.faces.new((low[3], sill[3], inner_high[3], high[3]))
    form.faces.new((low[0], sill[0], sill[3], low[3]))
    for vertex in low[4:]:
        form.verts.remove(vertex)
    return studio.add("Bed", form, studio.paint("Orange", (0.70, 0.20, 0.03)))


def chassis() -> list[bpy.types.Object]:
    x, dark = BED[0] / 2, studio.material("Rubber", (0.02, 0.02, 0.022), 0.6)
    paint, steel = studio.paint("White", (0.72, 0.72, 0.70)), studio.steel()
    window = studio.material("Window", (0.03, 0.05, 0.06), 0.08, coat=1.0)
    cab = x + 0.06
    parts = [studio.box("Frame", (-x + 0.05, -0.16, FLOOR - 0.14), (cab + 0.55, 0.16, FLOOR - 0.05), dark, bevel=0.01),
             studio.box("Cab", (cab, -0.42, FLOOR - 0.20), (cab + 0.50, 0.42, FLOOR + 0.12), paint, bevel=0.04),
             studio.prism("Cabin", [(cab, FLOOR + 0.10), (cab + 0.47, FLOOR + 0.10), (cab + 0.36, FLOOR + 0.42), (cab, FLOOR + 0.42)], 0.80, paint, bevel=0.03),
             studio.prism("Windows", [(cab + 0.10, FLOOR + 0.13), (cab + 0.474, FLOOR + 0.13), (cab + 0.375, FLOOR + 0.38), (cab + 0.10, FLOOR + 0.38)], 0.815, window),
             studio.box("Bumper", (cab + 0.48, -0.43, FLOOR - 0.26), (cab + 0.54, 0.43, FLOOR - 0.13), dark, bevel=0.02)]
    for wx in (-x + 0.22, -x + 0.58, cab + 0.26):
        for side in (-1.0, 1.0):
            wheel = studio.lathe("Wheel", [(0.0, -0.05), (0.09, -0.05), (0.10, -0.065), (0.15, -0.065), (0.165, -0.05), (0.165, 0.05),
                                           (0.15, 0.065), (0.10, 0.065), (0.09, 0.05), (0.0, 0.05)], dark, segments=64)
            hub = studio.lathe("Hub", [(0.0, -0.062), (0.05, -0.062), (0.088, -0.052), (0.088, 0.052), (0.05, 0.062), (0.0, 0.062)], steel, segments=48)
            for part in (wheel, hub):
                part.rotation_euler.x = math.pi / 2
                part.location = (wx, side * 0.38, 0.165)
                parts.append(part)
    return parts


def measure(bake: Bake) -> list[Fact]:
    """The outline of the load seen from the truck, before it drives off and when it rolls."""
    before, after = (outline_at(bake, frame) for frame in (REST, min(ROLL, bake.last)))
    change = float(np.abs(after - before).mean() / before.mean())
    facts = [Fact(f"while it drives off at {PUSH:.0f} m/s2 the outline of the load changes by {100 * change:.1f} %", change < 0.03)]
    if bake.last > TIP_TO + 10:
        places = bake.positions()
        on = float(np.mean(places[:, 2] > FLOOR - 0.05))
        facts.append(Fact(f"tipped by {math.degrees(TIP):.0f} degrees it keeps {100 * on:.0f} % of its load", on < 0.25))
    return facts


def outline_at(bake: Bake, frame: int) -> np.ndarray:
    places = bake.positions(frame)
    along, height = places[:, 0] - way(frame), places[:, 2] - FLOOR
    edges = np.linspace(-0.48 * BED[0], 0.48 * BED[0], 19)
    return np.array([np.quantile(height[(along >= a) & (along < b)], 0.98) for a, b in zip(edges, edges[1:])])
