# SPDX-License-Identifier: GPL-3.0-or-later
"""Ihmsen's comparison: grains that are refined from the flow beside grains attached to the particles."""
from __future__ import annotations

import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Upsampling compared", figure="Ihmsen 2013, figure 4",
    what="One coarse bake, refined twice: on the left, each particle carries its grains along, which stay in "
         "clumps; on the right, Grain's own scheme, whose grains separate and fly on their own.",
    small=Size(1500, 14, 0.03), picture=Size(9000, 16, 1.0), picture_frame=13, samples=36,
    timings=(Timing("", Size(83000, 12, 20.8, as_paper=True), "83K particles, 20.8M grains", "2.9 + 10.3"),))

FPS = 50
BED = (0.70, 0.70, 0.12)  # m
BALL, STEEL = 0.07, 7850.0
SPEED, HIT, START = (2.0, 0.0, -7.5), (-0.05, 0.0, 0.20), 3
ASIDE = 0.46  # how far apart the two are shown, to both sides


def build(size: Size) -> None:
    studio.sand(size, 'DEM', fps=FPS, friction=28.0, softness=0.4, restitution=0.4, rolling_friction=0.2)
    studio.source(studio.box("Bed", (-BED[0] / 2, -BED[1] / 2, 0.001), (BED[0] / 2, BED[1] / 2, BED[2])))
    ball = studio.ball("Ball", HIT, BALL, studio.steel())
    start = 2 if size.as_paper else START
    studio.body(ball, STEEL, friction=20.0, use_animation=True, release_frame=start)
    studio.key(ball, "location", [(frame, [p + v * (frame - start) / FPS for p, v in zip(HIT, SPEED)])
                                  for frame in (1, start + 5)])
    ball.hide_render = True  # it would be seen with one of the two only
    studio.stage(0.5, friction=33.0)
    studio.camera((0.0, -2.5, 0.85), (0.0, 0.0, 0.21), lens=51.0)


def attached(bake: Bake, frame: int) -> tuple[np.ndarray, np.ndarray]:
    """Where grains are that follow the particle they were born at: one behind the other as in the file of the first
    frame. And the particle of each."""
    born, owners = bake.positions(1, grains=True), bake.positions(1)
    owner = nearest(owners, born)
    return born + (bake.positions(frame) - owners)[owner], owner


def nearest(points: np.ndarray, places: np.ndarray) -> np.ndarray:
    from mathutils import kdtree
    tree = kdtree.KDTree(len(points))
    for k, point in enumerate(points):
        tree.insert(point, k)
    tree.balance()
    return np.array([tree.find(place)[1] for place in places])


def finish() -> None:
    """The second object: the same look, other places."""
    import in_blender
    bake, settings, scene = in_blender.cached(), studio.simulation(), bpy.context.scene
    scene.frame_set(PLAN.picture_frame if bake.last >= PLAN.picture_frame else bake.last)
    sand = settings.sand_object
    sand.location.x = ASIDE
    places, _ = attached(bake, min(scene.frame_current, bake.last))
    mesh = bpy.data.meshes.new("Attached Grains")
    mesh.vertices.add(len(places))
    mesh.vertices.foreach_set("co", places.astype(np.float32).reshape(-1))
    for name, kind, values in (("radius", 'FLOAT', bake.column("radius", 1, grains=True)), ("id", 'INT', np.arange(len(places), dtype=np.int32))):
        mesh.attributes.new(name, kind, 'POINT').data.foreach_set("value", values)
    other = sand.copy()
    other.data = mesh
    mesh.materials.append(sand.data.materials[0])
    other.location.x = -ASIDE
    scene.collection.objects.link(other)


def clumped(places: np.ndarray, cell: float, fair: float) -> float:
    """Share of the grains above the bed that are in cells with more than twice the grains of full sand."""
    flying = places[places[:, 2] > BED[2] + 2.0 * cell]
    _, which, counts = np.unique(np.floor(flying / cell).astype(np.int64), axis=0, return_inverse=True, return_counts=True)
    return float(np.mean(counts[which.reshape(-1)] > fair)) if len(flying) else 0.0


def measure(bake: Bake) -> list[Fact]:
    """In the air sand is thin: where it is as dense as a half of what lies, grains fly as a clump."""
    frame = min(PLAN.picture_frame, bake.last)
    cell = 1.5 * float(bake.column("radius", 1).mean())
    born = bake.positions(1, grains=True)
    _, counts = np.unique(np.floor(born / cell).astype(np.int64), axis=0, return_counts=True)
    fair = 0.5 * float(np.quantile(counts, 0.9))
    ours, theirs = clumped(bake.positions(frame, grains=True), cell, fair), clumped(attached(bake, frame)[0], cell, fair)
    return [Fact(f"of the grains in the air {100 * ours:.0f} % fly in clumps half as dense as lying sand, {100 * theirs:.0f} % of the attached",
                 theirs > 1.5 * ours and theirs > 0.05)]
