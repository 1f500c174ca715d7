# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's rope ladder: sand is poured over it, then it is let go."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from mathutils import Matrix, Vector
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Rope ladder", figure="Ihmsen 2013, figure 6",
    what="Sand is poured over a rope ladder between two posts and falls through its gaps, leaving stripes on the "
         "ground. Then the ladder is released. Its rungs are rigid bodies; the ropes are only drawn.",
    small=Size(4500, 62), picture=Size(34000, 66, 3.4), picture_frame=34, more_pictures={"_fallen": 66}, samples=36,
    timings=(Timing("", Size(138000, 12, 17.3, as_paper=True), "138K particles, 17.3M grains", "4.6 + 8.3"),))

FPS = 50
RUNGS, APART, WIDE, THICK = 9, 0.135, 0.46, 0.022  # and their radius
HEIGHT, SAG = 0.52, 0.07
SHEET = (1.02, 0.36, 0.26)  # m, of the sand above it
LET_GO = 42


def place(k: int) -> Vector:
    """Of a rung: on a rope that sags."""
    x = APART * (k - (RUNGS - 1) / 2)
    half = APART * RUNGS / 2
    return Vector((x, 0.0, HEIGHT - SAG * (1.0 - (x / half) ** 2)))


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=30.0, softness=0.4, restitution=0.15, rolling_friction=0.3)
    # What is timed begins where the sand meets the ladder.
    lift, speed = (0.02, 1.6) if size.as_paper else (0.10, 0.6)
    low = HEIGHT + lift
    sheet = studio.box("Sand", (-SHEET[0] / 2, -SHEET[1] / 2, low), (SHEET[0] / 2, SHEET[1] / 2, low + SHEET[2]))
    studio.source(sheet, velocity=(0.0, 0.0, -speed))
    wood, rope = studio.pine(0.6), studio.material("Rope", (0.34, 0.24, 0.13), 0.8)
    rungs = []
    for k in range(RUNGS):
        rung = studio.lathe(f"Rung {k + 1}", [(0.0, -WIDE / 2), (THICK, -WIDE / 2), (THICK, WIDE / 2), (0.0, WIDE / 2)], wood, segments=28, smooth=False)
        rung.data.transform(Matrix.Rotation(math.pi / 2, 4, 'X'))
        rung.location = place(k)
        studio.body(rung, 650.0, friction=28.0, use_animation=True, release_frame=min(LET_GO, size.frames - 1))
        rungs.append(rung)
    half = APART * RUNGS / 2 + 0.03
    for side in (-1.0, 1.0):
        y = side * (WIDE / 2 - 0.03)
        ends = [Vector((-half, y, HEIGHT)), *(rung.location + Vector((0.0, y, 0.0)) for rung in rungs), Vector((half, y, HEIGHT))]
        holders = [rungs[0], *rungs, rungs[-1]]
        for k in range(len(ends) - 1):
            tie(ends[k], ends[k + 1], holders[k], holders[k + 1], rope)
    for side in (-1.0, 1.0):
        x = side * (half + 0.02)
        for y in (-WIDE / 2 + 0.03, WIDE / 2 - 0.03):
            studio.collider(studio.box("Post", (x - 0.022, y - 0.022, 0.0), (x + 0.022, y + 0.022, HEIGHT + 0.05), wood, bevel=0.004), friction=28.0)
    studio.stage(0.6, friction=33.0)
    studio.camera((0.85, -2.5, 1.15), (0.0, -0.02, 0.24), lens=56.0, stop=16.0)


def tie(a: Vector, b: Vector, at_a: bpy.types.Object, at_b: bpy.types.Object, material: bpy.types.Material) -> None:
    """A piece of rope whose ends follow two rungs."""
    form = bmesh.new()
    along = (b - a).normalized()
    aside = along.cross(Vector((0.0, 1.0, 0.0))).normalized()
    across = along.cross(aside)
    rings = [[form.verts.new(end + 0.007 * (math.cos(t) * aside + math.sin(t) * across)) for t in (2.0 * math.pi * s / 12 for s in range(12))]
             for end in (a, b)]
    for s in range(12):
        t = (s + 1) % 12
        form.faces.new((rings[0][s], rings[0][t], rings[1][t], rings[1][s]))
    item = studio.add("Rope", form, material, smooth=True)
    for name, numbers, holder in (("Begin", range(12), at_a), ("End", range(12, 24), at_b)):
        group = item.vertex_groups.new(name=name)
        group.add(list(numbers), 1.0, 'REPLACE')
        hook = item.modifiers.new(name, 'HOOK')
        hook.object, hook.vertex_group = holder, name
        hook.matrix_inverse = Matrix.Translation(holder.location).inverted()


def measure(bake: Bake) -> list[Fact]:
    """The sand that is falling below the ladder, under its rungs and between them; and where rungs and sand are in the end."""
    inner = np.array([place(k).x for k in range(1, RUNGS - 1)])
    below = between = 0
    for frame in range(8, min(LET_GO, bake.last) + 1, 2):
        places = bake.positions(frame)
        falling = places[(places[:, 2] < HEIGHT - SAG - 0.03) & (places[:, 2] > HEIGHT - SAG - 0.15) & (np.abs(places[:, 0]) < inner[-1] + APART / 2)]
        off = np.abs(falling[:, 0:1] - inner).min(axis=1)
        below, between = below + int(np.sum(off < THICK)), between + int(np.sum(off > APART / 2 - THICK))
    before = bake.positions(min(LET_GO, bake.last - 1))
    held = float(np.mean(before[:, 2] > HEIGHT - SAG))
    end = bake.body_positions()
    start = bake.body_positions(1)
    lowest = float(bake.positions()[:, 2].min())
    facts = [Fact(f"right below the ladder {100 * below / max(between, 1):.0f} % as much sand falls under a rung as between two", below < 0.7 * between),
             Fact(f"{100 * held:.0f} % of the sand lies on the ladder then", held < 0.3),
             Fact(f"the lowest grain lies {1000 * lowest:.1f} mm above the floor", lowest > -0.002)]
    if bake.last > LET_GO + 15:
        facts.append(Fact(f"then the rungs come down by {float((start - end)[:, 2].mean()):.2f} m and lie on the sand, the lowest "
                          f"{1000 * float(end[:, 2].min()):.0f} mm high", (start - end)[:, 2].min() > 0.15 and end[:, 2].min() > 0.8 * THICK))
    return facts
