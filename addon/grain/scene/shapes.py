"""What a grain that is no sphere looks like: an object of the size of the ball around a grain, which Geometry Nodes puts
in the place of every grain, turned as it is.

Made when a bake starts, so that it is the shape that was baked whatever is changed afterwards.
"""
import bmesh
import bpy
from bpy.types import Depsgraph, Mesh, Object
from mathutils import Matrix, Vector

from ..engine import ffi
from ..engine.objects import Surface
from . import look, snapshot
from .simulations import Simulation

OBJECT_NAME = "Grain Shape"
BALL_SUBDIVISIONS = 2


def update(simulation: Simulation, depsgraph: Depsgraph) -> None:
    """Makes the simulation's shape as its settings are now; none for spheres, which are drawn as points."""
    kind = simulation.grain_shape if simulation.solver == 'DEM' else 'SPHERE'
    if kind == 'SPHERE':
        simulation.shape_object = None
        return
    mesh = _from_object(simulation.grain_object, simulation.grain_balls, depsgraph) if kind == 'MESH' \
        else _from_balls(kind.lower())
    item = simulation.shape_object
    if item is None:
        # In no collection: it is only ever seen as grains.
        simulation.shape_object = bpy.data.objects.new(OBJECT_NAME, mesh)
        return
    before = item.data
    item.data = mesh
    if before.users == 0:
        bpy.data.meshes.remove(before)


def _from_balls(name: str) -> Mesh:
    shape = ffi.shape(name, None, 0)
    build = bmesh.new()
    for x, y, z, radius in shape.balls[:shape.ball_count]:
        bmesh.ops.create_icosphere(build, subdivisions=BALL_SUBDIVISIONS, radius=radius,
                                   matrix=Matrix.Translation((x, y, z)))
    for face in build.faces:
        face.smooth = True
    mesh = bpy.data.meshes.new(OBJECT_NAME)
    build.to_mesh(mesh)
    build.free()
    mesh.materials.append(look.grain_material())
    return mesh


def _from_object(item: Object, most_balls: int, depsgraph: Depsgraph) -> Mesh:
    """The object as it looks, with its own materials, about the centre of mass of its balls."""
    surface = Surface(*snapshot.surface_of(item, depsgraph))
    shape = ffi.shape("mesh", surface.mesh, most_balls)
    evaluated = item.evaluated_get(depsgraph)
    mesh = bpy.data.meshes.new_from_object(evaluated, preserve_all_data_layers=True, depsgraph=depsgraph)
    mesh.name = OBJECT_NAME
    mesh.transform(Matrix.Scale(1.0 / shape.scale, 4) @ Matrix.Translation(-Vector(shape.centre))
                   @ evaluated.matrix_world)
    if not mesh.materials:
        mesh.materials.append(look.grain_material())
    return mesh
