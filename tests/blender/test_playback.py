# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames reach the viewport and the render: in this Blender and in the next."""
import json
import os
import shutil
import struct
from pathlib import Path

import bpy
import numpy as np
import support
from baked import baked_scene, cached_heights, heights, picture, shown_message


def change_manifest(folder: Path, key: str, value: int) -> None:
    path = folder / "grain_cache/Sand/cache.json"
    path.write_text(json.dumps({**support.read_json(path), key: value}))


def test_before_after_and_between(folder: Path) -> None:
    scene = support.small_scene(4)
    scene.grain.active.use_frame_range = True
    scene.grain.active.frame_start, scene.grain.active.frame_end = 3, 6
    support.save(folder)
    bpy.ops.grain.bake()
    scene.frame_set(2)
    assert len(heights(scene)) == 0 and "before the first baked frame (3)" in shown_message(scene)
    scene.frame_set(6)
    assert np.array_equal(heights(scene), cached_heights(folder, 6)) and shown_message(scene) == ""
    scene.frame_set(90)
    assert np.array_equal(heights(scene), cached_heights(folder, 6)) and "showing frame 6" in shown_message(scene)
    for subframe, frame, ahead in ((0.25, 4, 0.25), (0.75, 5, -0.25)):
        scene.frame_set(4, subframe=subframe)
        columns = support.read_frame(folder / f"grain_cache/Sand/coarse_{frame:06d}.grain")
        expected = columns["position"][:, 2] + columns["velocity"][:, 2] * np.float32(ahead / 24.0)
        assert np.allclose(heights(scene), expected, atol=1e-6), "the nearest frame, moved on by its velocities"
    scene.frame_set(8, subframe=0.25)
    assert np.array_equal(heights(scene), cached_heights(folder, 6)), "a held frame stands still"
    scene.grain.active.frame_end = 60
    change_manifest(folder, "frame_end", 60)
    scene.frame_set(30)
    assert "not baked yet: showing frame 6" in shown_message(scene), shown_message(scene)


def test_negative_frames(folder: Path) -> None:
    scene = support.small_scene()
    scene.grain.active.use_frame_range = True
    scene.grain.active.frame_start, scene.grain.active.frame_end = -5, -3
    support.save(folder)
    bpy.ops.grain.bake()
    assert (folder / "grain_cache/Sand/coarse_-00005.grain").is_file()
    scene.frame_set(-4)
    assert len(heights(scene)) > 100 and shown_message(scene) == ""


def test_handler_makes_no_data_blocks_and_keeps_out_of_edit_mode(folder: Path) -> None:
    scene = baked_scene(folder)
    counts = (len(bpy.data.meshes), len(bpy.data.objects), len(bpy.data.materials), len(bpy.data.node_groups))
    sand = scene.grain.active.sand_object
    bpy.context.view_layer.objects.active = sand
    bpy.ops.object.mode_set(mode='EDIT')
    before = heights(scene)
    scene.frame_set(2)
    scene.frame_set(5)
    assert np.array_equal(heights(scene), before), "nothing is written under Edit Mode"
    bpy.ops.object.mode_set(mode='OBJECT')
    scene.frame_set(3)
    assert np.array_equal(heights(scene), cached_heights(folder, 3))
    assert counts == (len(bpy.data.meshes), len(bpy.data.objects), len(bpy.data.materials), len(bpy.data.node_groups))
    bpy.data.objects.remove(sand)
    scene.frame_set(4)
    assert len(bpy.data.objects) == counts[1] - 1, "the handler must not bring back what the artist deleted"
    assert bpy.ops.grain.show_sand() == {'FINISHED'}
    assert np.array_equal(heights(scene), cached_heights(folder, 4))


