# SPDX-License-Identifier: GPL-3.0-or-later
"""Bell's rings: dropped onto poles, slippery ones and rough ones."""
from __future__ import annotations

import math
import random
from collections.abc import Sequence

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Rings on poles", figure="Bell 2005, figure 9",
    what="Rings fall onto poles in two boxes, each a simulation of its own. Bouncy, slippery rings on the left "
         "scatter and gather along the edges of the box; dull, rough rings on the right stay on the poles, as in "
         "the paper. Counts are those of the left box.",
    small=Size(48, 100), picture=Size(144, 260), picture_frame=260, samples=40,
    timings=(Timing("slippery", Size(1000, 22, variant="slippery"), "1,000 rings of 110 spheres on 25 poles", "224"),
             Timing("rough", Size(1000, 22, variant="rough"), "the same", "185")))

FPS = 50
RING, TUBE = 0.062, 0.012  # m
POLE, HEIGHT, APART = 0.009, 0.22, 0.23
LAYER, ASTRAY = 0.09, 0.036  # m between layers; how far a ring is from right above its pole, at most
KINDS = {"slippery": (1.0, 0.95), "rough": (45.0, 0.05)}  # degrees of friction of everything in the box; bounciness
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
    return APART * (0.5 * side(size) + 1.3)


def middles(size: Size) -> list[float]:
    """Of the boxes, along x."""
    return [0.0] if len(kinds(size)) == 1 else [-room(size) - 0.05, room(size) + 0.05]


def build(size: Size) -> None:
    from grain.scene import simulations
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end, scene.render.fps = 1, size.frames, FPS
    wood, walnut, dice = studio.pine(1.5), studio.wood(scale=0.35), random.Random(3)
    walnut.node_tree.nodes["Principled BSDF"].inputs["Roughness"].default_value = 0.8  # else it mirrors the lamps
    mesh = studio.torus("Ring", RING, TUBE, segments=26, sides=9)
    paints = [studio.paint(f"Paint {k + 1}", colour) for k, colour in enumerate(COLOURS)]
    for number, (kind, middle) in enumerate(zip(kinds(size), middles(size))):
        if number > 0:
            simulations.add(scene)
            scene.grain.active_index = number
        settings, (friction, bounce) = studio.simulation(), KINDS[kind]
        settings.name, settings.solver = kind.capitalize(), 'DEM'  # whose bounciness is also the rings'
        settings.particle_radius = 0.0085  # a ring then has the paper's 110 points
        settings.restitution = bounce
        width = 2.0 * room(size)
        # What is seen is low; what holds those that bounce is not seen.
        for name, high in ((f"Box, {kind}", 0.035), (f"Walls, {kind}", 3.0)):
            box = studio.tray(name, (width, width, high), 0.022, walnut)
            box.location = (middle, 0.0, 0.022)
        box.hide_render, box.display_type = True, 'WIRE'
        studio.collider(box, friction=friction)
        for k, (x, y) in enumerate(poles(size)):
            pole = studio.lathe(f"Pole {k + 1}, {kind}", [(0.0, 0.0), (POLE, 0.0), (POLE, HEIGHT - 0.008), (POLE - 0.006, HEIGHT), (0.0, HEIGHT)],
                                wood, segments=32)
            pole.location = (middle + x, y, 0.02)
            studio.collider(pole, friction=friction)
        drop(mesh, paints, middle, size, kind, dice)
    bpy.data.objects.remove(mesh)
    studio.stage(0.55, is_floor=False)
    scene.grain.active_index = 0
    reach = 2.0 * room(size)
    studio.camera((0.0, -3.0 * reach, 1.9 * reach), (0.0, -0.05 * reach, 0.05 * reach), lens=53.0)


