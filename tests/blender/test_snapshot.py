# SPDX-License-Identifier: GPL-3.0-or-later
"""The scene as arrays: what is in it, where, which way round, in metres."""
from math import radians, tan
from pathlib import Path

import bpy
import numpy as np
import support
from mathutils import Matrix


def take() -> "object":
    from grain.scene.read import snapshot
    return snapshot.take(bpy.context.scene.grain.active, bpy.context.view_layer)


def by_name(name: str) -> "object":
    found = [entry for entry in take().objects if entry.name == name]
    assert len(found) == 1, f"'{name}' is there {len(found)} times"
    return found[0]


def signed_volume(entry: "object") -> float:
    corners = entry.positions.astype(np.float64)[entry.triangles]
    return float(np.einsum('ij,ij->', corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))) / 6.0


def source(name: str = "Block") -> bpy.types.Object:
    item = support.box(name, (0.0, 0.0, 0.0), (0.2, 0.4, 0.6))
    item.grain.type = 'SOURCE'
    return item


def test_box_in_world_space(_: Path) -> None:
    source()
    entry = by_name("Block")
    assert entry.role == "source" and entry.positions.dtype == np.float32 and entry.triangles.dtype == np.int32
    assert len(entry.positions) == 8 and len(entry.triangles) == 12
    assert np.allclose(entry.positions.min(axis=0), (0, 0, 0), atol=1e-6)
    assert np.allclose(entry.positions.max(axis=0), (0.2, 0.4, 0.6), atol=1e-6)
    assert abs(signed_volume(entry) - 0.048) < 1e-6


def test_modifiers_parents_and_rotation(_: Path) -> None:
    item = source()
    modifier = item.modifiers.new("Array", 'ARRAY')
    modifier.count, modifier.relative_offset_displace = 2, (2.0, 0.0, 0.0)
    parent = support.link(bpy.data.objects.new("Parent", None))
    parent.location, parent.rotation_euler = (5.0, 0.0, 0.0), (0.0, 0.0, radians(90.0))
    item.parent = parent
    entry = by_name("Block")
    assert len(entry.triangles) == 24
    assert abs(signed_volume(entry) - 2 * 0.048) < 1e-6
    # Two boxes along local X, turned by 90 degrees, now lie along world Y from x = 5 - 0.4 to 5.
    assert np.allclose(entry.positions.min(axis=0), (4.6, 0.0, 0.0), atol=1e-5)
    assert np.allclose(entry.positions.max(axis=0), (5.0, 0.6, 0.6), atol=1e-5)


def test_negative_scale_keeps_its_outside_out(_: Path) -> None:
    item = source()
    item.scale = (-1.0, 1.0, 1.0)
    assert abs(signed_volume(by_name("Block")) - 0.048) < 1e-6
    item.scale = (-1.0, -1.0, -2.0)
    assert abs(signed_volume(by_name("Block")) - 0.096) < 1e-6


def test_unit_scale_gives_metres(_: Path) -> None:
    from grain.scene.manage import job_builder
    bpy.context.scene.unit_settings.scale_length = 0.01
    item = source()
    item.grain.source.velocity = (0.0, 0.0, -300.0)
    wall = support.box("Wall", (1, 1, 1), (2, 2, 2))
    wall.grain.type = 'COLLIDER'
    wall.grain.collider.thickness = 5.0
    support.floor("Floor", height=7.0)
    bpy.context.scene.grain.active.particle_radius = 0.5
    made, warnings = job_builder.make(bpy.context.scene.grain.active, bpy.context.view_layer)
    entries = {entry.name: entry for entry in made.objects}
    assert np.allclose(entries["Block"].positions.max(axis=0), (0.002, 0.004, 0.006), atol=1e-8)
    assert np.allclose(entries["Block"].velocity, (0, 0, -3.0))
    assert abs(entries["Wall"].thickness - 0.05) < 1e-9
    assert np.allclose(entries["Floor"].plane_point, (0, 0, 0.07), atol=1e-7)
    assert abs(made.solver.particle_radius - 0.005) < 1e-9
    assert np.allclose(made.gravity, (0, 0, -0.0981)), "gravity must be what the Scene tab shows"
    assert any("Gravity" in warning for warning in warnings)


def test_collection_instances(_: Path) -> None:
    source()
    rock = support.box("Rock", (0, 0, 0), (1, 1, 1))
    rock.grain.type = 'COLLIDER'
    bpy.context.scene.collection.objects.unlink(rock)
    rocks = bpy.data.collections.new("Rocks")
    rocks.objects.link(rock)
    for number, place in enumerate(((10.0, 0.0, 0.0), (20.0, 0.0, 0.0))):
        empty = support.link(bpy.data.objects.new(f"Empty {number}", None))
        empty.instance_type, empty.instance_collection, empty.location = 'COLLECTION', rocks, place
        empty.scale = (1.0, 1.0, 2.0)
    found = [entry for entry in take().objects if entry.role == "collider"]
    assert sorted(entry.name for entry in found) == ["Rock", "Rock (instance 2)"]
    places = sorted(float(entry.positions[:, 0].mean()) for entry in found)
    assert np.allclose(places, (10.5, 20.5), atol=1e-5)
    assert all(abs(signed_volume(entry) - 2.0) < 1e-4 for entry in found)


