# SPDX-License-Identifier: GPL-3.0-or-later
"""A scene to the objects of a job: who takes part, as what, and what is sampled over the frames.

What takes part is what the scene really shows: modifiers, instances and non-mesh types included, wherever the role
comes from (the object itself, or the instancer it belongs to). The eye icon and the camera icon do not matter, an
invisible collider is still a collider; objects disabled in viewports or in an excluded collection take no part, as
for every other simulation in Blender.
"""
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
from bpy.types import Depsgraph, Object, Scene, ViewLayer
from mathutils import Matrix, Vector

from ...engine import schema
from ...engine.job import JobField, JobObject
from .. import keyframe_paths, simulations
from ..simulations import Simulation
from ..units import metres_per_unit, tidy
from . import animated_settings, emitters, fields, materials, meshes, motion_record, motion_search
from .errors import SnapshotError
from .meshes import Mesh, count_open_edges
from .sampling import Curves


@dataclass
class Snapshot:
    objects: list[JobObject] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    bodies: list[tuple[Object, JobObject, Matrix]] = field(default_factory=list)
    fields: list[JobField] = field(default_factory=list)
    gravity: Optional[np.ndarray] = None  # m/s2 (frames, 3), where it changes
    settings: JobField = field(default_factory=lambda: JobField("settings", {}))  # of the solver, where they change


def take(simulation: Simulation, view_layer: ViewLayer, last: Optional[int] = None) -> Snapshot:
    """Everything that takes part, at the scene's current frame, in metres; and up to the last frame, if one is given,
    how it moves. The scene is then left at that frame."""
    roles = set(simulations.objects(simulation))
    for item in roles:
        item.update_from_editmode()  # what the artist sees counts, not the mesh from before Edit Mode
    view_layer.update()
    taking = _Taking(simulation, view_layer, roles)
    taking.warn_of_hidden()
    with _without_eye_icon(roles, view_layer):
        view_layer.update()
        taking.read_planes()
        taking.read_meshes()
        taking.read_grain()
        taking.read_fields()
        taking.read_settings()
        if last is not None:
            taking.record(last)
    return taking.finish()


