# SPDX-License-Identifier: GPL-3.0-or-later
"""The simulations of a scene: which there are, which objects take part in each; adding, copying and removing them.

Code passes a simulation around, not a scene: its `id_data` is the scene it belongs to.
"""
from collections.abc import Iterator
from typing import Any, Optional

import bpy
from bpy.types import Object, PropertyGroup, Scene

from . import keyframe_paths

Simulation = PropertyGroup  # a GRAIN_PG_simulation
EVERY = 0  # the cast of objects that take part in every simulation
DEFAULT_NAME = "Sand"
COLLECTION_PATH = "grain.simulations"
EDITION = 1  # of the defaults, in new simulations: goes up when one changes that files rely on (migrate.py)
# What a simulation made for itself, which its copy must not share.
_OWN = ("sand_object", "shape_object", "object", "mesh_object")


def of_scene(scene: Scene) -> list[Simulation]:
    return list(scene.grain.simulations)


def of_file() -> Iterator[Simulation]:
    for scene in bpy.data.scenes:
        yield from scene.grain.simulations


def active(scene: Scene) -> Optional[Simulation]:
    """The one that panels and buttons are about; None in a scene without sand."""
    items = scene.grain.simulations
    return items[min(max(scene.grain.active_index, 0), len(items) - 1)] if len(items) else None


def ensure(scene: Scene) -> Simulation:
    """The active one, made where there is none; for operators, never for panels and handlers."""
    return active(scene) or _new(scene, DEFAULT_NAME, _free_cast())


def find(scene: Scene, name: str) -> Optional[Simulation]:
    return next((simulation for simulation in scene.grain.simulations if simulation.name == name), None)


def index_of(simulation: Simulation) -> int:
    return next(index for index, other in enumerate(simulation.id_data.grain.simulations) if other == simulation)


def owner_of(group: PropertyGroup) -> Simulation:
    """The simulation a group of its settings belongs to: 'grain.simulations[1].display' is of the second."""
    return group.id_data.path_resolve(group.path_from_id().rpartition(".")[0])


# --- who takes part -------------------------------------------------------------------------------

def takes_part(item: Object, simulation: Simulation) -> bool:
    return item.grain.type != 'NONE' and item.grain.cast in (EVERY, simulation.cast)


def objects(simulation: Simulation, *types: str) -> list[Object]:
    """Of these types, or all that take part."""
    return [item for item in simulation.id_data.objects
            if takes_part(item, simulation) and (not types or item.grain.type in types)]


def of_object(item: Object, scene: Scene) -> Optional[Simulation]:
    """The simulation that shows in an object's panels and moves it: the active one where it takes part in that,
    otherwise its first."""
    chosen = active(scene)
    if chosen is not None and takes_part(item, chosen):
        return chosen
    return next((simulation for simulation in scene.grain.simulations if takes_part(item, simulation)), None)


def join(item: Object, simulation: Simulation) -> None:
    """An object gets a role: with one cast in the scene it takes part in everything, otherwise in what is active."""
    others = {other.cast for other in simulation.id_data.grain.simulations} - {simulation.cast}
    item.grain.cast = simulation.cast if others else EVERY


# --- adding, copying, removing --------------------------------------------------------------------

def add(scene: Scene) -> Simulation:
    """Another simulation, still without sand. Existing sand stays in its simulation; floors and other colliders are
    shared."""
    casts = {simulation.cast for simulation in scene.grain.simulations}
    if len(casts) == 1:
        for item in scene.objects:
            if item.grain.type not in ('NONE', 'COLLIDER') and item.grain.cast == EVERY:
                item.grain.cast = next(iter(casts))
    return _new(scene, DEFAULT_NAME, _free_cast())


def copy(simulation: Simulation) -> Simulation:
    """The same objects and settings, a cache of its own: to compare what a change does."""
    scene, index = simulation.id_data, index_of(simulation)
    made = _new(scene, simulation.name, simulation.cast)
    simulation = scene.grain.simulations[index]  # adding may have moved them in memory
    _copy_settings(simulation, made)
    made.display.amount_mode = simulation.display.amount_mode  # which a new one has of its own
    folder = made.cache_folder.strip().rstrip("/\\")
    if folder:
        made.cache_folder = f"{folder}_{bpy.path.clean_name(made.name)}"
    keyframe_paths.copy(scene, _path(index), _path(index_of(made)))
    return made


def remove(simulation: Simulation) -> None:
    """The simulation, its sand object and the roles of objects that took part in nothing else. Its cache stays on disk."""
    scene, index, cast = simulation.id_data, index_of(simulation), simulation.cast
    for item in (simulation.sand_object, simulation.shape_object, simulation.volume.object, simulation.volume.mesh_object):
        if item is not None and item.library is None:
            _delete(item)
    scene.grain.simulations.remove(index)
    scene.grain.active_index = max(0, min(scene.grain.active_index, len(scene.grain.simulations) - 1))
    keyframe_paths.remove(scene, _path(index))
    for number in range(index + 1, len(scene.grain.simulations) + 1):
        keyframe_paths.rename(scene, _path(number), _path(number - 1))
    if cast not in (other.cast for other in of_file()):
        for item in scene.objects:
            if item.grain.cast == cast:
                item.grain.type, item.grain.cast = 'NONE', EVERY


def free_name(simulation: Simulation, wanted: str) -> str:
    """The name, with a number where another simulation of the scene has it."""
    used = {other.name for other in simulation.id_data.grain.simulations if other != simulation}
    base, number = wanted, 1
    stem, dot, digits = wanted.rpartition(".")
    if dot and digits.isdigit():
        base = stem
    while wanted in used:
        wanted = f"{base}.{number:03d}"
        number += 1
    return wanted


def _new(scene: Scene, name: str, cast: int) -> Simulation:
    simulation = scene.grain.simulations.add()
    simulation.cast = cast
    simulation.edition = EDITION
    simulation.name = free_name(simulation, name)
    simulation.display.amount_mode = 'AUTO'  # not by default: files made before there was such a thing have a percentage
    scene.grain.active_index = len(scene.grain.simulations) - 1
    return simulation


def _free_cast() -> int:
    used = [simulation.cast for simulation in of_file()] + [item.grain.cast for item in bpy.data.objects]
    return max(used, default=EVERY) + 1


def _path(index: int) -> str:
    return f"{COLLECTION_PATH}[{index}]"


def _copy_settings(source: PropertyGroup, target: PropertyGroup) -> None:
    """Values as they are, without what their change would set off."""
    for setting in source.bl_rna.properties:
        name = setting.identifier
        if name in ("rna_type", "name", "cast", *_OWN) or not source.is_property_set(name):
            continue
        value: Any = getattr(source, name)
        if setting.type == 'POINTER' and isinstance(value, PropertyGroup):
            _copy_settings(value, getattr(target, name))
        elif setting.type == 'COLLECTION':
            for entry in value:
                made = getattr(target, name).add()
                made.name = entry.name
                _copy_settings(entry, made)
        elif not setting.is_readonly:
            setattr(target, name, value)


def _delete(item: Object) -> None:
    data = item.data
    bpy.data.objects.remove(item)
    if data is not None and data.users == 0:
        bpy.data.batch_remove((data,))
