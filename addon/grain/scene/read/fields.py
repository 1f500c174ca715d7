# SPDX-License-Identifier: GPL-3.0-or-later
"""Blender's force fields as the job wants them: what acts on a simulation's sand, and how it moves and changes."""
from math import degrees
from typing import Optional

from bpy.types import FieldSettings, Object, ViewLayer

from ...engine import schema
from ...engine.job import JobField
from ..simulations import Simulation
from ..units import metres_per_unit, tidy
from .sampling import Curves

KINDS = ('FORCE', 'WIND', 'VORTEX', 'TURBULENCE', 'DRAG', 'HARMONIC', 'CHARGE')
_SHAPES = {'POINT': "point", 'LINE': "line", 'PLANE': "plane"}


def take(simulation: Simulation, view_layer: ViewLayer, curves: Curves) -> tuple[list[JobField], list[str]]:
    """Fields of the scene at its current frame, and warnings for those that sand does not know. Blender's own Location
    switch and the field's on/off of the object in the view layer hold."""
    scale = metres_per_unit(simulation.id_data)
    found: list[JobField] = []
    warnings: list[str] = []
    for item in sorted(view_layer.objects, key=lambda item: item.name):
        settings: Optional[FieldSettings] = item.field
        if settings is None or settings.type == 'NONE' or item.hide_viewport or not settings.apply_to_location:
            continue
        if settings.type not in KINDS:
            warnings.append(f"'{item.name}' is a {settings.type.replace('_', ' ').title()} field, which has no effect on sand. Use "
                            f"{', '.join(kind.title() for kind in KINDS[:-1])} or {KINDS[-1].title()}")
            continue
        if settings.shape not in _SHAPES:
            warnings.append(f"The force field of '{item.name}' acts from its centre, because the shape {settings.shape.title()} is not "
                            "supported. Use Point, Line or Plane")
        entry = _describe(item, settings, scale)
        curves.add(entry, "poses", lambda item=item: _pose(item, view_layer, scale))
        curves.add(entry, "strength", lambda item=item: tidy(_strength(item.field, scale)))
        entry.pose = _pose(item, view_layer, scale)
        found.append(entry)
    return found, warnings


def effect(item: Object) -> tuple[bool, str]:
    """Whether and how a field acts on sand, in words for its panel."""
    settings = item.field
    name = settings.type.replace('_', ' ').title()
    if settings.type not in KINDS:
        return False, f"{name} fields have no effect on sand. Use {', '.join(kind.title() for kind in KINDS[:-1])} or {KINDS[-1].title()}"
    if item.hide_viewport:
        return False, "Disabled by the monitor icon in the Outliner"
    if not settings.apply_to_location:
        return False, "Has no effect on sand: Affect > Location is off"
    if settings.shape not in _SHAPES:
        return True, f"Acts on sand from its centre: the shape {settings.shape.title()} is not supported. Use Point, Line or Plane"
    if settings.type in ('FORCE', 'WIND', 'TURBULENCE'):
        return True, "Acts on all sand. Strength is in m/s²: 10 is about as strong as gravity. Wind Factor and Absorption are ignored"
    return True, "Acts on all sand"


def _strength(settings: FieldSettings, scale: float) -> float:
    """A spring's and a charge's grow with the distance, drag with the speed: those have no unit of length."""
    if settings.type == 'DRAG':
        return settings.quadratic_drag / scale
    return settings.strength * (1.0 if settings.type in ('HARMONIC', 'CHARGE', 'VORTEX') else scale)


def _describe(item: Object, settings: FieldSettings, scale: float) -> JobField:
    keys: dict[str, object] = {
        "type": settings.type.lower(), "shape": _SHAPES.get(settings.shape, "point"),
        "falloff": settings.falloff_type.lower(), "side": settings.z_direction.lower(),
        "strength": tidy(_strength(settings, scale)), "seed": settings.seed}
    # Blender's falloff is counted in its own units, from 1 on.
    numbers = {"power": settings.falloff_power, "flow": settings.flow, "noise": settings.noise * scale}
    if settings.use_min_distance:
        numbers["min_distance"] = settings.distance_min * scale
    if settings.use_max_distance:
        keys["max_distance"] = tidy(settings.distance_max * scale)
    if settings.falloff_type != 'SPHERE':
        unit = scale if settings.falloff_type == 'TUBE' else degrees(1.0)
        numbers["radial_power"] = settings.radial_falloff
        if settings.use_radial_min:
            numbers["radial_min"] = settings.radial_min * unit
        if settings.use_radial_max:
            keys["radial_max"] = tidy(settings.radial_max * unit)
    if settings.type == 'TURBULENCE':
        keys["size"] = tidy(max(settings.size * scale, 1e-6))
        keys["global"] = settings.use_global_coords
    elif settings.type == 'DRAG':
        numbers["linear_drag"] = settings.linear_drag
    elif settings.type == 'HARMONIC':
        numbers["linear_drag"], numbers["rest_length"] = settings.harmonic_damping, settings.rest_length * scale
    keys.update({name: tidy(value) for name, value in numbers.items()
                 if value != (schema.default(f"field.{name}") or 0.0)})
    return JobField(item.name, keys)


def _pose(item: Object, view_layer: ViewLayer, scale: float) -> tuple[float, ...]:
    matrix = item.evaluated_get(view_layer.depsgraph).matrix_world
    return (*(component * scale for component in matrix.translation), *matrix.to_quaternion().normalized())