class _Taking:
    """A snapshot in the making: what is read so far, and what is still to be sampled over the frames."""

    def __init__(self, simulation: Simulation, view_layer: ViewLayer, roles: set[Object]) -> None:
        self.simulation, self.view_layer, self.roles = simulation, view_layer, roles
        self.scene: Scene = simulation.id_data
        self.scale = metres_per_unit(self.scene)
        self.snapshot = Snapshot()
        self.gravity = JobField("gravity", {})
        self.tracks: dict[meshes.Key, motion_record.Track] = {}
        self.curves = Curves()

    def warn_of_hidden(self) -> None:
        for item in _by_name(self.roles):
            reason = ""
            if item.name not in self.view_layer.objects:
                reason = "its collection is excluded from the view layer"
            elif item.hide_viewport:
                reason = "it is disabled in viewports (monitor icon in the Outliner)"
            if reason:
                self.snapshot.warnings.append(f"'{item.name}' takes no part: {reason}")

    def read_planes(self) -> None:
        for item in _by_name(self.roles):
            if meshes.is_plane(item) and item.name in self.view_layer.objects:
                entry = _plane(item.evaluated_get(self.view_layer.depsgraph), item, self.scale)
                self.snapshot.objects.append(entry)
                animated_settings.add_grip_curves(self.curves, entry, item)

    def read_meshes(self) -> None:
        found: set[Object] = set()
        for mesh in meshes.of_simulation(self.simulation, self.view_layer.depsgraph, self.roles):
            found.add(mesh.owner)
            if len(mesh.triangles) > 0 or not _has_instances(mesh.owner):
                self._add(mesh)
        _check_empty(self.roles - found, self.view_layer)

    def _add(self, mesh: Mesh) -> None:
        entry = _job_object(mesh, self.simulation, self.scale, self.snapshot.warnings)
        self.snapshot.objects.append(entry)
        if entry.role == "body":
            self.snapshot.bodies.append((mesh.owner, entry, mesh.matrix))
        animated_settings.add_grip_curves(self.curves, entry, mesh.owner)
        if entry.material is not None and motion_search.is_animated(mesh.owner):
            entry.material_curves = JobField(entry.name, {})
            animated_settings.add_material_curves(self.curves, entry.material_curves, mesh.owner, self.simulation)
        if entry.role != "source" and motion_search.can_move(mesh.owner, set()):
            self.tracks[mesh.key] = motion_record.Track(mesh, entry)
            if entry.role == "emitter":
                emitters.add_curves(self.curves, entry, mesh.owner, self.view_layer, self.scale)

    def read_grain(self) -> None:
        if schema.uses(self.simulation.solver, "solver.grain_shape") and self.simulation.grain_shape == 'MESH':
            depsgraph = self.view_layer.depsgraph
            self.snapshot.objects.append(_grain(self.simulation.grain_object, depsgraph, self.scale))

    def read_fields(self) -> None:
        self.snapshot.fields, warnings = fields.take(self.simulation, self.view_layer, self.curves)
        self.snapshot.warnings += warnings

    def read_settings(self) -> None:
        if motion_search.is_animated(self.scene):
            self.curves.add(self.gravity, "gravity", lambda: gravity_of(self.scene))
            self.snapshot.warnings += animated_settings.add_curves(self.curves, self.snapshot.settings, self.simulation)

    def record(self, last: int) -> None:
        if not self.tracks and not self.curves:
            return

        def read() -> Iterator[Mesh]:
            return meshes.again(self.simulation, self.view_layer.depsgraph, self.roles, self.tracks)

        self.snapshot.warnings += motion_record.run(self.scene, self.tracks, read, self.scene.frame_current, last,
                                                    self.simulation.motion_samples, self.scale, self.curves)
        self.snapshot.gravity = self.gravity.animation.get("gravity")

    def finish(self) -> Snapshot:
        objects = self.snapshot.objects
        _name_apart(objects)
        # Sources first, then by name: the order of particles must not depend on how Blender lists its objects.
        objects.sort(key=lambda entry: (entry.role != "source", entry.name))
        if not any(entry.role in ("source", "emitter", "body") for entry in objects):
            raise SnapshotError("There is no sand: select a closed mesh and make it a Source or an Emitter in Properties "
                                "> Physics")
        return self.snapshot


def _by_name(items: Iterable[Object]) -> list[Object]:
    return sorted(items, key=lambda item: item.name)


def gravity_of(scene: Scene, frame: Optional[int] = None) -> tuple[float, float, float]:
    """As the Scene tab shows it, now or, as far as it is keyed, at a frame: Blender scales accelerations by the unit scale
    too."""
    if not scene.use_gravity:
        return 0.0, 0.0, 0.0
    scale = metres_per_unit(scene)
    keyed = [keyframe_paths.value_at(scene, "gravity", frame, index) if frame is not None else None for index in range(3)]
    return tuple(tidy((now if at is None else at) * scale) for now, at in zip(scene.gravity, keyed, strict=True))


