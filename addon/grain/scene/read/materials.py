# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials: the laws of the solver Continuum, and what of a source's own material means something to a solver."""
from math import tan
from typing import Optional

from bpy.types import PropertyGroup

from ...engine import schema
from ..simulations import Simulation
from ..units import tidy

USUAL_DENSITY = {'SAND': 2600.0, 'SNOW_POWDER': 400.0, 'SNOW_CHUNKY': 400.0, 'SNOW_WET': 700.0, 'MUD': 1800.0}

# Settings of a source's own material, by their keys in jobs.
_SETTINGS = {"law": "law", "friction": "friction_angle", "rolling_friction": "rolling_friction", "density": "density",
             "restitution": "restitution", "cohesion": "cohesion"}


def is_snow(law: str) -> bool:
    return law.startswith('SNOW')


def is_of_snow(solver: str, law: str) -> bool:
    """Whether the solver has laws, and this one is of snow, which has no friction and no cohesion."""
    return schema.uses(solver, "material.law") and is_snow(law)


def settings_of(solver: str, law: str) -> tuple[str, ...]:
    """Of a source's own material: what the solver knows of it. law: the material's own, where the solver has laws."""
    if not schema.uses(solver, "material.friction"):
        return ()
    without = ("friction", "cohesion") if is_of_snow(solver, law) else ()
    return tuple(name for key, name in _SETTINGS.items() if schema.uses(solver, f"material.{key}") and key not in without)


def describe(source: PropertyGroup, simulation: Simulation) -> Optional[dict[str, float | str]]:
    """For the job. What has no part in it is left out: it must not make a bake look outdated."""
    names = settings_of(simulation.solver, source.law) if source.use_material else ()
    if not names:
        return None
    found: dict[str, float | str] = {name: tidy(getattr(source, name)) for name in names if name not in ("law", "friction_angle")}
    if "friction_angle" in names:
        found["friction"] = tidy(tan(source.friction_angle))
    if "law" in names:
        found["law"] = source.law.lower()
    return found
