# SPDX-License-Identifier: GPL-3.0-or-later
"""Several simulations in one scene: own objects, own caches, own sand; copied, removed, undone, saved and migrated."""
from pathlib import Path

import bpy
import numpy as np
import support


def second_source(name: str = "Other") -> bpy.types.Object:
    """Another heap beside the first, far enough not to meet it."""
    item = support.box(name, (0.5, -0.05, 0.1), (0.6, 0.05, 0.2))
    bpy.context.view_layer.update()
    item.grain.type = 'SOURCE'
    return item


def two_simulations(last_frame: int = 3) -> bpy.types.Scene:
    scene = support.small_scene(last_frame)
    bpy.ops.grain.simulation_add()
    second_source()
    scene.grain.active.particle_radius = 0.01
    return scene


def names(simulation: "object") -> list[str]:
    from grain.scene import simulations
    return sorted(item.name for item in simulations.objects(simulation))


def heights(simulation: "object") -> np.ndarray:
    mesh = simulation.sand_object.data
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", values)
    return values.reshape(-1, 3)[:, 2]


def cached_heights(folder: Path, name: str, frame: int) -> np.ndarray:
    return support.read_frame(folder / f"grain_cache/{name.replace('.', '_')}/coarse_{frame:06d}.grain")["position"][:, 2]


def test_each_has_its_own_objects(_: Path) -> None:
    scene = two_simulations()
    first, second = scene.grain.simulations
    assert (first.name, second.name) == ("Sand", "Sand.001")
    assert names(first) == ["Block", "Floor", "Step"] and names(second) == ["Floor", "Other", "Step"]
    floor, block = bpy.data.objects["Floor"], bpy.data.objects["Block"]
    assert floor.grain.simulation == 'EVERY' and block.grain.simulation == str(first.cast)
    block.grain.simulation = str(second.cast)
    assert names(scene.grain.simulations[0]) == ["Floor", "Step"]
    scene.grain.simulations[1].name = "Sand"
    assert scene.grain.simulations[1].name == "Sand.001", "two of one name would share a cache"


def test_both_bake_and_play(folder: Path) -> None:
    scene = two_simulations()
    support.save(folder)
    for name in ("Sand", "Sand.001"):
        assert bpy.ops.grain.bake(simulation=name) == {'FINISHED'}
    first, second = scene.grain.simulations
    assert first.sand_object.name == "Grain Sand" and second.sand_object.name == "Grain Sand.001"
    for frame in (1, 3, 2):
        scene.frame_set(frame)
        assert np.array_equal(heights(first), cached_heights(folder, "Sand", frame))
        assert np.array_equal(heights(second), cached_heights(folder, "Sand.001", frame))
    assert len(heights(first)) != len(heights(second))
    assert support.points_in_depsgraph() == len(heights(first)) + len(heights(second))
    # Freeing the active one leaves the other alone.
    assert scene.grain.active == second
    bpy.ops.grain.free()
    assert (folder / "grain_cache/Sand/cache.json").is_file() and not (folder / "grain_cache/Sand_001/cache.json").exists()
    assert len(heights(second)) == 0 and len(heights(first)) > 100


def test_settings_and_state_are_apart(folder: Path) -> None:
    from grain.scene.manage import bake_state, job_builder
    scene = two_simulations()
    support.save(folder)
    bpy.ops.grain.bake(simulation="Sand")
    first, second = scene.grain.simulations
    second.friction_angle = 0.3
    assert bake_state.of_simulation(first).kind == 'COMPLETE' and bake_state.of_simulation(second).kind == 'EMPTY'
    first.friction_angle = 0.4
    assert bake_state.of_simulation(first).kind == 'OUTDATED'
    objects = [entry.name for entry in job_builder.make(second, bpy.context.view_layer)[0].objects]
    assert objects == ["Other", "Floor", "Step"], objects
    try:
        bpy.ops.grain.bake(simulation="Nowhere")
        raise AssertionError("baked a simulation that is not there")
    except RuntimeError as error:
        assert "no simulation 'Nowhere'" in str(error)


