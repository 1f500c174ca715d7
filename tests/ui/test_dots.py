# SPDX-License-Identifier: GPL-3.0-or-later
"""Many grains are drawn as dots: in Solid views only, where and when the sand is to be seen, and quickly enough to scrub."""
import shutil
import tempfile
from pathlib import Path

import bpy
import drive
import numpy as np
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
GRAINS = 200_000
LAST_FRAME = 8
SCRUB_RATE = 10.0

support.enable()
from grain import runtime, viewport  # noqa: E402
from grain.scene.show import detail, playback  # noqa: E402


def simulation() -> bpy.types.PropertyGroup:
    return bpy.context.scene.grain.active


def shown() -> runtime.Shown:
    return next(iter(runtime.state.shown.values()))


def is_dots() -> bool:
    return bool(runtime.state.shown) and shown().dots is not None


def is_points() -> bool:
    return bool(runtime.state.shown) and shown().frame is not None and shown().dots is None


def sandy(path: Path, whole: bool = False) -> int:
    """Pixels of the viewport, or of a whole picture, that are coloured as sand is. Nothing else in the scene is not grey."""
    image = bpy.data.images.load(str(path))
    width, height = image.size
    pixels = np.empty(width * height * 4, np.float32)
    image.pixels.foreach_get(pixels)
    bpy.data.images.remove(image)
    pixels = pixels.reshape(height, width, 4)
    if not whole:
        where = drive.region('VIEW_3D')
        side, head = 70, 80  # tools to the left, headers and the gizmo above
        pixels = pixels[where.y:where.y + where.height - head, where.x + side:where.x + where.width - 90]
    red, green, blue = (pixels[..., k] for k in range(3))
    return int(((red > green) & (green > blue) & (red - blue > 0.12) & (red > 0.2)).sum())


def seen(name: str) -> drive.Scenario:
    """Sandy pixels of the viewport as it is now, in a screenshot that can be looked at."""
    drive.area('VIEW_3D').tag_redraw()
    yield 0.5 * drive.patience()
    path = options.out / f"dots_{name}.png"
    drive.screenshot(path)
    return sandy(path)


