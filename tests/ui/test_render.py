# SPDX-License-Identifier: GPL-3.0-or-later
"""An artist renders in the window: a Blender of its own, as a render that ends while panels are drawn may leave Blender
unwilling to open another file from a timer."""
import shutil
import tempfile
import time
from pathlib import Path

import bpy
import drive
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
support.enable()
from grain import handlers, write_guard  # noqa: E402
from grain.scene.manage import baking  # noqa: E402


def scene() -> bpy.types.Scene:
    return bpy.context.scene


def heights() -> tuple[float, float]:
    """Of the sand, on the whole, and of the crate, whose place is written to the object itself."""
    sand = [vertex.co.z for vertex in scene().grain.active.sand_object.data.vertices]
    return sum(sand) / len(sand), bpy.data.objects["Crate"].matrix_basis.translation.z


def lay_out() -> drive.Scenario:
    """A baked scene of six frames."""
    bpy.context.preferences.system.viewport_aa = 'OFF'
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(6)
    support.box("Crate", (0.3, 0.3, 0.4), (0.35, 0.35, 0.45)).grain.type = 'BODY'
    scene().grain.active.name, scene().grain.active.particle_radius = "render", 0.008
    support.save(folder, "render.blend")
    bpy.ops.grain.bake()
    drive.show_tab('OBJECT')
    yield 0.3


class TEST_PT_writes(bpy.types.Panel):
    """A frame handler called while a panel is drawn, as happens to one on a render's thread."""
    bl_label, bl_space_type, bl_region_type, bl_context = "Writes", 'PROPERTIES', 'WINDOW', "object"
    seen: dict[str, object] = {}

    def draw(self, context: bpy.types.Context) -> None:
        if self.seen:
            return
        self.seen["refused"] = not write_guard.may_write(scene())
        try:
            handlers.on_frame_change(scene())
        except (AttributeError, RuntimeError) as error:
            self.seen["error"] = str(error)


def frames_while_drawing() -> drive.Scenario:
    scene().frame_set(6)
    low = heights()
    scene().frame_set(1)
    high = heights()
    drive.ensure(all(b < a - 0.01 for a, b in zip(high, low)), f"sand and crate fall from {high} to {low} m")
    frame_change = bpy.app.handlers.frame_change_post
    ours = [handler for handler in frame_change if handler.__module__ == handlers.__name__]
    for handler in ours:
        frame_change.remove(handler)
    scene().frame_set(6)
    for handler in ours:
        frame_change.append(handler)
    bpy.context.view_layer.objects.active = bpy.data.objects["Floor"]
    bpy.utils.register_class(TEST_PT_writes)
    drive.area('PROPERTIES').tag_redraw()
    yield from drive.wait_until(lambda: bool(TEST_PT_writes.seen), 5.0, "a drawing of the test's panel")
    bpy.utils.unregister_class(TEST_PT_writes)
    drive.ensure(TEST_PT_writes.seen == {"refused": True}, f"Blender refuses, the handler writes: {TEST_PT_writes.seen}")
    drive.ensure(heights() == low, f"what frame 6 shows: {heights()} against {low} m")


def render_in_the_window() -> drive.Scenario:
    """F12 as an artist presses it: frames are swapped on the render's thread while the interface draws."""
    camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    camera.location, camera.rotation_euler, camera.data.clip_start = (0.0, -0.9, 0.2), (1.5, 0.0, 0.0), 0.01
    scene().camera = camera
    render = scene().render
    drive.ensure(render.use_lock_interface, "the bake locks the interface for renders")
    for name in ("Step", "Floor", "Crate"):
        bpy.data.objects[name].hide_render = True
    render.engine, scene().cycles.samples, scene().cycles.use_denoising = 'CYCLES', 2, False
    render.resolution_x, render.resolution_y, render.use_motion_blur = 96, 72, True
    render.film_transparent, render.image_settings.color_mode = True, 'RGBA'
    bpy.context.preferences.view.render_display_type = 'NONE'
    render.filepath = str(folder / "expected_####")
    support.save(folder, "render.blend")
    render.filepath = str(folder / "window_####")
    with bpy.context.temp_override(window=drive.window()):
        bpy.ops.render.render('INVOKE_DEFAULT', animation=True)
    yield from scrub_until(folder / "window_0006.png")
    yield from drive.wait_until(lambda: not baking.is_rendering(), 20.0, "the end of the render")
    yield 0.5
    frames = range(1, 7)
    done = support.run_blender(folder, folder / "render.blend", *(word for frame in frames for word in ("-f", frame)), timeout=400.0)
    drive.ensure(done.returncode == 0, support.fail_output(done))
    rows = []
    for frame in frames:
        found, expected = (pixels(folder / f"{name}_{frame:04d}.png") for name in ("window", "expected"))
        covered = [index // render.resolution_x for index, value in enumerate(found[3::4]) if value > 0.5]
        drive.ensure(len(covered) > 60, f"frame {frame} shows {len(covered)} pixels of sand")
        rows.append(sum(covered) / len(covered))
        off = sum(abs(a - b) > 0.02 for a, b in zip(found, expected))
        drive.ensure(off == 0, f"frame {frame} differs in {off} values from the same frame rendered without a window")
    drive.ensure(all(b < a for a, b in zip(rows, rows[1:])), f"the sand falls: rows {rows}")


def pixels(path: Path) -> list[float]:
    image = bpy.data.images.load(str(path))
    values = list(image.pixels)
    bpy.data.images.remove(image)
    return values


def scrub_until(last: Path) -> drive.Scenario:
    """An impatient artist: drags the timeline's frame and presses arrow keys while the frames are rendered."""
    where = drive.region('DOPESHEET_EDITOR')
    middle = where.y + where.height - 8
    began = time.monotonic()
    step = 0
    while not last.is_file():
        drive.ensure(time.monotonic() < began + 60.0 * drive.patience(), "the last picture did not come")
        step += 1
        at = where.x + 100 + 37 * (step % 12)
        if step % 3:
            drive.press('RIGHT_ARROW', at, middle)
        else:
            drive.window().event_simulate(type='LEFTMOUSE', value='PRESS', x=at, y=middle)
            drive.move_mouse(at + 60, middle)
            drive.window().event_simulate(type='LEFTMOUSE', value='RELEASE', x=at + 60, y=middle)
        yield 0.05
    print(f"# scrubbed {step} times", flush=True)


def clean_up() -> drive.Scenario:
    shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


drive.run("test_render", {
    scenario.__name__: scenario for scenario in (lay_out, frames_while_drawing, render_in_the_window)
}, options.keyword, clean_up)
