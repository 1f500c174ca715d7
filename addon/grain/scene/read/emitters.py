# SPDX-License-Identifier: GPL-3.0-or-later
"""Emitters as the job wants them."""
from bpy.types import Object, ViewLayer
from mathutils import Matrix, Vector

from ...engine import schema
from ...engine.job import JobObject
from ..units import tidy
from .sampling import Curves


def emitter(owner: Object, scale: float) -> JobObject:
    """What is said of an emitter apart from its mesh, at the scene's current frame."""
    settings, source = owner.grain.emitter, owner.grain.source
    keys = {"from": settings.place.lower(), "rate": _rate(owner), "rate_unit": settings.rate_unit.lower()}
    if settings.active != schema.default("emitter.active"):
        keys["active"] = settings.active
    for name, value in (("normal_speed", settings.normal_speed * scale), ("jitter", settings.jitter * scale),
                        ("inherit_velocity", settings.inherit_velocity)):
        if value != schema.default(f"emitter.{name}"):
            keys[name] = tidy(value)
    return JobObject(owner.name, "emitter", velocity=_velocity(owner, owner.matrix_world, scale), moisture=tidy(source.moisture), emitter=keys)


def _rate(item: Object) -> float:
    settings = item.grain.emitter
    return tidy(settings.rate if settings.rate_unit == 'PARTICLES' else settings.litres)


def _velocity(item: Object, matrix: Matrix, scale: float) -> tuple[float, float, float]:
    velocity = Vector(item.grain.source.velocity)
    if item.grain.emitter.space == 'LOCAL':
        velocity.rotate(matrix.to_quaternion())
    return tuple(tidy(component * scale) for component in velocity)


def add_curves(curves: Curves, entry: JobObject, owner: Object, view_layer: ViewLayer, scale: float) -> None:
    """What may change from frame to frame. Blender writes what is animated back to the original, but not where it stands."""
    def matrix() -> Matrix:
        return owner.evaluated_get(view_layer.depsgraph).matrix_world

    curves.add(entry, "rate", lambda: _rate(owner))
    curves.add(entry, "active", lambda: float(owner.grain.emitter.active))
    curves.add(entry, "velocity", lambda: _velocity(owner, matrix(), scale))
    curves.add(entry, "moisture", lambda: tidy(owner.grain.source.moisture))
