# SPDX-License-Identifier: GPL-3.0-or-later
"""Grains that are no spheres: from the panel's settings through a bake to instances that face as they should."""
from math import radians
from pathlib import Path

import bpy
import numpy as np
import support
from mathutils import Euler, Quaternion


def scene_with(shape: str) -> bpy.types.Scene:
    scene = support.small_scene(3)
    scene.grain.active.solver, scene.grain.active.grain_shape = 'DEM', shape
    return scene


def instances(scene: bpy.types.Scene) -> list:
    """World matrices of the grains, as the renderer gets them."""
    depsgraph = bpy.context.evaluated_depsgraph_get()
    sand = scene.grain.active.sand_object
    return [entry.matrix_world.copy() for entry in depsgraph.object_instances
            if entry.is_instance and entry.object.type == 'MESH' and entry.parent.original == sand]


def frame(folder: Path, number: int) -> dict:
    return support.read_frame(folder / f"grain_cache/Sand/coarse_{number:06d}.grain")


def test_every_shape_bakes_and_faces(folder: Path) -> None:
    for shape in ('TETRAHEDRON', 'CUBE', 'ROD', 'BEAN'):
        place = folder / shape
        place.mkdir()
        bpy.ops.wm.read_factory_settings(use_empty=True)
        support.enable()
        scene = scene_with(shape)
        support.save(place)
        bpy.ops.grain.bake()
        scene.frame_set(3)
        columns, shown = frame(place, 3), instances(scene)
        assert len(shown) == len(columns["position"]) > 20
        for grain in range(0, len(shown), 7):
            location, rotation, scale = shown[grain].decompose()
            assert np.allclose(location, columns["position"][grain], atol=1e-5)
            assert np.allclose(scale, columns["radius"][grain], rtol=1e-4)
            assert abs(rotation.dot(Quaternion(columns["orientation"][grain]))) > 0.9999
        reach = max(vertex.co.length for vertex in scene.grain.active.shape_object.data.vertices)
        assert 0.97 < reach < 1.001, "the shape fills the ball around the grain"


def test_any_object_as_grain(folder: Path) -> None:
    scene = scene_with('MESH')
    bpy.ops.mesh.primitive_monkey_add(location=(3.0, 2.0, 1.0))
    monkey = bpy.context.object
    modifier = monkey.modifiers.new("Close", 'REMESH')  # Suzanne is open at the eyes
    modifier.mode, modifier.voxel_size = 'VOXEL', 0.1
    monkey.rotation_euler = Euler((radians(30.0), 0.0, radians(70.0)))
    scene.grain.active.grain_object, scene.grain.active.grain_balls = monkey, 16
    support.save(folder)
    bpy.ops.grain.bake()
    document = support.read_json(folder / "grain_cache/Sand/job/job.json")
    assert document["solver"]["grain_shape"] == "mesh" and document["solver"]["grain_balls"] == 16
    assert [entry["name"] for entry in document["objects"] if entry["role"] == "grain"] == ["Suzanne"]
    shape = scene.grain.active.shape_object
    reach = max(vertex.co.length for vertex in shape.data.vertices)
    assert 0.9 < reach < 1.5, f"the tips of the ears, which no ball fits into, stick out to {reach}"
    assert np.linalg.norm(np.mean([vertex.co[:] for vertex in shape.data.vertices], axis=0)) < 0.3
    scene.frame_set(2)
    assert len(instances(scene)) == len(frame(folder, 2)["position"])
    scene.grain.active.grain_shape = 'SPHERE'
    bpy.ops.grain.bake(restart=True)
    assert instances(scene) == [] and scene.grain.active.shape_object is None


def test_what_cannot_be_a_grain_is_named(folder: Path) -> None:
    from grain.scene.manage import baking
    scene = scene_with('MESH')
    for item, word in ((None, "no object is chosen"), ("open", "not closed")):
        if item is not None:
            bpy.ops.mesh.primitive_plane_add()
            scene.grain.active.grain_object = bpy.context.object
        try:
            baking.start(scene.grain.active, bpy.context.view_layer, False)
        except baking.BakeRefused as error:
            assert word in str(error), error
        else:
            raise AssertionError("it started")


def test_contact_settings_and_materials_reach_the_job(folder: Path) -> None:
    from grain.engine import job as job_files
    from grain.scene.manage import job_builder
    scene = support.small_scene()
    settings = scene.grain.active
    settings.solver = 'DEM'
    settings.normal_law, settings.shear_law, settings.cohesion = 'HERTZ', 'SLIDING', 2.5
    settings.integrator, settings.tolerance, settings.young_modulus = 'RKF45', 1e-4, 1e7
    source = bpy.data.objects["Block"].grain.source
    source.use_material, source.density = True, 1000.0
    made, _warnings = job_builder.make(scene.grain.active, bpy.context.view_layer)
    document = job_files.describe(made).document
    solver = document["solver"]
    assert (solver["normal_law"], solver["shear_law"], solver["cohesion"]) == ("hertz", "sliding", 2.5)
    assert (solver["integrator"], solver["tolerance"], solver["young_modulus"]) == ("rkf45", 1e-4, 1e7)
    block = next(entry for entry in document["objects"] if entry["name"] == "Block")
    assert block["material"]["density"] == 1000.0 and abs(block["material"]["friction"] - 0.6) < 0.01
    support.save(folder)
    bpy.ops.grain.bake()
    assert len(frame(folder, 3)["position"]) > 100


