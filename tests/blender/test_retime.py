# SPDX-License-Identifier: GPL-3.0-or-later
"""Another time than the scene's: slower, backwards, held, keyframed; in the viewport, in renders, with blur."""
from pathlib import Path

import bpy
import numpy as np
import support
from baked import baked_scene, cached_heights, heights, picture


def retimed(folder: Path, mode: str, last_frame: int = 8) -> tuple[bpy.types.Scene, bpy.types.PropertyGroup]:
    scene = baked_scene(folder, last_frame)
    scene.grain.active.retime.mode = mode
    return scene, scene.grain.active.retime


def velocity(scene: bpy.types.Scene) -> np.ndarray:
    mesh = scene.grain.active.sand_object.data
    values = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.attributes["velocity"].data.foreach_get("vector", values)
    return values[2::3]


def test_offset_speed_hold_and_reverse(folder: Path) -> None:
    scene, retime = retimed(folder, 'SPEED')
    retime.offset = 2.0
    scene.frame_set(7)
    assert np.array_equal(heights(scene), cached_heights(folder, 5)), "two frames later"
    retime.offset, retime.speed = 0.0, 2.0
    scene.frame_set(3)
    assert np.array_equal(heights(scene), cached_heights(folder, 5)), "twice as fast from the first frame on"
    cached = support.read_frame(folder / "grain_cache/Sand/coarse_000005.grain")["velocity"][:, 2]
    assert np.allclose(velocity(scene), 2.0 * cached), "blur is as long as the motion"
    retime.speed = 0.0
    assert np.array_equal(heights(scene), cached_heights(folder, 1)) and not velocity(scene).any()
    retime.speed, retime.offset = -1.0, 7.0  # begins at frame 8 of the scene with frame 1 of the bake
    scene.frame_set(3)
    assert np.array_equal(heights(scene), cached_heights(folder, 6))
    assert np.allclose(velocity(scene), -support.read_frame(folder / "grain_cache/Sand/coarse_000006.grain")["velocity"][:, 2])
    retime.mode = 'TIMELINE'
    assert np.array_equal(heights(scene), cached_heights(folder, 3))


def test_slow_motion_is_smooth(folder: Path) -> None:
    """A grain in free fall: the curve between frames is the parabola itself, without a jump anywhere."""
    scene = bpy.context.scene
    block = support.box("Block", (-0.03, -0.03, 1.0), (0.03, 0.03, 1.06))
    block.grain.type = 'SOURCE'
    scene.grain.active.solver = 'DEM'
    scene.grain.active.particle_radius, scene.frame_end = 0.01, 6
    support.save(folder)
    bpy.ops.grain.bake()
    scene.grain.active.retime.mode, scene.grain.active.retime.speed = 'SPEED', 0.1
    scene.frame_set(1)
    start, errors = heights(scene).copy(), []
    for frame in range(1, 50, 3):
        scene.frame_set(frame)
        seconds = 0.1 * (frame - 1) / 24.0
        errors.append(np.abs(heights(scene) - (start - 0.5 * 9.81 * seconds ** 2)).max())
    # The solver's own steps (symplectic Euler) leave it at most half a step of the fall off; frame to frame 17 mm.
    assert max(errors) < 5e-4, f"{max(errors)} m off the parabola"


def test_keyframes_ramp_the_speed_and_choose_the_frame(folder: Path) -> None:
    scene, retime = retimed(folder, 'SPEED')
    path = "grain.simulations[0].retime"
    for frame, speed in ((1, 1.0), (5, 1.0), (6, 0.0)):
        retime.speed = speed
        scene.keyframe_insert(f"{path}.speed", frame=frame)
    scene.frame_set(5)
    assert np.allclose(heights(scene), cached_heights(folder, 5), atol=1e-5)
    scene.frame_set(30)
    at_rest = heights(scene).copy()
    scene.frame_set(20)
    assert np.array_equal(heights(scene), at_rest), "held from frame 6 on"
    retime.mode = 'FRAME'
    for frame, shown in ((1, 8.0), (8, 1.0)):
        retime.frame = shown
        scene.keyframe_insert(f"{path}.frame", frame=frame)
    for curve in support.keyed(scene):
        for key in curve.keyframe_points:
            key.interpolation = 'LINEAR'
    scene.frame_set(3)
    assert np.allclose(heights(scene), cached_heights(folder, 6), atol=1e-5), "backwards"


