# SPDX-License-Identifier: GPL-3.0-or-later
"""What a grain looks like where it is not drawn as a point: an object of the size of the ball around a grain, which Geometry
Nodes puts in the place of every grain, turned as it is.

Made when a bake starts, so that it is the shape that was baked whatever is changed afterwards.
"""
from typing import Optional

import bpy
from bpy.types import Depsgraph, Mesh, Object
from mathutils import Matrix, Vector

from ...engine import ffi, schema
from ...engine.objects import Surface
from ..read import meshes
from ..read.errors import SnapshotError
from ..simulations import Simulation
from . import grain_meshes, sand_nodes

OBJECT_NAME = "Grain Shape"
SHAPE_TYPES = meshes.MESH_TYPES
# What simulated shapes look like.
_LOOKS = {'SPHERE': 'ROUNDED', 'TETRAHEDRON': 'ANGULAR', 'CUBE': 'CUBE', 'ROD': 'RICE', 'BEAN': 'BEAN'}


def simulated_kind(simulation: Simulation) -> str:
    return simulation.grain_shape if schema.uses(simulation.solver, "solver.grain_shape") else 'SPHERE'


def is_wanted(simulation: Simulation) -> bool:
    """Whether the viewport or the render shows instances."""
    display = simulation.display
    modes = (display.viewport_display, display.render_display)
    return 'INSTANCES' in modes or ('AUTO' in modes and simulated_kind(simulation) != 'SPHERE')


def update(simulation: Simulation, depsgraph: Depsgraph) -> None:
    """Makes the simulation's shape as its settings are now; none where all grains are drawn as points. Raises GrainError."""
    mesh = _make(simulation, depsgraph) if is_wanted(simulation) else None
    item = simulation.shape_object
    if mesh is None:
        simulation.shape_object = None
        return
    if not mesh.materials:
        mesh.materials.append(_material(simulation))
    if item is None:
        # In no collection: it is only ever seen as grains.
        simulation.shape_object = bpy.data.objects.new(OBJECT_NAME, mesh)
        return
    before = item.data
    item.data = mesh
    if before.users == 0:
        bpy.data.meshes.remove(before)


def refresh(simulation: Simulation, depsgraph: Depsgraph) -> None:
    """After a change of what is shown. A shape that cannot be made leaves the one there was: the next bake says why."""
    try:
        update(simulation, depsgraph)
    except (ffi.GrainError, SnapshotError):
        pass


def _material(simulation: Simulation) -> bpy.types.Material:
    sand = simulation.sand_object
    chosen = sand.data.materials[0] if sand is not None and sand.type == 'MESH' and sand.data.materials else None
    return chosen or sand_nodes.material(simulation.display.look)


def _make(simulation: Simulation, depsgraph: Depsgraph) -> Optional[Mesh]:
    kind, source = simulation.display.shape, simulation.display.shape_source
    if kind == 'OBJECT':
        return _from_shown_object(source, depsgraph) if source is not None else None
    if kind == 'AUTO':
        simulated = simulated_kind(simulation)
        if simulated == 'MESH':
            return _from_simulated_object(simulation.grain_object, simulation.grain_balls, depsgraph)
        kind = _LOOKS[simulated]
    return grain_meshes.make(kind, OBJECT_NAME)


def _copy_of(item: Object, depsgraph: Depsgraph) -> Mesh:
    """The object as it looks, with its own materials, in its own space."""
    mesh = bpy.data.meshes.new_from_object(item.evaluated_get(depsgraph), preserve_all_data_layers=True, depsgraph=depsgraph)
    mesh.name = OBJECT_NAME
    return mesh


def _from_shown_object(item: Object, depsgraph: Depsgraph) -> Mesh:
    """As large as it is in its own space: what an artist modelled to fit a ball of radius 1 stays as it is."""
    return _copy_of(item, depsgraph)


def _from_simulated_object(item: Object, most_balls: int, depsgraph: Depsgraph) -> Mesh:
    """About the centre of mass of its balls, as the simulation has it."""
    surface = Surface(*meshes.surface_of(item, depsgraph))
    shape = ffi.shape("mesh", surface.mesh, most_balls)
    mesh = _copy_of(item, depsgraph)
    mesh.transform(Matrix.Scale(1.0 / shape.scale, 4) @ Matrix.Translation(-Vector(shape.centre))
                   @ item.evaluated_get(depsgraph).matrix_world)
    return mesh
