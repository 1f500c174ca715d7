# SPDX-License-Identifier: GPL-3.0-or-later
"""Evaluated Blender data to plain arrays: the only reader of the artist's geometry.

What takes part is what the scene really shows: modifiers, instances and non-mesh types included, wherever the role
comes from (the object itself, or the instancer it belongs to). The eye icon and the camera icon do not matter, an
invisible collider is still a collider; objects disabled in viewports or in an excluded collection take no part, as
for every other simulation in Blender.
"""
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
from bpy.types import Depsgraph, DepsgraphObjectInstance, Object, Scene, ViewLayer
from mathutils import Matrix

from ...engine.job import JobField, JobObject
from .. import keyframe_paths as animation, simulations
from ..simulations import Simulation
from ..units import metres_per_unit, tidy
from . import (
    animated_settings,
    attributes as mesh_attributes,
    emitters,
    fields,
    materials,
    motion_record,
    motion_search,
    paint,
)
from .attributes import Attribute
from .paint import SnapshotError
from .sampling import Curves

MESH_TYPES = ('MESH', 'CURVE', 'SURFACE', 'META', 'FONT')


@dataclass
class Mesh:
    """Triangles in world space, Blender units."""
    name: str
    owner: Object  # the original which has the role
    matrix: Matrix
    positions: np.ndarray  # float32 (vertices, 3)
    triangles: np.ndarray  # int32 (triangles, 3)
    local: np.ndarray  # float32 (vertices, 3), before the matrix
    key: tuple  # the same mesh in every frame: names and, of instances, their persistent id
    paint: dict[str, np.ndarray] = field(default_factory=dict)  # float32 (vertices, 1), 0 to 1, by the job's key
    attributes: list[Attribute] = field(default_factory=list)  # of a source that gives them to its grains


