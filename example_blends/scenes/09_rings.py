"""Bell's rings: dropped onto poles, slippery ones and rough ones."""
from __future__ import annotations

import math
import random

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Rings on poles", figure="Bell 2005, figure 9",
    what="Rings rain onto poles. In the left half they are slippery and spread over the floor, in the right half rough: they stay closer together and lie higher.",
    small=Size(56, 50), picture=Size(200, 55), picture_frame=55, is_heavy=True,
    timed=Size(1000, 10), paper_counts="1,000 rings of 110 spheres on 25 poles", paper_seconds="224 (low friction), 185 (high)")

FPS = 50
RING, TUBE = 0.062, 0.012  # m
POLE, HEIGHT, APART = 0.009, 0.30, 0.165
SLIPPERY, ROUGH = 4.0, 45.0  # degrees
COLOURS = ((0.72, 0.06, 0.04), (0.85, 0.45, 0.03), (0.05, 0.28, 0.55), (0.08, 0.42, 0.20), (0.80, 0.76, 0.66))


def poles(size: Size) -> list[tuple[float, float]]:
    """A square of them for each half: the paper's 25, fewer for fewer rings."""
    side = 5 if size.particles >= 800 else 3 if size.particles >= 150 else 2
    return [(APART * (i - (side - 1) / 2), APART * (j - (side - 1) / 2)) for i in range(side) for j in range(side)]


def halves(size: Size) -> tuple[float, float]:
    """Where the middles of both squares are along x."""
    apart = APART * (math.sqrt(len(poles(size))) + 3.2) / 2
    return -apart, apart


def build(size: Size) -> None:
    scene, settings = bpy.context.scene, studio.simulation()
    scene.frame_start, scene.frame_end, scene.render.fps = 1, size.frames, FPS
    settings.particle_radius = 0.004
    settings.restitution = 0.3
    wood, dice = studio.pine(1.5), random.Random(3)
    mesh = studio.torus("Ring", RING, TUBE, segments=26, sides=9)
    paints = [studio.paint(f"Paint {k + 1}", colour) for k, colour in enumerate(COLOURS)]
    for half, friction in zip(halves(size), (SLIPPERY, ROUGH)):
        for k, (x, y) in enumerate(poles(size)):
            pole = studio.lathe(f"Pole {k + 1}", [(0.0, 0.0), (POLE, 0.0), (POLE, HEIGHT - 0.008), (POLE - 0.006, HEIGHT), (0.0, HEIGHT)],
                                wood, segments=32)
            pole.location = (half + x, y, 0.0)
            studio.collider(pole, friction=friction)
        drop(mesh, paints, half, size, friction, dice)
    bpy.data.objects.remove(mesh)
    studio.stage(0.35, friction=20.0)
    reach = halves(size)[1]
    studio.camera((0.0, -3.9 * reach, 2.9 * reach), (0.0, -0.1 * reach, 0.14 * reach), lens=50.0)


def drop(ring: bpy.types.Object, paints: list[bpy.types.Material], x: float, size: Size, friction: float,
         dice: random.Random) -> None:
    """Layers of rings above the poles, shifted against each other and tilted."""
    side = round(math.sqrt(len(poles(size)))) + 1
    spread = APART * (side - 1) / 2
    shift = (0.0, 0.0)
    for k in range(size.particles // 2):
        layer, place = divmod(k, side * side)
        row, column = divmod(place, side)
        if place == 0:
            shift = (dice.uniform(-0.5, 0.5) * APART, dice.uniform(-0.5, 0.5) * APART)
        item = bpy.data.objects.new(f"{'Rough' if friction > 20.0 else 'Slippery'} {k + 1}", ring.data)
        item.location = (x + APART * column - spread + shift[0] + dice.uniform(-0.007, 0.007),
                         APART * row - spread + shift[1] + dice.uniform(-0.007, 0.007),
                         HEIGHT + 0.06 + 0.12 * layer)
        item.rotation_euler = (dice.uniform(-0.4, 0.4), dice.uniform(-0.4, 0.4), dice.uniform(0.0, 6.28))
        bpy.context.scene.collection.objects.link(item)
        if not item.data.materials:
            item.data.materials.append(paints[0])
        item.material_slots[0].link = 'OBJECT'  # they share their mesh
        item.material_slots[0].material = paints[dice.randrange(len(paints))]
        studio.body(item, 900.0, friction=friction)


def measure(bake: Bake) -> list[Fact]:
    """A ring is on a pole where the pole goes through its middle, below the pole's top."""
    size = Size(len(bake.bodies), bake.last)
    shares, heights, reaches = [], [], []
    for half, kind in zip(halves(size), ("Slippery", "Rough")):
        places = bake.body_positions()[[name.startswith(kind) for name in bake.bodies]]
        nearest = np.min([np.hypot(places[:, 0] - half - x, places[:, 1] - y) for x, y in poles(size)], axis=0)
        shares.append(float(np.mean((nearest < RING - TUBE) & (places[:, 2] < HEIGHT))))
        heights.append(float(places[:, 2].mean()))
        reaches.append(float(np.hypot(places[:, 0] - half, places[:, 1]).mean()))
    lowest = float(bake.body_positions()[:, 2].min())
    return [Fact(f"mean distance from the middle {1000 * reaches[0]:.0f} mm of the slippery, {1000 * reaches[1]:.0f} mm of the rough",
                 reaches[0] > 1.1 * reaches[1]),
            Fact(f"mean height {1000 * heights[0]:.0f} and {1000 * heights[1]:.0f} mm, with {100 * shares[0]:.0f} % and {100 * shares[1]:.0f} % on "
                 "poles", heights[1] > 1.1 * heights[0] and max(shares) > 0.0),
            Fact(f"the lowest ring lies {1000 * lowest:.1f} mm high", lowest > 0.5 * TUBE)]
