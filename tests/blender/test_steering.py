# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of the sand that are keyed or driven: from the property to the job to the bake."""
from math import radians, tan
from pathlib import Path

import bpy
import numpy as np
import support
from baked import entry, key, made


def test_keys_and_drivers_reach_the_job(_: Path) -> None:
    scene = support.small_scene(9)
    simulation = scene.grain.active
    key(simulation, "cohesion", {1: 8.0, 9: 0.0})
    simulation.driver_add("friction_angle").driver.expression = "0.1 + 0.05 * frame"
    job, warnings = made(9)
    assert not warnings, warnings
    samples = job.solver.animation
    assert set(samples) == {"friction", "cohesion"} and job.solver.cohesion == 8.0
    assert np.allclose(samples["cohesion"][:, 0], np.linspace(8.0, 0.0, 9), atol=1e-5), samples["cohesion"]
    assert np.allclose(samples["friction"][:, 0], [tan(0.1 + 0.05 * frame) for frame in range(1, 10)], atol=1e-5)
    # What a solver has no use for is said, not passed over; and nothing is written of it.
    simulation.solver = 'MESO'
    job, warnings = made(9)
    assert not job.solver.animation, job.solver.animation
    assert len(warnings) == 2 and "Cohesion is animated, but has no effect with the solver" in " ".join(warnings), warnings
    key(simulation, "viscosity", {1: 10.0, 9: 90.0})
    job, _warnings = made(9)
    assert abs(job.solver.animation["viscosity"][4, 0] - 50.0) < 1e-3 and job.solver.viscosity == 10.0


def test_a_source_with_its_own_material(_: Path) -> None:
    support.small_scene(5).grain.active.solver = 'DEM'
    source = bpy.data.objects["Block"].grain.source
    key(source, "friction_angle", {1: radians(30.0), 5: radians(10.0)})
    job, _warnings = made(5)
    assert entry(job, "Block").material is None, "nothing of it counts while Own Material is off"
    source.use_material = True
    job, _warnings = made(5)
    found = entry(job, "Block")
    assert abs(found.material["friction"] - tan(radians(30.0))) < 1e-6
    assert abs(found.material_curves.animation["friction"][4, 0] - tan(radians(10.0))) < 1e-5


def test_what_a_solver_knows_of_a_source_s_own_material(_: Path) -> None:
    simulation = support.small_scene(5).grain.active
    source = bpy.data.objects["Block"].grain.source
    key(source, "cohesion", {1: 1.0, 5: 3.0})
    source.use_material, source.friction_angle = True, radians(20.0)
    expected = {'DEM': {"friction", "rolling_friction", "density", "restitution", "cohesion"}, 'SPH': {"friction", "density", "cohesion"},
                'MPM': {"law", "friction", "density", "cohesion"}}
    for solver, names in expected.items():
        simulation.solver = solver
        found = entry(made(5)[0], "Block")
        assert set(found.material) == names and set(found.material_curves.animation) == {"cohesion"}, (solver, found.material)
    source.law = 'SNOW_WET'
    found = entry(made(5)[0], "Block")
    assert found.material == {"law": "snow_wet", "density": 700.0} and not found.material_curves.animation, found
    source.density, source.law = 123.0, 'MUD'
    assert source.density == 123.0, "a density that was chosen stays"
    simulation.solver = 'MESO'
    assert entry(made(5)[0], "Block").material is None


def test_snow_stands_beside_sand(folder: Path) -> None:
    """Two sources on one floor, one bake: the sand runs out, the wet snow stands."""
    scene = bpy.context.scene
    for name, x in (("Sand", -0.2), ("Snow", 0.2)):
        support.box(name, (x - 0.05, -0.05, 0.0), (x + 0.05, 0.05, 0.1)).grain.type = 'SOURCE'
    support.floor()
    simulation, snow = scene.grain.active, bpy.data.objects["Snow"].grain.source
    simulation.solver, simulation.particle_radius, scene.frame_end = 'MPM', 0.006, 16
    snow.use_material, snow.law = True, 'SNOW_WET'
    support.save(folder)
    bpy.ops.grain.bake()
    places = support.read_frame(folder / "grain_cache/Sand/coarse_000016.grain")["position"]
    heights = [places[(places[:, 0] > 0.0) == is_snow, 2].max() for is_snow in (False, True)]
    assert heights[0] < 0.05 < 0.075 < heights[1], heights


def test_a_keyed_bake_stays_in_date_while_scrubbing(folder: Path) -> None:
    from grain.scene.manage import bake_state
    scene = support.small_scene(6)
    simulation = scene.grain.active
    key(simulation, "cohesion", {1: 5.0, 6: 0.0})
    simulation.driver_add("friction_angle").driver.expression = "0.5 - 0.05 * frame"
    support.save(folder)
    assert bpy.ops.grain.bake() == {'FINISHED'}
    for frame in (1, 3, 6):
        scene.frame_set(frame)
        assert bake_state.of_bake(simulation).kind == 'COMPLETE', (frame, bake_state.of_bake(simulation))
    # Other keys are another bake: the same button says so when it is pressed.
    key(simulation, "cohesion", {1: 5.0, 6: 4.0})
    try:
        bpy.ops.grain.bake()
        raise AssertionError("a bake of other keys went on")
    except RuntimeError as error:
        assert "keyed settings" in str(error), error
    assert bpy.ops.grain.bake_anew() == {'FINISHED'}


def test_keys_are_undone(folder: Path) -> None:
    support.small_scene(5)
    bpy.ops.ed.undo_push(message="before")
    scene = bpy.context.scene
    key(scene.grain.active, "cohesion", {1: 5.0, 5: 0.0})
    bpy.ops.ed.undo_push(message="keyed")
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    assert not support.keyed(scene)
    bpy.ops.ed.redo()
    assert support.keyed(bpy.context.scene)[0].data_path == "grain.simulations[0].cohesion"
