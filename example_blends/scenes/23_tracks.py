# SPDX-License-Identifier: GPL-3.0-or-later
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
    what="A boot is set down and a tyre rolls past in damp sand. Both leave their profile with a rim beside it. "
         "Boot and tyre are gone, and the evening sun shows their tracks.",
    small=Size(7000, 36), picture=Size(360000, 46, 2.4), picture_frame=46)

FPS = 50
BED = (0.54, 0.36, 0.030)  # m
STRENGTH = 260.0  # Pa, of damp sand
# Tyre
RADIUS, WIDE, LUG, LUGS = 0.215, 0.125, 0.011, 30  # m: to the tips, and their depth
TRACK, SINK = 0.088, 0.017  # y of its middle; how deep the tips go
ROLL = (3, 29)  # frames
# Boot
PLACE, TURN = (-0.005, -0.072), math.radians(9.0)
SOLE, TREAD, PRESS = 0.285, 0.010, 0.018  # m: its length, how high its lugs are, how deep they go
STEP = 4  # frame in which it comes down
# Half the width of a sole from heel to toe, and where its middle is: a right foot, its inner side straight.
SHARES = (0.0, 0.03, 0.09, 0.20, 0.32, 0.42, 0.52, 0.64, 0.75, 0.85, 0.93, 0.98, 1.0)
HALVES = (0.0, 0.022, 0.034, 0.037, 0.033, 0.031, 0.036, 0.046, 0.051, 0.048, 0.036, 0.018, 0.0)
MIDDLES = (0.0, 0.0, 0.0, 0.0, -0.001, -0.003, -0.004, -0.003, -0.001, 0.003, 0.006, 0.008, 0.008)


def build(size: Size) -> None:
    studio.sand(size, 'MPM', fps=FPS, friction=36.0)
    half = (BED[0] / 2, BED[1] / 2)
    bed = studio.box("Bed", (-half[0], -half[1], 0.0), (half[0], half[1], BED[2]))
    studio.source(bed)
    studio.fit_particles(size)
    studio.simulation().cohesion = studio.cohesion_for(STRENGTH)
    frame = studio.tray("Frame", (BED[0] + 0.002, BED[1] + 0.002, BED[2] + 0.006), 0.03, studio.pine(0.5), bottom=0.02)
    studio.collider(frame, friction=45.0)
    roll(tyre())
    tread(boot())
    evening()
    studio.camera((0.0, -0.44, 0.46), (0.0, -0.005, BED[2] - 0.01), lens=54.0)
    bpy.context.scene.cycles.diffuse_bounces = 2


def evening() -> None:
    """A low sun, which shows what is shallow, and a sky."""
    scene = bpy.context.scene
    lamp = bpy.data.lights.new("Sun", 'SUN')
    lamp.energy, lamp.angle, lamp.color = 5.0, math.radians(1.5), (1.0, 0.80, 0.58)
    sun = bpy.data.objects.new("Sun", lamp)
    sun.rotation_euler = (math.radians(90.0 - 19.0), 0.0, math.radians(-62.0))
    scene.collection.objects.link(sun)
    world = bpy.data.worlds.new("Evening")
    studio.use_nodes(world)
    sky = world.node_tree.nodes["Background"].inputs
    sky[0].default_value, sky[1].default_value = (0.42, 0.56, 0.80, 1.0), 0.42
    scene.world = world


def lug(phase: float, across: float) -> bool:
    """Whether a place of the tyre, by its share of a lug's distance and of its width, is a lug: slanted bars that come in turn
    from the left and from the right and pass the middle, as of a tractor."""
    bar = (phase + (0.5 if across > 0.0 else 0.0) + 1.25 * abs(across)) % 1.0
    return bar < 0.46 and abs(across) > 0.015


