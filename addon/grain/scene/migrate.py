"""Files of earlier versions of Grain."""
from typing import Any

from bpy.types import Scene

from .. import compat
from . import curves, simulations

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
        simulation.name = simulations.free_name(simulation, old.get("name", simulations.DEFAULT_NAME))
        for name in simulation.bl_rna.properties.keys():
            curves.rename(scene, f"grain.{name}", f"{simulations.COLLECTION_PATH}[0].{name}")
    for name in old:
        del compat.stored_settings(scene, "grain")[name]


def _plain(value: Any) -> Any:
    """A group inside a group cannot be in two places: a copy of it."""
    return value.to_dict() if hasattr(value, "to_dict") else value
