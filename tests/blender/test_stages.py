# SPDX-License-Identifier: GPL-3.0-or-later
"""Stages one by one, going on from a saved frame, everything at once, what bakes took, and jobs for farms."""
import csv
import subprocess
from pathlib import Path

import bpy
import numpy as np
import support
from baked import cached_heights


def stages_scene(folder: Path, last_frame: int = 4) -> bpy.types.Scene:
    scene = support.small_scene(last_frame)
    scene.grain.active.use_upsample, scene.grain.active.grains_per_particle = True, 4
    support.save(folder)
    return scene


def kinds(scene: bpy.types.Scene) -> tuple[str, str, str]:
    from grain.scene.manage import bake_state
    from grain.scene.show import volumes
    simulation = scene.grain.active
    return bake_state.of_bake(simulation).kind, bake_state.of_grains(simulation).kind, volumes.condition(simulation)[0]


def test_each_stage_alone(folder: Path) -> None:
    scene, cache = stages_scene(folder), folder / "grain_cache/Sand"
    assert kinds(scene) == ('EMPTY', 'EMPTY', 'EMPTY')
    assert bpy.ops.grain.bake_stage(stage='SIMULATE') == {'FINISHED'}
    assert kinds(scene) == ('COMPLETE', 'EMPTY', 'EMPTY')
    simulated = (cache / "coarse_000003.grain").stat().st_mtime_ns
    assert bpy.ops.grain.bake_stage(stage='GRAINS') == {'FINISHED'}
    assert bpy.ops.grain.bake_stage(stage='VOLUME') == {'FINISHED'}
    assert kinds(scene) == ('COMPLETE',) * 3
    scene.grain.active.grains_per_particle = 6
    assert kinds(scene)[:2] == ('COMPLETE', 'PARTIAL')
    assert bpy.ops.grain.bake_stage(stage='GRAINS') == {'FINISHED'}
    assert (cache / "coarse_000003.grain").stat().st_mtime_ns == simulated, "the simulation was not touched"
    assert bpy.ops.grain.free_stage(stage='VOLUME') == {'FINISHED'}
    assert kinds(scene) == ('COMPLETE', 'COMPLETE', 'EMPTY') and not (cache / "volume").exists()
    assert bpy.ops.grain.free_stage(stage='GRAINS') == {'FINISHED'}
    assert kinds(scene)[:2] == ('COMPLETE', 'EMPTY') and (cache / "coarse_000003.grain").is_file()
    scene.frame_set(3)
    assert len(scene.grain.active.sand_object.data.vertices) == len(cached_heights(folder, 3)), "the particles are shown again"
    assert bpy.ops.grain.free_stage(stage='SIMULATE') == {'FINISHED'}
    assert not cache.exists()


def test_grains_without_a_bake_are_refused(folder: Path) -> None:
    stages_scene(folder)
    for stage in ('GRAINS', 'VOLUME'):
        try:
            bpy.ops.grain.bake_stage(stage=stage)
            raise AssertionError("there is nothing to make it of")
        except RuntimeError as error:
            assert "Bake the simulation first" in str(error), error


def test_going_on_from_a_saved_frame_with_another_setting(folder: Path) -> None:
    from grain.engine import cache as caches
    scene, cache = support.small_scene(24), folder / "grain_cache/Sand"
    support.save(folder)
    bpy.ops.grain.bake()
    assert caches.checkpoint_frames(cache) == [10, 20]
    scene.grain.active.checkpoint_every = 1
    assert kinds(scene)[0] == 'COMPLETE', "how often states are saved changes no result"
    scene.grain.active.checkpoint_every = 10
    before = {frame: (cache / f"coarse_{frame:06d}.grain").read_bytes() for frame in (10, 11, 24)}
    scene.grain.active.friction_angle = 0.0
    for item in ("Step", "Floor"):
        bpy.data.objects[item].grain.collider.friction_angle = 0.0
    assert bpy.ops.grain.bake_from(frame=13) == {'FINISHED'}
    after = {frame: (cache / f"coarse_{frame:06d}.grain").read_bytes() for frame in (10, 11, 24)}
    assert after[10] == before[10] and after[24] != before[24]
    assert kinds(scene)[0] == 'COMPLETE', "a bake of the settings of now"
    spread = np.abs(support.read_frame(cache / "coarse_000024.grain")["position"][:, 0]).max()
    scene.grain.active.friction_angle = 0.5
    try:
        bpy.ops.grain.bake_from(frame=5)
        raise AssertionError("nothing is saved before frame 10")
    except RuntimeError as error:
        assert "The earliest is frame 10" in str(error), error
    assert np.isfinite(spread)


def test_states_are_saved_as_often_as_wished(folder: Path) -> None:
    from grain.engine import cache as caches
    from grain.scene.manage import estimate
    scene, cache = support.small_scene(14), folder / "grain_cache/Sand"
    support.save(folder)
    simulation, depsgraph = scene.grain.active, bpy.context.evaluated_depsgraph_get()
    seldom = estimate.of_simulation(simulation, depsgraph).byte_count
    simulation.checkpoint_every = 1
    assert estimate.of_simulation(simulation, depsgraph).byte_count > seldom, "that is told before"
    bpy.ops.grain.bake()
    assert caches.checkpoint_frames(cache) == [*range(5, 15)], caches.checkpoint_frames(cache)
    before = {frame: (cache / f"coarse_{frame:06d}.grain").read_bytes() for frame in (7, 8)}
    scene.gravity = (1.0, 0.0, -9.81)
    assert bpy.ops.grain.bake_from(frame=7) == {'FINISHED'}
    after = {frame: (cache / f"coarse_{frame:06d}.grain").read_bytes() for frame in (7, 8)}
    assert after[7] == before[7] and after[8] != before[8], "from the very frame that was asked for"