def test_copy_compares_the_same_objects(folder: Path) -> None:
    from grain.scene import paths
    scene = support.small_scene(3)
    first = scene.grain.active
    first.friction_angle, first.volume.voxel_size, first.cache_folder = 0.2, 3.0, "//caches/dune"
    first.keyframe_insert("friction_angle", frame=1)
    support.save(folder)
    bpy.ops.grain.bake()
    bpy.ops.grain.simulation_copy()
    first, second = scene.grain.simulations
    assert scene.grain.active == second and second.sand_object is None and second.name == "Sand.001"
    assert abs(second.friction_angle - 0.2) < 1e-6 and second.volume.voxel_size == 3.0
    assert second.is_radius_chosen == first.is_radius_chosen
    assert names(first) == names(second) == ["Block", "Floor", "Step"]
    assert paths.cache_folder(first) != paths.cache_folder(second)
    curves = [curve.data_path for curve in support.keyed(scene)]
    assert curves == [f"grain.simulations[{index}].friction_angle" for index in (0, 1)], curves
    assert bpy.ops.grain.bake() == {'FINISHED'}
    scene.frame_set(3)
    assert np.array_equal(heights(first), heights(second)), "the same settings give the same bits"
    # An object of the pair's is of both, and of no third one.
    bpy.ops.grain.simulation_add()
    assert names(scene.grain.simulations[2]) == ["Floor", "Step"]
    assert names(scene.grain.simulations[1]) == ["Block", "Floor", "Step"]


def test_remove_leaves_the_others(folder: Path) -> None:
    scene = two_simulations()
    for simulation in scene.grain.simulations:
        simulation.keyframe_insert("cohesion", frame=2)
    support.save(folder)
    for name in ("Sand", "Sand.001"):
        bpy.ops.grain.bake(simulation=name)
    scene.grain.active_index = 0
    bpy.ops.grain.simulation_remove()
    assert [simulation.name for simulation in scene.grain.simulations] == ["Sand.001"]
    assert "Grain Sand" not in bpy.data.objects and bpy.data.objects["Block"].grain.type == 'NONE'
    assert names(scene.grain.active) == ["Floor", "Other", "Step"]
    assert [curve.data_path for curve in support.keyed(scene)] == ["grain.simulations[0].cohesion"]
    assert (folder / "grain_cache/Sand/cache.json").is_file(), "a removed simulation's frames stay"
    scene.frame_set(3)
    assert np.array_equal(heights(scene.grain.active), cached_heights(folder, "Sand.001", 3))
    bpy.ops.grain.simulation_remove()
    assert scene.grain.active is None and not bpy.ops.grain.bake.poll() and not bpy.ops.grain.free.poll()


def test_bodies_follow_the_active_one(folder: Path) -> None:
    scene = support.small_scene(6)
    crate = support.box("Crate", (-0.05, -0.05, 0.5), (0.05, 0.05, 0.6))
    bpy.context.view_layer.update()
    crate.grain.type = 'BODY'
    support.save(folder)
    bpy.ops.grain.bake()
    scene.frame_set(6)
    fallen = crate.matrix_world.translation.z
    assert fallen < 0.54
    bpy.ops.grain.simulation_copy()  # is active now, and not baked
    scene.frame_set(6)
    assert abs(crate.matrix_world.translation.z - 0.55) < 1e-6
    scene.grain.active_index = 0
    scene.frame_set(6)
    assert abs(crate.matrix_world.translation.z - fallen) < 1e-6
    scene.grain.active_index = 1
    bpy.ops.grain.simulation_remove()
    scene.frame_set(6)
    assert abs(crate.matrix_world.translation.z - fallen) < 1e-6


def test_undo_and_redo(folder: Path) -> None:
    support.small_scene(2)
    support.save(folder)
    bpy.ops.ed.undo_push(message="Scene")

    def count() -> int:
        return len(bpy.context.scene.grain.simulations)

    for operator, after in ((bpy.ops.grain.simulation_copy, 2), (bpy.ops.grain.simulation_add, 3),
                            (bpy.ops.grain.simulation_remove, 2)):
        before = count()
        operator()
        bpy.ops.ed.undo_push(message="Step")
        assert count() == after
        bpy.ops.ed.undo()
        assert count() == before
        bpy.ops.ed.redo()
        assert count() == after
    # The sand of both is there after an undo of something else.
    for simulation in list(bpy.context.scene.grain.simulations):
        assert bpy.ops.grain.bake(simulation=simulation.name) == {'FINISHED'}
    bpy.ops.ed.undo_push(message="Baked")
    bpy.data.objects["Step"].location.x = 1.0
    bpy.ops.ed.undo_push(message="Moved")
    bpy.ops.ed.undo()
    for simulation in bpy.context.scene.grain.simulations:
        assert len(heights(simulation)) > 100


