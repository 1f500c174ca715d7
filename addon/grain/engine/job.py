# SPDX-License-Identifier: GPL-3.0-or-later
"""The job: a scene as plain data, written as `job.json` and `geometry.bin` (libgrain/docs/formats.md).

All numbers are SI, positions are in world space.
"""
import errno
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Optional

import numpy as np

from . import door, reading, schema

JOB_FILE = "job.json"
GEOMETRY_FILE = "geometry.bin"
_MOST_BYTES = 16 << 20  # of job.json: 50,000 objects
ARRAY_ALIGNMENT = 64  # bytes

Vector = tuple[float, float, float]


@dataclass
class Solver:
    """Names equal the job's keys and, friction apart, the properties of the scene."""
    type: str
    particle_radius: float  # m
    size_spread: float = schema.default("solver.size_spread")
    density: float = schema.default("solver.density")  # kg/m3
    friction: float = schema.default("solver.friction")  # tangent of the friction angle
    rolling_friction: float = schema.default("solver.rolling_friction")
    restitution: float = schema.default("solver.restitution")
    softness: float = schema.default("solver.softness")
    # From here on written only where they are not as here.
    grain_shape: str = schema.default("solver.grain_shape")
    grain_balls: int = schema.default("solver.grain_balls")
    cohesion: float = schema.default("solver.cohesion")
    normal_law: str = schema.default("solver.normal_law")
    shear_law: str = schema.default("solver.shear_law")
    young_modulus: float = schema.default("solver.young_modulus")  # Pa
    poisson_ratio: float = schema.default("solver.poisson_ratio")
    integrator: str = schema.default("solver.integrator")
    tolerance: float = schema.default("solver.tolerance")  # radii
    sleep: bool = schema.default("solver.sleep")
    law: str = schema.default("solver.law")
    model: str = schema.default("solver.model")
    moisture_diffusion: float = schema.default("solver.moisture_diffusion")  # m2/s
    elasticity: float = schema.default("solver.elasticity")  # Pa
    viscosity: float = schema.default("solver.viscosity")  # Pa s
    elastic_reach: float = schema.default("solver.elastic_reach")  # diameters
    reach_ratio: float = schema.default("solver.reach_ratio")
    ambient_viscosity: float = schema.default("solver.ambient_viscosity")  # 1/s
    animation: dict[str, np.ndarray] = field(default_factory=dict)  # friction, cohesion, viscosity: float32 (frames, 1)


# Jobs have always had these, default or not: without one the fingerprint would be another.
_ALWAYS_WRITTEN = ("type", "particle_radius", "size_spread", "density", "friction", "rolling_friction", "restitution", "softness")


@dataclass
class JobObject:
    """One source, collider or rigid body, or what grains are shaped like: a mesh, or (colliders only) an endless plane."""
    name: str
    role: str  # source, emitter, collider, body, kill, grain
    positions: Optional[np.ndarray] = None  # float32 (vertices, 3), m
    triangles: Optional[np.ndarray] = None  # int32 (triangles, 3), outward winding
    plane_point: Optional[Vector] = None
    plane_normal: Optional[Vector] = None
    velocity: Vector = (0.0, 0.0, 0.0)  # m/s, sources
    settle: float = schema.default("source.settle")  # s, sources: longest time to come to rest before the first frame; 0: none
    moisture: float = schema.default("source.moisture")  # sources, 0 to 1
    moisture_paint: Optional[np.ndarray] = None  # float32 (vertices, 1), 0 to 1: what it is multiplied by
    friction: float = schema.default("collider.friction")  # colliders, bodies
    stickiness: float = schema.default("collider.stickiness")  # likewise: pull as a multiple of a particle's weight
    friction_paint: Optional[np.ndarray] = None  # float32 (vertices, 1), 0 to 1: what it is multiplied by
    stickiness_paint: Optional[np.ndarray] = None  # likewise
    thickness: float = schema.default("collider.thickness")  # m, colliders
    material: Optional[dict[str, float | str]] = None  # sources: what differs from the solver's settings
    material_curves: Optional["JobField"] = None  # and how it changes
    attributes: list[tuple[str, str, np.ndarray]] = field(default_factory=list)  # sources: name, domain, float32 (n, 1 to 4)
    poses: Optional[np.ndarray] = None  # float32 (samples, 7): place of the pivot, rotation since the first frame
    shapes: Optional[np.ndarray] = None  # float32 (samples, vertices, 3), m
    samples_per_frame: int = schema.default("collider.samples_per_frame")
    density: float = schema.default("body.density")  # kg/m3, bodies
    pivot: Vector = (0.0, 0.0, 0.0)  # m, bodies: what the frames tell the way of
    release_frame: Optional[int] = None  # bodies: until then they follow their poses; None: free from the start
    emitter: Optional[dict[str, Any]] = None  # emitters: keys of the job
    animation: dict[str, np.ndarray] = field(default_factory=dict)  # float32 (frames, components), by the job's keys