def _job_object(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    role = mesh.owner.grain.type
    if len(mesh.triangles) == 0:
        raise SnapshotError(f"'{mesh.name}' has no faces, so it cannot be a {role.lower()}. Give it a surface, "
                            "check its modifiers, or remove Grain from it")
    positions = mesh.positions(scale)
    if not np.isfinite(positions).all():
        raise SnapshotError(f"'{mesh.name}' has a vertex at infinity. Check its modifiers and its scale")
    entry = _ROLES[role](mesh, simulation, scale, warnings)
    entry.positions, entry.triangles = positions, mesh.triangles
    return entry


def _source(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    open_edges = count_open_edges(mesh.triangles)
    if open_edges:
        warnings.append(f"'{mesh.name}' is not closed ({open_edges} open edges), so sand may fill it incorrectly. Close it, for "
                        "example with a Solidify modifier or Fill Holes")
    source = mesh.owner.grain.source
    velocity = _metres(source.velocity, scale)
    return JobObject(mesh.name, "source", velocity=(0.0, 0.0, 0.0) if source.use_settle else velocity,
                     settle=tidy(source.settle_seconds) if source.use_settle else 0.0,
                     moisture=tidy(source.moisture), moisture_paint=mesh.paint.get("moisture_paint"),
                     material=materials.describe(source, simulation),
                     attributes=[(entry.name, entry.domain, entry.values) for entry in mesh.attributes])


def _emitter(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    if mesh.owner.grain.emitter.place != 'SURFACE':
        _warn_of_holes(mesh, "Set From to Surface, or close it", warnings)
    entry = emitters.emitter(mesh.owner, scale)
    entry.name = mesh.name
    entry.material = materials.describe(mesh.owner.grain.source, simulation)
    return entry


def _kill(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    _warn_of_holes(mesh, "Close it", warnings)
    return JobObject(mesh.name, "kill")


def _warn_of_holes(mesh: Mesh, remedy: str, warnings: list[str]) -> None:
    open_edges = count_open_edges(mesh.triangles)
    if open_edges:
        warnings.append(f"'{mesh.name}' is not closed ({open_edges} open edges), so its inside is ambiguous. "
                        f"{remedy}, for example with a Solidify modifier or Fill Holes")


def _collider(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    settings = mesh.owner.grain.collider
    return JobObject(mesh.name, "collider", **animated_settings.grip(settings), **mesh.paint,
                     thickness=tidy(settings.thickness * scale))


def _body(mesh: Mesh, simulation: Simulation, scale: float, warnings: list[str]) -> JobObject:
    owner, settings = mesh.owner, mesh.owner.grain.rigid
    if mesh.key[2] or mesh.name != owner.name:
        raise SnapshotError(f"'{mesh.name}' is an instance, which a bake cannot move. Make it a real object (Object > "
                            "Apply > Make Instances Real), or make it a Collider")
    if owner.rotation_mode == 'AXIS_ANGLE':
        raise SnapshotError(f"'{owner.name}' has the rotation mode Axis Angle, which a bake cannot move. Set it to "
                            "Quaternion or Euler")
    open_edges = count_open_edges(mesh.triangles)
    if open_edges:
        raise SnapshotError(f"'{owner.name}' is not closed ({open_edges} open edges), so it has no mass. Close it, for "
                            "example with a Solidify modifier or Fill Holes, or make it a Collider")
    return JobObject(owner.name, "body", **animated_settings.grip(settings), density=tidy(settings.density),
                     pivot=_metres(mesh.matrix.translation, scale),
                     release_frame=settings.release_frame if settings.use_animation else None)


# How an object with a mesh is described, by its role in Blender.
_ROLES: dict[str, Callable[[Mesh, Simulation, float, list[str]], JobObject]] = {
    'SOURCE': _source, 'EMITTER': _emitter, 'KILL': _kill, 'COLLIDER': _collider, 'BODY': _body}


def _metres(vector: Vector, scale: float) -> tuple[float, float, float]:
    return tidy(vector[0] * scale), tidy(vector[1] * scale), tidy(vector[2] * scale)


def _grain(item: Optional[Object], depsgraph: Depsgraph, scale: float) -> JobObject:
    if item is None:
        raise SnapshotError("Grain Shape is Object, but no object is chosen: choose one in Grains > Object")
    positions, triangles = meshes.surface_of(item, depsgraph)
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


def _has_instances(item: Object) -> bool:
    return item.instance_type != 'NONE' or any(modifier.type == 'NODES' for modifier in item.modifiers)


def _check_empty(missing: set[Object], view_layer: ViewLayer) -> None:
    for item in _by_name(missing):
        if meshes.is_plane(item) or item.hide_viewport or item.name not in view_layer.objects:
            continue
        if item.type not in meshes.MESH_TYPES:
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
