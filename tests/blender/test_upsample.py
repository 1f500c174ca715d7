# SPDX-License-Identifier: GPL-3.0-or-later
"""Render grains: made after the bake, shown in its place, made anew without simulating again."""
import json
from pathlib import Path

import bpy
import numpy as np
import support
from baked import positions, sand_scene


def stamps(cache: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mtime_ns for path in cache.glob("coarse_*.grain")}


def test_bake_makes_grains_and_shows_them(folder: Path) -> None:
    scene = sand_scene(folder)
    bpy.ops.grain.bake()
    cache = folder / "grain_cache/Sand"
    coarse, grains = (support.read_json(path / "cache.json") for path in (cache, cache / "grains"))
    assert [entry["frame"] for entry in grains["frames"]] == [1, 2, 3, 4]
    assert grains["frames"][0]["particles"] == 12 * coarse["frames"][0]["particles"]
    for frame in (3, 1, 4):
        scene.frame_set(frame)
        expected = support.read_frame(cache / f"grains/grains_{frame:06d}.grain")
        assert np.array_equal(positions(scene), expected["position"])
    from grain.scene.manage import bake_state
    assert bake_state.of_simulation(scene.grain.active).kind == 'COMPLETE'
    scene.grain.active.use_upsample = False  # the simulated particles again
    assert len(positions(scene)) == coarse["frames"][3]["particles"]


def test_the_viewport_loads_a_prefix_and_the_render_all(folder: Path) -> None:
    scene = sand_scene(folder, 2)
    bpy.ops.grain.bake()
    scene.frame_set(2)
    expected = support.read_frame(folder / "grain_cache/Sand/grains/grains_000002.grain")["position"]
    scene.grain.active.display.viewport_amount = 25.0
    assert np.array_equal(positions(scene), expected[:-(-len(expected) // 4)])
    assert support.points_in_depsgraph() == len(positions(scene)), "what is loaded is shown"
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    scene.camera = camera
    scene.render.resolution_x = scene.render.resolution_y = 16
    scene.render.filepath = str(folder / "out.png")
    scene.render.engine = 'CYCLES'
    scene.cycles.samples = 1
    scene.cycles.use_denoising = False
    seen = []

    def count(*_: object) -> None:
        seen.append(len(scene.grain.active.sand_object.data.vertices))
    bpy.app.handlers.render_post.append(count)
    try:
        bpy.ops.render.render(write_still=True)
    finally:
        bpy.app.handlers.render_post.remove(count)
    assert seen == [len(expected)], (seen, len(expected))


def test_other_numbers_do_not_simulate_again(folder: Path) -> None:
    from grain.scene.manage import bake_state
    scene = sand_scene(folder)
    bpy.ops.grain.bake()
    cache = folder / "grain_cache/Sand"
    before = stamps(cache)
    scene.grain.active.upsample_mode = 'TOTAL'
    scene.grain.active.grain_millions = 0.005
    state = bake_state.of_simulation(scene.grain.active)
    assert state.kind == 'PARTIAL' and "other settings" in state.text, state
    bpy.ops.grain.bake()
    assert stamps(cache) == before
    made = support.read_json(cache / "grains/cache.json")["frames"]
    assert len(made) == 4 and abs(made[0]["particles"] - 5000) <= 1
    assert bake_state.of_simulation(scene.grain.active).kind == 'COMPLETE'


def test_free_takes_the_grains_too(folder: Path) -> None:
    sand_scene(folder, 2)
    bpy.ops.grain.bake()
    cache = folder / "grain_cache/Sand"
    (cache / "grains/notes.txt").write_text("mine")
    bpy.ops.grain.free()
    assert sorted(path.name for path in cache.rglob("*") if path.is_file()) == ["notes.txt"]


def test_a_job_without_grains_has_no_key(folder: Path) -> None:
    scene = support.small_scene(2)
    support.save(folder)
    bpy.ops.grain.bake()
    document = json.loads((folder / "grain_cache/Sand/job/job.json").read_text())
    assert "upsample" not in document and not (folder / "grain_cache/Sand/grains").exists()
    assert scene.grain.active.sand_object is not None
