"""A footprint and the track of a tyre."""
from __future__ import annotations

import math

import bmesh
import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Footprint and tyre track", figure="",
    what="A boot is set down and a tyre rolls past, in sand that sticks a little: both leave their profile, and a rim beside it.",
    small=Size(7000, 44), picture=Size(20000, 46, 1.1), picture_frame=46)

FPS = 50
BED = (0.70, 0.50, 0.115)  # m, as it is filled: it settles
COHESION = 2.5
# Tyre
RADIUS, WIDE, LUG, LUGS = 0.24, 0.16, 0.018, 22  # m: to the tips, and their depth
TRACK, SINK = 0.115, 0.030  # y of its middle; how deep the tips go
ROLL = (8, 40)  # frames
# Boot
STEPS = ((-0.06, -0.115, 0.030),)  # x, y, depth
SOLE = 0.32  # m long
TREAD = 0.014


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=33.0, softness=0.25, restitution=0.1, rolling_friction=0.3, cohesion=COHESION)
    half = (BED[0] / 2, BED[1] / 2)
    bed = studio.box("Bed", (-half[0], -half[1], 0.001), (half[0], half[1], BED[2]))
    studio.source(bed)
    studio.fit_particles(size)
    top = settled(size.particles, studio.simulation().particle_radius)
    frame = studio.tray("Frame", (BED[0] + 0.002, BED[1] + 0.002, BED[2] - 0.03), 0.03, studio.pine(0.5), bottom=0.02)
    studio.collider(frame, friction=30.0)
    roll(tyre(), top)
    for x, y, depth in STEPS:
        tread(boot(), x, y, top - depth, 8)
    studio.stage(0.3, friction=31.0, is_floor=False)
    for lamp in (item for item in bpy.data.objects if item.type == 'LIGHT'):
        lamp.data.energy *= 0.45
    studio.light("Evening", (-1.6, 0.9, 0.55), (0.0, 0.0, 0.05), 0.25, 75.0, (1.0, 0.86, 0.68))  # low: it shows what is shallow
    studio.camera((0.22, -0.98, 0.80), (0.02, 0.0, 0.035), lens=58.0, stop=11.0)


def settled(particles: int, radius: float) -> float:
    """How high the bed stands: sticky grains fill somewhat more than half of its room."""
    return particles * 4.0 / 3.0 * math.pi * radius ** 3 / (0.55 * BED[0] * BED[1]) + 0.5 * radius


def tyre() -> bpy.types.Object:
    """A ring with two rows of slanted lugs; it turns about y."""
    form = bmesh.new()
    steps, rows = LUGS * 8, 12
    rings = []
    for k in range(steps):
        ring = []
        for row in range(rows + 1):
            across = row / rows - 0.5
            phase = (k / 8.0 + 1.1 * abs(across)) % 1.0  # arrows that point along the way
            groove = phase < 0.5 and 0.04 < abs(across) < 0.47
            shoulder = 0.020 * (2.0 * abs(across)) ** 4
            r = RADIUS - shoulder - (0.0 if groove else LUG)
            turn = 2.0 * math.pi * k / steps
            ring.append(form.verts.new((r * math.cos(turn), WIDE * across, r * math.sin(turn))))
        for across in (0.42, -0.42):
            ring.append(form.verts.new((0.62 * RADIUS * math.cos(turn), WIDE * across, 0.62 * RADIUS * math.sin(turn))))
        rings.append(ring)
    count = len(rings[0])
    for a, b in zip(rings, rings[1:] + rings[:1]):
        for row in range(count):
            form.faces.new((a[row], a[(row + 1) % count], b[(row + 1) % count], b[row]))
    wheel = studio.add("Tyre", form, studio.material("Rubber", (0.02, 0.02, 0.022), 0.6), is_wound=True)
    studio.collider(wheel, friction=18.0)
    rim = studio.lathe("Rim", [(0.0, -0.05), (0.10, -0.05), (0.163, -0.062), (0.163, 0.062), (0.10, 0.05), (0.0, 0.05)], studio.steel(), segments=64)
    rim.rotation_euler.x = math.pi / 2
    rim.parent = wheel
    return wheel


def roll(wheel: bpy.types.Object, top: float) -> None:
    """Without slipping, over the edge of the frame and along the bed, where it stays."""
    first, last = ROLL
    start, stop, count = -BED[0] / 2 - 0.40, 0.30, 40
    frames = [first + (last - first) * k / count for k in range(count + 1)]
    way = [start + (stop - start) * k / count for k in range(count + 1)]
    lift = [0.53 * max(-x - BED[0] / 2 + 0.16, 0.0) for x in way]
    studio.key(wheel, "location", [(f, (x, TRACK, top + RADIUS - SINK + up)) for f, x, up in zip(frames, way, lift)])
    studio.key(wheel, "rotation_euler", [(f, (0.0, x / (RADIUS - 0.5 * LUG), 0.0)) for f, x in zip(frames, way)])