def test_consistency_reaches_the_job_and_names_its_zone(folder: Path) -> None:
    from grain.engine import job as job_files
    from grain.scene.manage import consistency, job_builder, presets
    scene = support.small_scene()
    settings = scene.grain.active
    presets.use(settings, 'PASTE', bpy.context.evaluated_depsgraph_get())
    assert presets.matching(settings) == 'PASTE' and abs(settings.firmness - 0.75) < 1e-4
    firm = consistency.firmness(settings.elasticity, settings.particle_radius, settings.density, 9.81)
    assert consistency.zone(firm, settings.reach_ratio, settings.viscosity).startswith("Paste")
    settings.firmness, settings.reach_ratio = 0.1, 0.7
    assert abs(settings.firmness - 0.1) < 1e-4
    firm = consistency.from_slider(settings.firmness)
    assert consistency.zone(firm, 0.7, settings.viscosity).startswith("Fluid")
    assert consistency.zone(firm, 1.0, settings.viscosity).startswith("Foam")
    assert consistency.zone(firm, 1.0, 0.0).startswith("Gas")
    settings.firmness, settings.reach_ratio, settings.viscosity = 0.6, 2.0, 25.0
    document = job_files.describe(job_builder.make(settings, bpy.context.view_layer)[0]).document["solver"]
    assert (document["type"], document["reach_ratio"], document["viscosity"]) == ("meso", 2.0, 25.0)
    assert abs(document["elasticity"] / settings.elasticity - 1.0) < 1e-5 and "cohesion" not in document
    support.save(folder)
    bpy.ops.grain.bake()
    assert len(frame(folder, 3)["position"]) > 100


def test_wet_sand_reaches_the_job_and_the_points(folder: Path) -> None:
    from grain.engine import job as job_files
    from grain.scene.manage import job_builder
    scene = support.small_scene()
    scene.grain.active.solver = 'DEM'
    source = bpy.data.objects["Block"].grain.source
    source.moisture = 0.75
    block = next(entry for entry in job_files.describe(job_builder.make(scene.grain.active, bpy.context.view_layer)[0]).document["objects"]
                 if entry["name"] == "Block")
    assert "moisture" not in block  # single grains know none
    scene.grain.active.solver, scene.grain.active.moisture_diffusion = 'SPH', 0.001
    document = job_files.describe(job_builder.make(scene.grain.active, bpy.context.view_layer)[0]).document
    assert (document["solver"]["type"], document["solver"]["moisture_diffusion"]) == ("sph", 0.001)
    assert "model" not in document["solver"]
    support.save(folder)
    bpy.ops.grain.bake()
    scene.frame_set(3)
    mesh = scene.grain.active.sand_object.data
    moisture = np.empty(len(mesh.vertices), np.float32)
    mesh.attributes["moisture"].data.foreach_get("value", moisture)
    assert len(moisture) > 100 and np.allclose(moisture, 0.75, atol=1e-5)
    assert any(node.type == 'ATTRIBUTE' and node.attribute_name == "moisture" for node in mesh.materials[0].node_tree.nodes)


def test_moisture_can_be_painted_on_sources_of_both_kinds_of_bulk(folder: Path) -> None:
    """The upper vertices of a block are wet, by a vertex group: each particle is as wet as the surface nearest to it, and
    render grains are as wet as their particles."""
    from grain.scene.read import snapshot
    scene = support.small_scene()
    item, settings = bpy.data.objects["Block"], scene.grain.active
    top = max(vertex.co.z for vertex in item.data.vertices)
    item.vertex_groups.new(name="Wet").add(
        [vertex.index for vertex in item.data.vertices if vertex.co.z > top - 1e-4], 1.0, 'REPLACE')
    source = item.grain.source
    source.moisture, source.moisture_paint = 0.8, "Wet"
    settings.use_upsample, settings.grains_per_particle = True, 8
    for solver in ('SPH', 'MPM'):
        settings.solver = solver
        support.save(folder)
        bpy.ops.grain.bake(restart=True)
        scene.frame_set(scene.frame_start)
        mesh = settings.sand_object.data
        places, moisture = np.empty(3 * len(mesh.vertices), np.float32), np.empty(len(mesh.vertices), np.float32)
        mesh.vertices.foreach_get("co", places)
        mesh.attributes["moisture"].data.foreach_get("value", moisture)
        height = places.reshape(-1, 3)[:, 2]
        low, high = np.percentile(height, 10), np.percentile(height, 90)
        assert moisture[height > high].mean() > 0.6, (solver, moisture[height > high].mean())
        assert moisture[height < low].mean() < 0.2, (solver, moisture[height < low].mean())
        assert moisture.max() <= 0.8 + 1e-5
    source.moisture_paint = "Gone"
    try:
        snapshot.take(settings, bpy.context.view_layer)
        raise AssertionError("a vertex group that is not there was taken")
    except snapshot.SnapshotError as error:
        assert "'Gone'" in str(error)
