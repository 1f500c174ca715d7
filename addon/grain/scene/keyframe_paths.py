# SPDX-License-Identifier: GPL-3.0-or-later
"""Keyframes and drivers of a scene's settings, which follow them when a simulation is copied, removed or moved up."""
from collections.abc import Iterator
from typing import Any, Optional

from bpy.types import ID, FCurve, Scene

from .. import compat


def _under(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith((prefix + ".", prefix + "["))


def _curves(scene: Scene) -> Iterator[tuple[Any, Any]]:
    """Every curve with the list that holds it."""
    for curves in compat.curve_lists(scene):
        for curve in list(curves):
            yield curves, curve


def rename(scene: Scene, old: str, new: str) -> None:
    for _, curve in _curves(scene):
        if _under(curve.data_path, old):
            curve.data_path = new + curve.data_path[len(old):]


def remove(scene: Scene, prefix: str) -> None:
    for curves, curve in _curves(scene):
        if _under(curve.data_path, prefix):
            curves.remove(curve)


def copy(scene: Scene, old: str, new: str) -> None:
    for curves, curve in _curves(scene):
        if _under(curve.data_path, old):
            compat.copy_curve(curves, curve, new + curve.data_path[len(old):])


def find(owner: ID, path: str, index: int = 0) -> Optional[FCurve]:
    """The keys of a setting; None where it has none. Drivers are not asked: they know only the present."""
    for curves in compat.curve_lists(owner):
        for curve in curves:
            if curve.driver is None and curve.data_path == path and curve.array_index == index and not curve.mute:
                return curve
    return None


def value_at(owner: ID, path: str, frame: float, index: int = 0) -> Optional[float]:
    """What a setting's keys say at a frame; None where it has none."""
    curve = find(owner, path, index)
    return curve.evaluate(frame) if curve is not None else None


def is_animated(owner: ID, path: str) -> bool:
    """By keys or a driver of its own."""
    return any(curve.data_path == path for curves in compat.curve_lists(owner) for curve in curves)