@dataclass
class JobField:
    """A force field. `keys` are the job's; poses stand in `animation` where it moves, otherwise in `pose`."""
    name: str
    keys: dict[str, Any]
    pose: tuple[float, ...] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)  # m, unit quaternion
    animation: dict[str, np.ndarray] = field(default_factory=dict)


@dataclass
class Upsample:
    """Render grains made of the bake; no part of what the bake itself depends on."""
    grains_per_particle: int = 0  # 0: `grains` is the total
    grains: float = 0.0
    size_spread: float = schema.default("upsample.size_spread")
    seed: int = schema.default("upsample.seed")
    orientation: bool = schema.default("upsample.orientation")  # whether frames tell how grains are turned


@dataclass
class Job:
    name: str
    fps: float
    frame_start: int
    frame_end: int
    gravity: Vector
    solver: Solver
    seed: int = schema.default("job.seed")
    writer: str = ""
    checkpoint_every: int = schema.default("job.checkpoint_every")  # frames
    upsample: Optional[Upsample] = None
    objects: list[JobObject] = field(default_factory=list)
    fields: list[JobField] = field(default_factory=list)
    animation: dict[str, np.ndarray] = field(default_factory=dict)  # gravity


@dataclass
class Description:
    """A job as it lies on disk."""
    document: dict[str, Any]  # job.json
    arrays: list[np.ndarray]  # of geometry.bin, in order; borrowed from the job wherever they have its layout already