def scatter_group() -> bpy.types.NodeTree:
    """Geometry nodes that put a cone on each vertex."""
    from grain import compat
    tree = bpy.data.node_groups.new("Scatter", 'GeometryNodeTree')
    compat.new_socket(tree, "Geometry", False, 'NodeSocketGeometry')
    compat.new_socket(tree, "Geometry", True, 'NodeSocketGeometry')
    start, end = tree.nodes.new('NodeGroupInput'), tree.nodes.new('NodeGroupOutput')
    cone, place = tree.nodes.new('GeometryNodeMeshCone'), tree.nodes.new('GeometryNodeInstanceOnPoints')
    tree.links.new(start.outputs[0], place.inputs["Points"])
    tree.links.new(cone.outputs[0], place.inputs["Instance"])
    tree.links.new(place.outputs[0], end.inputs[0])
    return tree


def test_geometry_nodes_instances(_: Path) -> None:
    source()
    item = support.box("Scatter", (0, 0, 0), (1, 1, 1))
    item.grain.type = 'COLLIDER'
    item.modifiers.new("Scatter", 'NODES').node_group = scatter_group()
    found = [entry for entry in take().objects if entry.role == "collider"]
    assert len(found) == 8, [entry.name for entry in found]
    assert all(signed_volume(entry) > 0.1 for entry in found)


def test_endless_floor_is_the_local_z_at_the_origin(_: Path) -> None:
    source()
    item = support.floor("Ramp")
    item.matrix_world = (Matrix.Translation((1, 2, 3)) @ Matrix.Rotation(radians(30.0), 4, 'Y')
                         @ Matrix.Diagonal((3.0, 1.0, 0.5, 1.0)))
    item.grain.collider.friction_angle = radians(20.0)
    entry = by_name("Ramp")
    assert entry.positions is None
    assert np.allclose(entry.plane_point, (1, 2, 3), atol=1e-6)
    assert np.allclose(entry.plane_normal, (0.5, 0.0, 3 ** 0.5 / 2), atol=1e-6)
    assert abs(entry.friction - tan(radians(20.0))) < 1e-6


def test_eye_and_camera_icons_do_not_matter(_: Path) -> None:
    item = source()
    wall = support.box("Wall", (1, 1, 1), (2, 2, 2))
    wall.grain.type = 'COLLIDER'
    wall.modifiers.new("Subdivision", 'SUBSURF').levels = 1
    wall.hide_render = True
    wall.hide_set(True)
    item.hide_set(True)
    taken = take()
    assert {entry.name for entry in taken.objects} == {"Block", "Wall"} and taken.warnings == []
    assert len(next(entry for entry in taken.objects if entry.name == "Wall").positions) == 26
    assert wall.hide_get() and item.hide_get(), "the artist's eye icons must come back"


def test_monitor_icon_and_excluded_collections_are_named(_: Path) -> None:
    source()
    for name in ("Wall", "Post"):
        support.box(name, (1, 1, 1), (2, 2, 2)).grain.type = 'COLLIDER'
    bpy.data.objects["Wall"].hide_viewport = True
    away = bpy.data.collections.new("Away")
    bpy.context.scene.collection.children.link(away)
    bpy.context.scene.collection.objects.unlink(bpy.data.objects["Post"])
    away.objects.link(bpy.data.objects["Post"])
    bpy.context.view_layer.layer_collection.children["Away"].exclude = True
    taken = take()
    assert [entry.name for entry in taken.objects] == ["Block"]
    assert any("'Wall'" in warning and "viewports" in warning for warning in taken.warnings), taken.warnings
    assert any("'Post'" in warning and "excluded" in warning for warning in taken.warnings), taken.warnings


def test_curves_and_text_become_meshes(_: Path) -> None:
    source()
    bpy.ops.curve.primitive_bezier_circle_add()
    curve = bpy.context.object
    curve.name, curve.data.bevel_depth = "Ring", 0.1
    curve.grain.type = 'COLLIDER'
    bpy.ops.object.text_add()
    bpy.context.object.name, bpy.context.object.data.extrude = "Text", 0.1
    bpy.context.object.grain.type = 'COLLIDER'
    bpy.ops.object.metaball_add()
    bpy.context.object.name = "Ball"
    bpy.context.object.grain.type = 'COLLIDER'
    entries = {entry.name: entry for entry in take().objects}
    assert set(entries) == {"Block", "Ring", "Text", "Ball"}, list(entries)
    assert all(len(entry.triangles) > 20 for name, entry in entries.items() if name != "Block")