def test_renders_see_the_keyframes(folder: Path) -> None:
    """Another Blender renders the frame that the key says, without a window."""
    scene, retime = retimed(folder, 'FRAME')
    for frame, shown in ((1, 1.0), (2, 8.0)):
        retime.frame = shown
        scene.keyframe_insert("grain.simulations[0].retime.frame", frame=frame)
    scene.frame_set(1)
    seen: list[float] = []

    def look(*_: object) -> None:
        seen.append(float(heights(scene).mean()))
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    scene.camera = camera
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = 'CYCLES', 1, False
    render.resolution_x = render.resolution_y = 16
    render.filepath = str(folder / "out_####")
    scene.frame_start, scene.frame_end = 1, 2
    scene.grain.active.use_frame_range = True
    scene.grain.active.frame_start, scene.grain.active.frame_end = 1, 8
    bpy.app.handlers.render_post.append(look)
    try:
        bpy.ops.render.render(animation=True)
    finally:
        bpy.app.handlers.render_post.remove(look)
    expected = [float(cached_heights(folder, frame).mean()) for frame in (1, 8)]
    assert np.allclose(seen, expected, atol=1e-5), (seen, expected)


def test_volumes_come_along(folder: Path) -> None:
    scene, retime = retimed(folder, 'SPEED', 6)
    bpy.ops.grain.bake_volume()
    volume = scene.grain.active.volume.object

    def file_shown() -> int:
        volume.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.grids.load()
        return int(Path(volume.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.grids.frame_filepath).stem[-4:])

    for speed, offset, frame, shown in ((1.0, 0.0, 4, 4), (1.0, 2.0, 6, 4), (-1.0, 5.0, 3, 4), (2.0, 0.0, 20, 6)):
        retime.speed, retime.offset = speed, offset
        scene.frame_set(frame)
        assert file_shown() == shown, (speed, offset, frame, file_shown())
    retime.mode = 'TIMELINE'
    scene.frame_set(3)
    assert file_shown() == 3


def test_amounts_and_modes_of_viewport_and_render(folder: Path) -> None:
    scene = baked_scene(folder, 2)
    display, count = scene.grain.active.display, len(heights(scene))
    display.amount_mode, display.viewport_count = 'COUNT', count // 5
    shown = support.points_in_depsgraph()
    assert 0.5 * count / 5 < shown < 1.6 * count / 5, (shown, count)
    display.viewport_display = 'HIDDEN'
    assert support.points_in_depsgraph() == 0 and len(heights(scene)) == 0
    display.viewport_display, display.amount_mode = 'INSTANCES', 'PERCENT'
    depsgraph = bpy.context.evaluated_depsgraph_get()
    assert sum(entry.is_instance for entry in depsgraph.object_instances) == count
    display.render_display = 'POINTS'
    display.viewport_display = 'POINTS'
    assert support.points_in_depsgraph() == count and scene.grain.active.shape_object is None


def test_streaks_of_a_falling_grain(folder: Path) -> None:
    """Grains at 2.4 m/s and at half speed, shutters 0.5 and 1: the streak is speed times shutter long, within 5 %.

    Measured over all pixels: a motion of length L, evenly in time, adds L^2 / 12 to the variance of where the picture is
    covered. Ends of streaks would need thousands of samples, as a ball's rim is seen only for a moment there."""
    scene = bpy.context.scene
    block = support.box("Block", (-0.03, -0.03, -0.03), (0.03, 0.03, 0.03))
    block.grain.type = 'SOURCE'
    block.grain.source.velocity = (0.0, 0.0, -2.4)
    scene.use_gravity, scene.frame_end = False, 6
    scene.grain.active.particle_radius, scene.grain.active.size_spread = 0.01, 0.0
    support.save(folder)
    bpy.ops.grain.bake()
    assert len(heights(scene)) > 0
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.data.type, camera.data.ortho_scale = 'ORTHO', 0.5
    camera.location, camera.rotation_euler = (0.0, -1.0, -0.3), (np.pi / 2, 0.0, 0.0)
    scene.camera = camera
    render = scene.render
    render.engine, scene.cycles.samples, scene.cycles.use_denoising = 'CYCLES', 64, False
    render.resolution_x, render.resolution_y, render.filter_size = 60, 500, 0.01
    render.film_transparent, render.image_settings.color_mode = True, 'RGBA'
    render.filepath = str(folder / "streak")
    scene.frame_set(4)

    def variance() -> float:
        bpy.ops.render.render(write_still=True)
        covered = picture(folder / "streak.png")[..., 3].sum(axis=1)
        place = 0.001 * np.arange(len(covered))
        middle = (covered * place).sum() / covered.sum()
        return float((covered * (place - middle) ** 2).sum() / covered.sum())

    still = variance()
    render.use_motion_blur = True
    for speed in (1.0, 0.5):
        scene.grain.active.retime.mode = 'SPEED' if speed != 1.0 else 'TIMELINE'
        scene.grain.active.retime.speed = speed
        scene.frame_set(4)
        for shutter in (0.5, 1.0):
            render.motion_blur_shutter = shutter
            expected = 2.4 / 24.0 * speed * shutter
            found = (12.0 * max(variance() - still, 0.0)) ** 0.5
            print(f"# speed {speed}, shutter {shutter}: {found * 1000:.1f} mm, expected {expected * 1000:.1f} mm")
            assert abs(found - expected) <= 0.05 * expected, (speed, shutter, found, expected)
