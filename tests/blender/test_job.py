# SPDX-License-Identifier: GPL-3.0-or-later
"""The job folder as libgrain/docs/formats.md describes it, and what counts as a change."""
import os
import subprocess
from itertools import product
from math import tan
from pathlib import Path

import bpy
import numpy as np
import support

KEYS = {"schema", "name", "writer", "fps", "frame_start", "frame_end", "gravity", "seed", "checkpoint_every", "solver", "geometry",
        "arrays", "objects"}
SOLVER_KEYS = {"type", "particle_radius", "size_spread", "density", "friction", "rolling_friction", "restitution",
               "softness"}


def write(folder: Path) -> dict:
    from grain.engine import job as job_files
    from grain.scene.manage import job_builder
    made, _warnings = job_builder.make(bpy.context.scene.grain.active, bpy.context.view_layer)
    job_files.write(job_files.describe(made), folder)
    return support.read_json(folder / "job.json")


def array(folder: Path, document: dict, number: int) -> np.ndarray:
    entry = document["arrays"][number]
    kind = {"f32": "<f4", "i32": "<i4"}[entry["type"]]
    data = np.fromfile(folder / document["geometry"]["file"], kind, entry["count"] * entry["components"],
                       offset=entry["offset"])
    return data.reshape(entry["count"], entry["components"])


def test_written_as_documented(folder: Path) -> None:
    scene = support.small_scene()
    scene.render.fps, scene.render.fps_base = 30, 1.001
    scene.grain.active.seed = 42
    bpy.data.objects["Block"].grain.source.velocity = (1.0, 0.0, -2.0)
    document = write(folder)
    assert set(document) == KEYS and set(document["solver"]) == SOLVER_KEYS
    assert document["schema"] == 1 and document["name"] == "Sand" and document["seed"] == 42
    assert document["writer"].startswith("Grain 0.1.0, Blender ")
    assert abs(document["fps"] - 30 / 1.001) < 1e-4
    assert (document["frame_start"], document["frame_end"]) == (1, 5)
    assert document["gravity"] == [0.0, 0.0, -9.81]
    solver = document["solver"]
    assert solver["type"] == "mpm" and solver["particle_radius"] == 0.01 and solver["size_spread"] == 0.2
    assert abs(solver["friction"] - tan(scene.grain.active.friction_angle)) < 1e-6
    assert document["geometry"]["bytes"] == os.path.getsize(folder / "geometry.bin")
    assert all(entry["offset"] % 64 == 0 for entry in document["arrays"])
    assert sorted(os.listdir(folder)) == ["geometry.bin", "job.json"]
    objects = {entry["name"]: entry for entry in document["objects"]}
    assert set(objects) == {"Block", "Step", "Floor"}
    assert objects["Block"]["velocity"] == [1.0, 0.0, -2.0]
    assert set(objects["Floor"]) == {"name", "role", "motion", "plane", "friction"}
    positions = array(folder, document, objects["Block"]["positions"])
    triangles = array(folder, document, objects["Block"]["triangles"])
    assert np.allclose(positions.min(axis=0), (-0.08, -0.08, 0.2), atol=1e-7)
    assert triangles.shape == (12, 3) and triangles.max() == 7


def test_grain_accepts_it(folder: Path) -> None:
    support.small_scene()
    write(folder / "job")
    done = subprocess.run([support.BUILD / "bin/grain", "bake", folder / "job", "--until", "1"], capture_output=True,
                          text=True)
    assert done.returncode == 0, done.stderr
    assert (folder / "job/cache/coarse_000001.grain").is_file()


def test_properties_are_named_like_the_job(_: Path) -> None:
    from grain.engine.job import Solver
    bpy.ops.grain.simulation_add()
    settings = bpy.context.scene.grain.active.bl_rna.properties
    strays = [name for name in Solver.__dataclass_fields__ if name not in settings and name not in ("type", "friction", "animation")]
    assert strays == [], strays
    assert "friction_angle" in settings