def test_second_bake_uses_the_same_object(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    counts = (len(bpy.data.objects), len(bpy.data.materials), len(bpy.data.node_groups))
    scene.frame_end = 3
    bpy.ops.grain.bake()
    assert counts == (len(bpy.data.objects), len(bpy.data.materials), len(bpy.data.node_groups))


def test_damaged_frame_is_reported_not_shown_and_baked_again(folder: Path) -> None:
    scene = baked_scene(folder)
    path = folder / "grain_cache/Sand/coarse_000003.grain"
    good = path.read_bytes()
    bad = bytearray(good)
    bad[600] ^= 0x40
    path.write_bytes(bad)
    scene.frame_set(3)
    assert len(heights(scene)) == 0
    message = shown_message(scene)
    assert "Frame 3" in message and "coarse_000003.grain" in message and "Bake again" in message, message
    scene.frame_set(2)
    assert len(heights(scene)) > 100 and shown_message(scene) == ""
    path.unlink()
    scene.frame_set(3)
    assert "coarse_000003.grain" in shown_message(scene)
    bpy.ops.grain.bake()
    assert path.read_bytes() == good
    scene.frame_set(3)
    assert np.array_equal(heights(scene), cached_heights(folder, 3)) and shown_message(scene) == ""


def test_saved_file_carries_no_points(folder: Path) -> None:
    scene = support.small_scene(2)
    scene.grain.active.particle_radius = 0.003
    support.save(folder)
    bpy.ops.grain.bake()
    count = len(heights(scene))
    assert count > 8_000
    size = os.path.getsize(support.save(folder))
    assert len(heights(scene)) == count, "saving must not take the sand away"
    scene.frame_set(0)
    assert len(heights(scene)) == 0
    empty = os.path.getsize(support.save(folder, "empty.blend"))
    assert size - empty < 2_000, f"{size - empty} bytes of sand in the file"
    bpy.ops.wm.open_mainfile(filepath=str(folder / "test.blend"))
    assert len(heights(bpy.context.scene)) == count, "the sand is there again after opening"


def test_first_save_takes_the_cache_along(folder: Path) -> None:
    from grain.scene import paths
    scene = support.small_scene(3)
    assert paths.is_temporary(scene.grain.active)
    bpy.ops.grain.bake()
    temporary = paths.cache_folder(scene.grain.active)
    assert str(temporary).startswith(bpy.app.tempdir.rstrip("/")) and (temporary / "cache.json").is_file()
    from grain import runtime
    assert any("not saved" in message.text for message in runtime.state.messages[temporary])
    support.save(folder)
    assert (folder / "grain_cache/Sand/cache.json").is_file() and not (temporary / "cache.json").exists()
    scene.frame_set(2)
    assert np.array_equal(heights(scene), cached_heights(folder, 2))


RENDER = """
import bpy, numpy as np, support
print('POINTS', support.points_in_depsgraph(), flush=True)
"""


def prepare_render(folder: Path) -> None:
    scene = baked_scene(folder)
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.location, camera.rotation_euler = (0.0, -0.9, 0.2), (1.5, 0.0, 0.0)
    camera.data.clip_start = 0.01
    scene.camera = camera
    sun = support.link(bpy.data.objects.new("Sun", bpy.data.lights.new("Sun", 'SUN')))
    sun.data.energy, sun.rotation_euler = 4.0, (0.6, 0.3, 0.0)
    for name in ("Step", "Floor"):
        bpy.data.objects[name].hide_render = True
    scene.render.engine = 'CYCLES'
    scene.cycles.samples, scene.cycles.use_denoising = 4, False
    scene.render.resolution_x, scene.render.resolution_y, scene.render.resolution_percentage = 160, 120, 100
    scene.render.filepath = "//render_####"
    scene.render.film_transparent = True
    scene.render.image_settings.color_mode = 'RGBA'
    scene.view_settings.view_transform = 'Standard'
    scene.frame_set(1)
    support.save(folder)


def test_new_process_renders_sand(folder: Path) -> None:
    """`blender -b file -f N` in a process which never saw the bake, after the project moved."""
    home = folder / "home"
    home.mkdir()
    prepare_render(home)
    away = folder / "moved away/with ünicode"
    away.parent.mkdir()
    shutil.move(home, away)
    done = support.run_blender(folder, away / "test.blend", "-f", "2", "-f", "5", script=RENDER)
    assert done.returncode == 0, support.fail_output(done)
    expected = len(cached_heights(away, 5))
    assert f"POINTS {expected}" in done.stdout, support.fail_output(done)
    early, late = picture(away / "render_0002.png"), picture(away / "render_0005.png")
    for pixels in (early, late):
        sand = pixels[pixels[..., 3] > 0.9][:, :3]
        assert len(sand) > 300, f"only {len(sand)} pixels of sand"
        red, green, blue = sand.mean(axis=0)
        assert red > green > blue, "sand is warm"
        assert sand.std(axis=0).min() > 0.03, "grains differ in colour"
    # Sand has fallen: its middle lies lower in the picture (rows count from below).
    def middle(pixels: np.ndarray) -> float:
        rows = np.nonzero(pixels[..., 3] > 0.9)[0]
        return float(rows.mean())
    assert middle(late) < middle(early) - 3.0, (middle(early), middle(late))


def test_render_animation_in_this_process(folder: Path) -> None:
    """Frame changes inside a render job reach the sand, motion blur's sub-frames included."""
    prepare_render(folder)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 4, 5
    scene.render.use_motion_blur = True
    bpy.ops.render.render(animation=True)
    pixels = picture(folder / "render_0005.png")
    assert np.count_nonzero(pixels[..., 3] > 0.5) > 300


def test_persistent_data_shows_no_stale_frame(folder: Path) -> None:
    """With Persistent Data Cycles keeps what it believes unchanged from one frame to the next."""
    prepare_render(folder)
    scene = bpy.context.scene
    scene.frame_start, scene.frame_end = 3, 5
    scene.render.use_motion_blur = True
    for name in ("fresh", "kept"):
        scene.render.use_persistent_data = name == "kept"
        scene.render.filepath = f"//{name}_####"
        bpy.ops.render.render(animation=True)
    for frame in (3, 4, 5):
        fresh, kept = picture(folder / f"fresh_{frame:04d}.png"), picture(folder / f"kept_{frame:04d}.png")
        assert np.array_equal(fresh, kept), f"frame {frame} differs"


def test_motion_blur_has_the_right_length_and_place(folder: Path) -> None:
    """Grains fly at 0.1 m a frame; a shutter of half a frame, opening at, around or closing at frame 4, draws streaks
    of 0.05 m that begin and end where the grains are then. Tolerance: three pixels of 2 mm, as Cycles samples the
    ends."""
    scene = bpy.context.scene
    block = support.box("Block", (-0.03, -0.03, -0.03), (0.03, 0.03, 0.03))
    block.grain.type = 'SOURCE'
    block.grain.source.velocity = (2.4, 0.0, 0.0)
    scene.use_gravity, scene.frame_end = False, 6
    scene.grain.active.particle_radius, scene.grain.active.size_spread = 0.01, 0.0
    support.save(folder)
    bpy.ops.grain.bake()
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.data.type, camera.data.ortho_scale, camera.location = 'ORTHO', 1.0, (0.3, 0.0, 1.0)
    scene.camera = camera
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = 'CYCLES', 32, False
    render.resolution_x, render.resolution_y, render.filter_size = 500, 60, 0.01
    render.film_transparent, render.image_settings.color_mode = True, 'RGBA'
    render.filepath = str(folder / "blur")
    render.motion_blur_shutter = 0.5
    scene.frame_set(4)

    def extent() -> tuple[float, float]:
        bpy.ops.render.render(write_still=True)
        columns = np.nonzero(picture(folder / "blur.png")[..., 3].max(axis=0) > 0.004)[0]
        return columns.min() / 500 - 0.2, (columns.max() + 1) / 500 - 0.2

    still = extent()
    render.use_motion_blur = True
    for position, back, ahead in (('CENTER', 0.025, 0.025), ('START', 0.0, 0.05), ('END', 0.05, 0.0)):
        support.set_blur_position(scene, position)
        found = extent()
        expected = (still[0] - back, still[1] + ahead)
        assert np.allclose(found, expected, atol=0.006), f"{position}: {found}, expected {expected}"


def test_viewport_amount_thins_out_the_viewport_only(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    count = len(heights(scene))
    assert support.points_in_depsgraph() == count
    scene.grain.active.display.viewport_amount = 25.0
    shown = support.points_in_depsgraph()
    assert 0.1 * count < shown < 0.4 * count, (shown, count)
    scene.grain.active.display.viewport_amount = 0.0
    assert support.points_in_depsgraph() == 0
    scene.grain.active.display.viewport_amount = 100.0
    assert support.points_in_depsgraph() == count


def test_grain_size_scales_what_is_shown(folder: Path) -> None:
    scene = baked_scene(folder, 1)
    before = support.point_radii()
    assert len(before) > 100
    scene.grain.active.display.radius_scale = 1.5
    assert np.allclose(support.point_radii(), before * 1.5)


def test_undo_brings_the_right_frame_back(folder: Path) -> None:
    scene = baked_scene(folder)
    bpy.ops.ed.undo_push(message="baked")
    scene.frame_set(2)
    bpy.ops.ed.undo_push(message="frame 2")
    scene.frame_set(5)
    bpy.ops.ed.undo_push(message="frame 5")
    bpy.ops.ed.undo()
    scene = bpy.context.scene
    frame = scene.frame_current
    assert frame == 2 and np.array_equal(heights(scene), cached_heights(folder, frame)), frame
    scene.frame_set(5)
    assert np.array_equal(heights(scene), cached_heights(folder, 5)), "what was loaded before the undo is not there now"


def test_frame_of_a_newer_format_is_refused(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    path = folder / "grain_cache/Sand/coarse_000002.grain"
    data = bytearray(path.read_bytes())
    struct.pack_into("<I", data, 8, 99)
    path.write_bytes(data)
    scene.frame_set(1)
    scene.frame_set(2)
    assert len(heights(scene)) == 0 and shown_message(scene)
    change_manifest(folder, "format", 9)
    scene.frame_set(1)
    assert "newer Grain" in shown_message(scene)
