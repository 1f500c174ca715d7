# SPDX-License-Identifier: GPL-3.0-or-later
"""Files of earlier versions of Grain, or of another Blender."""
from typing import Any

from bpy.types import Scene

from ... import compat
from .. import keyframe_paths, simulations
from ..show import volumes

_LIST = {"simulations", "active_index"}


def from_single(scene: Scene) -> None:
    """Before there were lists of them, `scene.grain` was the one simulation itself. Its settings become the first of the
    list; keyframes follow."""
    stored = compat.stored_settings(scene, "grain")
    if scene.library is not None or stored is None or not set(stored.keys()) - _LIST:
        return
    old = {name: stored[name] for name in list(stored.keys()) if name not in _LIST}
    if len(scene.grain.simulations) == 0:
        simulation = simulations.ensure(scene)
        target = compat.stored_settings(scene, "grain")["simulations"][0]
        for name, value in old.items():
            plain = _plain(value)
            if name in target:  # from 4.2 on a value of another kind cannot take its place
                del target[name]
            if plain != {}:
                target[name] = plain
        simulation.edition = 0  # settings it does not hold have the defaults of then
        simulation.name = simulations.free_name(simulation, old.get("name", simulations.DEFAULT_NAME))
        for name in simulation.bl_rna.properties.keys():
            keyframe_paths.rename(scene, f"grain.{name}", f"{simulations.COLLECTION_PATH}[0].{name}")
    for name in old:
        del compat.stored_settings(scene, "grain")[name]


def keep_defaults(scene: Scene) -> None:
    """A file holds only what was set. Where a default has changed since, the one of then is set, or the same file would bake
    something else: in edition 0 the solver was 'DEM'."""
    if scene.library is not None:
        return
    held = (compat.stored_settings(scene, "grain") or {}).get("simulations", ())
    for simulation, stored in zip(scene.grain.simulations, held):
        if simulation.edition < 1 and "solver" not in stored:
            simulation.solver = 'DEM'
        simulation.edition = simulations.EDITION


def place_volumes(scene: Scene) -> None:
    """For the Blender that has the file open now. Before 5.0 a volume lies half a voxel off."""
    for simulation in scene.grain.simulations:
        item = volumes.volume_object(simulation)
        if item is not None:
            volumes.recognize(item, volumes.manifest_of(simulation))
    volumes.keep_places()


def _plain(value: Any) -> Any:
    """A group inside a group cannot be in two places: a copy of it."""
    return value.to_dict() if hasattr(value, "to_dict") else value