class _Describer:
    """Turns the parts of a job into entries of its document, and collects their arrays."""

    def __init__(self, solver: Solver) -> None:
        self.can_be_wet = schema.uses(solver.type, "source.moisture")  # what plays no part must not make a bake look outdated
        self.entries: list[dict[str, Any]] = []  # of the arrays
        self.arrays: list[np.ndarray] = []
        self.bytes = 0

    def add(self, array: np.ndarray, kind: str = "f32") -> int:
        data = np.ascontiguousarray(array, dtype="<f4" if kind == "f32" else "<i4")
        self.entries.append({"type": kind, "components": data.shape[1], "count": data.shape[0], "offset": self.bytes})
        self.arrays.append(data)
        self.bytes += _aligned(data.nbytes)
        return len(self.entries) - 1

    def add_named(self, item: JobObject, *names: str) -> dict[str, int]:
        return {name: self.add(getattr(item, name)) for name in names if getattr(item, name) is not None}

    def animation(self, samples: dict[str, np.ndarray]) -> dict[str, Any]:
        return {"animation": {name: self.add(samples[name]) for name in sorted(samples)}} if samples else {}

    def object(self, item: JobObject) -> dict[str, Any]:
        write_role = _ROLES.get(item.role)
        samples = {name: values for name, values in item.animation.items() if self.can_be_wet or name != "moisture"}
        return {"name": item.name, "role": item.role, **self._surface(item),
                **(write_role(self, item) if write_role is not None else {}), **self.animation(samples)}

    def _surface(self, item: JobObject) -> dict[str, Any]:
        motion = "moving" if item.poses is not None else "deforming" if item.shapes is not None else "static"
        entry: dict[str, Any] = {"motion": motion}
        if item.plane_point is not None and item.plane_normal is not None:
            entry["plane"] = {"point": list(item.plane_point), "normal": list(item.plane_normal)}
        elif item.positions is not None and item.triangles is not None:
            entry["positions"] = self.add(item.positions)
            entry["triangles"] = self.add(item.triangles, "i32")
        entry.update(self.add_named(item, "poses"))
        if item.shapes is not None:
            entry["shapes"] = self.add(item.shapes.reshape(-1, 3))
        if motion != "static":
            entry["samples_per_frame"] = item.samples_per_frame
        return entry

    def source(self, item: JobObject) -> dict[str, Any]:
        """Of sources and emitters: an emitter is a source which gives its particles one after another."""
        entry: dict[str, Any] = {**(item.emitter or {}), "velocity": list(item.velocity)}
        if item.settle != schema.default("source.settle"):
            entry["settle"] = item.settle
        if item.moisture != schema.default("source.moisture") and self.can_be_wet:
            entry["moisture"] = item.moisture
            entry.update(self.add_named(item, "moisture_paint"))
        if item.material is not None:
            curves = item.material_curves.animation if item.material_curves is not None else {}
            entry["material"] = {**item.material, **self.animation(curves)}
        if item.attributes:
            entry["attributes"] = [{"name": name, "values": self.add(values), "domain": domain}
                                   for name, domain, values in item.attributes]
        return entry

    def collider(self, item: JobObject) -> dict[str, Any]:
        return {**self._grip(item), **({"thickness": item.thickness} if item.plane_point is None else {})}

    def body(self, item: JobObject) -> dict[str, Any]:
        entry = {**self._grip(item), "density": item.density, "pivot": list(item.pivot)}
        if item.release_frame is not None:
            entry["release_frame"] = item.release_frame
        return entry

    def _grip(self, item: JobObject) -> dict[str, Any]:
        entry: dict[str, Any] = {"friction": item.friction}
        if item.stickiness != schema.default("collider.stickiness"):
            entry["stickiness"] = item.stickiness
        return {**entry, **self.add_named(item, "friction_paint", "stickiness_paint")}

    def field(self, item: JobField) -> dict[str, Any]:
        animation = dict(item.animation)
        poses = animation.pop("poses", np.array([item.pose], np.float32))
        return {"name": item.name, **item.keys, "poses": self.add(poses), **self.animation(animation)}


# What an object of a role says beside its surface; kill zones and grain shapes are nothing but that.
_ROLES = {"source": _Describer.source, "emitter": _Describer.source, "collider": _Describer.collider,
          "body": _Describer.body}


def _aligned(size: int) -> int:
    return size + -size % ARRAY_ALIGNMENT


def describe_solver(solver: Solver) -> dict[str, Any]:
    values = {name: getattr(solver, name) for name in Solver.__dataclass_fields__ if name != "animation"}
    return {name: value for name, value in values.items()
            if name in _ALWAYS_WRITTEN or value != schema.default(f"solver.{name}")}


def describe_upsample(wish: Upsample) -> dict[str, Any]:
    count = {"grains_per_particle": wish.grains_per_particle} if wish.grains_per_particle else {"grains": wish.grains}
    return {**count, "size_spread": wish.size_spread, "seed": wish.seed, "orientation": wish.orientation}


