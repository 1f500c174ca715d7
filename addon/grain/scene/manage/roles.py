# SPDX-License-Identifier: GPL-3.0-or-later
"""What happens to an object and its scene when a role is given or taken."""
from bpy.types import Context, Object

from .. import paths, simulations
from ..show import bodies
from ..simulations import Simulation
from . import estimate

SUPPORTED_TYPES = ('MESH', 'CURVE', 'SURFACE', 'META', 'FONT', 'EMPTY')


def on_role_changed(item: Object, context: Context) -> None:
    if item.grain.type in ('SOURCE', 'EMITTER', 'KILL'):
        _make_room_for_sand(item)
    else:
        _give_looks_back(item)
    if item.grain.type != 'BODY':
        bodies.restore(item)
    estimate.forget(item)
    scene = context.scene
    if scene is None or scene.objects.get(item.name) != item:
        return
    if item.grain.type == 'NONE':
        item.grain.is_cast_chosen = False
        return
    simulation = simulations.ensure(scene)
    if not item.grain.is_cast_chosen:
        simulations.join(item, simulation)
        item.grain.is_cast_chosen = True
    simulation = simulations.of_object(item, scene)
    if simulation is None:  # of another scene
        return
    _choose_free_name(simulation)
    if item.grain.type in ('SOURCE', 'EMITTER') and not simulation.is_radius_chosen:
        _fit_radius(simulation, item, context)


def _make_room_for_sand(item: Object) -> None:
    """The sand takes the object's place, so the object itself is drawn as wire and not rendered."""
    settings = item.grain
    if settings.is_display_kept:
        return
    settings.kept_display_type, settings.kept_hide_render = item.display_type, item.hide_render
    settings.is_display_kept = True
    item.display_type, item.hide_render = 'WIRE', True


def _give_looks_back(item: Object) -> None:
    settings = item.grain
    if not settings.is_display_kept:
        return
    item.display_type, item.hide_render = settings.kept_display_type, settings.kept_hide_render
    settings.is_display_kept = False


def _choose_free_name(simulation: Simulation) -> None:
    """A second scene of the same file gets a cache of its own."""
    base, number = simulation.name, 1
    while paths.shares_folder(simulation) and not simulation.cache_folder:
        simulation.name = f"{base}.{number:03d}"
        number += 1


def _fit_radius(simulation: Simulation, item: Object, context: Context) -> None:
    """Only the first source chooses; the artist's own number is never touched."""
    others = [other for other in simulations.objects(simulation)
              if other.grain.type in ('SOURCE', 'EMITTER') and other != item]
    wanted = estimate.PARTICLES_WANTED if item.grain.type == 'SOURCE' else estimate.PARTICLES_IN_EMITTER
    radius = estimate.fitting_radius([item], context.view_layer.depsgraph, simulation.size_spread, wanted)
    if others or radius is None:
        return
    simulation.particle_radius = radius
    simulation.is_radius_chosen = False  # setting it counted as the artist's choice


def selected_objects(context: Context) -> list[Object]:
    """Objects an operator on roles works on: the active one and the selected ones which can have a role."""
    items = set(context.selected_objects)
    if context.object is not None:
        items.add(context.object)
    return sorted((item for item in items if can_have_role(item)), key=lambda item: item.name)


def can_have_role(item: Object) -> bool:
    if item.type == 'EMPTY' and item.instance_type != 'COLLECTION':  # a force field, a handle of a rig: nothing to touch
        return False
    return item.type in SUPPORTED_TYPES and item.library is None and not is_sand(item)


def is_sand(item: Object) -> bool:
    return any(simulation.sand_object == item for simulation in simulations.of_file())