def test_saved_and_reopened(folder: Path) -> None:
    scene = two_simulations()
    scene.grain.simulations[1].density = 1234.0
    for name in ("Sand", "Sand.001"):  # into Blender's temporary folder: the file has no place yet
        bpy.ops.grain.bake(simulation=name)
    path = support.save(folder)
    assert (folder / "grain_cache/Sand/cache.json").is_file() and (folder / "grain_cache/Sand_001/cache.json").is_file()
    bpy.ops.wm.read_homefile(use_empty=True)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    assert [simulation.density for simulation in scene.grain.simulations] == [2600.0, 1234.0]
    assert scene.grain.active_index == 1 and names(scene.grain.active) == ["Floor", "Other", "Step"]
    scene.frame_set(2)
    for simulation in scene.grain.simulations:
        assert np.array_equal(heights(simulation), cached_heights(folder, simulation.name, 2))


def test_a_file_from_before_the_list_opens(folder: Path) -> None:
    """Such files hold the settings of the one simulation in scene.grain itself."""
    scene = support.small_scene(3)
    scene.grain.active.friction_angle = 0.25
    support.save(folder)
    bpy.ops.grain.bake()
    sand = scene.grain.active.sand_object
    scene.grain.active.display.radius_scale = 1.25
    settings = support.stored(scene)["simulations"][0].to_dict()
    for name in ("cast", "edition"):
        settings.pop(name)
    settings["sand_object"] = sand
    support.store(scene, settings)
    support.new_curve(scene, "grain.density").keyframe_points.insert(1, 2000.0)
    for item in bpy.data.objects:
        for name in ("cast", "is_cast_chosen"):
            (support.stored(item) or {}).pop(name, None)
    path = support.save(folder)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    scene = bpy.context.scene
    simulation = scene.grain.active
    assert len(scene.grain.simulations) == 1 and simulation.name == "Sand" and simulation.solver == 'DEM'
    assert abs(simulation.friction_angle - 0.25) < 1e-6 and simulation.sand_object.name == "Grain Sand"
    assert abs(simulation.display.radius_scale - 1.25) < 1e-6
    held = set(support.stored(scene).keys())
    assert held <= {"simulations", "active_index"}, held
    assert [curve.data_path for curve in support.keyed(scene)] == ["grain.simulations[0].density"]
    assert names(simulation) == ["Block", "Floor", "Step"]
    scene.frame_set(3)
    assert np.array_equal(heights(simulation), cached_heights(folder, "Sand", 3))


def test_a_file_from_before_the_default_solver_changed(folder: Path) -> None:
    """Such files hold no edition, and a solver only where it was chosen: the others were single grains, and stay so."""
    scene = two_simulations()
    scene.grain.simulations[1].solver = 'SPH'
    for stored in support.stored(scene)["simulations"]:
        stored.pop("edition")
    assert "solver" not in support.stored(scene)["simulations"][0], "the file says nothing of it"
    path = support.save(folder)
    bpy.ops.wm.open_mainfile(filepath=str(path))

    def solvers() -> list[str]:
        return [simulation.solver for simulation in bpy.context.scene.grain.simulations]

    assert solvers() == ['DEM', 'SPH'], solvers()
    bpy.ops.grain.simulation_add()
    bpy.context.scene.grain.active_index = 0
    bpy.ops.grain.simulation_copy()
    support.save(folder)
    bpy.ops.wm.open_mainfile(filepath=str(path))
    assert solvers() == ['DEM', 'SPH', 'MPM', 'DEM'], solvers()


def test_solvers_keep_their_numbers_in_files(_: Path) -> None:
    bpy.ops.grain.simulation_add()
    simulation = bpy.context.scene.grain.active
    for number, solver in enumerate(('DEM', 'MPM', 'SPH', 'MESO')):
        simulation.solver = solver
        assert support.stored(bpy.context.scene)["simulations"][0]["solver"] == number
