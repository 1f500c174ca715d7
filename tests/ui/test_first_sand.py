# SPDX-License-Identifier: GPL-3.0-or-later
"""A new user's way to a first picture, with mouse and keys: cube, Quick Sand, a plane to fall on, Bake, play, render.

The pictures of the manual are made of this (addon/docs/make_pictures.sh).
"""
import shutil
import tempfile
import time
from pathlib import Path
from typing import Optional

import bpy
import drive
import harness
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
FIRST_FRAME_SECONDS = 5.0
LAST_FRAME = 16

support.enable()
from grain import runtime  # noqa: E402
from grain.scene.manage import bake_state, baking  # noqa: E402


def scene() -> bpy.types.Scene:
    return bpy.context.scene


def picture(name: str) -> drive.Scenario:
    """Of the whole window, and a smaller one for the manual."""
    yield 0.6
    path = options.out / "first_sand" / f"{name}.png"
    drive.screenshot(path)
    drive.save_small(path, path.with_suffix(".jpg"))


def lay_out() -> drive.Scenario:
    yield from drive.grow_properties(190)
    yield from drive.widen_properties(200)
    drive.press('ESC', 100, 500)  # the splash screen
    yield 0.5
    bpy.context.preferences.system.viewport_aa = 'OFF'
    bpy.context.preferences.view.render_display_type = 'AREA'
    scene().frame_end = LAST_FRAME
    view = drive.area('VIEW_3D').spaces[0]
    view.region_3d.view_distance = 14.0
    view.shading.color_type = 'MATERIAL'
    # Without a graphics card the grid alone takes most of a second to draw, with every frame the bake brings.
    view.overlay.show_floor = view.overlay.show_axis_x = view.overlay.show_axis_y = view.show_gizmo = False
    # Cycles and the sun an artist would choose; the picture small, for the sake of the test's time.
    scene().render.engine, scene().cycles.samples, scene().cycles.use_denoising = 'CYCLES', 32, False
    scene().render.resolution_x, scene().render.resolution_y = 640, 360
    light = bpy.data.objects["Light"]
    light.data.energy, light.data.shadow_soft_size = 2000.0, 0.5
    camera = bpy.data.objects["Camera"]
    camera.location.z += 1.0
    camera.data.lens = 32.0
    yield 0.3
    support.save(folder, "first.blend")
    yield from picture("1_cube")


def quick_sand() -> drive.Scenario:
    yield from drive.search("quick sand")
    yield from drive.wait_until(lambda: bpy.data.objects["Cube"].grain.type == 'SOURCE', 20.0, "Quick Sand")
    drive.ensure("Grain Floor" in bpy.data.objects, "there is something to fall on")
    drive.ensure(drive.area('PROPERTIES').spaces[0].context == 'PHYSICS', "the Bake button is in front")
    yield from picture("2_quick_sand")
    if not harness.is_heavy():  # an eighth of the grains: a window drawn without a graphics card leaves a bake little time
        scene().grain.active.particle_radius *= 2.0


def add_a_plane() -> drive.Scenario:
    place = drive.middle('VIEW_3D')
    drive.move_mouse(*place)
    yield 0.2
    yield from drive.search("add plane")
    if bpy.context.object is None or bpy.context.object.type != 'MESH' or bpy.context.object.name == "Cube":
        with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D'), region=drive.region('VIEW_3D')):
            bpy.ops.mesh.primitive_plane_add()
        yield 0.3
    plane = bpy.context.object
    for key, text in (('S', "2"), ('G', "z-2"), ('R', "y12")):
        drive.press(key, *place)
        yield 0.3
        yield from drive.type_text(text, *place)
        drive.press('RET', *place)
        yield 0.4
    drive.ensure(abs(plane.location.z + 2.0) < 1e-4 and abs(plane.scale.x - 2.0) < 1e-4, f"{plane.location} {plane.scale}")
    drive.show_tab('PHYSICS')
    yield 0.3
    yield from drive.click_button("grain.role_add")
    yield from drive.wait_until(lambda: plane.grain.type == 'COLLIDER', 10.0, "the plane's role")
    yield from picture("3_collider")


def first_frame() -> Optional[int]:
    sand = scene().grain.active.sand_object
    # Corners of a box stand there before the first grains, and in the place of dots; they have edges.
    return len(sand.data.vertices) if sand is not None and len(sand.data.vertices) and not sand.data.edges else None


def bake() -> drive.Scenario:
    scene().frame_set(1)
    place = yield from drive.find_button("grain.bake(")
    drive.move_mouse(*place)
    yield 0.2
    began = time.monotonic()
    drive.press('LEFTMOUSE', *place)
    yield from drive.wait_until(lambda: first_frame() is not None, 120.0, "a first frame")
    seconds = time.monotonic() - began
    print(f"# from the click on Bake to the first frame {seconds:.2f} s, {first_frame()} grains", flush=True)
    drive.ensure(seconds < FIRST_FRAME_SECONDS * drive.patience(), f"the first frame took {seconds:.1f} s")
    yield from drive.wait_until(lambda: runtime.state.bake is None or runtime.state.bake.process.status.frames_written >= 5,
                                200.0, "five frames")
    yield from picture("4_baking")
    yield from drive.wait_until(lambda: runtime.state.bake is None, 240.0, "the end of the bake")
    state = bake_state.of_simulation(scene().grain.active)
    drive.ensure(state.kind == 'COMPLETE', state.text)


def play() -> drive.Scenario:
    place = drive.middle('VIEW_3D')
    drive.move_mouse(*place)
    yield 0.3
    drive.press('SPACE', *place)
    yield from drive.wait_until(lambda: drive.window().screen.is_animation_playing and scene().frame_current > 3, 60.0,
                                "playback")
    drive.press('SPACE', *place)
    yield from drive.wait_until(lambda: not drive.window().screen.is_animation_playing, 20.0, "its end")
    scene().frame_set(LAST_FRAME)
    yield from picture("5_play")


def render() -> drive.Scenario:
    place = drive.middle('VIEW_3D')
    drive.move_mouse(*place)
    yield 0.3
    drive.press('F12', *place)
    target = options.out / "first_sand" / "render.png"
    yield from drive.wait_until(lambda: baking.is_rendering(), 20.0, "the render's start")
    yield from drive.wait_until(lambda: not baking.is_rendering(), 120.0, "the render's end")
    yield 1.0
    bpy.data.images["Render Result"].save_render(str(target))
    shown = bpy.data.images.load(str(target))
    pixels = list(shown.pixels)
    warm = sum(red > 1.25 * blue for red, blue in zip(pixels[0::4], pixels[2::4]))
    drive.ensure(warm > 0.02 * shown.size[0] * shown.size[1], f"{warm} pixels of {shown.size[:]} have the colour of sand")
    bpy.data.images.remove(shown)
    yield from picture("6_render")


def clean_up() -> drive.Scenario:
    if runtime.state.bake is None:
        shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


def whole_way() -> drive.Scenario:
    for step in (quick_sand, add_a_plane, bake, play, render):
        yield from step()
        print(f"# {step.__name__}", flush=True)


drive.run("test_first_sand", {"lay_out": lay_out, "whole_way": whole_way}, options.keyword, clean_up)
