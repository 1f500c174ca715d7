# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist bakes: adds Grain to an object, presses Bake, stops, resumes, changes a number, bakes anew, frees."""
import os
import shutil
import signal
import tempfile
import time
from pathlib import Path

import bpy
import drive
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))

# Drawing the window takes a software rasteriser up to half a second on a quiet machine of two cores with a bake on
# them; the add-on's own share is measured apart from it.
LONGEST_GAP = 1.0
OWN_SHARE = 0.1

support.enable()
from grain import runtime  # noqa: E402
from grain.operators import bake as bake_operator  # noqa: E402
from grain.scene.manage import bake_state  # noqa: E402

own_times: list[float] = []


def watch_own_time() -> None:
    """Times what the modal operator does with each event."""
    modal = bake_operator.GRAIN_OT_bake.modal

    def timed(self: object, context: object, event: object) -> set[str]:
        began = time.monotonic()
        try:
            return modal(self, context, event)
        finally:
            own_times.append(time.monotonic() - began)

    bake_operator.GRAIN_OT_bake.modal = timed


watch_own_time()


def is_idle() -> bool:
    return runtime.state.bake is None


def messages() -> str:
    return " ".join(message.text for group in runtime.state.messages.values() for message in group)


def scene() -> bpy.types.Scene:
    return bpy.context.scene


def open_scene(name: str, last_frame: int, radius: float) -> drive.Scenario:
    """A file of its own, with the Physics tab of the block in front."""
    if not is_idle():
        runtime.end_bake()
    bpy.ops.wm.open_mainfile(filepath=str(folder / "layout.blend"))
    yield 0.2
    support.small_scene(last_frame)
    scene().grain.active.name = name
    scene().grain.active.particle_radius = radius
    block = bpy.data.objects["Block"]
    bpy.context.view_layer.objects.active = block
    block.select_set(True)
    support.save(folder, f"{name}.blend")
    yield 0.1
    drive.show_tab('PHYSICS')
    yield 0.3


def wait_for_frames(count: int) -> drive.Scenario:
    def enough() -> bool:
        drive.ensure(not is_idle(), f"the bake ended: {messages()}")
        return runtime.state.bake.process.status.frames_written >= count
    yield from drive.wait_until(enough, 40.0, f"frame {count}")


def lay_out() -> drive.Scenario:
    """A wider and taller Properties editor. Less drawing in the viewport: the software rasteriser needs most of a
    second for its grid and smoothing, which would hide whether the add-on keeps the interface waiting."""
    drive.open_all_panels()
    bpy.context.preferences.system.viewport_aa = 'OFF'
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    yield from drive.grow_properties(190)
    yield 0.2
    yield from drive.widen_properties(48)  # the width it has at first on a screen of 1920 pixels
    support.save(folder, "narrow.blend")
    yield from drive.widen_properties(152)
    yield 0.2
    view = drive.area('VIEW_3D').spaces[0]
    view.region_3d.view_distance, view.region_3d.view_location = 1.1, (0.0, 0.0, 0.12)
    view.clip_start = 0.005
    view.overlay.show_overlays, view.show_gizmo = False, False
    support.save(folder, "layout.blend")
    yield 0.2


def add_bake_and_watch() -> drive.Scenario:
    yield from open_scene("watch", 14, 0.005)
    block = bpy.data.objects["Block"]
    block.grain.type = 'NONE'
    yield 0.3
    yield from drive.click_button("grain.role_add")
    yield 0.2
    drive.ensure(block.grain.type == 'SOURCE', "the Grain button makes a source")
    drive.screenshot(options.out / "1_source.png")
    drive.ensure(scene().grain.active.sand_object is None, "no sand before the bake")
    place = yield from drive.find_button("grain.bake(")
    own_times.clear()
    yield from drive.click(place)
    yield from drive.wait_until(lambda: not is_idle(), 5.0, "the bake's start")
    drive.start_watching()
    yield from wait_for_frames(5)
    drive.screenshot(options.out / "2_baking.png")
    sand = scene().grain.active.sand_object
    drive.ensure(sand is not None and len(sand.data.vertices) > 1000, "frames are visible while the bake runs")
    # Work goes on meanwhile: scrub, tumble the view, undo.
    scene().frame_set(5)
    yield 0.1
    drive.area('VIEW_3D').spaces[0].region_3d.view_distance = 0.9
    yield 0.1
    with bpy.context.temp_override(window=drive.window()):
        bpy.ops.ed.undo_push(message="something")
        bpy.ops.ed.undo()
    yield from drive.wait_until(is_idle, 90.0, "the end of the bake")
    gap, own = drive.longest_gap(), max(own_times)
    print(f"# longest gap of the interface {gap:.2f} s, of it the add-on's own {own:.3f} s at most", flush=True)
    drive.ensure(gap < LONGEST_GAP * drive.patience(), f"the interface stood still for {gap:.2f} s")
    drive.ensure(own < OWN_SHARE * drive.patience(), f"the add-on held the interface for {own:.3f} s")
    drive.ensure(bake_state.of_simulation(scene().grain.active).kind == 'COMPLETE', bake_state.of_simulation(scene().grain.active).text)
    drive.ensure(scene().grain.active.sand_object is not None, "the undo took the sand away")
    scene().frame_set(14)
    yield 0.6
    drive.screenshot(options.out / "3_done.png")