def describe(job: Job) -> Description:
    """Arrays are borrowed, not copied: change none of the job's until the description is written."""
    describer = _Describer(job.solver)
    document: dict[str, Any] = {
        "schema": schema.VERSION, "name": job.name, "writer": job.writer, "fps": job.fps,
        "frame_start": job.frame_start, "frame_end": job.frame_end, "gravity": list(job.gravity), "seed": job.seed,
        "checkpoint_every": job.checkpoint_every, "solver": describe_solver(job.solver),
    }
    if job.upsample is not None:
        document["upsample"] = describe_upsample(job.upsample)
    objects = [describer.object(item) for item in job.objects]
    if job.fields:
        document["fields"] = [describer.field(item) for item in job.fields]
    document.update(describer.animation(job.animation))
    document["solver"].update(describer.animation(job.solver.animation))
    if describer.entries:
        document["geometry"] = {"file": GEOMETRY_FILE, "bytes": describer.bytes}
    document["arrays"] = describer.entries
    document["objects"] = objects
    return Description(document, describer.arrays)


def _write_document(document: dict[str, Any], folder: Path) -> None:
    door.replace(folder / JOB_FILE, json.dumps(document, indent=1, ensure_ascii=False).encode("utf-8"))


def make_folder(folder: Path) -> None:
    """Raises OSError."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    try:
        folder.mkdir()
    except FileExistsError:
        pass  # whatever it is, the door looks at it


def write(description: Description, folder: Path) -> None:
    """Writes the job; a reader never sees half a file. Raises OSError with the path in it."""
    make_folder(folder)
    chunks: list[bytes | np.ndarray] = []
    for array in description.arrays:
        chunks += [array.reshape(-1).view(np.uint8), bytes(_aligned(array.nbytes) - array.nbytes)]
    door.replace(folder / GEOMETRY_FILE, *chunks)
    _write_document(description.document, folder)


def set_part(folder: Path, name: str, settings: dict[str, Any]) -> None:
    """What `grain volume` or `grain upsample` is to make of the job in this folder; nothing else of it changes. Raises
    OSError."""
    document = read_document(folder)
    if document is None:
        door.state(folder / JOB_FILE)  # says what keeps it from being read
        raise OSError(errno.EINVAL, "it is damaged", str(folder / JOB_FILE))
    _write_document({**document, name: settings}, folder)


_memory: dict[Path, tuple[tuple[int, int, int], Optional[dict[str, Any]]]] = {}


def read_document(folder: Path) -> Optional[dict[str, Any]]:
    """job.json of a folder, not to be changed, or None where there is none that can be read. Its blocks, lists and names are what they
    should be; other values may be anything. Parsed again only when the file changed: panels ask at every redraw."""
    try:
        state = door.state(folder / JOB_FILE)
        stamp = (state.st_mtime_ns, state.st_size, state.st_ino)
        remembered = _memory.get(folder)
        if remembered is None or remembered[0] != stamp:
            remembered = _memory[folder] = (stamp, _parse(door.read(folder / JOB_FILE, _MOST_BYTES)))
    except OSError:
        _memory.pop(folder, None)
        return None
    return remembered[1]


def _parse(data: bytes) -> Optional[dict[str, Any]]:
    try:
        document = reading.parse(data)
        document.block("solver").block("animation")
        document.block("animation")
        for array in document.blocks("arrays"):
            array.integer("offset", 0)
        for entry in (*document.blocks("objects"), *document.blocks("fields")):
            entry.text("name")
            entry.block("animation")
            for attribute in entry.blocks("attributes"):
                attribute.text("name")
    except reading.Unfit:
        return None
    return document.values


def changed_settings(new: dict[str, Any], old: dict[str, Any]) -> list[str]:
    """Settings (no geometry) which differ and change the result, by label."""
    pairs = (("job", new, old), ("solver", new.get("solver", {}), old.get("solver", {})))
    return [setting.label.lower() for block, here, there in pairs for setting in schema.BLOCKS[block]
            if setting.label and setting.changes_result and here.get(setting.key) != there.get(setting.key)]
