# SPDX-License-Identifier: GPL-3.0-or-later
"""Which moment of a bake belongs to a moment of the scene."""
from dataclasses import dataclass
from math import floor
from typing import Optional

from bpy.types import Depsgraph, FCurve, PropertyGroup

from ... import compat
from .. import frames, simulations
from ..simulations import Simulation

_RATE_STEP = 0.05  # frames to either side over which the speed of a keyframed bake frame is measured


@dataclass(frozen=True)
class Moment:
    frame: float  # of the bake
    rate: float  # how fast its time goes against the scene's
    is_retimed: bool


def moment(simulation: Simulation, depsgraph: Optional[Depsgraph] = None) -> Moment:
    """Now. Keyframed settings are not in the scene itself while it is rendered, but in what the depsgraph made of it."""
    scene = simulation.id_data
    now = scene.frame_current_final
    settings = _evaluated(simulation, depsgraph)
    if settings.mode == 'TIMELINE':
        return Moment(now, 1.0, False)
    if settings.mode == 'FRAME':
        return _keyed_frame(simulation, settings, now)
    first = frames.bake_range(simulation)[0]
    passed, speed = _passed(simulation, settings, first + settings.offset, now)
    return Moment(first + passed, speed, True)


def _evaluated(simulation: Simulation, depsgraph: Optional[Depsgraph]) -> PropertyGroup:
    scene = simulation.id_data
    if depsgraph is None or depsgraph.scene.original != scene or scene.animation_data is None:
        return simulation.retime
    return scene.evaluated_get(depsgraph).grain.simulations[simulations.index_of(simulation)].retime


def _curve(simulation: Simulation, name: str) -> Optional[FCurve]:
    """The keys of a setting; None where it has none, or a driver."""
    path = f"{simulations.COLLECTION_PATH}[{simulations.index_of(simulation)}].retime.{name}"
    for curves in compat.curve_lists(simulation.id_data):
        for curve in curves:
            if curve.data_path == path and curve.driver is None and not curve.mute:
                return curve
    return None


def _keyed_frame(simulation: Simulation, settings: PropertyGroup, now: float) -> Moment:
    curve = _curve(simulation, "frame")
    if curve is None:
        return Moment(settings.frame, 0.0, True)
    rate = (curve.evaluate(now + _RATE_STEP) - curve.evaluate(now - _RATE_STEP)) / (2.0 * _RATE_STEP)
    return Moment(curve.evaluate(now), rate, True)


def _passed(simulation: Simulation, settings: PropertyGroup, start: float, now: float) -> tuple[float, float]:
    """Frames of the bake that went by since the start, and the speed now: of a keyframed speed the integral, frame by
    frame."""
    curve = _curve(simulation, "speed")
    if curve is None:
        return (now - start) * settings.speed, settings.speed
    low, high = (start, now) if now >= start else (now, start)
    total, at = 0.0, low
    while at < high:
        end = min(floor(at) + 1.0, high)
        middle = curve.evaluate(0.5 * (at + end))
        total += (end - at) / 6.0 * (curve.evaluate(at) + 4.0 * middle + curve.evaluate(end))
        at = end
    return (total if now >= start else -total), curve.evaluate(now)