def stop_and_resume() -> drive.Scenario:
    yield from open_scene("stop", 300, 0.004)
    yield from drive.click_button("grain.bake(")
    yield from wait_for_frames(2)
    place = yield from drive.find_button("grain.stop")
    began = time.monotonic()
    yield from drive.click(place)
    yield from drive.wait_until(is_idle, 5.0, "the stop by its button")
    by_button = time.monotonic() - began
    yield 0.4
    drive.ensure(bake_state.of_simulation(scene().grain.active).kind == 'PARTIAL', bake_state.of_simulation(scene().grain.active).text)
    drive.screenshot(options.out / "4_stopped.png")
    baked = len(list(folder.glob("grain_cache/stop/coarse_*.grain")))
    yield from drive.click_button("grain.bake(")
    yield from wait_for_frames(1)
    began = time.monotonic()
    drive.press('ESC', 500, 500)
    yield from drive.wait_until(is_idle, 5.0, "the stop by ESC")
    by_key = time.monotonic() - began
    print(f"# stopped by button in {by_button:.2f} s, by ESC in {by_key:.2f} s", flush=True)
    drive.ensure(max(by_button, by_key) < 2.0 * drive.patience(), f"stopping took {max(by_button, by_key):.2f} s")
    drive.ensure(len(list(folder.glob("grain_cache/stop/coarse_*.grain"))) > baked, "Resume went on")


def room_is_made_before_the_child_starts() -> drive.Scenario:
    """With a bake on all cores the drawing of all editors for a new object takes twice as long. Who changes their mind meanwhile finds
    nothing left of it."""
    def press_bake() -> None:
        with bpy.context.temp_override(window=drive.window(), area=drive.area('PROPERTIES')):
            bpy.ops.grain.bake('INVOKE_DEFAULT')

    yield from open_scene("room", 3, 0.008)
    drawn: list[tuple[bool, bool]] = []

    def note() -> None:
        if runtime.state.bake is not None:
            drawn.append((scene().grain.active.sand_object is not None, runtime.state.bake.process.pid is not None))

    handler = bpy.types.SpaceView3D.draw_handler_add(note, (), 'WINDOW', 'POST_PIXEL')
    press_bake()
    drive.ensure(runtime.state.bake.process.pid is None, "the click alone starts no child")
    yield from drive.wait_until(is_idle, 60.0, "the end of the bake")
    bpy.types.SpaceView3D.draw_handler_remove(handler, 'WINDOW')
    drive.ensure((True, False) in drawn, f"sand was there, and drawn, before the child started: {drawn}")
    drive.ensure((False, True) not in drawn, f"and never the other way round: {drawn}")
    drive.ensure(bake_state.of_simulation(scene().grain.active).kind == 'COMPLETE', bake_state.of_simulation(scene().grain.active).text)

    yield from open_scene("room_stopped", 3, 0.008)
    press_bake()
    process = runtime.state.bake.process
    yield from drive.wait_until(lambda: scene().grain.active.sand_object is not None, 5.0, "room for the frames")
    drive.ensure(process.pid is None, "no child has started yet")
    process.stop()
    yield from drive.wait_until(is_idle, 5.0, "the stop before the start")
    yield 0.3
    drive.ensure(scene().grain.active.sand_object is None, "an object is left")
    drive.ensure(not list(folder.glob("grain_cache/room_stopped/**/*")), "files are left")


def killed_child() -> drive.Scenario:
    yield from open_scene("killed", 24, 0.005)  # long enough that a slow window sees it before it is done
    yield from drive.click_button("grain.bake(")
    yield from wait_for_frames(2)
    os.kill(runtime.state.bake.process.pid, signal.SIGKILL)
    yield from drive.wait_until(is_idle, 5.0, "notice of the child's death")
    yield 0.4
    drive.ensure("SIGKILL" in messages() and "Resume" in messages(), f"the panel says: {messages()}")
    drive.screenshot(options.out / "5_killed.png")
    drive.press('ESC', 300, 300)  # closes the report's pop-up, if there is one
    yield 0.2
    yield from drive.click_button("grain.bake(")
    yield from drive.wait_until(is_idle, 120.0, "the end of the resumed bake")
    drive.ensure(bake_state.of_simulation(scene().grain.active).kind == 'COMPLETE', bake_state.of_simulation(scene().grain.active).text)


