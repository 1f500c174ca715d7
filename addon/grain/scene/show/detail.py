# SPDX-License-Identifier: GPL-3.0-or-later
"""How many grains a viewport shows where the artist leaves it to Grain: as many as this computer loads and draws smoothly.

Never renders: they show what is asked for there. Levels double, so that a change is rare, and frames in memory stay of use.
"""
import time
from dataclasses import dataclass

import bpy

from ... import runtime
from ...runtime import Shown
from .. import paths
from ..simulations import Simulation

BUDGET = 0.06  # s, for loading a frame and drawing its grains: with what Blender itself draws, ten frames a second and more
FIRST, LEAST, MOST, MOST_BAKING = 250_000, 50_000, 4_000_000, 100_000
_PATIENCE = 10.0  # s, after a step down, before a step up is tried again


@dataclass
class Detail:
    """Of one cache, in this session."""
    most: int = FIRST  # grains shown
    slow: int = 0  # frames in a row that took too long
    wait_until: float = 0.0


def most_shown(simulation: Simulation) -> int:
    """Grains that a viewport shows at most where it is left to Grain. Fewer while a bake has the cores."""
    most = _of(simulation).most
    return min(most, MOST_BAKING) if runtime.is_baking() else most


def is_automatic(simulation: Simulation) -> bool:
    return simulation.display.amount_mode == 'AUTO' and not bpy.app.background


def _of(simulation: Simulation) -> Detail:
    return runtime.state.detail.setdefault(paths.cache_folder(simulation), Detail())


def note_drawn(simulation: Simulation, shown: Shown, drawing: float) -> bool:
    """A view was drawn, and the sand in it took this many seconds. Whether another number of grains is shown from now on."""
    if shown.load_seconds is None:
        return False  # seen before: nothing was loaded for it
    seconds, shown.load_seconds = shown.load_seconds + drawing, None
    if shown.dots is None:
        # Points are made and drawn by Blender, between the loading and now.
        seconds = time.monotonic() - shown.load_began
    return is_automatic(simulation) and _take_in(_of(simulation), seconds, shown.count, shown.all_count)


def _take_in(detail: Detail, seconds: float, count: int, all_count: int) -> bool:
    now = time.monotonic()
    detail.slow = detail.slow + 1 if seconds > 1.5 * BUDGET else 0
    if detail.slow >= 2 and detail.most > LEAST and count > LEAST:
        detail.most = max(LEAST, detail.most // 2)
        detail.slow, detail.wait_until = 0, now + _PATIENCE
        return True
    if runtime.is_baking():
        return False  # more grains can wait until the cores are free
    if count < all_count and 2.0 * seconds < 0.8 * BUDGET and detail.most < MOST and now >= detail.wait_until:
        detail.most = min(MOST, detail.most * 2)
        return True
    return False
