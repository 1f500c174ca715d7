# SPDX-License-Identifier: GPL-3.0-or-later
"""Bell's camel: a prop covered with particles, here Suzanne."""
from __future__ import annotations

import math
import time
from typing import Optional

import bmesh
import bpy
import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size

PLAN = Plan(
    title="Covered prop", figure="Bell 2005, figure 6",
    what="*Object > Cover with Particles* covers any mesh evenly. Bell's camel has 4,147 spheres.",
    small=Size(800, 0), picture=Size(4147, 0), picture_frame=1, paper_counts="4,147 spheres")

APART = 0.17
seconds = 0.0  # that the last cover took


def suzanne(name: str, x: float, material: bpy.types.Material) -> bpy.types.Object:
    form = bmesh.new()
    bmesh.ops.create_monkey(form)
    item = studio.add(name, form, material, smooth=True, is_wound=True)
    item.location = (x, 0.0, 0.125)
    item.scale = (0.13,) * 3
    item.rotation_euler = (math.radians(-8.0), 0.0, math.radians(14.0 if x > 0 else -2.0))
    smooth = item.modifiers.new("Subdivision", 'SUBSURF')
    smooth.levels = smooth.render_levels = 2
    return item


def build(size: Size) -> None:
    global seconds
    clay = studio.material("Clay", (0.42, 0.16, 0.09), 0.5)
    suzanne("Suzanne", -APART, clay)
    prop = suzanne("Covered Suzanne", APART, studio.material("Dark Clay", (0.10, 0.04, 0.025), 0.6))
    bpy.context.view_layer.objects.active = prop
    bpy.context.view_layer.update()
    from grain.scene.manage import cover
    surface = cover.read_surface(prop, bpy.context)
    from grain.scene.manage import estimate
    area = estimate.measure(surface.positions, surface.triangles).area
    began = time.process_time()
    bpy.ops.grain.cover(radius=math.sqrt(area / (size.particles * math.pi)))
    seconds = time.process_time() - began
    studio.stage(0.26)
    studio.camera((0.10, -1.15, 0.36), (0.0, 0.0, 0.125), lens=64.0, stop=11.0)


def measure(_: Optional[Bake]) -> list[Fact]:
    """Evenness in parts of the spacing of a perfect pattern, as the panel shows it, and independently from the points."""
    made = next(item for item in bpy.data.objects if item.type == 'MESH' and item.grain.cover.surface is not None)
    found = made.grain.cover
    points = np.empty((len(made.data.vertices), 3))
    made.data.vertices.foreach_get("co", points.reshape(-1))
    nearest = np.array([np.partition(np.linalg.norm(points - point, axis=1), 1)[1] for point in points])
    return [Fact(f"{found.count:,} particles in {seconds:.2f} s", found.count > 300),
            Fact(f"the nearest neighbour is {found.nearest:.2f} of a perfect pattern's spacing away, on the average", found.nearest > 0.8),
            Fact(f"the closest pair is {nearest.min() / nearest.mean():.2f} of the mean apart", nearest.min() > 0.4 * nearest.mean()),
            Fact(f"at most {found.off_surface:.2f} radii off the surface", found.off_surface < 0.2)]
