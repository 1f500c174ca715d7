# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the sand that may change over the shot, by keys or drivers: sampled into the job frame by frame."""
from collections.abc import Callable
from math import tan
from typing import Optional

from bpy.types import Object, PropertyGroup

from ...engine import schema
from ...engine.job import JobField, JobObject
from .. import keyframe_paths as animation
from ..simulations import Simulation
from ..units import tidy
from . import materials, motion_search
from .sampling import Curves

# Key of the job -> property, and how one follows from the other.
_PROPERTIES: dict[str, tuple[str, Callable[[float], float]]] = {
    "friction": ("friction_angle", tan), "cohesion": ("cohesion", float), "viscosity": ("viscosity", float)}


def keys_of(solver: str, law: str) -> tuple[str, ...]:
    """What the solver can change while it runs, of sand of this law."""
    if materials.is_of_snow(solver, law):
        return ()
    return tuple(key for key in _PROPERTIES if schema.uses(solver, f"solver.{key}"))


def value(settings: PropertyGroup, key: str, frame: Optional[int] = None) -> float:
    """Now, or as it is keyed at a frame. What a driver makes of it is only known frame by frame: there it is the default, so
    that a bake does not look outdated whenever the driver moves."""
    name, convert = _PROPERTIES[key]
    found: Optional[float] = None
    if frame is not None:
        path = settings.path_from_id(name)
        found = animation.value_at(settings.id_data, path, frame)
        if found is None and animation.is_animated(settings.id_data, path):
            found = settings.bl_rna.properties[name].default
    return tidy(convert(getattr(settings, name) if found is None else found))


def is_animated(settings: PropertyGroup, key: str) -> bool:
    return animation.is_animated(settings.id_data, settings.path_from_id(_PROPERTIES[key][0]))


def _add(curves: Curves, entry: JobField, settings: PropertyGroup, key: str) -> None:
    curves.add(entry, key, lambda: value(settings, key), always=is_animated(settings, key))


def add_curves(curves: Curves, entry: JobField, simulation: Simulation) -> list[str]:
    """The simulation's own settings. Returns warnings of keys that mean nothing."""
    can = keys_of(simulation.solver, simulation.law)
    for key in can:
        _add(curves, entry, simulation, key)
    labels = {key: simulation.bl_rna.properties[name].name for key, (name, _) in _PROPERTIES.items()}
    solver = simulation.bl_rna.properties["solver"].enum_items[simulation.solver].name
    return [f"{labels[key]} is animated, but has no effect with the solver '{solver}'"
            for key in _PROPERTIES if key not in can and is_animated(simulation, key)]


def grip(settings: PropertyGroup) -> dict[str, float]:
    """Of a collider or body, now."""
    return {"friction": tidy(tan(settings.friction_angle)), "stickiness": tidy(settings.stickiness)}


def add_grip_curves(curves: Curves, entry: JobObject, owner: Object) -> None:
    """How a collider or body holds on to sand, where its object has any animation."""
    settings = {"collider": owner.grain.collider, "body": owner.grain.rigid}.get(entry.role)
    if settings is None or not motion_search.is_animated(owner):
        return
    for key in ("friction", "stickiness"):
        curves.add(entry, key, lambda key=key: grip(settings)[key])


def add_material_curves(curves: Curves, entry: JobField, owner: Object, simulation: Simulation) -> None:
    """Those of a source with a material of its own."""
    settings = owner.grain.source
    for key in keys_of(simulation.solver, settings.law):
        if key != "viscosity":
            _add(curves, entry, settings, key)