def tyre() -> bpy.types.Object:
    """A ring with lugs; it turns about y."""
    form = bmesh.new()
    each, rows = 16, 44
    steps, rings = LUGS * each, []
    for k in range(steps):
        turn, ring = 2.0 * math.pi * k / steps, []
        for row in range(rows + 1):
            across = row / rows - 0.5
            r = RADIUS - 0.010 * (2.0 * abs(across)) ** 6 - (0.0 if lug(k / each, across) else LUG)
            ring.append(form.verts.new((r * math.cos(turn), WIDE * across, r * math.sin(turn))))
        for across in (0.42, -0.42):
            ring.append(form.verts.new((0.62 * RADIUS * math.cos(turn), WIDE * across, 0.62 * RADIUS * math.sin(turn))))
        rings.append(ring)
    count = len(rings[0])
    for a, b in zip(rings, rings[1:] + rings[:1]):
        for row in range(count):
            form.faces.new((a[row], a[(row + 1) % count], b[(row + 1) % count], b[row]))
    wheel = studio.add("Tyre", form, studio.material("Rubber", (0.02, 0.02, 0.022), 0.6), is_wound=True)
    studio.collider(wheel, friction=15.0)
    wheel.hide_render = True  # what it leaves is what is shown
    return wheel


def roll(wheel: bpy.types.Object) -> None:
    """Without slipping, along the bed and off it."""
    first, last = ROLL
    stop, count = BED[0] / 2 + 0.11, 40
    frames = [1.0] + [first + (last - first) * k / count for k in range(count + 1)]
    way = [-stop] + [2.0 * stop * k / count - stop for k in range(count + 1)]
    studio.key(wheel, "location", [(f, (x, TRACK, BED[2] + RADIUS - SINK)) for f, x in zip(frames, way)])
    studio.key(wheel, "rotation_euler", [(f, (0.0, x / (RADIUS - 0.5 * LUG), 0.0)) for f, x in zip(frames, way)])


def is_tread(share: float, side: float) -> bool:
    """Whether a place of the sole, by its shares of length and of half its width, touches the ground first: a heel of bars,
    nothing below the arch, blocks around the forefoot and arrows in its middle."""
    if abs(side) > 0.93 or share < 0.012 or share > 0.985:
        return False
    if share < 0.30:  # heel
        return abs(side) > 0.52 and (share * 11.0) % 1.0 > 0.24 or abs(side) < 0.34 and (share * 11.0 + 0.5) % 1.0 > 0.36 or share < 0.055
    if share < 0.43:
        return False
    if abs(side) > 0.58:
        return (share * 12.5 + 0.1) % 1.0 > 0.33
    return abs(side) < 0.42 and (share * 12.5 - 1.1 * abs(side) + 0.5) % 1.0 > 0.42


def boot() -> bpy.types.Object:
    """A sole; its lowest is at z = 0, its middle at the origin, its toe towards +x."""
    form = bmesh.new()
    long, wide, high = 190, 68, 0.05
    grid = {}
    for i in range(long + 1):
        share = i / long
        half, middle = max(float(np.interp(share, SHARES, HALVES)), 0.002), float(np.interp(share, SHARES, MIDDLES))
        for j in range(wide + 1):
            side = 2.0 * j / wide - 1.0
            arch = 0.006 * math.exp(-((share - 0.37) / 0.055) ** 2)  # lies lighter there
            grid[i, j] = form.verts.new((SOLE * (share - 0.5), half * side + middle, 0.0 if is_tread(share, side) else TREAD + arch))
    for i in range(long):
        for j in range(wide):
            form.faces.new((grid[i, j], grid[i + 1, j], grid[i + 1, j + 1], grid[i, j + 1]))
    edge = [(i, 0) for i in range(long)] + [(long, j) for j in range(wide)] + [(i, wide) for i in range(long, 0, -1)] + [(0, j) for j in range(wide, 0, -1)]
    rim = [form.verts.new((*grid[at].co.xy, high)) for at in edge]
    for k, at in enumerate(edge):
        form.faces.new((grid[at], grid[edge[k - 1]], rim[k - 1], rim[k]))
    form.faces.new(rim)
    item = studio.add("Boot", form, studio.material("Boot", (0.10, 0.055, 0.03), 0.5))
    studio.collider(item, friction=15.0)
    item.hide_render = True
    return item


