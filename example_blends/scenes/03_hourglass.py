# SPDX-License-Identifier: GPL-3.0-or-later
"""Bell's hourglass: tetrahedral grains run through a neck."""
from __future__ import annotations

import math

import numpy as np
import studio
from measure import Bake, Fact
from plan import Plan, Size, Timing

PLAN = Plan(
    title="Hourglass", figure="Bell 2005, figure 1",
    what="Individual grains run through the neck of a glass, at a rate that does not depend on how much is left. "
         "The paper uses tetrahedra of four balls, and so do the tests and the timing; the picture uses spheres "
         "and refines them.",
    small=Size(600, 30), picture=Size(9700, 120, 0.8), picture_frame=62,
    timings=(Timing("", Size(27427, 12), "27,427 grains of 109,708 spheres", "191"),),
    preview=range(6, 118, 8))

BULB, HALF, WALL = 0.046, 0.100, 0.0035  # m: radius inside, height of a half, thickness of the glass
FILL = 0.62  # of the upper half's height


def neck(size: Size) -> float:
    """Radius of the neck: so wide that grains of this size do not block it, and the glass runs out in the shot."""
    return 0.0075 * max(9000.0 / size.particles, 1.0) ** (1.0 / 3.0)


def inside(size: Size) -> list[tuple[float, float]]:
    """(radius, height) of the inside from the neck up: a cone of 50 degrees that bends into the bulb."""
    small = neck(size)
    outline = []
    for k in range(25):
        share = k / 24.0
        z = HALF * share
        ease = min(share / 0.62, 1.0)
        outline.append((small + (BULB - small) * (ease * ease * (3.0 - 2.0 * ease)), z))
    return outline


def build(size: Size) -> None:
    half = inside(size)
    whole = [(r, HALF - z) for r, z in half[::-1]] + [(r, HALF + z) for r, z in half[1:]]  # its middle at z = HALF
    outer = [(r + WALL, z) for r, z in whole[::-1]]
    lift = 0.012  # of the glass above the table
    glass = studio.lathe("Glass", [(0.0, -0.002), *whole, (0.0, 2 * HALF + 0.002), (0.0, 2 * HALF + WALL),
                                   (whole[-1][0] + WALL, 2 * HALF + WALL), *outer,
                                   (whole[0][0] + WALL, -WALL), (0.0, -WALL)], studio.glass())
    glass.location.z = lift
    studio.collider(glass, friction=18.0)
    fill = [(r * 0.985 - 0.0006, z) for r, z in half if 0.002 < z < FILL * HALF]
    upper = studio.lathe("Sand", [(0.0, fill[0][1]), *fill, (0.0, fill[-1][1])])
    upper.location.z = lift + HALF
    is_fine = size.grains > 0.0
    studio.sand(size, 'DEM', fps=48, friction=30.0, softness=0.25, rolling_friction=0.3 if is_fine else 0.0,
                grain_shape='SPHERE' if is_fine else 'TETRAHEDRON')
    studio.source(upper)
    frame(lift)
    studio.stage(0.2)
    studio.camera((0.26, -0.88, 0.25), (0.0, 0.0, 0.111), lens=66.0, stop=8.0, exposure=0.6)


def frame(lift: float) -> None:
    wood = studio.wood(scale=1.5)
    for name, z in (("Foot", 0.0), ("Top", 2 * HALF + 0.005 + lift)):
        plate = studio.lathe(name, [(0.0, 0.0), (0.062, 0.0), (0.064, 0.002), (0.064, 0.006), (0.060, 0.0085), (0.0, 0.0085)], wood)
        plate.location.z = z
        if hasattr(plate.data, "use_auto_smooth"):  # gone from 4.1 on
            plate.data.use_auto_smooth = True
    for k in range(3):
        turn = math.radians(90.0 + 120.0 * k)
        post = studio.lathe(f"Post {k + 1}", [(0.0, 0.004), (0.004, 0.004), (0.004, 0.05), (0.0028, 0.11), (0.004, 0.17),
                                              (0.004, 2 * HALF + lift + 0.006), (0.0, 2 * HALF + lift + 0.006)],
                            wood, segments=24)
        post.location = (0.0555 * math.cos(turn), 0.0555 * math.sin(turn), 0.0)


def measure(bake: Bake) -> list[Fact]:
    """What has run through, over time: constant until the glass is nearly empty."""
    middle = 0.012 + HALF
    frames = np.arange(1, bake.last + 1)
    through = np.array([np.mean(bake.positions(int(frame))[:, 2] < middle) for frame in frames])
    inner = frames[(through > 0.10) & (through < min(0.85, 0.95 * through[-1]))]
    first, last = int(inner[0]), int(inner[-1])
    half = (first + last) // 2
    early = (through[half - 1] - through[first - 1]) / (half - first)
    late = (through[last - 1] - through[half - 1]) / (last - half)
    places = bake.positions()
    out = np.hypot(places[:, 0], places[:, 1]).max()
    return [Fact(f"rate of the second half of the run over that of the first {late / early:.2f}", 0.75 < late / early < 1.3),
            Fact(f"{100 * through[-1]:.0f} % have run through", through[-1] > 0.5),
            Fact(f"the outermost grain is {1000 * out:.1f} mm from the axis (glass {1000 * BULB:.0f} mm)",
                 out < BULB and places[:, 2].min() > 0.010)]
