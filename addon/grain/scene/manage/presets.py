# SPDX-License-Identifier: GPL-3.0-or-later
"""Materials by name: solver, numbers, grain shape and look in one choice.

Friction angles and densities are those of the stuff itself (of a grain, not of the heap). A preset never touches what belongs
to the scene or to the artist's budget: radius, frames, render grains, cache.
"""
from dataclasses import dataclass, field
from math import radians
from typing import Any, Optional

from bpy.types import Depsgraph

from ...engine import schema
from .. import simulations
from ..look import grain_object
from ..show import apply
from ..simulations import Simulation


@dataclass(frozen=True)
class Preset:
    label: str
    description: str
    look: str  # of looks.LOOKS
    settings: dict[str, Any] = field(default_factory=dict)  # of the simulation, by name
    shape: str = 'AUTO'  # of instances
    moisture: float = 0.0  # of the sources


def _grains(friction: float, rolling: float, density: float, restitution: float, spread: float,
            shape: str = 'SPHERE', cohesion: float = 0.0) -> dict[str, Any]:
    return {"solver": 'DEM', "grain_shape": shape, "friction_angle": radians(friction), "rolling_friction": rolling,
            "density": density, "restitution": restitution, "size_spread": spread, "cohesion": cohesion}


def _bulk(friction: float, density: float, cohesion: float = 0.0, **settings: Any) -> dict[str, Any]:
    return {"friction_angle": radians(friction), "density": density, "cohesion": cohesion, "size_spread": 0.2, **settings}


def _parcels(firmness: float, reach_ratio: float, viscosity: float, elastic_reach: float = 1.0) -> dict[str, Any]:
    return {"solver": 'MESO', "density": 1600.0, "size_spread": 0.2, "viscosity": viscosity, "elastic_reach": elastic_reach,
            "reach_ratio": reach_ratio, "firmness": firmness}  # firmness last: it goes by the density


PRESETS: dict[str, Preset] = {
    'DRY_SAND': Preset("Dry Sand", "Flows and heaps up at about 31°", 'SAND',
                       _bulk(31.0, 2600.0, solver='MPM', law='SAND')),
    'DAMP_SAND': Preset("Damp Sand", "Clumps a little, stands steeper, crumbles", 'SAND',
                        _bulk(33.0, 2600.0, solver='SPH', model='ELASTOPLASTIC', moisture_diffusion=0.0), moisture=0.35),
    'WET_SAND': Preset("Wet Sand", "Castle sand: stands upright, breaks into lumps, dark", 'SAND',
                       _bulk(33.0, 2600.0, solver='SPH', model='ELASTOPLASTIC', moisture_diffusion=0.0), moisture=1.0),
    'GRAVEL': Preset("Gravel", "Broken stones that interlock", 'GRAVEL',
                     _grains(35.0, 0.1, 2700.0, 0.25, 0.4, 'TETRAHEDRON')),
    'SNOW': Preset("Snow", "Packs and breaks into lumps", 'SNOW', _bulk(31.0, 400.0, solver='MPM', law='SNOW_CHUNKY')),
    'RICE': Preset("Rice", "Long, smooth grains", 'RICE', _grains(22.0, 0.05, 1450.0, 0.3, 0.1, 'ROD')),
    'COFFEE': Preset("Coffee Beans", "Light, oily beans that roll and bounce", 'COFFEE',
                     _grains(24.0, 0.05, 700.0, 0.4, 0.12, 'BEAN')),
    'SALT': Preset("Salt", "Small cubes", 'SALT', _grains(30.0, 0.05, 2160.0, 0.3, 0.15, 'CUBE')),
    'MUD': Preset("Mud", "Holds its shape until pushed, then flows like thick paste", 'MUD',
                  _bulk(20.0, 1800.0, solver='MPM', law='MUD')),
    'PASTE': Preset("Paste", "Oozes in folds that keep their shape for seconds, then sink", 'MUD', _parcels(0.75, 2.5, 60.0)),
    'CREAM': Preset("Cream", "Softer than paste: folds that run into each other", 'SNOW', _parcels(0.5, 2.0, 20.0)),
    'FOAM': Preset("Foam", "Holds together and packs under its own weight", 'SNOW', _parcels(0.2, 2.5, 10.0)),
    'SLURRY': Preset("Slurry", "A thick fluid that spreads flat", 'MUD', _parcels(0.25, 0.67, 10.0, 1.5)),
}

ITEMS = tuple((name, preset.label, preset.description) for name, preset in PRESETS.items())


def use(simulation: Simulation, name: str, depsgraph: Depsgraph) -> None:
    preset = PRESETS[name]
    for setting, value in preset.settings.items():
        setattr(simulation, setting, value)
    for item in simulations.objects(simulation, 'SOURCE'):
        item.grain.source.moisture = preset.moisture
    simulation.display.shape = preset.shape
    simulation.display.look = preset.look
    if apply.sand_object(simulation) is None:  # else a bake is shown, with the shape it was baked with
        grain_object.refresh(simulation, depsgraph)


def matching(simulation: Simulation) -> Optional[str]:
    """The preset whose numbers the simulation has, if any."""
    sources = simulations.objects(simulation, 'SOURCE')
    for name, preset in PRESETS.items():
        same = all(_is_same(getattr(simulation, setting), value) for setting, value in preset.settings.items())
        wet = schema.uses(preset.settings["solver"], "source.moisture")
        if same and (not wet or all(_is_same(item.grain.source.moisture, preset.moisture) for item in sources)):
            return name
    return None


def _is_same(a: Any, b: Any) -> bool:
    return a == b if isinstance(b, str) else abs(a - b) <= 1e-5 * max(1.0, abs(b))
