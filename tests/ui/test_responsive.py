"""A large bake leaves the interface alone: 100,000 particles and 5 million render grains, watched by a timer; then its frames are
loaded whole, and scrubbed a million grains at a time. Heavy runs only."""
import os
import shutil
import tempfile
import time
from pathlib import Path

import bpy
import drive
import support

options = drive.options()
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
LONGEST_GAP = 0.2  # s
LAST_FRAME = 3
LOAD_SECONDS = 1.0  # of 5 million grains
SCRUB_RATE = 10.0  # frames a second of a million

support.enable()
from grain import runtime  # noqa: E402
from grain.engine import read_ahead  # noqa: E402
from grain.operators import bake as bake_operator  # noqa: E402
from grain.scene import playback  # noqa: E402

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


def large_bake() -> drive.Scenario:
    """Without a viewport, whose points a machine without a graphics card draws on the cores that bake: a tenth of the grains takes
    half a second. What is left is all that a bake keeps the interface from: its start, its panels, its frames."""
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(LAST_FRAME)
    simulation = bpy.context.scene.grain.active
    simulation.solver, simulation.particle_radius = 'MPM', 0.00134
    simulation.use_upsample, simulation.upsample_mode, simulation.grain_millions = True, 'TOTAL', 5.0
    simulation.display.amount_mode, simulation.display.viewport_count = 'COUNT', 100_000
    drive.show_tab('SCENE')
    drive.area('VIEW_3D').type = 'OUTLINER'
    support.save(folder)
    watch_modal()
    yield 0.5
    drive.start_watching()
    yield 0.1
    with bpy.context.temp_override(window=drive.window(), area=drive.area('PROPERTIES')):
        bpy.ops.grain.bake('INVOKE_DEFAULT')
    yield from drive.wait_until(lambda: runtime.state.bake is None, 900.0, "the end of the bake")
    yield 0.5  # what comes last is shown last
    gap = drive.longest_gap()
    coarse = support.read_json(folder / "grain_cache/Sand/cache.json")["frames"][-1]["particles"]
    grains = support.read_json(folder / "grain_cache/Sand/grains/cache.json")["frames"][-1]["particles"]
    print(f"# {coarse:,} particles, {grains:,} grains: longest gap {gap:.3f} s, the operator's part of it {max(held):.3f} s, "
          f"at a load of {os.getloadavg()[0]:.1f}", flush=True)
    drive.ensure(coarse > 95_000 and grains > 4_500_000, "it is a large bake")
    drive.ensure(max(held) < LONGEST_GAP * drive.patience(), f"the add-on held the interface for {max(held):.3f} s")
    drive.ensure(gap < LONGEST_GAP * drive.patience(), f"the interface stood still for {gap:.3f} s")


def timed_frames(count: int) -> tuple[list[float], list[float]]:
    """Goes back and forth: seconds of loading, and of the whole change of frame, Blender's own work on the points included."""
    loads, changes, show = [], [], playback.show_scene

    def timed(*arguments: object) -> None:
        began = time.monotonic()
        show(*arguments)
        loads.append(time.monotonic() - began)

    playback.show_scene = timed
    try:
        for number in range(count):
            began = time.monotonic()
            bpy.context.scene.frame_set(1 + number % LAST_FRAME)
            changes.append(time.monotonic() - began)
    finally:
        playback.show_scene = show
    return loads, changes


def large_frames() -> drive.Scenario:
    """Without a viewport, too."""
    display = bpy.context.scene.grain.active.display
    display.amount_mode, display.viewport_amount = 'PERCENT', 100.0
    read_ahead.forget()
    loads, changes = timed_frames(3)
    count = len(bpy.context.scene.grain.active.sand_object.data.vertices)
    print(f"# {count:,} grains loaded in {max(loads):.2f} s, shown after {max(changes):.2f} s at most, "
          f"at a load of {os.getloadavg()[0]:.1f}", flush=True)
    drive.ensure(count > 4_500_000 and max(loads) < LOAD_SECONDS * drive.patience(), f"loading took {max(loads):.2f} s")
    display.amount_mode, display.viewport_count = 'COUNT', 1_000_000
    read_ahead.forget()
    yield 0.3
    for word in ("first", "again"):
        loads, changes = timed_frames(3 if word == "first" else 12)
        rate = len(changes) / sum(changes)
        print(f"# a million grains {word}: {rate:.1f} frames a second, {sum(loads) / len(loads):.3f} s of each for loading", flush=True)
    drive.ensure(rate * drive.patience() > SCRUB_RATE, f"{rate:.1f} frames a second")


def clean_up() -> drive.Scenario:
    shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


if not support.is_heavy():
    for name in ("large_bake", "large_frames"):
        print(f"skip ui/test_responsive:{name}: takes minutes; --heavy runs it", flush=True)
drive.run("test_responsive", {"large_bake": large_bake, "large_frames": large_frames} if support.is_heavy() else {}, options.keyword, clean_up)