def lay_out() -> drive.Scenario:
    """A small heap refined into more grains than Blender's points are used for, left as a new simulation is."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(LAST_FRAME)
    settings = simulation()
    settings.solver, settings.particle_radius = 'MPM', 0.004
    settings.use_upsample, settings.upsample_mode, settings.grain_millions = True, 'TOTAL', GRAINS / 1e6
    bpy.context.preferences.system.viewport_aa = 'OFF'
    view = drive.area('VIEW_3D').spaces[0]
    view.region_3d.view_location, view.region_3d.view_distance = (0.0, 0.0, 0.12), 0.9
    view.overlay.show_axis_x = view.overlay.show_axis_y = view.overlay.show_cursor = False
    yield from drive.widen_properties(150)
    drive.open_all_panels("simulation_scene", "display")
    drive.show_tab('SCENE')
    support.save(folder)
    yield 0.3
    drive.press('ESC', *drive.middle('VIEW_3D'))  # the splash screen
    yield 0.3
    with bpy.context.temp_override(window=drive.window(), area=drive.area('PROPERTIES')):
        bpy.ops.grain.bake('INVOKE_DEFAULT')
    yield from drive.wait_until(lambda: runtime.state.bake is None, 120.0, "the end of the bake")
    bpy.data.objects["Block"].hide_set(True)
    bpy.context.scene.frame_set(LAST_FRAME)
    yield from drive.wait_until(is_dots, 10.0, "dots")


def solid_view_shows_dots() -> drive.Scenario:
    count = yield from seen("solid")
    item = simulation().sand_object
    drive.ensure(count > 5000, f"{count} pixels of sand")
    drive.ensure(shown().count == shown().all_count > 0.9 * GRAINS, f"{shown().count} of {shown().all_count} grains")
    drive.ensure(len(item.data.vertices) < 100 and support.points_in_depsgraph() == 0, "no points are made for it")
    low, high = np.array(item.bound_box).min(axis=0), np.array(item.bound_box).max(axis=0)
    drive.ensure(bool((high - low > 0.1).all()), f"its box is found: {low} to {high}")
    view = drive.area('VIEW_3D').spaces[0]
    view.shading.type = 'WIREFRAME'
    wire = yield from seen("wireframe")
    view.shading.type = 'SOLID'
    drive.ensure(wire > 5000, f"{wire} pixels of sand in a Wireframe view")


def panel_says_what_is_shown() -> drive.Scenario:
    """To be looked at: how many, as what, and what would make a slow computer quicker."""
    bpy.context.preferences.system.viewport_aa = '8'
    entry, take_in = detail._of(simulation()), detail._take_in
    detail._take_in = lambda *_: False  # whatever this machine would do
    entry.most = 100_000
    playback.show(simulation())
    place = drive.middle('PROPERTIES')
    drive.move_mouse(*place)
    yield 0.3
    for _ in range(3):
        drive.press('PAGE_DOWN', *place)
        yield 0.2
    yield 0.5 * drive.patience()
    drive.screenshot(options.out / "dots_panel.png")
    drive.ensure(shown().count == 100_000, f"{shown().count} grains")
    bpy.ops.grain.plain_drawing()  # the button in that picture
    system = bpy.context.preferences.system
    drive.ensure(system.viewport_aa == 'OFF' and not system.use_overlay_smooth_wire, "nothing is anti-aliased any more")
    entry.most, detail._take_in = detail.FIRST, take_in
    playback.show(simulation())
    drive.area('PROPERTIES').tag_redraw()
    yield from seen("display")
    drive.save_small(options.out / "dots_display.png", options.out / "display" / "dots.jpg")


def graphics_cards_draw_the_same() -> drive.Scenario:
    """Every grain as a point, instead of a picture of all: here by the same processor, in its own time."""
    by_picture = yield from seen("picture")
    is_software, viewport.is_software = viewport.is_software, lambda: False
    try:
        by_points = yield from seen("points")
    finally:
        viewport.is_software = is_software
    drive.ensure(shown().dots.drawn is not None, "points were drawn")
    # The same grains; points are placed by halves of pixels otherwise.
    drive.ensure(abs(by_points - by_picture) < 0.1 * by_picture, f"{by_points} pixels of sand, {by_picture} in the picture")


def behind_is_hidden() -> drive.Scenario:
    before = yield from seen("open")
    screen = support.box("Screen", (-0.5, -0.5, 0.0), (0.5, -0.48, 0.5))
    screen.location = (0.25, -0.35, 0.2)
    screen.rotation_euler.z = 0.55  # across the view
    after = yield from seen("behind")
    bpy.data.objects.remove(screen)
    drive.ensure(after < 0.3 * before, f"{after} pixels of {before} are seen through a wall")


def hidden_sand_is_not_drawn() -> drive.Scenario:
    item, view = simulation().sand_object, drive.area('VIEW_3D')
    item.hide_set(True)
    hidden = yield from seen("hidden")
    item.hide_set(False)
    bpy.context.view_layer.objects.active = bpy.data.objects["Step"]
    for other in bpy.context.view_layer.objects:
        other.select_set(other.name == "Step")
    with bpy.context.temp_override(window=drive.window(), area=view, region=drive.region('VIEW_3D')):
        bpy.ops.view3d.localview(frame_selected=False)
    bpy.data.objects["Step"].select_set(False)  # its outline is orange, too
    local = yield from seen("local_view")
    with bpy.context.temp_override(window=drive.window(), area=view, region=drive.region('VIEW_3D')):
        bpy.ops.view3d.localview(frame_selected=False)
    again = yield from seen("shown_again")
    drive.ensure(hidden < 50, f"hidden, {hidden} pixels of it are seen")
    drive.ensure(local < 50, f"in another object's local view {local} pixels of it are seen")
    drive.ensure(again > 5000, f"shown again, {again} pixels of it are seen")


def views_with_materials_get_points() -> drive.Scenario:
    view = drive.area('VIEW_3D').spaces[0]
    view.shading.type = 'MATERIAL'
    yield from drive.wait_until(is_points, 120.0, "points for the Material Preview")
    drive.ensure(support.points_in_depsgraph() == shown().all_count, f"{support.points_in_depsgraph()} points")
    view.shading.type = 'SOLID'
    yield from drive.wait_until(is_dots, 120.0, "dots for the Solid view")
    drive.ensure(support.points_in_depsgraph() == 0, "the points are gone")


def whoever_uses_the_sand_gets_points() -> drive.Scenario:
    item = simulation().sand_object
    modifier = item.modifiers.new("Mine", 'NODES')
    drive.area('VIEW_3D').tag_redraw()
    yield from drive.wait_until(is_points, 30.0, "points for the artist's own modifier")
    item.modifiers.remove(modifier)
    yield from drive.wait_until(is_dots, 30.0, "dots again")
    follower = support.box("Follower", (0.5, 0.5, 0.0), (0.6, 0.6, 0.1))
    follower.constraints.new('COPY_LOCATION').target = item
    yield from drive.wait_until(is_points, 30.0, "points for an object that uses the sand")
    bpy.data.objects.remove(follower)
    yield from drive.wait_until(is_dots, 30.0, "dots once more")
    simulation().display.viewport_display = 'POINTS'
    drive.ensure(is_points(), "points where they are chosen")
    simulation().display.viewport_display = 'AUTO'
    drive.ensure(is_dots(), "dots where it is left to Grain")


def undo_brings_dots_back() -> drive.Scenario:
    with bpy.context.temp_override(window=drive.window()):
        bpy.ops.ed.undo_push(message="Before")
        bpy.data.objects["Step"].location.x += 1.0
        bpy.ops.ed.undo_push(message="Moved")
        bpy.ops.ed.undo()
    count = yield from seen("undone")
    drive.ensure(abs(bpy.data.objects["Step"].location.x) < 1e-6, "the move is undone")
    drive.ensure(is_dots() and count > 5000, f"{count} pixels of sand")


def pictures_of_the_viewport_show_sand() -> drive.Scenario:
    """Blender draws them without what add-ons draw."""
    scene = bpy.context.scene
    scene.render.filepath, scene.render.resolution_percentage = str(folder / "playblast_"), 30
    scene.frame_set(LAST_FRAME)
    yield 0.5
    with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D'), region=drive.region('VIEW_3D')):
        bpy.ops.render.opengl('INVOKE_DEFAULT', animation=True)
    paths = [folder / f"playblast_{frame:04d}.png" for frame in range(1, LAST_FRAME + 1)]
    yield from drive.wait_until(lambda: all(path.exists() for path in paths), 120.0, "the pictures")
    yield 1.0
    counts = [sandy(path, whole=True) for path in paths]
    drive.ensure(min(counts) > 100, f"pixels of sand: {counts}")
    yield from close_render_view()
    yield from drive.wait_until(is_dots, 30.0, "dots after the pictures")
    with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D'), region=drive.region('VIEW_3D')):
        bpy.ops.grain.viewport_picture()
    bpy.data.images["Render Result"].save_render(str(folder / "still.png"))
    still = sandy(folder / "still.png", whole=True)
    yield from close_render_view()
    drive.ensure(still > 100, f"{still} pixels of sand in a single picture")
    drive.ensure(is_dots(), "dots after it")


def close_render_view() -> drive.Scenario:
    """A picture opens in a window of its own, or in the largest editor."""
    for window in bpy.context.window_manager.windows[1:]:
        with bpy.context.temp_override(window=window):
            bpy.ops.wm.window_close()
    for area in drive.window().screen.areas:
        if area.type == 'IMAGE_EDITOR':
            area.type = 'VIEW_3D'
    yield 0.5


def renders_show_every_grain() -> drive.Scenario:
    scene = bpy.context.scene
    scene.render.engine, scene.cycles.samples, scene.render.resolution_percentage = 'CYCLES', 1, 5
    scene.cycles.use_denoising = False
    scene.camera = support.link(bpy.data.objects.new("Camera", bpy.data.cameras.new("Camera")))
    counts = []

    def count(*_: object) -> None:
        counts.append(len(simulation().sand_object.data.vertices))

    bpy.app.handlers.render_pre.append(count)
    bpy.app.handlers.render_post.append(count)
    try:
        bpy.ops.render.render()
    finally:
        bpy.app.handlers.render_pre.remove(count)
        bpy.app.handlers.render_post.remove(count)
    drive.ensure(counts[-1] == shown().all_count, f"the render had {counts[-1]} of {shown().all_count} grains")
    yield from drive.wait_until(is_dots, 30.0, "dots after the render")


def automatic_amount_follows_the_time_taken() -> drive.Scenario:
    """As many as are drawn in the budget; what is slow twice is shown by half, and never fewer than the least."""
    entry = detail._of(simulation())
    most, entry.slow, entry.wait_until = entry.most, 0, 0.0
    try:
        drive.ensure(not detail._take_in(entry, 10 * detail.BUDGET, 200_000, 200_000), "once may be chance")
        drive.ensure(detail._take_in(entry, 10 * detail.BUDGET, 200_000, 200_000) and entry.most < most, "twice is slow")
        playback.show(simulation())
        drive.ensure(shown().count == entry.most < shown().all_count, f"{shown().count} grains are shown, not {entry.most}")
        drive.ensure(playback.share(simulation(), True, GRAINS) == 1.0, "renders show all")
        for _ in range(20):
            detail._take_in(entry, 10 * detail.BUDGET, 200_000, 200_000)
        drive.ensure(entry.most == detail.LEAST, f"{entry.most} is the least")
        drive.ensure(not detail._take_in(entry, 0.1 * detail.BUDGET, detail.LEAST, GRAINS), "not up at once")
        entry.wait_until = 0.0
        drive.ensure(detail._take_in(entry, 0.1 * detail.BUDGET, detail.LEAST, GRAINS), "but later")
    finally:
        entry.most, entry.slow, entry.wait_until = most, 0, 0.0
    playback.show(simulation())
    yield 0.1


def scrubbing() -> drive.Scenario:
    """Each change of frame with a drawing of the viewport."""
    def measure() -> drive.Scenario:
        rate, _ = yield from drive.scrub(LAST_FRAME, 12)
        drive.ensure(is_dots(), "dots are drawn")
        print(f"# {shown().count:,} grains: {rate:.1f} frames a second, drawing included", flush=True)
        return SCRUB_RATE / rate, f"{rate:.1f} frames a second"

    yield from drive.judge(measure)


def pictures_are_kept_in_bounds() -> drive.Scenario:
    """On a processor: a frame that was seen from here before is not drawn again, unless there are too many of them."""
    made: list[int] = []
    picture, viewport.engine_dots.picture = viewport.engine_dots.picture, lambda *arguments: made.append(0) or picture(*arguments)
    before = viewport.MOST_PICTURE_BYTES
    try:
        yield from drive.scrub(LAST_FRAME, LAST_FRAME)
        made.clear()
        yield from drive.scrub(LAST_FRAME, LAST_FRAME)
        drive.ensure(not made, f"{len(made)} pictures were made again")
        drive.ensure(len(viewport._pictures) >= LAST_FRAME, f"{len(viewport._pictures)} pictures are kept")
        viewport.MOST_PICTURE_BYTES = 1
        drive.area('VIEW_3D').spaces[0].region_3d.view_distance *= 1.1
        yield from drive.scrub(LAST_FRAME, LAST_FRAME)
        drive.ensure(len(made) >= LAST_FRAME and len(viewport._pictures) == 1, f"{len(made)} made, {len(viewport._pictures)} kept")
        drive.ensure(bool(shown().dots.pictures), "the one that is seen")
    finally:
        viewport.engine_dots.picture, viewport.MOST_PICTURE_BYTES = picture, before
        drive.area('VIEW_3D').spaces[0].region_3d.view_distance /= 1.1


def opened_again() -> drive.Scenario:
    bpy.context.scene.frame_set(LAST_FRAME)
    path = support.save(folder)
    drive.ensure(len(simulation().sand_object.data.vertices) < 100, "corners are all that is saved")
    bpy.ops.wm.open_mainfile(filepath=str(path))
    yield from drive.wait_until(is_dots, 30.0, "dots of the opened file")
    count = yield from seen("opened")
    drive.ensure(count > 5000, f"{count} pixels of sand")


def nothing_is_left_without_the_add_on() -> drive.Scenario:
    support.disable()
    drive.ensure(not viewport._handlers, "no handler is left")
    count = yield from seen("disabled")
    support.enable()
    drive.ensure(count < 50, f"{count} pixels of sand are drawn by nobody")


def clean_up() -> drive.Scenario:
    shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


drive.run("test_dots", {function.__name__: function for function in (
    lay_out, solid_view_shows_dots, panel_says_what_is_shown, graphics_cards_draw_the_same, behind_is_hidden, hidden_sand_is_not_drawn, views_with_materials_get_points,
    whoever_uses_the_sand_gets_points, undo_brings_dots_back, pictures_of_the_viewport_show_sand, renders_show_every_grain,
    automatic_amount_follows_the_time_taken, scrubbing, pictures_are_kept_in_bounds, opened_again,
    nothing_is_left_without_the_add_on)}, options.keyword, clean_up)
