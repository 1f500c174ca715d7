# SPDX-License-Identifier: GPL-3.0-or-later
"""Friction and stickiness of colliders: keyed, driven and painted, from the properties to the sand."""
from math import radians, tan
from pathlib import Path

import bpy
import numpy as np
import support
from baked import entry, key, made


def slab() -> bpy.types.Object:
    """A subdivided slab that leans by 35 degrees towards +x; the vertex group Rough is all of y above 0."""
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=4, y_subdivisions=16, size=1.0, rotation=(0.0, radians(35.0), 0.0))
    item = bpy.context.object
    item.name = "Slab"
    group = item.vertex_groups.new(name="Rough")
    group.add([vertex.index for vertex in item.data.vertices if vertex.co.y > 1e-4], 1.0, 'REPLACE')
    item.grain.type = 'COLLIDER'
    item.grain.collider.friction_angle = radians(60.0)
    return item


def patch(name: str, y: float) -> bpy.types.Object:
    """A flat source that lies on the slab."""
    item = support.box(name, (-0.04, y - 0.05, 0.015), (0.04, y + 0.05, 0.035))
    item.rotation_euler.y = radians(35.0)
    item.grain.type = 'SOURCE'
    return item


def test_keys_drivers_and_paint_reach_the_job(_: Path) -> None:
    support.small_scene(9)
    step, floor = bpy.data.objects["Step"], bpy.data.objects["Floor"]
    group = step.vertex_groups.new(name="Rough")
    group.add([0, 1], 0.5, 'REPLACE')
    step.grain.collider.friction_paint = step.grain.collider.stickiness_paint = "Rough"
    step.grain.collider.stickiness = 3.0
    floor.grain.collider.driver_add("friction_angle").driver.expression = "0.1 * frame"
    key(floor.grain.collider, "stickiness", {1: 0.0, 9: 8.0})
    job, warnings = made(9)
    assert not warnings, warnings
    found = entry(job, "Step")
    assert found.stickiness == 3.0 and not found.animation
    assert sorted(found.friction_paint[:, 0]) == [0.0] * 6 + [0.5] * 2 and np.array_equal(found.friction_paint, found.stickiness_paint)
    found = entry(job, "Floor")
    assert np.allclose(found.animation["friction"][:, 0], [tan(0.1 * frame) for frame in range(1, 10)], atol=1e-5)
    assert np.allclose(found.animation["stickiness"][:, 0], range(9), atol=1e-5)
    step.grain.collider.friction_paint = "Gone"
    from grain.scene.read.errors import SnapshotError
    try:
        made(9)
        raise AssertionError("a vertex group that is not there was taken")
    except SnapshotError as error:
        assert "'Step' has no vertex group or attribute 'Gone'" in str(error) and "rough" in str(error) and "Collider panel" in str(error), error


def test_a_slope_painted_half_keeps_half_of_the_sand(folder: Path) -> None:
    """As an artist does it: a grid, a vertex group, two patches of sand. Then a key takes the friction away."""
    item = slab()
    patch("Left", -0.25)
    patch("Right", 0.25)
    scene = bpy.context.scene
    simulation = scene.grain.active
    simulation.solver, simulation.particle_radius, simulation.friction_angle = 'MPM', 0.006, radians(50.0)
    scene.frame_start, scene.frame_end = 1, 20
    item.grain.collider.friction_paint = "Rough"
    key(item.grain.collider, "friction_angle", {11: radians(60.0), 12: 0.0})
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    from grain.scene import paths
    cache = paths.cache_folder(simulation)
    first, held, gone = (support.read_frame(cache / f"coarse_{frame:06d}.grain")["position"] for frame in (1, 11, 20))
    left, right = first[:, 1] < 0.0, first[:, 1] > 0.0

    def fallen(places: np.ndarray, which: np.ndarray) -> float:
        return float(np.median(first[which, 2] - places[which, 2]))

    # Free of friction: 5.6 m/s2 along the slope for 10 frames is 0.49 m, 0.28 m of it down; it starts a centimetre above.
    assert fallen(held, left) > 0.2 and fallen(held, right) < 0.02, (fallen(held, left), fallen(held, right))
    assert fallen(gone, right) > 0.15, fallen(gone, right)


def test_changes_name_the_collider(folder: Path) -> None:
    scene = support.small_scene(3)
    step = bpy.data.objects["Step"]
    group = step.vertex_groups.new(name="Rough")
    group.add([0, 1], 0.5, 'REPLACE')
    step.grain.collider.friction_paint = "Rough"
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    group.add([0], 0.7, 'REPLACE')
    scene.frame_end = 4
    try:
        bpy.ops.grain.bake()
        raise AssertionError("a bake of other paint went on")
    except RuntimeError as error:
        assert "'Step'" in str(error), error


def test_undo_gives_settings_back(folder: Path) -> None:
    support.small_scene(3)
    bpy.ops.ed.undo_push(message="before")
    bpy.data.objects["Step"].grain.collider.stickiness = 7.0
    bpy.ops.ed.undo_push(message="sticky")
    bpy.ops.ed.undo()
    assert bpy.data.objects["Step"].grain.collider.stickiness == 0.0
    bpy.ops.ed.redo()
    assert bpy.data.objects["Step"].grain.collider.stickiness == 7.0
