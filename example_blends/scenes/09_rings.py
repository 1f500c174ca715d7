"""Bell's rings: dropped onto poles, slippery ones and rough ones."""
from __future__ import annotations

import math
import random

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Rings on poles", figure="Bell 2005, figure 9",
    what="Rings rain onto poles, in two boxes of their own: slippery ones on the left scatter and gather along the edges of the box, as the "
         "paper has it; rough ones on the right stay closer to the poles.",
    small=Size(48, 50), picture=Size(144, 62), picture_frame=62,
    timings=(Timing("slippery", Size(1000, 22, variant="slippery"), "1,000 rings of 110 spheres on 25 poles", "224"),
             Timing("rough", Size(1000, 22, variant="rough"), "the same", "185")))

FPS = 50
RING, TUBE = 0.062, 0.012  # m
POLE, HEIGHT, APART = 0.009, 0.24, 0.165
LAYER = 0.09  # m between them
KINDS = {"slippery": 2.0, "rough": 45.0}  # degrees of friction of everything in the box
COLOURS = ((0.72, 0.06, 0.04), (0.85, 0.45, 0.03), (0.05, 0.28, 0.55), (0.08, 0.42, 0.20), (0.80, 0.76, 0.66))


def kinds(size: Size) -> list[str]:
    return [kind for kind in KINDS if size.variant in ("", kind)]


def side(size: Size) -> int:
    """A square of so many poles for each box: the paper's 5, fewer for fewer rings."""
    return 5 if size.particles >= 800 else 3 if size.particles >= 100 else 2


def poles(size: Size) -> list[tuple[float, float]]:
    count = side(size)
    return [(APART * (i - (count - 1) / 2), APART * (j - (count - 1) / 2)) for i in range(count) for j in range(count)]


def room(size: Size) -> float:
    """Half the width of a box."""
    return APART * (0.5 * side(size) + 2.0)


def middles(size: Size) -> list[float]:
    """Of the boxes, along x."""
    return [0.0] if len(kinds(size)) == 1 else [-room(size) - 0.05, room(size) + 0.05]


def build(size: Size) -> None:
    scene, settings = bpy.context.scene, studio.simulation()
    scene.frame_start, scene.frame_end, scene.render.fps = 1, size.frames, FPS
    settings.particle_radius = 0.0085  # a ring then has the paper's 110 points
    settings.restitution = 0.3
    wood, dice = studio.pine(1.5), random.Random(3)
    mesh = studio.torus("Ring", RING, TUBE, segments=26, sides=9)
    paints = [studio.paint(f"Paint {k + 1}", colour) for k, colour in enumerate(COLOURS)]
    for kind, middle in zip(kinds(size), middles(size)):
        width = 2.0 * room(size)
        box = studio.tray(f"Box, {kind}", (width, width, 0.24), 0.022, studio.glass(shine_most=0.0))
        box.location = (middle, 0.0, 0.022)
        studio.collider(box, friction=KINDS[kind])
        for k, (x, y) in enumerate(poles(size)):
            pole = studio.lathe(f"Pole {k + 1}, {kind}", [(0.0, 0.0), (POLE, 0.0), (POLE, HEIGHT - 0.008), (POLE - 0.006, HEIGHT), (0.0, HEIGHT)],
                                wood, segments=32)
            pole.location = (middle + x, y, 0.02)
            studio.collider(pole, friction=KINDS[kind])
        drop(mesh, paints, middle, size, kind, dice)
    bpy.data.objects.remove(mesh)
    studio.stage(0.35, friction=20.0)
    reach = 2.0 * room(size)
    studio.camera((0.0, -3.1 * reach, 2.5 * reach), (0.0, -0.05 * reach, 0.06 * reach), lens=56.0)


def drop(ring: bpy.types.Object, paints: list[bpy.types.Material], middle: float, size: Size, kind: str, dice: random.Random) -> None:
    """Layers of rings above the poles, as close as they can be, shifted against each other and tilted."""
    count = side(size) + 1
    spread = APART * (count - 1) / 2
    shift = (0.0, 0.0)
    for k in range(size.particles // len(kinds(size))):
        layer, place = divmod(k, count * count)
        row, column = divmod(place, count)
        if place == 0:
            shift = (dice.uniform(-0.5, 0.5) * APART, dice.uniform(-0.5, 0.5) * APART)
        item = bpy.data.objects.new(f"{kind} {k + 1}", ring.data)
        item.location = (middle + APART * column - spread + shift[0] + dice.uniform(-0.007, 0.007),
                         APART * row - spread + shift[1] + dice.uniform(-0.007, 0.007), HEIGHT + 0.09 + LAYER * layer)
        item.rotation_euler = (dice.uniform(-0.35, 0.35), dice.uniform(-0.35, 0.35), 0.0)
        bpy.context.scene.collection.objects.link(item)
        if not item.data.materials:
            item.data.materials.append(paints[0])
        item.material_slots[0].link = 'OBJECT'  # they share their mesh
        item.material_slots[0].material = paints[dice.randrange(len(paints))]
        studio.body(item, 900.0, friction=KINDS[kind])


def measure(bake: Bake) -> list[Fact]:
    """A ring is on a pole where the pole's axis goes through the disc inside its tube, below the pole's top."""
    size = Size(len(bake.bodies), bake.last)
    on, among, away = [], [], []
    for middle, kind in zip(middles(size), KINDS):
        own = [name.startswith(kind) for name in bake.bodies]
        places = bake.body_positions()[own] - (middle, 0.0, 0.0)
        normals = turned(bake.column("body.orientation", bake.last)[own], rest_normals([name for name in bake.bodies if name.startswith(kind)]))
        feet = np.array(poles(size))
        gap = np.concatenate((feet[None, :, :] - places[:, None, :2], np.zeros((len(places), len(feet), 1))), axis=2)
        rise = -(gap * normals[:, None, :]).sum(axis=2) / np.where(np.abs(normals[:, None, 2]) > 1e-3, normals[:, None, 2], np.inf)
        gap[:, :, 2] = rise
        around = (np.linalg.norm(gap, axis=2) < RING) & (places[:, None, 2] + rise < HEIGHT + 0.02) & (np.abs(normals[:, None, 2]) > 1e-3)
        on.append(float(np.mean(around.any(axis=1))))
        edge = APART * (0.5 * side(size))
        among.append(float(np.mean(np.abs(places[:, :2]).max(axis=1) < edge)))
        away.append(float(np.hypot(places[:, 0], places[:, 1]).mean()))
    lowest = float(bake.body_positions()[:, 2].min())
    return [Fact(f"{100 * among[1]:.0f} % of the rough stay among the poles, {100 * among[0]:.0f} % of the slippery (a pole goes through "
                 f"{100 * on[1]:.0f} and {100 * on[0]:.0f} %)", among[1] > 1.1 * among[0]),
            Fact(f"their mean distance from the middle is {1000 * away[1]:.0f} and {1000 * away[0]:.0f} mm", away[0] > 1.15 * away[1]),
            Fact(f"the lowest ring lies {1000 * (lowest - 0.022):.1f} mm high", lowest - 0.022 > 0.5 * TUBE)]


def rest_normals(names: list[str]) -> np.ndarray:
    """Of rings as they were let go: what a bake says of orientations is what they have turned since."""
    return np.array([bpy.data.objects[name].rotation_euler.to_matrix().col[2] for name in names])


def turned(orientation: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors turned by quaternions w, x, y, z."""
    w, axis = orientation[:, :1], orientation[:, 1:]
    return vectors + 2.0 * np.cross(axis, np.cross(axis, vectors) + w * vectors)
