# SPDX-License-Identifier: GPL-3.0-or-later
"""A large bake leaves the interface alone: 100,000 particles and 5 million render grains, watched by a timer; then its frames are
loaded whole, and scrubbed a million grains at a time. All in front of a 3D viewport in Solid shading. Heavy runs only.

Blender's anti-aliasing is off, that of the picture and that of wires: without a graphics card it takes 0.2 s for an empty view of this
size by itself, and the manual says so (troubleshooting.md)."""
import shutil
import tempfile
import time
from pathlib import Path

import bpy
import drive
import harness
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
LONGEST_GAP = 0.2  # s
LAST_FRAME = 5
LOAD_SECONDS = 1.0  # of 5 million grains
SCRUB_RATE = 10.0  # frames a second of a million

support.enable()
from grain import runtime, viewport  # noqa: E402
from grain.engine import read_ahead  # noqa: E402
from grain.operators import bake as bake_operator  # noqa: E402
from grain.scene.show import playback  # noqa: E402

held: list[float] = []


def watch_modal() -> None:
    """Times what the modal operator does with each event, loading frames included."""
    modal = bake_operator.GRAIN_OT_bake.modal

    def timed(self: object, context: object, event: object) -> set[str]:
        began = time.monotonic()
        try:
            return modal(self, context, event)
        finally:
            held.append(time.monotonic() - began)

    bake_operator.GRAIN_OT_bake.modal = timed


def lay_out() -> drive.Scenario:
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(LAST_FRAME)
    simulation = bpy.context.scene.grain.active
    simulation.solver, simulation.particle_radius = 'MPM', 0.00134
    simulation.use_upsample, simulation.upsample_mode, simulation.grain_millions = True, 'TOTAL', 5.0
    yield from drive.widen_properties(150)
    drive.show_tab('SCENE')
    view = drive.area('VIEW_3D').spaces[0]
    view.shading.type = 'SOLID'
    view.region_3d.view_location, view.region_3d.view_distance = (0.0, 0.0, 0.15), 0.6
    support.save(folder)
    yield 0.5
    drive.press('ESC', *drive.middle('VIEW_3D'))  # the splash screen
    yield 0.5
    yield from report_view("with Blender's anti-aliasing")
    bpy.ops.grain.plain_drawing()
    yield from report_view("without it")


def report_view(how: str) -> drive.Scenario:
    """What the viewport costs before there is any sand in it."""
    def draw() -> float:
        drive.region('VIEW_3D').tag_redraw()
        bpy.data.objects["Step"].update_tag()  # else later samples of the same picture are cheaper
        bpy.context.view_layer.update()
        return drive.draw_viewport()

    seconds = yield from drive.in_viewport(lambda: [draw() for _ in range(6)])
    where = drive.region('VIEW_3D')
    print(f"# a viewport of {where.width} x {where.height} pixels without sand, {how}: {min(seconds):.3f} to {max(seconds):.3f} s", flush=True)


def shown() -> runtime.Shown:
    return next(iter(runtime.state.shown.values()))


def large_bake() -> drive.Scenario:
    """As a new simulation is, with the automatic amount."""
    watch_modal()
    others = drive.Others()
    views: list[tuple[int, int]] = []
    turns: dict[str, set[int]] = {"view": set(), "panels": set()}  # of Blender's loop in which they were drawn

    def note_view() -> None:
        views.append((shown().count, shown().all_count) if runtime.state.shown else (0, 0))
        turns["view"].add(len(drive._ticks))

    handler = bpy.types.SpaceView3D.draw_handler_add(note_view, (), 'WINDOW', 'POST_PIXEL')
    other = bpy.types.SpaceProperties.draw_handler_add(lambda: turns["panels"].add(len(drive._ticks)), (), 'WINDOW', 'POST_PIXEL')
    drive.start_watching()
    yield 0.1
    yield 0.1  # what was drawn above counts for the first of them
    drive.ensure(len(drive._ticks) > 2, "the click on Bake is watched, too")
    with bpy.context.temp_override(window=drive.window(), area=drive.area('PROPERTIES')):
        bpy.ops.grain.bake('INVOKE_DEFAULT')
    yield from drive.wait_until(lambda: runtime.state.bake is None, 900.0, "the end of the bake")
    yield 0.5  # what comes last is shown last
    gap = drive.longest_gap()
    bpy.types.SpaceView3D.draw_handler_remove(handler, 'WINDOW')
    bpy.types.SpaceProperties.draw_handler_remove(other, 'WINDOW')
    drive.screenshot(options.out / "responsive_bake.png")
    coarse = support.read_json(folder / "grain_cache/Sand/cache.json")["frames"][-1]["particles"]
    grains = support.read_json(folder / "grain_cache/Sand/grains/cache.json")["frames"][-1]["particles"]
    print(f"# {coarse:,} particles, {grains:,} grains: longest gap {gap:.3f} s, the operator's part of it {max(held):.3f} s, "
          f"{len(views)} drawings of the viewport, {len(set(views))} of other sand; others used {others.cores():.2f} cores", flush=True)
    drive.ensure(coarse > 95_000 and grains > 4_500_000, "it is a large bake")
    drive.ensure(any(count > 50_000 for count, _ in views), f"sand was seen while it was baked: {sorted(set(views))}")
    drive.ensure(any(total == grains for _, total in views), "and the render grains")
    together = len(turns["view"] & turns["panels"])  # once for the new object; and Blender has reasons of its own at times
    drive.ensure(together < 3, f"view and panels were drawn in one go {together} times")
    drive.ensure(max(held) < LONGEST_GAP, f"the add-on held the interface for {max(held):.3f} s")
    cores = others.cores()
    if LONGEST_GAP <= gap < LONGEST_GAP * drive.slowed_down(cores) and cores > drive.QUIET:
        raise drive.Skipped(f"the interface stood still for {gap:.3f} s, while others used {cores:.2f} cores")
    drive.ensure(gap < LONGEST_GAP, f"the interface stood still for {gap:.3f} s, while others used {cores:.2f} cores")