@dataclass
class Snapshot:
    objects: list[JobObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bodies: list[tuple[Object, JobObject, Matrix]] = field(default_factory=list)
    fields: list[JobField] = field(default_factory=list)
    gravity: Optional[np.ndarray] = None  # m/s2 (frames, 3), where it changes
    settings: JobField = field(default_factory=lambda: JobField("settings", {}))  # of the solver, where they change


def take(simulation: Simulation, view_layer: ViewLayer, last: Optional[int] = None) -> Snapshot:
    """Everything that takes part, at the scene's current frame, in metres; and up to the last frame, if one is given, how it
    moves. The scene is then left at that frame."""
    scene = simulation.id_data
    snapshot = Snapshot()
    tracks: dict[tuple, motion_record.Track] = {}
    curves = Curves()
    scale = metres_per_unit(scene)
    roles = set(simulations.objects(simulation))
    for item in roles:
        item.update_from_editmode()  # what the artist sees counts, not the mesh from before Edit Mode
    view_layer.update()
    _check_visibility(roles, view_layer, snapshot)
    with _without_eye_icon(roles, view_layer):
        view_layer.update()
        depsgraph = view_layer.depsgraph
        for item in sorted(roles, key=lambda item: item.name):
            if item.grain.type == 'COLLIDER' and item.grain.collider.shape == 'PLANE':
                if item.name in view_layer.objects:
                    snapshot.objects.append(_plane(item.evaluated_get(depsgraph), item, scale))
                    animated_settings.add_grip_curves(curves, snapshot.objects[-1], item)
        found: set[Object] = set()
        for mesh in _meshes(depsgraph, roles, simulation=simulation):
            found.add(mesh.owner)
            entry = _job_object(mesh, simulation, scale, snapshot)
            if entry is None:
                continue
            snapshot.objects.append(entry)
            if entry.role == "body":
                snapshot.bodies.append((mesh.owner, entry, mesh.matrix))
            if entry.role != "source" and motion_search.can_move(mesh.owner, set()):
                tracks[mesh.key] = motion_record.Track(mesh, entry)
            animated_settings.add_grip_curves(curves, entry, mesh.owner)
            if entry.material is not None and motion_search.is_animated(mesh.owner):
                entry.material_curves = JobField(entry.name, {})
                animated_settings.add_material_curves(curves, entry.material_curves, mesh.owner, simulation)
            if entry.role == "emitter" and motion_search.can_move(mesh.owner, set()):
                emitters.add_curves(curves, entry, mesh.owner, view_layer, scale)
        _check_empty(roles - found, view_layer)
        if simulation.solver == 'DEM' and simulation.grain_shape == 'MESH':
            snapshot.objects.append(_grain(simulation.grain_object, depsgraph, scale))
        snapshot.fields, warnings = fields.take(simulation, view_layer, curves)
        snapshot.warnings += warnings
        gravity = JobField("gravity", {})
        if motion_search.is_animated(scene):
            curves.add(gravity, "gravity", lambda: gravity_of(scene))
            snapshot.warnings += animated_settings.add_curves(curves, snapshot.settings, simulation)
        if last is not None and (tracks or curves):
            def read() -> Iterator[Mesh]:
                return _meshes(view_layer.depsgraph, roles, simulation=simulation, with_paint=False)

            snapshot.warnings += motion_record.run(scene, tracks, read, scene.frame_current, last, simulation.motion_samples, scale, curves)
    snapshot.gravity = gravity.animation.get("gravity")
    _name_apart(snapshot.objects)
    # Sources first, then by name: the order of particles must not depend on how Blender lists its objects.
    snapshot.objects.sort(key=lambda entry: (entry.role != "source", entry.name))
    if not any(entry.role in ("source", "emitter", "body") for entry in snapshot.objects):
        raise SnapshotError("There is no sand: select a closed mesh and make it a Source or an Emitter in Properties > Physics")
    return snapshot


def gravity_of(scene: Scene, frame: Optional[int] = None) -> tuple[float, float, float]:
    """As the Scene tab shows it, now or, as far as it is keyed, at a frame: Blender scales accelerations by the unit scale
    too."""
    if not scene.use_gravity:
        return 0.0, 0.0, 0.0
    scale = metres_per_unit(scene)
    keyed = [animation.value_at(scene, "gravity", frame, index) if frame is not None else None for index in range(3)]
    return tuple(tidy((now if at is None else at) * scale) for now, at in zip(scene.gravity, keyed))


def meshes_of(item: Object, depsgraph: Depsgraph) -> list[Mesh]:
    """One object's own surface and that of its instances."""
    return list(_meshes(depsgraph, {item}, item))


def surface_of(item: Object, depsgraph: Depsgraph) -> tuple[np.ndarray, np.ndarray]:
    """One object as it looks, whatever its role: modifiers and instances included, in one mesh. World space, Blender
    units; float32 (vertices, 3) and int32 (triangles, 3)."""
    found: list[Mesh] = []
    for instance in depsgraph.object_instances:
        shown = instance.object
        owner = instance.parent if instance.is_instance else shown
        if owner is None or owner.original != item or shown.type not in MESH_TYPES:
            continue
        if not (instance.is_instance and _is_own_surface(instance)):
            found += _read(shown, item, instance.matrix_world.copy(), instance.is_instance)
    if not found:  # hidden in the viewport
        evaluated = item.evaluated_get(depsgraph)
        if evaluated.type in MESH_TYPES:
            found += _read(evaluated, item, evaluated.matrix_world.copy(), False)
    positions = [mesh.positions for mesh in found] or [np.empty((0, 3), np.float32)]
    offsets = np.cumsum([0] + [len(part) for part in positions])
    triangles = [mesh.triangles + np.int32(offset) for mesh, offset in zip(found, offsets)]
    return np.concatenate(positions), np.concatenate(triangles or [np.empty((0, 3), np.int32)])


def _role_owner(item: Object, instancer: Optional[Object], simulation: Optional[Simulation]) -> Optional[Object]:
    for candidate in (item.original, instancer.original if instancer is not None else None):
        if candidate is not None and candidate.grain.type != 'NONE':
            if simulation is None or simulations.takes_part(candidate, simulation):
                return candidate
    return None


def _meshes(depsgraph: Depsgraph, roles: set[Object], only: Optional[Object] = None,
            simulation: Optional[Simulation] = None, with_paint: bool = True) -> Iterator[Mesh]:
    """Every visible mesh and instance that takes part, in this simulation or in any, then those of `roles` which are
    hidden."""
    seen: set[Object] = set()
    for instance in depsgraph.object_instances:
        item = instance.object
        owner = _role_owner(item, instance.parent if instance.is_instance else None, simulation)
        if owner is None or (only is not None and owner != only) or is_plane(owner) or item.type not in MESH_TYPES:
            continue
        if instance.is_instance and _is_own_surface(instance):
            continue
        seen.add(owner)
        yield from _read(item, owner, instance.matrix_world.copy(), instance.is_instance,
                         tuple(instance.persistent_id) if instance.is_instance else (), with_paint)
    for owner in sorted(roles - seen, key=lambda item: item.name):
        item = owner.evaluated_get(depsgraph)
        if item.is_evaluated and item.type in MESH_TYPES and not is_plane(owner):
            yield from _read(item, owner, item.matrix_world.copy(), False, with_paint=with_paint)


def _is_own_surface(instance: DepsgraphObjectInstance) -> bool:
    """Blender lists a curve, text or metaball twice: as itself, and as an instance of the mesh it turns into."""
    parent = instance.parent
    return (parent is not None and parent.type != 'MESH' and instance.object.original == parent.original
            and instance.matrix_world == parent.matrix_world)


def is_plane(owner: Object) -> bool:
    return owner.grain.type == 'COLLIDER' and owner.grain.collider.shape == 'PLANE'


def _read(item: Object, owner: Object, matrix: Matrix, is_instance: bool, instance_id: tuple = (),
          with_paint: bool = True) -> Iterator[Mesh]:
    try:
        mesh = item.to_mesh()
    except RuntimeError as error:  # a metaball whose family another one draws
        raise SnapshotError(f"'{item.original.name}' gives no surface of its own: {error}") from error
    if mesh is None:
        return
    try:
        mesh.calc_loop_triangles()
        positions = np.empty(len(mesh.vertices) * 3, np.float32)
        mesh.vertices.foreach_get("co", positions)
        triangles = np.empty(len(mesh.loop_triangles) * 3, np.int32)
        mesh.loop_triangles.foreach_get("vertices", triangles)
        painted = paint.read(item, mesh, owner) if with_paint else {}
        found = mesh_attributes.read(mesh) if owner.grain.source.use_attributes and owner.grain.type == 'SOURCE' else []
    finally:
        item.to_mesh_clear()
    if is_instance and len(triangles) == 0:
        return
    transform = np.array(matrix, np.float64)
    world = positions.reshape(-1, 3) @ transform[:3, :3].T + transform[:3, 3]
    corners = triangles.reshape(-1, 3)
    if matrix.is_negative:
        corners = corners[:, ::-1]  # a mirrored object is still wound outward
        found = [mesh_attributes.mirrored(entry) for entry in found]
    yield Mesh(item.original.name, owner, matrix, np.ascontiguousarray(world, np.float32),
               np.ascontiguousarray(corners), positions.reshape(-1, 3),
               (owner.name, item.original.name, instance_id), painted, found)


def _job_object(mesh: Mesh, simulation: Simulation, scale: float, snapshot: Snapshot) -> Optional[JobObject]:
    role = mesh.owner.grain.type
    if len(mesh.triangles) == 0:
        if _has_instances(mesh.owner):
            return None
        raise SnapshotError(f"'{mesh.name}' has no faces, so it cannot be a {role.lower()}. Give it a surface, "
                            "check its modifiers, or remove Grain from it")
    if not np.isfinite(mesh.positions).all():
        raise SnapshotError(f"'{mesh.name}' has a vertex at infinity. Check its modifiers and its scale")
    positions = mesh.positions * np.float32(scale) if scale != 1.0 else mesh.positions
    if role == 'SOURCE':
        open_edges = count_open_edges(mesh.triangles)
        if open_edges:
            snapshot.warnings.append(
                f"'{mesh.name}' is not closed ({open_edges} open edges), so sand may fill it incorrectly. Close it, for "
                "example with a Solidify modifier or Fill Holes")
        source = mesh.owner.grain.source
        velocity = tuple(tidy(component * scale) for component in source.velocity)
        return JobObject(mesh.name, "source", positions, mesh.triangles,
                         velocity=(0.0, 0.0, 0.0) if source.use_settle else velocity,
                         settle=tidy(source.settle_seconds) if source.use_settle else 0.0,
                         moisture=tidy(source.moisture), moisture_paint=mesh.paint.get("moisture_paint"),
                         material=materials.describe(source, simulation),
                         attributes=[(entry.name, entry.domain, entry.values) for entry in mesh.attributes])
    if role == 'BODY':
        return _body(mesh, positions, scale)
    if role in ('EMITTER', 'KILL'):
        _check_inside(mesh, snapshot)
        if role == 'KILL':
            return JobObject(mesh.name, "kill", positions, mesh.triangles)
        entry = emitters.emitter(mesh.owner, scale)
        entry.name, entry.positions, entry.triangles = mesh.name, positions, mesh.triangles
        entry.material = materials.describe(mesh.owner.grain.source, simulation)
        return entry
    settings = mesh.owner.grain.collider
    return JobObject(mesh.name, "collider", positions, mesh.triangles, **animated_settings.grip(settings), **mesh.paint,
                     thickness=tidy(settings.thickness * scale))


def _check_inside(mesh: Mesh, snapshot: Snapshot) -> None:
    is_emitter = mesh.owner.grain.type == 'EMITTER'
    open_edges = count_open_edges(mesh.triangles)
    if not open_edges or (is_emitter and mesh.owner.grain.emitter.place == 'SURFACE'):
        return
    remedy = "Set From to Surface, or close it" if is_emitter else "Close it"
    snapshot.warnings.append(f"'{mesh.name}' is not closed ({open_edges} open edges), so its inside is ambiguous. {remedy}, "
                             "for example with a Solidify modifier or Fill Holes")


def _body(mesh: Mesh, positions: np.ndarray, scale: float) -> JobObject:
    owner, settings = mesh.owner, mesh.owner.grain.rigid
    if mesh.key[2] or mesh.name != owner.name:
        raise SnapshotError(f"'{mesh.name}' is an instance, which a bake cannot move. Make it a real object (Object > Apply "
                            "> Make Instances Real), or make it a Collider")
    if owner.rotation_mode == 'AXIS_ANGLE':
        raise SnapshotError(f"'{owner.name}' has the rotation mode Axis Angle, which a bake cannot move. Set it to "
                            "Quaternion or Euler")
    open_edges = count_open_edges(mesh.triangles)
    if open_edges:
        raise SnapshotError(f"'{owner.name}' is not closed ({open_edges} open edges), so it has no mass. Close it, for "
                            "example with a Solidify modifier or Fill Holes, or make it a Collider")
    return JobObject(owner.name, "body", positions, mesh.triangles, **animated_settings.grip(settings),
                     density=tidy(settings.density),
                     pivot=tuple(tidy(component * scale) for component in mesh.matrix.translation),
                     release_frame=settings.release_frame if settings.use_animation else None)


def _grain(item: Optional[Object], depsgraph: Depsgraph, scale: float) -> JobObject:
    if item is None:
        raise SnapshotError("Grain Shape is Object, but no object is chosen: choose one in Grains > Object")
    positions, triangles = surface_of(item, depsgraph)
    if len(triangles) == 0 or not np.isfinite(positions).all():
        raise SnapshotError(f"'{item.name}' has no surface, so it cannot be a grain shape. Choose a closed mesh in Grains > Object")
    if count_open_edges(triangles):
        raise SnapshotError(f"'{item.name}' is not closed, so it has no inside to fill with balls. Close it, or choose "
                            "another object in Grains > Object")
    return JobObject(item.name, "grain", positions * np.float32(scale), triangles)


def _plane(item: Object, owner: Object, scale: float) -> JobObject:
    matrix = np.array(item.matrix_world, np.float64)
    # The plane's normal is across its local X and Y, which stays right under uneven scale and shear.
    normal = np.cross(matrix[:3, 0], matrix[:3, 1])
    if normal @ matrix[:3, 2] < 0.0:
        normal = -normal
    length = np.linalg.norm(normal)
    if not np.isfinite(length) or length == 0.0:
        raise SnapshotError(f"'{owner.name}' is scaled to nothing, so it cannot be a floor. Set its scale to 1")
    point = matrix[:3, 3] * scale
    return JobObject(owner.name, "collider", plane_point=tuple(point.tolist()),
                     plane_normal=tuple((normal / length).tolist()), **animated_settings.grip(owner.grain.collider))


def count_open_edges(triangles: np.ndarray) -> int:
    """Edges that belong to an odd number of triangles."""
    edges = np.sort(np.concatenate((triangles[:, (0, 1)], triangles[:, (1, 2)], triangles[:, (2, 0)])), axis=1)
    keys = edges[:, 0].astype(np.int64) << 32 | edges[:, 1]
    return int(np.count_nonzero(np.unique(keys, return_counts=True)[1] % 2))


def _has_instances(item: Object) -> bool:
    return item.instance_type != 'NONE' or any(modifier.type == 'NODES' for modifier in item.modifiers)


def _check_visibility(roles: set[Object], view_layer: ViewLayer, snapshot: Snapshot) -> None:
    for item in sorted(roles, key=lambda item: item.name):
        if item.name not in view_layer.objects:
            snapshot.warnings.append(f"'{item.name}' is ignored: its collection is excluded from the view layer")
        elif item.hide_viewport:
            snapshot.warnings.append(f"'{item.name}' is ignored: it is disabled in viewports (monitor icon in the "
                                     "Outliner)")


def _check_empty(missing: set[Object], view_layer: ViewLayer) -> None:
    for item in sorted(missing, key=lambda item: item.name):
        if is_plane(item) or item.hide_viewport or item.name not in view_layer.objects:
            continue
        if item.type not in MESH_TYPES:
            raise SnapshotError(f"'{item.name}' has no surface, so it cannot be a {item.grain.type.lower()}. "
                                "Remove Grain from it, or for a floor set its Shape to Endless Floor")


def _name_apart(objects: list[JobObject]) -> None:
    """Instances share their object's name; messages need to tell them apart."""
    used: dict[str, int] = {}
    for entry in objects:
        used[entry.name] = used.get(entry.name, 0) + 1
        if used[entry.name] > 1:
            entry.name = f"{entry.name} (instance {used[entry.name]})"


@contextmanager
def _without_eye_icon(roles: set[Object], view_layer: ViewLayer) -> Iterator[None]:
    """Objects hidden with the eye icon have no instances in the depsgraph: shown while the snapshot is taken."""
    hidden = [item for item in roles
              if item.name in view_layer.objects and item.hide_get(view_layer=view_layer)]
    try:
        for item in hidden:
            item.hide_set(False, view_layer=view_layer)
        yield
    finally:
        for item in hidden:
            item.hide_set(True, view_layer=view_layer)