def drop(ring: bpy.types.Object, paints: list[bpy.types.Material], middle: float, size: Size, kind: str, dice: random.Random) -> None:
    """Layers of rings, each above a pole, a little astray and tilted."""
    feet = poles(size)
    for k in range(size.particles // len(kinds(size))):
        layer, place = divmod(k, len(feet))
        off, turn = ASTRAY * math.sqrt(dice.random()), dice.uniform(0.0, 2.0 * math.pi)
        item = bpy.data.objects.new(f"{kind} {k + 1}", ring.data)
        item.location = (middle + feet[place][0] + off * math.cos(turn), feet[place][1] + off * math.sin(turn), HEIGHT + 0.15 + LAYER * layer)
        item.rotation_euler = (dice.uniform(-0.35, 0.35), dice.uniform(-0.35, 0.35), 0.0)
        bpy.context.scene.collection.objects.link(item)
        if not item.data.materials:
            item.data.materials.append(paints[0])
        item.material_slots[0].link = 'OBJECT'  # they share their mesh
        item.material_slots[0].material = paints[dice.randrange(len(paints))]
        studio.body(item, 900.0, friction=KINDS[kind][0])


def finish() -> None:
    """The other box is baked, where it is not for being measured."""
    if len(bpy.context.scene.grain.simulations) > 1:
        import in_blender
        in_blender.bake_of(1)


def measure(bake: Bake) -> list[Fact]:
    """Of both boxes. A ring is on a pole where the pole's axis goes through the disc inside its tube, below the pole's top."""
    import in_blender
    bakes = [bake, in_blender.bake_of(1)]
    size = Size(sum(len(found.bodies) for found in bakes), bake.last)
    edge = APART * 0.5 * side(size)
    on, among, away, lowest = [], [], [], []
    for middle, found in zip(middles(size), bakes):
        places = found.body_positions() - (middle, 0.0, 0.0)
        normals = turned(found.column("body.orientation", found.last), rest_normals(found.bodies))
        feet = np.array(poles(size))
        gap = np.concatenate((feet[None, :, :] - places[:, None, :2], np.zeros((len(places), len(feet), 1))), axis=2)
        rise = -(gap * normals[:, None, :]).sum(axis=2) / np.where(np.abs(normals[:, None, 2]) > 1e-3, normals[:, None, 2], np.inf)
        gap[:, :, 2] = rise
        around = (np.linalg.norm(gap, axis=2) < RING) & (places[:, None, 2] + rise < HEIGHT + 0.02) & (np.abs(normals[:, None, 2]) > 1e-3)
        on.append(float(np.mean(around.any(axis=1))))
        among.append(float(np.mean(np.abs(places[:, :2]).max(axis=1) < edge)))
        away.append(float(np.hypot(places[:, 0], places[:, 1]).mean()))
        lowest.append(float(places[:, 2].min()) - 0.022)
    return [Fact(f"{100 * on[1]:.0f} % of the rough rings are on a pole, {100 * on[0]:.0f} % of the slippery", on[1] > 0.6 and on[1] > 1.5 * on[0]),
            Fact(f"{100 * among[1]:.0f} % of the rough lie among the poles, {100 * among[0]:.0f} % of the slippery; their mean distance from the middle is "
                 f"{1000 * away[1]:.0f} and {1000 * away[0]:.0f} mm", among[1] > 1.3 * among[0] and away[0] > 1.15 * away[1]),
            Fact(f"the lowest ring lies {1000 * min(lowest):.1f} mm high", min(lowest) > 0.5 * TUBE)]


def rest_normals(names: Sequence[str]) -> np.ndarray:
    """Of rings as they were let go: what a bake says of orientations is what they have turned since."""
    return np.array([bpy.data.objects[name].rotation_euler.to_matrix().col[2] for name in names])


def turned(orientation: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Vectors turned by quaternions w, x, y, z."""
    w, axis = orientation[:, :1], orientation[:, 1:]
    return vectors + 2.0 * np.cross(axis, np.cross(axis, vectors) + w * vectors)
