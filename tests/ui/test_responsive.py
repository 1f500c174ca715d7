"""A large bake leaves the interface alone: 100,000 particles and 5 million render grains, watched by a timer. Heavy runs only."""
import argparse
import shutil
import sys
import tempfile
import time
from pathlib import Path

import bpy
import drive
import support

parser = argparse.ArgumentParser()
parser.add_argument("--out", type=Path)
parser.add_argument("-k", dest="keyword", default="")
options = parser.parse_args(sys.argv[sys.argv.index("--") + 1:])
folder = Path(tempfile.mkdtemp(prefix="grain_ui_"))
LONGEST_GAP = 0.2  # s
LAST_FRAME = 3

support.enable()
from grain import runtime  # noqa: E402
from grain.operators import bake as bake_operator  # noqa: E402

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
    """The viewport draws without a graphics card here, which takes its own time: a tenth of the grains is shown, in a small
    window's worth of overlays, so that what is measured is the add-on's."""
    bpy.context.preferences.system.viewport_aa = 'OFF'
    for item in list(bpy.data.objects):
        bpy.data.objects.remove(item)
    support.small_scene(LAST_FRAME)
    simulation = bpy.context.scene.grain.active
    simulation.solver, simulation.particle_radius = 'MPM', 0.00146
    simulation.use_upsample, simulation.upsample_mode, simulation.grain_millions = True, 'TOTAL', 5.0
    simulation.display.amount_mode, simulation.display.viewport_count = 'COUNT', 100_000
    view = drive.area('VIEW_3D').spaces[0]
    view.overlay.show_overlays, view.show_gizmo = False, False
    support.save(folder)
    watch_modal()
    yield 0.5
    with bpy.context.temp_override(window=drive.window(), area=drive.area('VIEW_3D')):
        bpy.ops.grain.bake('INVOKE_DEFAULT')
    yield 0.2
    drive.start_watching()
    yield from drive.wait_until(lambda: runtime.state.bake is None, 900.0, "the end of the bake")
    gap = drive.longest_gap()
    coarse = support.read_json(folder / "grain_cache/Sand/cache.json")["frames"][-1]["particles"]
    grains = support.read_json(folder / "grain_cache/Sand/grains/cache.json")["frames"][-1]["particles"]
    print(f"# {coarse:,} particles, {grains:,} grains: longest gap {gap:.3f} s, of it the add-on's {max(held):.3f} s", flush=True)
    drive.ensure(coarse > 80_000 and grains > 4_500_000, "it is a large bake")
    drive.ensure(max(held) < LONGEST_GAP * drive.patience(), f"the add-on held the interface for {max(held):.3f} s")
    drive.ensure(gap < LONGEST_GAP * drive.patience(), f"the interface stood still for {gap:.3f} s")


def clean_up() -> drive.Scenario:
    shutil.rmtree(folder, ignore_errors=True)
    yield 0.0


if not support.is_heavy():
    print("skip ui/test_responsive:large_bake: takes minutes; --heavy runs it", flush=True)
drive.run("test_responsive", {"large_bake": large_bake} if support.is_heavy() else {}, options.keyword, clean_up)
