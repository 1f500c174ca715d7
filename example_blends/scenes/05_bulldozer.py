# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's bulldozer: a blade clears its way through a bed of sand."""
from __future__ import annotations

import math

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Bulldozer", figure="Ihmsen 2013, figure 1; Bell 2005, figure 8",
    what="A blade pushes through a bed of sand: a heap grows in front of it, ridges remain on both sides, and the "
         "ground behind it is bare.",
    small=Size(9000, 70), picture=Size(26400, 110, 1.4), picture_frame=92,
    timings=(Timing("Ihmsen", Size(38000, 13, 19.4, as_paper=True), "38K particles, 1.4M / 19.4M grains", "1.4 + 1.1 / 9.6"),
             Timing("Bell", Size(77537, 12, as_paper=True, variant="tetrahedra"), "310,149 spheres", "1,044")),
    preview=range(26, 108, 6))

FPS = 50
BED = (3.0, 2.4, 0.16)  # m
WIDTH, SPEED = 1.15, 1.3  # of the blade; m/s
FROM = -2.1  # x of the blade at the first frame


def build(size: Size) -> None:
    if size.variant:
        studio.sand(size, 'DEM', fps=FPS, friction=28.0, softness=0.25, rolling_friction=0.0, grain_shape='TETRAHEDRON')
    else:
        studio.sand(size, 'MPM', fps=FPS, friction=34.0)
    bed = studio.box("Bed", (-BED[0] / 2, -BED[1] / 2, 0.002), (BED[0] / 2, BED[1] / 2, BED[2]))
    studio.source(bed)
    drive(machine(), size.frames, 34 if size.as_paper else 0)
    studio.stage(1.0, friction=31.0, colour=(0.13, 0.14, 0.15))
    studio.camera((2.6, -4.3, 2.7), (-0.42, -0.08, 0.2), lens=60.0)


def way(frame: float) -> float:
    """Where the blade is: it gathers speed for half a second."""
    time, rise = (frame - 1) / FPS, 0.5
    return FROM + SPEED * (0.5 * time * time / rise if time < rise else time - 0.5 * rise)


def drive(parts: list[bpy.types.Object], frames: int, ahead: int) -> None:
    """Along its way, from so many frames ahead: what is timed begins where the blade meets the bed."""
    mover = bpy.data.objects.new("Bulldozer", None)
    bpy.context.scene.collection.objects.link(mover)
    for part in parts:
        part.parent = mover
    studio.key(mover, "location", [(frame, (way(frame + ahead), 0.0, 0.0)) for frame in range(1, max(frames, 2) + 1)])