def outline(share: float) -> float:
    """Half the width of a sole at a share of its length from the heel."""
    points = ((0.0, 0.0), (0.03, 0.026), (0.10, 0.038), (0.28, 0.037), (0.45, 0.034), (0.62, 0.047), (0.75, 0.053), (0.88, 0.045), (0.97, 0.024), (1.0, 0.0))
    return float(np.interp(share, [p[0] for p in points], [p[1] for p in points]))


def boot() -> bpy.types.Object:
    """A sole with bars below, hollow between heel and ball, with a shaft; its lowest is at z = 0, its toe towards +x."""
    form = bmesh.new()
    long, wide = 60, 10
    grid = {}
    for i in range(long + 1):
        share = i / long
        half = max(outline(share), 0.004)
        for j in range(wide + 1):
            side = 2.0 * j / wide - 1.0
            arch = 0.34 < share < 0.46
            bar = (share * 7.5) % 1.0 < 0.55 and abs(side) < 0.86
            z = 0.0 if bar and not arch else TREAD
            bend = 0.012 * math.sin(math.pi * share)
            for top in (0, 1):
                grid[i, j, top] = form.verts.new((SOLE * (share - 0.5), half * side + bend, z if not top else 0.11 + (0.05 if share < 0.5 else -0.05 * (share - 0.5))))
    for i in range(long):
        for j in range(wide):
            for top in (0, 1):
                form.faces.new((grid[i, j, top], grid[i + 1, j, top], grid[i + 1, j + 1, top], grid[i, j + 1, top]))
    edge = [(i, 0) for i in range(long)] + [(long, j) for j in range(wide)] + [(i, wide) for i in range(long, 0, -1)] + [(0, j) for j in range(wide, 0, -1)]
    for a, b in zip(edge, edge[1:] + edge[:1]):
        form.faces.new((grid[a + (0,)], grid[b + (0,)], grid[b + (1,)], grid[a + (1,)]))
    item = studio.add("Boot", form, studio.material("Boot", (0.10, 0.055, 0.03), 0.5))
    studio.collider(item, friction=30.0)
    item.hide_render = True  # what it leaves is what is shown
    return item


def tread(item: bpy.types.Object, x: float, y: float, low: float, start: int) -> None:
    """Heel first, then it rolls over its ball and lifts."""
    up = low + 0.13
    keys = ((start, up, -14.0), (start + 8, low + 0.006, -3.0), (start + 11, low, 0.0), (start + 14, low, 0.0), (start + 22, up, 0.0))
    studio.key(item, "location", [(1, (x, y, up)), *((f, (x, y, z)) for f, z, _ in keys)])
    studio.key(item, "rotation_euler", [(1, (0.0, math.radians(-14.0), 0.0)), *((f, (0.0, math.radians(t), 0.0)) for f, _, t in keys)])


def heights(places: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """The surface: the highest particle of every cell; and where cells begin."""
    low = np.array((-BED[0] / 2, -BED[1] / 2))
    shape = tuple(int(BED[k] / cell) for k in range(2))
    at = np.clip(((places[:, :2] - low) / cell).astype(int), 0, np.array(shape) - 1)
    surface = np.full(shape, 0.0)
    np.maximum.at(surface, (at[:, 0], at[:, 1]), places[:, 2])
    return surface, low


def measure(bake: Bake) -> list[Fact]:
    """How deep the prints are against the bed around, what rises beside them, and whether the track shows the lugs."""
    radius = float(bake.column("radius", 1)[0])
    cell = 3.0 * radius
    surface, low = heights(bake.positions(), cell)
    around = float(np.median(surface))

    def near(x0: float, x1: float, y0: float, y1: float) -> np.ndarray:
        a, b = ((np.array((x0, y0)) - low) / cell).astype(int), ((np.array((x1, y1)) - low) / cell).astype(int)
        return surface[a[0]:b[0], a[1]:b[1]]

    lane = near(-0.24, -0.02, TRACK - 0.35 * WIDE, TRACK + 0.35 * WIDE)
    track = around - float(lane.mean())
    beside = max(float(np.quantile(near(-0.24, -0.02, TRACK + side * 0.5 * WIDE - 0.02, TRACK + side * 0.5 * WIDE + 0.05), 0.9)) for side in (-1, 1)) - around
    x, y, depth = STEPS[0]
    print_ = around - float(np.median(near(x + 0.04, x + 0.11, y - 0.025, y + 0.025)))
    speeds = bake.speeds()
    return [Fact(f"the track is {1000 * track:.0f} mm deep, where the tips of the lugs went {1000 * SINK:.0f} mm deep and the rest of the tyre "
                 f"{1000 * (SINK - LUG):.0f}", 0.3 * SINK < track < 1.1 * SINK),
            Fact(f"the footprint is {1000 * print_:.0f} mm deep, the bars of the sole went {1000 * depth:.0f} mm deep and what is between them "
                 f"{1000 * (depth - TREAD):.0f}", 0.6 * (depth - TREAD) < print_ < 1.1 * depth),
            Fact(f"beside the track the sand has risen by up to {1000 * beside:.0f} mm", beside > 0.0),
            Fact(f"{100 * float(np.mean(speeds < 0.01)):.1f} % are at rest", float(np.mean(speeds < 0.01)) > 0.97)]
