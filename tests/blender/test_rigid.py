# SPDX-License-Identifier: GPL-3.0-or-later
"""Props that move and bend, as the job gets them; rigid bodies, from their settings to their objects and keyframes."""
from math import radians
from pathlib import Path

import bpy
import numpy as np
import support
from baked import entry, made
from mathutils import Euler, Matrix, Vector


def source() -> bpy.types.Object:
    item = support.box("Block", (0.0, 0.0, 0.5), (0.2, 0.2, 0.7))
    item.grain.type = 'SOURCE'
    return item


def collider(name: str) -> bpy.types.Object:
    item = support.box(name, (1.0, 0.0, 0.0), (1.2, 0.3, 0.1))
    item.grain.type = 'COLLIDER'
    return item


def key(item: bpy.types.bpy_struct, path: str, *values: object) -> None:
    """The first value at frame 1, the last at frame 5, straight between."""
    for number, value in enumerate(values):
        setattr(item, path, value)
        item.keyframe_insert(path, frame=1 + number * 4 // max(len(values) - 1, 1))
    for curve in support.keyed(item.id_data):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'


def world(job_entry: "object", sample: int) -> np.ndarray:
    """Positions as libgrain will have them at a sample."""
    if job_entry.shapes is not None:
        return job_entry.shapes[sample]
    pose = job_entry.poses[sample]
    w, x, y, z = pose[3:]
    turn = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                     [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                     [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    return (job_entry.positions - job_entry.poses[0][:3]) @ turn.T + pose[:3]


def evaluated(item: bpy.types.Object) -> np.ndarray:
    shown = item.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array([shown.matrix_world @ vertex.co for vertex in shown.data.vertices])


def check_at_frames(item: bpy.types.Object, found: "object", samples: int) -> None:
    for frame in (1, 3, 5):
        bpy.context.scene.frame_set(frame)
        assert np.allclose(world(found, (frame - 1) * samples), evaluated(item), atol=2e-5), (item.name, frame)


def test_what_moves_becomes_poses_and_what_bends_shapes(_: Path) -> None:
    """Whatever moves it: keys, a parent, a constraint, a driver; shape keys, an armature's work, growing."""
    source()
    keyed, child, follower, bending, growing, still = (
        collider(name) for name in ("Keyed", "Child", "Follower", "Bending", "Growing", "Still"))
    key(keyed, "location", (1.0, 0.0, 0.0), (1.5, 0.0, 0.2))
    key(keyed, "rotation_euler", (0.0, 0.0, 0.0), (0.0, 0.3, 1.2))
    keyed.scale = (1.0, 2.0, 0.5)  # uneven, yet it only turns
    parent = support.link(bpy.data.objects.new("Parent", None))
    key(parent, "rotation_euler", (0.0, 0.0, 0.0), (0.0, 0.0, radians(90.0)))
    child.parent = parent
    follower.constraints.new('COPY_LOCATION').target = keyed
    bending.shape_key_add(name="Basis")
    bent = bending.shape_key_add(name="Bent")
    bent.data[0].co.z += 0.2
    key(bent, "value", 0.0, 1.0)
    key(growing, "scale", (1.0, 1.0, 1.0), (1.0, 1.0, 2.0))
    bpy.context.scene.frame_set(4)
    job, warnings = made()
    assert warnings == [] and bpy.context.scene.frame_current == 4, (warnings, bpy.context.scene.frame_current)
    samples = bpy.context.scene.grain.active.motion_samples
    assert samples == 2
    for item in (keyed, child, follower):
        found = entry(job, item.name)
        assert found.poses is not None and found.shapes is None and len(found.poses) == 4 * samples + 1, item.name
        check_at_frames(item, found, samples)
    for item in (bending, growing):
        found = entry(job, item.name)
        assert found.shapes is not None and found.poses is None and len(found.shapes) == 4 * samples + 1, item.name
        check_at_frames(item, found, samples)
    found = entry(job, "Still")
    assert found.poses is None and found.shapes is None
    # In between frames: half way, as the keys are straight.
    assert np.allclose(entry(job, "Keyed").poses[1][:3], (1.0 + 0.5 / 8, 0.0, 0.2 / 8), atol=1e-6)


def test_instances_move_each_their_own_way(_: Path) -> None:
    source()
    stone = support.box("Stone", (0, 0, 0), (0.1, 0.1, 0.1))
    collection = bpy.data.collections.new("Stones")
    bpy.context.scene.collection.objects.unlink(stone)
    collection.objects.link(stone)
    for number in range(2):
        empty = support.link(bpy.data.objects.new(f"Empty{number}", None))
        empty.instance_type, empty.instance_collection = 'COLLECTION', collection
        empty.grain.type = 'COLLIDER'
        key(empty, "location", (0.0, 0.0, 0.0), (1.0 + number, 0.0, 0.0))
    job, _warnings = made()
    ends = sorted(float(item.poses[-1][0] - item.poses[0][0]) for item in job.objects if item.poses is not None)
    assert np.allclose(ends, (1.0, 2.0), atol=1e-5), ends


def test_changing_topology_is_named(_: Path) -> None:
    source()
    item = collider("Growth")
    modifier = item.modifiers.new("Array", 'ARRAY')
    modifier.count = 1
    modifier.keyframe_insert("count", frame=1)
    modifier.count = 3
    modifier.keyframe_insert("count", frame=5)
    job, warnings = made()
    assert len(warnings) == 1 and "'Growth' changes its number of vertices" in warnings[0], warnings
    assert entry(job, "Growth").poses is None


def body(name: str = "Crate", low: tuple = (-0.05, -0.05, 0.2), high: tuple = (0.05, 0.05, 0.3)) -> bpy.types.Object:
    item = support.box(name, low, high)
    item.grain.type = 'BODY'
    return item


def scene_with_body(folder: Path, last_frame: int = 8) -> bpy.types.Object:
    """A crate falls past a moving step onto a floor, some sand beside it."""
    support.small_scene(last_frame)
    bpy.data.objects["Block"].location.x = 0.5
    bpy.data.objects["Step"].location.x = 0.5
    crate = body()
    crate.rotation_euler = (0.3, 0.2, 0.1)
    crate.grain.rigid.density = 500.0
    bpy.context.view_layer.update()
    support.save(folder)
    return crate


def cached(folder: Path, frame: int) -> dict[str, np.ndarray]:
    return support.read_frame(folder / f"grain_cache/Sand/coarse_{frame:06d}.grain")


def test_bodies_follow_the_bake_and_come_back(folder: Path) -> None:
    crate = scene_with_body(folder)
    scene = bpy.context.scene
    before = (tuple(crate.location), tuple(crate.rotation_euler))
    rest = crate.matrix_world.copy()
    bpy.ops.grain.bake()
    for frame in (8, 3, 1):
        scene.frame_set(frame)
        data = cached(folder, frame)
        assert np.allclose(crate.matrix_world.translation, data["body.position"][0], atol=1e-5), frame
        turned = (crate.matrix_world.to_3x3() @ rest.to_3x3().inverted()).to_quaternion()
        assert abs(abs(turned.dot(data["body.orientation"][0])) - 1.0) < 1e-5, frame
    scene.frame_set(8)
    assert crate.matrix_world.translation.z < 0.2, "it has fallen"
    assert (tuple(crate.location), tuple(crate.rotation_euler)) == before, "its own channels are the artist's"
    crate.name = "Renamed"  # the bake still knows it
    scene.frame_set(7)
    assert np.allclose(crate.matrix_world.translation, cached(folder, 7)["body.position"][0], atol=1e-5)
    bpy.ops.grain.free()
    bpy.context.view_layer.update()
    assert np.allclose(np.array(crate.matrix_world), np.array(rest), atol=1e-6), "freed, it is back"
    assert tuple(crate.delta_location) == (0.0, 0.0, 0.0) and not crate.grain.rigid.is_posed


def test_a_second_bake_starts_where_the_body_was_placed(folder: Path) -> None:
    crate = scene_with_body(folder, 4)
    bpy.ops.grain.bake()
    bpy.context.scene.frame_set(4)
    first = cached(folder, 4)["body.position"].copy()
    bpy.ops.grain.bake_anew()
    assert np.array_equal(cached(folder, 4)["body.position"], first)
    assert np.allclose(cached(folder, 1)["body.position"][0], (0.0, 0.0, 0.25), atol=1e-6)
    crate.grain.type = 'NONE'
    bpy.context.view_layer.update()
    assert np.allclose(crate.matrix_world.translation, (0.0, 0.0, 0.25), atol=1e-6)


def test_keyframes_replay_the_bake_without_it(folder: Path) -> None:
    crate = scene_with_body(folder)
    scene = bpy.context.scene
    parent = support.link(bpy.data.objects.new("Parent", None))
    parent.location, parent.rotation_euler = (0.1, 0.0, 0.0), (0.0, 0.0, 0.7)
    bpy.context.view_layer.update()
    crate.parent, crate.matrix_parent_inverse = parent, Matrix.Rotation(0.2, 4, 'Z')
    crate.delta_location.z = 0.02
    bpy.context.view_layer.update()
    support.save(folder)
    bpy.ops.grain.bake()
    expected = {}
    for frame in (1, 4, 8):
        scene.frame_set(frame)
        expected[frame] = crate.matrix_world.copy()
        assert np.allclose(crate.matrix_world.translation, cached(folder, frame)["body.position"][0], atol=1e-5)
    bpy.context.view_layer.objects.active = crate
    assert bpy.ops.grain.bake_keyframes() == {'FINISHED'}
    bpy.ops.grain.free()
    for frame, matrix in expected.items():
        scene.frame_set(frame)
        assert np.allclose(np.array(crate.matrix_world), np.array(matrix), atol=2e-5), frame
    assert abs(crate.delta_location.z - 0.02) < 1e-6


def test_animation_moves_a_body_until_it_is_let_go(folder: Path) -> None:
    crate = scene_with_body(folder)
    key(crate, "location", (0.0, 0.0, 0.25), (-0.4, 0.0, 0.25))
    crate.grain.rigid.use_animation, crate.grain.rigid.release_frame = True, 3
    support.save(folder)
    bpy.ops.grain.bake()
    speed = 0.1 * 24
    held, free = cached(folder, 3), cached(folder, 6)
    assert np.allclose(held["body.position"][0], (-0.2, 0.0, 0.25), atol=1e-5)
    assert abs(held["body.velocity"][0][0] + speed) < 1e-3
    assert abs(free["body.position"][0][0] + 0.5) < 5e-3 and free["body.position"][0][2] < 0.23
    bpy.context.scene.frame_set(6)
    assert np.allclose(crate.matrix_world.translation, free["body.position"][0], atol=1e-5)


def test_problems_are_named(_: Path) -> None:
    from grain.scene.read import snapshot
    source()
    crate = body()
    key(crate, "location", (0.0, 0.0, 0.3), (1.0, 0.0, 0.3))
    _job, warnings = made()
    assert len(warnings) == 1 and "'Crate' is animated, but is simulated from frame" in warnings[0], warnings
    crate.rotation_mode = 'AXIS_ANGLE'
    expect_error(snapshot.SnapshotError, "Axis Angle")
    crate.rotation_mode = 'XYZ'
    sheet = support.floor("Sheet")
    sheet.grain.type = 'BODY'
    expect_error(snapshot.SnapshotError, "'Sheet' is not closed")


def expect_error(kind: type[Exception], word: str) -> None:
    try:
        made()
    except kind as error:
        assert word in str(error), error
    else:
        raise AssertionError(f"no error with '{word}'")


def test_undo_takes_the_role_back(folder: Path) -> None:
    crate = support.box("Crate", (-0.1, -0.1, 0.2), (0.1, 0.1, 0.4))
    bpy.ops.ed.undo_push(message="crate")
    crate.grain.type = 'BODY'
    crate.grain.rigid.density = 321.0
    bpy.ops.ed.undo_push(message="body")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Crate"].grain.type == 'NONE'
    bpy.ops.ed.redo()
    assert bpy.data.objects["Crate"].grain.type == 'BODY'
    assert bpy.data.objects["Crate"].grain.rigid.density == 321.0


def test_undo_keeps_the_baked_pose(folder: Path) -> None:
    """Undone: a frame, then the role. The crate is where the bake says, then where the artist put it."""
    crate = scene_with_body(folder, 5)
    bpy.ops.ed.undo_push(message="crate")
    bpy.ops.grain.bake()
    bpy.ops.ed.undo_push(message="baked")
    bpy.context.scene.frame_set(2)
    bpy.ops.ed.undo_push(message="frame 2")
    bpy.context.scene.frame_set(5)
    bpy.ops.ed.undo_push(message="frame 5")
    bpy.ops.ed.undo()
    crate = bpy.data.objects["Crate"]
    frame = bpy.context.scene.frame_current
    assert frame == 2, frame
    bpy.context.view_layer.update()  # from 4.2 on, a window's next redraw does it
    assert np.allclose(crate.matrix_world.translation, cached(folder, frame)["body.position"][0], atol=1e-5)
    bpy.context.scene.frame_set(5)
    assert np.allclose(crate.matrix_world.translation, cached(folder, 5)["body.position"][0], atol=1e-5)
    assert Vector(crate.location) == Vector((0.0, 0.0, 0.25))


def test_reload_keeps_the_right_pose(folder: Path) -> None:
    crate = scene_with_body(folder, 4)
    bpy.ops.grain.bake()
    bpy.context.scene.frame_set(4)
    expected = cached(folder, 4)["body.position"][0]
    path = support.save(folder)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    bpy.context.view_layer.update()  # from 4.2 on, a window's next redraw does it
    crate = bpy.data.objects["Crate"]
    assert np.allclose(crate.matrix_world.translation, expected, atol=1e-5)
    bpy.context.scene.frame_set(1)
    assert np.allclose(crate.matrix_world.translation, (0.0, 0.0, 0.25), atol=1e-5)
    assert Euler(crate.rotation_euler).to_quaternion().rotation_difference(
        crate.matrix_world.to_quaternion()).angle < 1e-3
    assert Vector(crate.location) == Vector((0.0, 0.0, 0.25))