def machine() -> list[bpy.types.Object]:
    """Its blade's edge is at x = 0. Blade and arms meet the sand; tracks run on the ground behind them."""
    yellow, dark, glass = studio.paint("Yellow", (0.80, 0.42, 0.03)), studio.material("Rubber", (0.02, 0.02, 0.022), 0.6), \
        studio.material("Window", (0.03, 0.05, 0.06), 0.08, coat=1.0)
    curve = [(0.10 * (math.cos(a) - 1.0) * 1.3, 0.012 + 0.36 * k / 10) for k in range(11)
             for a in [math.radians(-50.0 + 95.0 * k / 10)]]
    blade = studio.prism("Blade", curve + [(x - 0.045, z) for x, z in curve[::-1]], WIDTH, studio.paint("Worn Yellow", (0.62, 0.34, 0.05)),
                         bevel=0.004)
    studio.collider(blade, friction=20.0)
    parts = [blade]
    for side in (-1.0, 1.0):
        y = 0.40 * side
        tread = studio.prism(f"Track {'left' if side > 0 else 'right'}", outline_of_track(), 0.22, dark, bevel=0.006)
        tread.location = (-0.85, y, 0.0)
        arm = studio.box("Arm", (-0.85, y - 0.035 + 0.15 * side, 0.13), (-0.10, y + 0.035 + 0.15 * side, 0.20), yellow, bevel=0.01)
        studio.collider(arm, friction=20.0)
        parts += [tread, arm]
        for k in range(4):
            wheel = studio.lathe("Wheel", [(0.0, -0.116), (0.075, -0.116), (0.085, -0.11), (0.085, 0.11), (0.075, 0.116), (0.0, 0.116)],
                                 yellow, segments=48)
            wheel.rotation_euler.x = math.pi / 2
            wheel.location = (-1.13 + 0.187 * k, y, 0.115)
            parts.append(wheel)
    parts += [studio.box("Hull", (-1.22, -0.29, 0.13), (-0.42, 0.29, 0.42), yellow, bevel=0.03),
              studio.box("Bonnet", (-0.80, -0.24, 0.38), (-0.34, 0.24, 0.58), yellow, bevel=0.03),
              studio.box("Grille", (-0.345, -0.19, 0.22), (-0.325, 0.19, 0.53), dark, bevel=0.005),
              studio.box("Cab", (-1.20, -0.25, 0.40), (-0.78, 0.25, 0.86), glass, bevel=0.03),
              studio.box("Roof", (-1.25, -0.29, 0.85), (-0.72, 0.29, 0.91), yellow, bevel=0.02)]
    for x in (-1.205, -0.80):
        for y in (-0.255, 0.215):
            parts.append(studio.box("Pillar", (x, y, 0.40), (x + 0.04, y + 0.04, 0.86), yellow, bevel=0.006))
    pipe = studio.lathe("Exhaust", [(0.0, 0.0), (0.028, 0.0), (0.028, 0.30), (0.0, 0.30)], dark, segments=24)
    pipe.location = (-0.52, 0.12, 0.56)
    return parts + [pipe]


def outline_of_track(half: float = 0.33, radius: float = 0.14) -> list[tuple[float, float]]:
    """A belt around two wheels, with ribs."""
    points, steps = [], 64
    length = 4.0 * half + 2.0 * math.pi * radius
    for k in range(2 * steps):
        at, out = k / (2 * steps) * length, 0.010 if k % 4 < 2 else 0.0
        r = radius - 0.012 + out
        if at < 2 * half:
            points.append((-half + at, radius - r))
        elif at < 2 * half + math.pi * radius:
            turn = (at - 2 * half) / radius - math.pi / 2
            points.append((half + r * math.cos(turn), radius + r * math.sin(turn)))
        elif at < 4 * half + math.pi * radius:
            points.append((half - (at - 2 * half - math.pi * radius), radius + r))
        else:
            turn = (at - 4 * half - math.pi * radius) / radius + math.pi / 2
            points.append((-half + r * math.cos(turn), radius + r * math.sin(turn)))
    return points


def measure(bake: Bake) -> list[Fact]:
    """Where the blade has passed, the ground is bare; what was there lies before it and beside."""
    first, last = bake.positions(1), bake.positions()
    edge = way(bake.last)
    began = -BED[0] / 2
    if edge < began + 0.2:
        return [Fact("the blade has not reached the bed", True)]
    inside = 0.5 * WIDTH - 0.12

    def in_lane(places: np.ndarray) -> np.ndarray:
        return (np.abs(places[:, 1]) < inside) & (places[:, 0] > began + 0.05) & (places[:, 0] < edge - 0.30)

    swept = float(np.mean(in_lane(last))) / max(float(np.mean(in_lane(first))), 1e-9) if edge > began + 0.4 else 0.0
    lane = np.abs(last[:, 1]) < inside
    before = float(np.quantile(last[lane & (last[:, 0] > edge) & (last[:, 0] < edge + 0.4), 2], 0.98))
    return [Fact(f"behind the blade {100 * swept:.1f} % of the sand are left in its lane", swept < 0.12),
            Fact(f"the heap before it is {1000 * before:.0f} mm high, the bed was {1000 * BED[2]:.0f}", before > 1.25 * BED[2]),
            Fact(f"the lowest particle lies {1000 * float(last[:, 2].min()):.1f} mm above the ground", last[:, 2].min() > -0.005)]