def timed_loads(count: int) -> list[float]:
    """Goes back and forth: seconds of loading."""
    loads, show = [], playback.show_scene

    def timed(*arguments: object) -> None:
        began = time.monotonic()
        show(*arguments)
        loads.append(time.monotonic() - began)

    playback.show_scene = timed
    try:
        for number in range(count):
            bpy.context.scene.frame_set(1 + number % LAST_FRAME)
    finally:
        playback.show_scene = show
    return loads


def large_frames() -> drive.Scenario:
    """Five million as points, as renders have them, and as dots."""
    display = bpy.context.scene.grain.active.display
    display.amount_mode, display.viewport_amount, display.viewport_display = 'PERCENT', 100.0, 'POINTS'
    drive.area('VIEW_3D').type = 'OUTLINER'  # Blender's own points of five million are nothing to look at on a processor
    yield 0.3
    for kind in ('POINTS', 'DOTS'):
        display.viewport_display = kind

        def measure(kind: str = kind) -> drive.Scenario:
            read_ahead.forget()
            longest = max(timed_loads(3))
            print(f"# {shown().count:,} grains loaded as {kind.lower()} in {longest:.2f} s at most", flush=True)
            yield 0.0
            return longest / LOAD_SECONDS, f"loading took {longest:.2f} s"

        yield from drive.judge(measure)
        drive.ensure(shown().count > 4_500_000, f"{shown().count} grains")
    display.viewport_display = 'AUTO'
    next(area for area in drive.window().screen.areas if area.type == 'OUTLINER' and area.width > 500).type = 'VIEW_3D'
    yield 0.5


def scrubbing() -> drive.Scenario:
    """A million grains on the screen, each change of frame drawn; the first time none of them is in memory."""
    display = bpy.context.scene.grain.active.display
    display.amount_mode, display.viewport_count = 'COUNT', 1_000_000
    yield 1.0
    for word, count in (("first", LAST_FRAME), ("again", 2 * LAST_FRAME)):
        def measure(word: str = word, count: int = count) -> drive.Scenario:
            if word == "first":
                read_ahead.forget()
                viewport.forget()
            rate, longest = yield from drive.scrub(LAST_FRAME, count)
            print(f"# a million grains {word}: {rate:.1f} frames a second with drawing, {longest:.3f} s at most for one", flush=True)
            return SCRUB_RATE / rate, f"{rate:.1f} frames a second {word}"

        yield from drive.judge(measure)
    drive.screenshot(options.out / "responsive_scrub.png")
    drive.ensure(drive.area('VIEW_3D').spaces[0].shading.type == 'SOLID', "the viewport is there")
    drive.ensure(shown().dots is not None and len(shown().dots) == 1_000_000, f"{shown().count} grains are shown")


def clean_up() -> drive.Scenario:
    shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


SCENARIOS = (lay_out, large_bake, large_frames, scrubbing)
if not harness.is_heavy():
    for scenario in SCENARIOS[1:]:
        print(f"skip ui/test_responsive:{scenario.__name__}: takes minutes; --heavy runs it", flush=True)
drive.run("test_responsive", {scenario.__name__: scenario for scenario in SCENARIOS} if harness.is_heavy() else {}, options.keyword, clean_up)