def test_from_a_saved_frame_changes_nothing_by_itself(folder: Path) -> None:
    """With the same settings the frames come out as they were, bit for bit."""
    support.small_scene(14)
    support.save(folder)
    bpy.ops.grain.bake()
    cache = folder / "grain_cache/Sand"
    before = {path.name: path.read_bytes() for path in cache.glob("coarse_*")}
    assert bpy.ops.grain.bake_from(frame=10) == {'FINISHED'}
    assert before == {path.name: path.read_bytes() for path in cache.glob("coarse_*")}


def test_all_simulations_of_the_file(folder: Path) -> None:
    done = support.run_blender(folder, script=f"""
import bpy, support
from pathlib import Path
scene = support.small_scene(2)
bpy.ops.grain.simulation_copy()
bpy.ops.scene.new(type='NEW')
support.small_scene(2)
bpy.context.scene.name = 'Other'
support.save(Path({str(folder)!r}))
""")
    assert done.returncode == 0, support.fail_output(done)
    done = support.run_blender(folder, folder / "test.blend", script="import bpy; print('ALL', bpy.ops.grain.bake_all())")
    assert done.returncode == 0 and "ALL {'FINISHED'}" in done.stdout, support.fail_output(done)
    caches = sorted(path.parent.name for path in folder.glob("grain_cache/*/cache.json"))
    assert len(caches) == 3, caches


def test_what_fails_ends_the_command_with_a_code(folder: Path) -> None:
    stages_scene(folder)
    bpy.data.objects["Block"].scale = (0.0, 0.0, 0.0)
    support.save(folder)
    done = support.run_blender(folder, folder / "test.blend", script="import bpy; bpy.ops.grain.bake_all()")
    assert done.returncode != 0 and "'Sand'" in done.stderr + done.stdout, support.fail_output(done)


def test_statistics_and_log(folder: Path) -> None:
    scene = stages_scene(folder)
    bpy.ops.grain.bake()
    from grain.engine import bake_log
    found = bake_log.summaries(bake_log.read(folder / "grain_cache/Sand/log.jsonl"))
    assert list(found) == ["Simulating", "Making grains"]
    assert found["Simulating"].frames >= 3 and found["Simulating"].substeps_per_frame > 1.0
    assert bpy.ops.grain.statistics_export(filepath=str(folder / "table.csv")) == {'FINISHED'}
    with open(folder / "table.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["frame"] for row in rows if row["stage"] == "Simulating"][-1] == "4"
    assert all(float(row["seconds_per_frame"]) >= 0.0 for row in rows) and int(rows[0]["particles"]) > 100
    assert bpy.ops.grain.log_show() == {'FINISHED'}
    text = bpy.data.texts["Grain Log"].as_string()
    assert "Blender" in text.splitlines()[0] and '"event": "done"' in text and str(folder) not in text
    assert bpy.ops.grain.free() == {'FINISHED'}
    assert not (folder / "grain_cache/Sand").exists(), "the log goes with the bake"
    assert not bpy.ops.grain.statistics_export.poll() and scene is not None


def test_a_job_for_the_farm_bakes_without_blender(folder: Path) -> None:
    stages_scene(folder, 3)
    assert bpy.ops.grain.job_export(directory=str(folder / "farm")) == {'FINISHED'}
    notes = (folder / "farm/README.txt").read_text()
    assert "grain bake" in notes and "upsample" in notes
    for command in ("bake", "upsample"):
        done = subprocess.run([support.BUILD / "bin/grain", command, folder / "farm", "--cache", folder / "farm/cache"],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    bpy.context.scene.grain.active.cache_folder = str(folder / "farm/cache")
    bpy.ops.grain.show_sand()
    bpy.context.scene.frame_set(3)
    assert len(bpy.context.scene.grain.active.sand_object.data.vertices) == 4 * len(
        support.read_frame(folder / "farm/cache/coarse_000003.grain")["position"])


def test_progress_tells_bytes_and_the_estimate_memory(folder: Path) -> None:
    from grain.scene.manage import baking, estimate
    scene = support.small_scene(3)
    support.save(folder)
    for solver, each in (('DEM', 1300), ('MPM', 500)):
        scene.grain.active.solver = solver
        expected = estimate.of_simulation(scene.grain.active, bpy.context.view_layer.depsgraph)
        assert abs(expected.memory / (each * expected.particles) - 1.0) < 0.1, (solver, expected)
    bake = baking.start(scene.grain.active, bpy.context.view_layer, False)
    while baking.advance(bake) is None:
        bake.process.wait(0.05)
    assert bake.process.status.bytes_written > 1000 and "written" in baking.summary(bake)


def test_blenders_own_command(folder: Path) -> None:
    """The function behind `blender --command grain`; that Blender calls it needs 4.2, where it is registered."""
    from grain import command
    stages_scene(folder, 2)
    path = support.save(folder)
    bpy.ops.wm.read_homefile(use_empty=True)
    assert command.run([str(path)]) == 0 and (folder / "grain_cache/Sand/grains/grains_000002.grain").is_file()
    assert command.run(["--job", str(folder / "farm")]) == 0 and (folder / "farm/job.json").is_file()
    assert command.run(["--scene", "None such"]) == 1
    assert (command._registered is not None) == (bpy.app.version >= (4, 2, 0))