def change_bake_anew_and_free() -> drive.Scenario:
    yield from open_scene("anew", 3, 0.008)
    yield from drive.click_button("grain.bake(")
    yield from drive.wait_until(is_idle, 30.0, "the first bake")
    scene().grain.active.friction_angle = 0.3
    yield 0.4
    drive.screenshot(options.out / "6_changed.png")
    first = (folder / "grain_cache/anew/cache.json").read_text()
    place = yield from drive.click_button("grain.bake_anew")
    yield 0.4
    drive.screenshot(options.out / "7_confirm.png")
    drive.ensure((folder / "grain_cache/anew/cache.json").read_text() == first, "asked before anything is deleted")
    drive.press('RET', *place)
    yield 0.3
    yield from drive.wait_until(is_idle, 30.0, "the second bake")
    drive.ensure((folder / "grain_cache/anew/cache.json").read_text() != first, "baked anew")
    drive.ensure(bake_state.of_simulation(scene().grain.active).kind == 'COMPLETE', bake_state.of_simulation(scene().grain.active).text)
    place = yield from drive.click_button("grain.free")
    yield 0.3
    drive.press('RET', *place)
    yield 0.4
    drive.ensure(not (folder / "grain_cache/anew/cache.json").exists(), "freed")


class TEST_OT_count_timers(bpy.types.Operator):
    """Counts timer events which reach a modal operator; without a timer there are none."""
    bl_idname = "test.count_timers"
    bl_label = "Count Timers"
    count = 0
    is_running = False

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        cls = TEST_OT_count_timers
        cls.count, cls.is_running = 0, True
        context.window_manager.modal_handler_add(self)
        return {'RUNNING_MODAL'}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        cls = TEST_OT_count_timers
        if not cls.is_running:
            return {'FINISHED'}
        cls.count += event.type == 'TIMER'
        return {'PASS_THROUGH'}


def count_timers() -> drive.Scenario:
    with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D')):
        bpy.ops.test.count_timers('INVOKE_DEFAULT')
    for step in range(10):
        drive.move_mouse(400 + step, 400)  # makes Blender look at its timers
        yield 0.1
    TEST_OT_count_timers.is_running = False
    drive.move_mouse(401, 401)
    yield 0.1


def nothing_is_left() -> drive.Scenario:
    """Disabling the add-on, or opening a file, in the middle of a bake: no child, no timer, no status text."""
    bpy.utils.register_class(TEST_OT_count_timers)
    for way in ("open", "disable"):
        yield from open_scene(f"left_{way}", 300, 0.004)
        with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D')):
            bpy.ops.grain.bake('INVOKE_DEFAULT')
        yield from wait_for_frames(1)
        pid = runtime.state.bake.process.pid
        yield from count_timers()
        drive.ensure(TEST_OT_count_timers.count > 2, "the bake's own timer must be seen by this test")
        if way == "open":
            bpy.ops.wm.open_mainfile(filepath=str(folder / f"left_{way}.blend"))
        else:
            support.disable()
        yield 0.3
        drive.ensure(not support.is_alive(pid), f"{way}: the child still runs")
        yield from count_timers()
        drive.ensure(TEST_OT_count_timers.count == 0, f"{way}: a timer is left")
        drive.screenshot(options.out / f"8_left_{way}.png")
    support.enable()


def all_panels() -> drive.Scenario:
    """Only looks: the pictures show every label, in the wide editor and in the narrow one Blender starts with."""
    yield from open_scene("panels", 10, 0.004)
    runtime.post_message((folder / "grain_cache/panels").resolve(), 'WARNING',
                "'Ground' moves; an endless floor cannot move and stays as it is at frame 1. Use Shape > Mesh for a moving floor")
    bpy.context.view_layer.objects.active = bpy.data.objects["Step"]
    yield 0.3
    drive.screenshot(options.out / "9_collider.png")
    simulation = scene().grain.active
    simulation.retime.mode, simulation.use_upsample = 'SPEED', True
    drive.show_tab('SCENE')
    yield 0.3
    drive.screenshot(options.out / "9_scene.png")
    # The panels are longer than the editor: the rest, page by page.
    place = drive.middle('PROPERTIES')
    for page in (2, 3):
        drive.move_mouse(*place)
        yield 0.2
        for _ in range(3):
            drive.press('PAGE_DOWN', *place)
            yield 0.3
        drive.screenshot(options.out / f"9_scene_{page}.png")
    bpy.ops.wm.open_mainfile(filepath=str(folder / "narrow.blend"))
    yield 0.2
    support.small_scene(10)
    scene().grain.active.use_frame_range = True
    drive.show_tab('SCENE')
    yield 0.4
    drive.screenshot(options.out / "9_narrow.png")


def quit_while_baking() -> drive.Scenario:
    """The last one: Blender quits with a bake under way; run.py looks whether the child is gone then."""
    yield from open_scene("quit", 300, 0.004)
    yield from drive.click_button("grain.bake(")
    yield from wait_for_frames(1)
    print(f"# child {runtime.state.bake.process.pid}", flush=True)


def clean_up() -> drive.Scenario:
    if is_idle():  # else the child still writes there; it is in the system's temporary folder
        shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


drive.run("test_bake", {
    scenario.__name__: scenario for scenario in (
        lay_out, add_bake_and_watch, stop_and_resume, room_is_made_before_the_child_starts, killed_child, change_bake_anew_and_free, nothing_is_left,
        all_panels, quit_while_baking)}, options.keyword, clean_up)
