# SPDX-License-Identifier: GPL-3.0-or-later
"""Cover with Particles: any object as it looks, evenly, live, undone; and covers that follow an armature."""
from math import pi, radians
from pathlib import Path

import bpy
import numpy as np
import support
from mathutils import Matrix, Vector
from mathutils.bvhtree import BVHTree
from mathutils.kdtree import KDTree


def surface(item: bpy.types.Object) -> tuple[np.ndarray, np.ndarray]:
    from grain.scene.read import meshes
    bpy.context.view_layer.update()
    return meshes.surface_of(item, bpy.context.evaluated_depsgraph_get())


def area(positions: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (positions[triangles[:, corner]].astype(np.float64) for corner in range(3))
    return float(np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2)


def places(cover: bpy.types.Object) -> np.ndarray:
    """World space, as the viewport shows them."""
    local = np.empty(len(cover.data.vertices) * 3, np.float32)
    cover.data.vertices.foreach_get("co", local)
    matrix = np.array(cover.matrix_world)
    return local.reshape(-1, 3) @ matrix[:3, :3].T + matrix[:3, 3]


def farthest(points: np.ndarray, positions: np.ndarray, triangles: np.ndarray) -> float:
    tree = BVHTree.FromPolygons(positions.tolist(), triangles.tolist(), all_triangles=True)
    return max(tree.find_nearest(Vector(point))[3] for point in points)


def nearest(points: np.ndarray) -> np.ndarray:
    tree = KDTree(len(points))
    for index, point in enumerate(points):
        tree.insert(point, index)
    tree.balance()
    return np.array([tree.find_n(point, 2)[1][2] for point in points])


def cover(item: bpy.types.Object, **settings: float) -> bpy.types.Object:
    from grain.scene.manage import cover as covers
    bpy.context.view_layer.objects.active = item
    assert bpy.ops.grain.cover(**settings) == {'FINISHED'}
    bpy.context.view_layer.update()
    return covers.find(item)


def check(item: bpy.types.Object, deviation: float, **settings: float) -> None:
    made = cover(item, **settings)
    positions, triangles = surface(item)
    figures, points = made.grain.cover, places(made)
    radius = figures.radius
    wanted = figures.density * area(positions, triangles) / (pi * radius ** 2)
    assert abs(len(points) / wanted - 1) < 0.03, f"{item.name}: {len(points)} of {wanted:.0f}"
    off = farthest(points, positions, triangles)
    assert off <= 0.02 * radius, f"{item.name}: {off / radius} radii off"
    spacing = (2 / 3 ** 0.5 * area(positions, triangles) / len(points)) ** 0.5
    distances = nearest(points) / spacing
    assert distances.mean() > 0.85, f"{item.name}: nearest {distances.mean()}"
    assert distances.std() / distances.mean() < deviation, f"{item.name}: {distances.std() / distances.mean()}"
    assert figures.count == len(points) and abs(figures.nearest - distances.mean()) < 0.02
    assert figures.gap < 0.8 and figures.off_surface <= 0.02 and figures.report and not figures.problem


def test_what_artists_cover(_: Path) -> None:
    bpy.ops.mesh.primitive_uv_sphere_add()
    check(bpy.context.object, 0.06)
    bpy.ops.mesh.primitive_monkey_add(location=(3, 0, 0), rotation=(0.3, 0.2, 0.1))
    check(bpy.context.object, 0.06)
    bpy.ops.mesh.primitive_cube_add(location=(6, 0, 0))
    check(bpy.context.object, 0.10)
    bpy.ops.mesh.primitive_plane_add(location=(0, 3, 0))
    check(bpy.context.object, 0.06)
    bpy.ops.mesh.primitive_torus_add(location=(0, 6, 0))
    check(bpy.context.object, 0.06)


def test_modifiers_transforms_and_density_count(_: Path) -> None:
    bpy.ops.mesh.primitive_monkey_add(location=(1, 2, 3), rotation=(0.3, 0.2, 0.1), scale=(1.0, 2.0, 0.5))
    item = bpy.context.object
    item.modifiers.new("Subdivision", 'SUBSURF').levels = 2
    check(item, 0.06, radius=0.05)
    check(item, 0.06, radius=0.05, density=2.0)
    assert len(places(cover(item, radius=0.05, density=2.0))) > 1.8 * len(places(cover(item, radius=0.05)))


def test_offset(_: Path) -> None:
    bpy.ops.mesh.primitive_ico_sphere_add(subdivisions=5)
    for offset in (-0.05, 0.05):
        points = places(cover(bpy.context.object, radius=0.05, offset=offset))
        distances = np.linalg.norm(points, axis=1)
        assert abs(distances.mean() - 1 - offset) < 0.001 and np.ptp(distances) < 0.004, (distances.min(), distances.max())


def test_curves_text_and_instances(_: Path) -> None:
    bpy.ops.object.text_add()
    text = bpy.context.object
    text.data.extrude = 0.1
    assert len(places(cover(text))) > 1000
    rocks = bpy.data.collections.new("Rocks")
    rock = support.box("Rock", (-0.5, -0.5, -0.5), (0.5, 0.5, 0.5))
    bpy.context.scene.collection.objects.unlink(rock)
    rocks.objects.link(rock)
    empty = support.link(bpy.data.objects.new("Instances", None))
    empty.instance_type, empty.instance_collection, empty.location = 'COLLECTION', rocks, (5, 0, 0)
    points = places(cover(empty, radius=0.05))
    assert abs(len(points) * pi * 0.05 ** 2 / 6.0 - 1) < 0.03
    assert abs(points[:, 0].mean() - 5.0) < 0.05


def test_same_cover_with_another_radius(_: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    item = bpy.context.object
    first = cover(item, radius=0.1)
    count = len(first.data.vertices)
    again = cover(item, radius=0.05)
    assert again == first and 3.8 < len(again.data.vertices) / count < 4.2
    assert len(bpy.data.objects) == 2
    # Live in the panel, and shown as points.
    first.grain.cover.radius = 0.1
    assert len(first.data.vertices) == count
    assert support.points_in_depsgraph() == count
    assert np.allclose(support.point_radii(), 0.1)
    first.grain.cover.radius = 1e-5
    assert "larger radius" in first.grain.cover.problem and len(first.data.vertices) == count


def test_cover_moves_with_its_object(_: Path) -> None:
    bpy.ops.mesh.primitive_cube_add(location=(1, 0, 0), scale=(1, 2, 1))
    item = bpy.context.object
    made = cover(item, radius=0.1)
    before = places(made)
    motion = Matrix.Translation((0, 0, 3)) @ Matrix.Rotation(0.7, 4, 'X')
    item.matrix_world = motion @ item.matrix_world
    bpy.context.view_layer.update()
    expected = before @ np.array(motion)[:3, :3].T + np.array(motion)[:3, 3]
    assert np.allclose(places(made), expected, atol=1e-5)


def test_undo(_: Path) -> None:
    bpy.ops.mesh.primitive_cube_add()
    bpy.ops.ed.undo_push(message="cube")
    cover(bpy.context.object, radius=0.1)
    bpy.ops.ed.undo_push(message="cover")
    assert len(bpy.data.objects) == 2
    bpy.ops.ed.undo()
    assert len(bpy.data.objects) == 1
    bpy.ops.ed.redo()
    assert len(bpy.data.objects) == 2 and len(bpy.data.objects["Cube Cover"].data.vertices) > 100


def refusal(item: bpy.types.Object, **settings: float) -> str:
    bpy.context.view_layer.objects.active = item
    try:
        bpy.ops.grain.cover(**settings)
    except RuntimeError as error:
        return str(error)
    raise AssertionError("covered")


def test_what_cannot_be_covered_is_named(_: Path) -> None:
    lines = bpy.data.meshes.new("Lines")
    lines.from_pydata([(0, 0, 0), (1, 0, 0)], [(0, 1)], [])
    item = support.link(bpy.data.objects.new("Wire", lines))
    assert "'Wire' has no faces" in refusal(item)
    bpy.ops.mesh.primitive_plane_add()
    bpy.context.object.name, bpy.context.object.scale = "Flat", (1, 0, 1)
    assert "'Flat'" in refusal(bpy.context.object, radius=0.1)
    bpy.ops.mesh.primitive_cube_add()
    assert "larger radius" in refusal(bpy.context.object, radius=1e-5)
    assert len(bpy.data.objects) == 3, "a failed cover leaves nothing behind"


def bending_tube() -> bpy.types.Object:
    """A tube that an armature of two bones bends by 80 degrees in 50 frames."""
    bpy.ops.mesh.primitive_cylinder_add(vertices=48, radius=0.3, depth=4.0, location=(0, 0, 2))
    tube = bpy.context.object
    bpy.ops.object.mode_set(mode='EDIT')
    bpy.ops.mesh.select_all(action='SELECT')
    bpy.ops.mesh.subdivide(number_cuts=20)
    bpy.ops.object.mode_set(mode='OBJECT')
    data = bpy.data.armatures.new("Bones")
    rig = support.link(bpy.data.objects.new("Rig", data))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='EDIT')
    lower, upper = data.edit_bones.new("Lower"), data.edit_bones.new("Upper")
    lower.head, lower.tail, upper.head, upper.tail = (0, 0, 0), (0, 0, 2), (0, 0, 2), (0, 0, 4)
    upper.parent = lower
    bpy.ops.object.mode_set(mode='OBJECT')
    for bone in ("Lower", "Upper"):
        group = tube.vertex_groups.new(name=bone)
        for vertex in tube.data.vertices:
            share = min(max((vertex.co.z + 0.6) / 1.2, 0.0), 1.0)  # the cylinder's middle is its origin
            group.add([vertex.index], share if bone == "Upper" else 1.0 - share, 'REPLACE')
    tube.modifiers.new("Armature", 'ARMATURE').object = rig
    pose = rig.pose.bones["Upper"]
    pose.rotation_mode = 'XYZ'
    for frame, angle in ((1, 0.0), (50, 1.4)):
        pose.rotation_euler.x = angle
        pose.keyframe_insert("rotation_euler", frame=frame)
    return tube


JOINTS = {"Hips": (0, 0, 1.0), "Chest": (0, 0, 1.45), "Head": (0, 0, 1.8),
          "Elbow.L": (0.45, 0, 1.45), "Hand.L": (0.8, 0, 1.45), "Elbow.R": (-0.45, 0, 1.45), "Hand.R": (-0.8, 0, 1.45),
          "Knee.L": (0.18, -0.02, 0.55), "Foot.L": (0.2, 0, 0.08), "Knee.R": (-0.18, -0.02, 0.55), "Foot.R": (-0.2, 0, 0.08)}
LIMBS = (("Hips", "Chest"), ("Chest", "Head"), ("Chest", "Elbow.L"), ("Elbow.L", "Hand.L"), ("Chest", "Elbow.R"),
         ("Elbow.R", "Hand.R"), ("Hips", "Knee.L"), ("Knee.L", "Foot.L"), ("Hips", "Knee.R"), ("Knee.R", "Foot.R"))
# Degrees at the frames 1, 13, 25, 38, 50: a run, with a deep bow at the end.
POSES = {"Chest": (0, 10, -5, 20, 60), "Head": (0, -10, 15, 0, 30),
         "Elbow.L": (0, 50, -40, 50, 70), "Hand.L": (0, 60, 90, 40, 110),
         "Elbow.R": (0, -40, 50, -40, 20), "Hand.R": (0, 90, 60, 100, 20),
         "Knee.L": (0, -45, 40, -45, -80), "Foot.L": (0, 30, 90, 40, 110),
         "Knee.R": (0, 40, -45, 40, 10), "Foot.R": (0, 90, 30, 70, 5)}


def character() -> bpy.types.Object:
    """A body of one skin around eleven joints, weighted by Blender's heat, that an armature makes run."""
    names = list(JOINTS)
    mesh = bpy.data.meshes.new("Body")
    mesh.from_pydata([JOINTS[name] for name in names], [(names.index(a), names.index(b)) for a, b in LIMBS], [])
    body = support.link(bpy.data.objects.new("Body", mesh))
    bpy.context.view_layer.objects.active = body
    body.modifiers.new("Skin", 'SKIN')
    for name, vertex in zip(names, mesh.skin_vertices[0].data):
        size = {"Hips": 0.14, "Chest": 0.16, "Head": 0.13}.get(name, 0.07)
        vertex.radius = (size, size)
    mesh.skin_vertices[0].data[0].use_root = True
    body.modifiers.new("Subdivision", 'SUBSURF').levels = 2
    for name in ("Skin", "Subdivision"):
        bpy.ops.object.modifier_apply(modifier=name)
    data = bpy.data.armatures.new("Bones")
    rig = support.link(bpy.data.objects.new("Rig", data))
    bpy.context.view_layer.objects.active = rig
    bpy.ops.object.mode_set(mode='EDIT')
    for head, tail in LIMBS:
        bone = data.edit_bones.new(tail)
        bone.head, bone.tail = JOINTS[head], JOINTS[tail]
        bone.parent = data.edit_bones.get(head)
    bpy.ops.object.mode_set(mode='POSE')
    for name, angles in POSES.items():
        bone = rig.pose.bones[name]
        bone.rotation_mode = 'XYZ'
        for frame, angle in zip((1, 13, 25, 38, 50), angles):
            bone.rotation_euler = (radians(angle), 0, 0.3 * radians(angle))
            bone.keyframe_insert("rotation_euler", frame=frame)
    bpy.ops.object.mode_set(mode='OBJECT')
    bpy.context.scene.frame_set(1)
    body.select_set(True)
    rig.select_set(True)
    bpy.ops.object.parent_set(type='ARMATURE_AUTO')
    assert len(body.vertex_groups) == len(LIMBS) and body.modifiers[0].type == 'ARMATURE'
    return body


def test_character_with_an_armature(_: Path) -> None:
    from grain.engine.objects import Cover, Surface
    scene, body, seconds, radius = bpy.context.scene, character(), 1.0 / 24.0, 0.02
    positions, triangles = surface(body)
    start = positions
    rest = Surface(positions, triangles)
    with Cover(rest, radius=radius) as moved:
        moved.bind(rest)
        first = dict(zip(moved.id.tolist(), moved.position.copy()))
        before, worst, fastest = first, 0.0, 0.0
        for frame in range(2, 52):
            scene.frame_set(frame)
            positions = surface(body)[0]
            moved.follow(positions, seconds)
            points, ids = moved.position.copy(), moved.id.tolist()
            # The triangles are those it was bound to, as in a job: a quad that is no longer flat has no other surface,
            # and Blender cuts some along the other diagonal in one frame and back in the next.
            worst = max(worst, farthest(points, positions, rest.triangles))
            shared = [row for row, key in enumerate(ids) if key in before]
            expected = (points[shared] - np.array([before[ids[row]] for row in shared])) / seconds
            # Positions are floats of about 1 m: differences of them are good to 1e-7 m.
            assert np.allclose(moved.velocity[shared], expected, atol=1e-5), frame
            fastest = max(fastest, float(np.linalg.norm(expected, axis=1).max()))
            before = dict(zip(ids, points))
        assert np.abs(positions - start).max() > 0.3 and fastest > 1.0, "the body moved"
        print(f"# {len(first)} particles, {len(points)} at the end; off by {worst / radius:.4f} radii at most")
        assert worst <= 0.05 * radius, worst / radius
        assert len(set(ids) & set(first)) > 0.8 * len(first), "most particles live on"
        # No crack: from each vertex a particle is nearer than the spacing of a cover just made.
        tree = KDTree(len(points))
        for index, point in enumerate(points):
            tree.insert(point, index)
        tree.balance()
        gap = max(tree.find(vertex)[2] for vertex in positions[np.unique(triangles)])
        assert gap < 1.9046 * radius, gap / radius


def test_cover_follows_an_armature(_: Path) -> None:
    from grain.engine.objects import Cover, Surface
    scene, tube = bpy.context.scene, bending_tube()
    seconds = 1.0 / 24.0
    for offset in (0.0, 0.02):
        scene.frame_set(1)
        positions, triangles = surface(tube)
        rest = Surface(positions, triangles)
        with Cover(rest, radius=0.04, offset=offset) as moved:
            moved.bind(rest)
            count = len(moved.position)
            before = dict(zip(moved.id.tolist(), moved.position.copy()))
            for frame in range(2, 51):
                scene.frame_set(frame)
                positions, triangles = surface(tube)
                moved.follow(positions, seconds)
                points, ids = moved.position.copy(), moved.id.tolist()
                shared = [row for row, key in enumerate(ids) if key in before]
                expected = (points[shared] - np.array([before[ids[row]] for row in shared])) / seconds
                assert np.allclose(moved.velocity[shared], expected, atol=1e-3), frame
                before = dict(zip(ids, points))
                if frame % 7 == 0:
                    tree = BVHTree.FromPolygons(positions.tolist(), triangles.tolist(), all_triangles=True)
                    off = max(abs(tree.find_nearest(Vector(point))[3] - offset) for point in points[::3])
                    assert off <= 0.05 * 0.04, (offset, frame, off / 0.04)
            assert abs(len(points) / count - 1.0) < 0.3 and len(shared) > 0.7 * count
    from grain.engine import ffi
    assert ffi.library().grain_allocated_bytes() == 0
