# SPDX-License-Identifier: GPL-3.0-or-later
"""Colours, UV maps and attributes of a source reach its particles and grains, and stay with them."""
from pathlib import Path

import bpy
import numpy as np
import support


def painted_scene(folder: Path, last_frame: int = 4) -> bpy.types.Scene:
    """Red grows from left to right, the face attribute tells the top, the UV map is the place seen from above."""
    scene = support.small_scene(last_frame)
    mesh = bpy.data.objects["Block"].data
    paint = mesh.attributes.new("Paint", 'FLOAT_COLOR', 'POINT')
    for vertex, entry in zip(mesh.vertices, paint.data):
        entry.color = (vertex.co.x / 0.16 + 0.5, 0.0, 0.25, 1.0)
    top = mesh.attributes.new("top", 'FLOAT', 'FACE')
    for face, entry in zip(mesh.polygons, top.data):
        entry.value = float(face.normal.z > 0.5)
    layer = mesh.uv_layers.new(name="UVMap")
    for loop, entry in zip(mesh.loops, layer.data):
        entry.uv = mesh.vertices[loop.vertex_index].co[:2]
    bpy.data.objects["Block"].grain.source.use_attributes = True
    support.save(folder)
    return scene


def values(scene: bpy.types.Scene, name: str, member: str, width: int) -> np.ndarray:
    data = scene.grain.active.sand_object.data.attributes[name].data
    found = np.empty(len(data) * width, np.float32)
    data.foreach_get(member, found)
    return found.reshape(-1, width)


def positions(scene: bpy.types.Scene) -> np.ndarray:
    found = np.empty(len(scene.grain.active.sand_object.data.vertices) * 3, np.float32)
    scene.grain.active.sand_object.data.vertices.foreach_get("co", found)
    return found.reshape(-1, 3)


LOW, HIGH = np.array((-0.08, -0.08, 0.2)), np.array((0.08, 0.08, 0.3))  # the block of the small scene


def nearest_on_block(place: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The nearest point of the block's surface, whether that is its top, and whether no other face is as near."""
    gaps = np.concatenate((place - LOW, HIGH - place), axis=1)
    face, order = gaps.argmin(axis=1), np.sort(gaps, axis=1)
    nearest, rows = place.copy(), np.arange(len(place))
    nearest[rows, face % 3] = np.where(face < 3, LOW[face % 3], HIGH[face % 3])
    return nearest, face == 5, order[:, 1] - order[:, 0] > 1e-4


def test_particles_have_the_colour_of_where_they_were_born(folder: Path) -> None:
    scene = painted_scene(folder)
    bpy.ops.grain.bake()
    scene.frame_set(1)
    place = positions(scene)
    red = values(scene, "Paint", "color", 4)
    nearest, is_top, is_clear = nearest_on_block(place)
    assert is_clear.sum() > 0.9 * len(place) and 0 < is_top[is_clear].sum() < is_clear.sum()
    # Each has what is painted on the nearest point of the surface.
    assert np.allclose(red[is_clear, 0], nearest[is_clear, 0] / 0.16 + 0.5, atol=1e-3) and np.allclose(red[:, 2], 0.25, atol=1e-3)
    found = values(scene, "UVMap", "vector", 2)
    assert np.allclose(found[is_clear] + (LOW + HIGH)[:2] / 2, nearest[is_clear, :2], atol=1e-4)
    assert np.allclose(values(scene, "top", "value", 1)[is_clear, 0], is_top[is_clear], atol=1e-4)
    scene.frame_set(4)
    assert np.array_equal(values(scene, "Paint", "color", 4), red), "a grain keeps its colour"
    scene.grain.active.display.use_rest = True
    assert np.allclose(values(scene, "rest", "vector", 3), place, atol=1e-5)
    assert {entry.value for entry in scene.grain.active.sand_object.data.attributes["source_id"].data} == {0}


def test_render_grains_have_them_too(folder: Path) -> None:
    scene = painted_scene(folder, 2)
    scene.grain.active.use_upsample, scene.grain.active.grains_per_particle = True, 8
    bpy.ops.grain.bake()
    for amount in (100.0, 25.0):
        scene.grain.active.display.viewport_amount = amount
        scene.frame_set(1)
        place, red = positions(scene), values(scene, "Paint", "color", 4)
        nearest, _, is_clear = nearest_on_block(place)
        # Each has the colour of its own place of birth.
        assert len(place) == len(red) and is_clear.sum() > 0.9 * len(place)
        assert np.allclose(red[is_clear, 0], nearest[is_clear, 0] / 0.16 + 0.5, atol=1e-3)


def test_a_changed_colour_is_a_changed_source(folder: Path) -> None:
    from grain.scene.manage import baking
    scene = painted_scene(folder, 2)
    bpy.ops.grain.bake()
    bpy.ops.grain.bake()  # nothing changed
    bpy.data.objects["Block"].data.attributes["Paint"].data[0].color = (0.0, 1.0, 0.0, 1.0)
    try:
        baking.start(scene.grain.active, bpy.context.view_layer, False)
        raise AssertionError("other colours")
    except baking.BakeRefused as error:
        assert "'Block'" in str(error), error


def test_age_counts_from_birth(folder: Path) -> None:
    """Of a source all grains are as old as the bake; of an emitter each as long as it is there. The same of render grains."""
    scene = support.small_scene(6)
    tap = support.box("Tap", (0.3, 0.3, 0.3), (0.4, 0.4, 0.4))
    tap.grain.type, tap.grain.emitter.rate = 'EMITTER', 400.0
    display = scene.grain.active.display
    display.use_rest = True
    scene.grain.active.use_upsample, scene.grain.active.grains_per_particle = True, 4
    support.save(folder)
    bpy.ops.grain.bake()
    where: dict[int, np.ndarray] = {}
    for use_grains in (False, True):
        scene.grain.active.use_upsample = use_grains
        for frame in (6, 3):
            scene.frame_set(frame)
            age, source = values(scene, "age", "value", 1)[:, 0], scene.grain.active.sand_object.data.attributes["source_id"].data
            of_tap = np.array([entry.value for entry in source]) == 1
            assert np.array_equal(of_tap, positions(scene)[:, 0] > 0.25), "each has its own source"
            assert np.allclose(age[~of_tap], (frame - 1) / 24.0), "poured at once"
            assert of_tap.any() and set(np.round(age[of_tap] * 24.0)) <= set(range(frame)), np.unique(age[of_tap] * 24.0)
            assert len(np.unique(np.round(age[of_tap] * 24.0))) >= frame - 2, "poured one after another"
            ids = np.empty(len(age), np.int32)
            scene.grain.active.sand_object.data.attributes["id"].data.foreach_get("value", ids)
            assert len(np.unique(ids)) == len(ids)
            where[frame] = values(scene, "rest", "vector", 3)[np.argsort(ids)]
        assert np.array_equal(where[3], where[6][:len(where[3])]), "a grain keeps its number, and with it its colour"