def test_edit_mode_counts_as_it_looks(_: Path) -> None:
    import bmesh
    item = source()
    bpy.context.view_layer.objects.active = item
    bpy.ops.object.mode_set(mode='EDIT')
    mesh = bmesh.from_edit_mesh(item.data)
    for vertex in mesh.verts:
        vertex.co.z *= 2.0
    bmesh.update_edit_mesh(item.data)
    assert abs(signed_volume(by_name("Block")) - 0.096) < 1e-6
    bpy.ops.object.mode_set(mode='OBJECT')


def refusal() -> str:
    from grain.scene.read import snapshot
    try:
        take()
    except snapshot.SnapshotError as error:
        return str(error)
    raise AssertionError("the snapshot was taken")


def test_errors_name_the_object(_: Path) -> None:
    bpy.ops.grain.simulation_add()
    assert "Source" in refusal()
    item = source("Heap")
    item.data.clear_geometry()
    assert "'Heap'" in refusal() and "no faces" in refusal()
    item.grain.type = 'NONE'
    source()
    empty = support.link(bpy.data.objects.new("Marker", None))
    empty.grain.type = 'COLLIDER'
    assert "'Marker'" in refusal() and "Endless Floor" in refusal()
    empty.grain.collider.shape = 'PLANE'
    assert by_name("Marker").plane_point is not None
    wall = support.box("Wall", (1, 1, 1), (2, 2, 2))
    wall.grain.type = 'COLLIDER'
    wall.data.vertices[0].co.x = float("nan")
    assert "'Wall'" in refusal()


def test_open_source_is_warned_about(_: Path) -> None:
    item = source()
    mesh = item.data
    faces = [tuple(face.vertices) for face in mesh.polygons][1:]
    vertices = [tuple(vertex.co) for vertex in mesh.vertices]
    mesh.clear_geometry()
    mesh.from_pydata(vertices, [], faces)
    warnings = take().warnings
    assert len(warnings) == 1 and "'Block'" in warnings[0] and "4 open edges" in warnings[0], warnings


def moving() -> dict[str, str]:
    from grain.scene.read import motion_search
    scene = bpy.context.scene
    items = [item for item in scene.objects if item.grain.type != 'NONE']
    return {item.name: what for item, what in motion_search.moving_objects(scene.grain.active, bpy.context.view_layer, items).items()}


def test_what_moves_is_found_whatever_moves_it(_: Path) -> None:
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 1, 40
    source()
    for name in ("Still", "Keyed", "Child", "Bending", "Driven", "Blip", "Constrained", "Still Child"):
        support.box(name, (1, 1, 1), (2, 2, 2)).grain.type = 'COLLIDER'
    objects = bpy.data.objects
    for name in ("Keyed", "Blip"):
        objects[name].keyframe_insert("location", frame=1)
    objects["Keyed"].location.x = 5.0
    objects["Keyed"].keyframe_insert("location", frame=20)
    # There and back between two frames in the middle of nowhere.
    objects["Blip"].keyframe_insert("location", frame=12)
    objects["Blip"].location.z += 0.5
    objects["Blip"].keyframe_insert("location", frame=13)
    objects["Blip"].location.z -= 0.5
    objects["Blip"].keyframe_insert("location", frame=14)
    objects["Child"].parent = objects["Keyed"]
    objects["Still Child"].parent = objects["Still"]
    bending = objects["Bending"]
    bending.shape_key_add(name="Basis")
    key = bending.shape_key_add(name="Bent")
    key.data[0].co.z += 1.0
    key.value = 0.0
    key.keyframe_insert("value", frame=1)
    key.value = 1.0
    key.keyframe_insert("value", frame=30)
    objects["Driven"].driver_add("rotation_euler", 2).driver.expression = "frame / 10"
    objects["Constrained"].constraints.new('COPY_LOCATION').target = objects["Keyed"]
    scene.frame_set(7)
    found = moving()
    assert found == {"Keyed": "moves", "Child": "moves", "Blip": "moves", "Bending": "changes shape",
                     "Driven": "moves", "Constrained": "moves"}, found
    assert scene.frame_current == 7


def test_moving_floor_is_named_in_a_warning(_: Path) -> None:
    from grain.scene.manage import job_builder
    source()
    ground = support.floor("Ground")
    ground.keyframe_insert("location", frame=1)
    ground.location.z = 9.0
    ground.keyframe_insert("location", frame=5)
    bpy.context.scene.frame_set(5)
    made, warnings = job_builder.make(bpy.context.scene.grain.active, bpy.context.view_layer)
    assert len(warnings) == 1 and "'Ground' moves; an endless floor cannot move" in warnings[0], warnings
    entry = next(entry for entry in made.objects if entry.name == "Ground")
    assert abs(entry.plane_point[2]) < 1e-6, "the pose must be that of the first frame"
    assert bpy.context.scene.frame_current == 5
