# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulations of a scene, and the one that panels and buttons are about."""
from typing import Optional

from bpy.props import CollectionProperty, IntProperty
from bpy.types import Context, PropertyGroup

from ..scene import simulations
from ..scene.show import playback
from .simulation import GRAIN_PG_simulation


def _on_active(group: "GRAIN_PG_scene", context: Context) -> None:
    # A body that takes part in several follows the active one.
    for simulation in group.simulations:
        playback.forget(simulation)
        playback.show(simulation)


class GRAIN_PG_scene(PropertyGroup):
    simulations: CollectionProperty(
        type=GRAIN_PG_simulation, name="Simulations",
        description="Simulations in this scene, each with its own settings, objects and cache")
    active_index: IntProperty(
        name="Active Simulation", default=0, min=0, update=_on_active,
        description="The simulation that the panels show and the buttons act on")

    @property
    def active(self) -> Optional[GRAIN_PG_simulation]:
        return simulations.active(self.id_data)