def test_property_ranges_are_the_jobs(folder: Path) -> None:
    """The ends of every slider are allowed by libgrain."""
    scene = support.small_scene()
    properties = scene.grain.active.bl_rna.properties
    for name in ("size_spread", "density", "friction_angle", "rolling_friction", "restitution", "softness"):
        for solver, value in product(('MPM', 'DEM'), (properties[name].hard_min, properties[name].hard_max)):
            scene.grain.active.solver = solver
            before = getattr(scene.grain.active, name)
            setattr(scene.grain.active, name, value)
            write(folder)
            setattr(scene.grain.active, name, before)
            done = subprocess.run([support.BUILD / "bin/grain", "bake", folder, "--until", "1", "--restart"],
                                  capture_output=True, text=True)
            assert done.returncode == 0, f"{solver}, {name} = {value}: {done.stderr}"


def test_every_property_explains_itself(_: Path) -> None:
    from grain import properties
    for cls in properties.CLASSES:
        for prop in cls.bl_rna.properties:
            if prop.is_hidden or prop.identifier == "rna_type" or prop.type == 'POINTER':
                continue
            assert len(prop.description) > 10, f"{cls.__name__}.{prop.identifier} has no tooltip"
            assert not prop.description.endswith("."), f"{cls.__name__}.{prop.identifier}: no full stop in tooltips"


def changes(folder: Path) -> list[str]:
    from grain.engine import job as job_files, job_compare
    from grain.scene.manage import job_builder
    made, _warnings = job_builder.make(bpy.context.scene.grain.active, bpy.context.view_layer)
    settings, objects = job_compare.changes(job_files.describe(made), folder)
    return settings + objects


def test_changes_are_found_and_named(folder: Path) -> None:
    scene = support.small_scene()
    write(folder)
    assert changes(folder) == []
    scene.frame_end = 50
    scene.grain.active.name = "Other"
    scene.grain.active.thread_count = 1
    assert changes(folder) == [], "neither a longer shot nor a name changes what is baked"
    scene.grain.active.density = 2000.0
    assert changes(folder) == ["density"]
    scene.grain.active.density = 2600.0
    scene.render.fps = 25
    assert changes(folder) == ["frame rate"]
    scene.render.fps = 24
    bpy.data.objects["Step"].location.x += 0.01
    assert changes(folder) == ["'Step'"]
    bpy.data.objects["Step"].location.x -= 0.01
    bpy.data.objects["Floor"].grain.type = 'NONE'
    support.box("Wall", (1, 1, 1), (2, 2, 2)).grain.type = 'COLLIDER'
    assert changes(folder) == ["'Floor' (gone)", "'Wall' (new)"]


def test_a_click_describes_its_job_once(folder: Path) -> None:
    """The arrays of a deforming collider are large: to compare the job and to write it takes one description, none of
    whose arrays is a copy."""
    from grain.engine import job as job_files
    from grain.scene.manage import baking, job_builder
    support.small_scene()
    described, made = [], []
    describe, make = job_files.describe, job_builder.make

    def note_describe(job: "object") -> "object":
        if job.objects:  # the panel's comparisons of settings have none
            described.append(describe(job))
        return described[-1] if job.objects else describe(job)

    def note_make(*given: "object") -> "object":
        made.append(make(*given))
        return made[-1]

    assert bpy.ops.grain.bake() == {'FINISHED'}
    bpy.context.scene.frame_end += 1
    job_files.describe, job_builder.make = note_describe, note_make
    try:
        bake = baking.start(bpy.context.scene.grain.active, bpy.context.view_layer, False)
        while baking.advance(bake) is None:
            pass
    finally:
        job_files.describe, job_builder.make = describe, make
    assert len(described) == 1, f"the job was described {len(described)} times"
    given = [array for item in made[0][0].objects for array in (item.positions, item.triangles) if array is not None]
    assert given and all(any(array is taken for taken in described[0].arrays) for array in given)