def tread(item: bpy.types.Object) -> None:
    """Heel first, then flat, then straight up."""
    low = BED[2] - PRESS
    keys = ((1, low + 0.06, -9.0), (STEP, low + 0.06, -9.0), (STEP + 7, low + 0.008, -2.2), (STEP + 10, low, 0.0), (STEP + 13, low, 0.0),
            (STEP + 23, low + 0.06, 0.0))
    studio.key(item, "location", [(frame, (*PLACE, z)) for frame, z, _ in keys])
    studio.key(item, "rotation_euler", [(frame, (0.0, math.radians(tilt), TURN)) for frame, _, tilt in keys])


def heights(places: np.ndarray, cell: float) -> tuple[np.ndarray, np.ndarray]:
    """The surface: the highest particle of every cell; and the middles of the cells."""
    low = np.array((-BED[0] / 2, -BED[1] / 2))
    shape = tuple(int(BED[k] / cell) for k in range(2))
    at = np.clip(((places[:, :2] - low) / cell).astype(int), 0, np.array(shape) - 1)
    surface = np.full(shape, 0.0)
    np.maximum.at(surface, (at[:, 0], at[:, 1]), places[:, 2])
    return surface, low[:, None, None] + cell * (np.indices(shape) + 0.5)


def on_sole(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares of the sole's length and of half its width."""
    x, y = places[0] - PLACE[0], places[1] - PLACE[1]
    share = (math.cos(TURN) * x + math.sin(TURN) * y) / SOLE + 0.5
    side = (math.cos(TURN) * y - math.sin(TURN) * x - np.interp(share, SHARES, MIDDLES)) / np.maximum(np.interp(share, SHARES, HALVES), 1e-6)
    return share, side


def measure(bake: Bake) -> list[Fact]:
    """How deep the prints are against the bed around, whether they show the profile, and what rises beside them."""
    radius = float(bake.column("radius", 1)[0])
    surface, places = heights(bake.positions(), 1.8 * radius)
    share, side = on_sole(places)
    inside = (share > 0.0) & (share < 1.0) & (np.abs(side) < 0.93)
    lane = (np.abs(places[1] - TRACK) < 0.42 * WIDE) & (np.abs(places[0]) < 0.22)
    far = (np.abs(places[1] - TRACK) > 0.5 * WIDE + 0.03) & ~((np.abs(side) < 1.8) & (share > -0.15) & (share < 1.15)) & (np.abs(places[0]) < 0.25) \
        & (np.abs(places[1]) < 0.165)
    around = float(np.median(surface[far]))
    below = around - surface
    pressed = np.vectorize(is_tread)(share, side) & inside
    tips, gaps = float(np.median(below[pressed])), float(np.median(below[inside & ~pressed]))
    deep, shallow = (float(np.quantile(below[lane], q)) for q in (0.9, 0.1))
    beside = np.abs(np.abs(places[1] - TRACK) - 0.5 * WIDE - 0.012) < 0.012
    rim = -float(np.quantile(below[beside & (np.abs(places[0]) < 0.22)], 0.1))
    speeds = bake.speeds()
    is_fine = radius < 0.002
    least = 0.6 if is_fine else 0.4  # a profile of less than two cells blurs
    return [Fact(f"the footprint is {1000 * tips:.0f} mm deep below the lugs of the sole, which went {1000 * PRESS:.0f} mm deep, and {1000 * gaps:.0f} mm "
                 f"between them ({1000 * (PRESS - TREAD):.0f})", least * PRESS < tips < 1.15 * PRESS and (gaps < tips - 0.5 * TREAD or not is_fine)),
            Fact(f"the track is {1000 * deep:.0f} mm deep below the lugs of the tyre, which went {1000 * SINK:.0f} mm deep, and {1000 * shallow:.0f} mm "
                 f"between them ({1000 * (SINK - LUG):.0f})", least * SINK < deep < 1.25 * SINK and (shallow < deep - 0.5 * LUG or not is_fine)),
            Fact(f"beside the track the sand has risen by up to {1000 * rim:.0f} mm", rim > 0.0),
            Fact(f"{100 * float(np.mean(speeds < 0.01)):.1f} % are at rest", float(np.mean(speeds < 0.01)) > 0.97)]
