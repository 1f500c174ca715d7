# SPDX-License-Identifier: GPL-3.0-or-later
"""Sand in one click, and materials by name."""
from pathlib import Path

import bpy
import support


def default_cube() -> bpy.types.Object:
    cube = support.box("Cube", (-1.0, -1.0, -1.0), (1.0, 1.0, 1.0))
    cube.select_set(True)
    bpy.context.view_layer.objects.active = cube
    bpy.context.view_layer.update()
    return cube


def test_one_click_can_be_baked_at_once(folder: Path) -> None:
    from grain.scene.manage import estimate, presets
    cube = default_cube()
    assert bpy.ops.grain.quick_sand() == {'FINISHED'}
    scene, simulation = bpy.context.scene, bpy.context.scene.grain.active
    assert cube.grain.type == 'SOURCE' and simulation is not None
    assert (simulation.solver, simulation.law) == ('MPM', 'SAND') and presets.matching(simulation) == 'DRY_SAND'
    floor = bpy.data.objects["Grain Floor"]
    assert floor.grain.type == 'COLLIDER' and abs(floor.location.z + 3.0) < 1e-5, "as deep below the sand as it is high"
    count = estimate.of_simulation(simulation, bpy.context.evaluated_depsgraph_get()).particles
    assert 20_000 < count < 40_000, count
    scene.frame_end = 2
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    assert len(simulation.sand_object.data.vertices) > 20_000


def test_objects_that_are_there_become_colliders(_: Path) -> None:
    default_cube()
    ramp, hidden = support.box("Ramp", (-3, -3, -4), (3, 3, -3)), support.box("Hidden", (5, 5, 5), (6, 6, 6))
    hidden.hide_set(True)
    bpy.context.view_layer.update()
    bpy.ops.grain.quick_sand(preset='RICE')
    assert ramp.grain.type == 'COLLIDER' and hidden.grain.type == 'NONE' and "Grain Floor" not in bpy.data.objects
    assert bpy.context.scene.grain.active.grain_shape == 'ROD'
    other = support.box("Other", (-1, -1, 4), (1, 1, 6))
    for item in bpy.context.selected_objects:
        item.select_set(False)
    other.select_set(True)
    bpy.ops.grain.quick_sand()
    assert "Grain Floor" not in bpy.data.objects, "there is something to fall on"


def test_what_cannot_be_sand_is_named(_: Path) -> None:
    bpy.ops.mesh.primitive_plane_add()
    try:
        bpy.ops.grain.quick_sand()
        raise AssertionError("a plane has no inside")
    except RuntimeError as error:
        assert "'Plane' encloses no space" in str(error), error
    assert bpy.data.objects["Plane"].grain.type == 'NONE'
    bpy.context.object.select_set(False)
    assert not bpy.ops.grain.quick_sand.poll()


def test_undo_and_redo(_: Path) -> None:
    bpy.context.preferences.edit.use_global_undo = True
    default_cube()
    bpy.ops.ed.undo_push(message="cube")
    bpy.ops.grain.quick_sand()
    bpy.ops.ed.undo_push(message="quick")
    bpy.ops.grain.preset(preset='GRAVEL')
    bpy.ops.ed.undo_push(message="preset")
    bpy.ops.ed.undo()
    assert bpy.context.scene.grain.active.grain_shape == 'SPHERE'
    bpy.ops.ed.undo()
    assert bpy.data.objects["Cube"].grain.type == 'NONE' and "Grain Floor" not in bpy.data.objects
    assert len(bpy.context.scene.grain.simulations) == 0
    bpy.ops.ed.redo()
    bpy.ops.ed.redo()
    assert bpy.data.objects["Cube"].grain.type == 'SOURCE' and "Grain Floor" in bpy.data.objects
    assert bpy.context.scene.grain.active.grain_shape == 'TETRAHEDRON'


def test_every_preset_bakes_and_is_recognised(folder: Path) -> None:
    from grain.scene.look import look_library
    from grain.scene.manage import presets
    scene = support.small_scene(2)
    scene.grain.active.particle_radius = 0.015
    support.save(folder)
    for name, preset in presets.PRESETS.items():
        assert bpy.ops.grain.preset(preset=name) == {'FINISHED'}
        simulation = scene.grain.active
        assert presets.matching(simulation) == name
        if simulation.solver in ('MPM', 'SPH'):
            bpy.data.objects["Block"].grain.source.moisture = 1.0 - preset.moisture
            assert presets.matching(simulation) != name, "neither as dry nor as wet"
            bpy.ops.grain.preset(preset=name)
        assert bpy.ops.grain.bake(restart=True) == {'FINISHED'}, name
        sand = simulation.sand_object
        assert sand.data.materials[0].name == look_library.LOOKS[preset.look].material
        is_shaped = simulation.solver == 'DEM' and simulation.grain_shape != 'SPHERE'
        assert (simulation.shape_object is not None) == is_shaped, name
        if is_shaped:
            assert simulation.shape_object.data.materials[0] == sand.data.materials[0]
        moisture = sand.data.attributes.get("moisture")
        assert (moisture is not None and moisture.data[0].value > 0.3) == (preset.moisture > 0.0), name
    simulation.density += 100.0
    assert presets.matching(simulation) is None


def test_floor_for_sand_without_one(_: Path) -> None:
    block = support.box("Block", (0.0, 0.0, 0.0), (1.0, 1.0, 0.5))
    bpy.context.view_layer.update()
    block.grain.type = 'SOURCE'
    assert bpy.ops.grain.floor_add() == {'FINISHED'}
    floor = bpy.data.objects["Grain Floor"]
    assert [round(value, 4) for value in floor.location] == [0.5, 0.5, -0.5]
