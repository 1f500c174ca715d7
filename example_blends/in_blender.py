# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs inside Blender for render_gallery.py: builds a scene, bakes it through the add-on, measures and renders.

    blender -b --factory-startup --python example_blends/in_blender.py -- '{"scene": "03_hourglass", ...}'

Prints one line `RESULT {...}`.
"""
from __future__ import annotations

import importlib.util
import json
import os
import sys
import threading
import time
from pathlib import Path
from types import ModuleType
from typing import Any, Optional

import bpy

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import measure  # noqa: E402
import plan as plans  # noqa: E402
import studio  # noqa: E402


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"scene_{name}", HERE / "scenes" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build(module: ModuleType, size: plans.Size) -> None:
    studio.begin(module.PLAN.title)
    module.build(size)
    studio.fit_particles(size)


def bake_and_measure(module: ModuleType, size: plans.Size, file: Path) -> tuple[dict[str, Any], Optional[measure.Bake]]:
    """The scene at this size: saved, baked beside the file, and what of it was measured."""
    build(module, size)
    bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=True)
    if size.frames == 0:
        return measured(module, None), None
    numbers = bake(size)
    found = cached()
    numbers["particles"] = found.particles()
    numbers["bodies"] = len(found.bodies)
    if all(size is not timing.size for timing in module.PLAN.timings):  # which end before there is something to measure
        numbers.update(measured(module, found))
    return numbers, found


def measured(module: ModuleType, found: Optional[measure.Bake]) -> dict[str, Any]:
    return {"facts": [[fact.text, bool(fact.holds)] for fact in module.measure(found)]}


def cached() -> measure.Bake:
    from grain.scene import paths
    scene = bpy.context.scene
    return measure.Bake(paths.cache_folder(studio.simulation(scene)), scene.render.fps / scene.render.fps_base)


def bake_of(number: int) -> measure.Bake:
    """Of another simulation of the scene than its first, which is baked here unless it is already."""
    scene = bpy.context.scene
    scene.grain.active_index = number
    if bpy.ops.grain.bake() != {'FINISHED'}:
        sys.exit("the bake did not finish")
    found = cached()
    scene.grain.active_index = 0
    return found


def bakes_of_all(first: measure.Bake) -> list[measure.Bake]:
    """Of every simulation of the scene, whose first is baked already."""
    return [first, *(bake_of(number) for number in range(1, len(bpy.context.scene.grain.simulations)))]


def bake(size: plans.Size) -> dict[str, Any]:
    """The simulation, then the render grains, so that each has its own time. Processor time is what counts on a machine
    that others use too."""
    settings = studio.simulation()
    has_grains, settings.use_upsample = settings.use_upsample, False
    numbers: dict[str, Any] = {"frames": size.frames, "grains": 0}
    numbers["simulate"], numbers["simulate_wall"] = _timed(size.frames - 1, restart=True)
    if has_grains:
        settings.use_upsample = True
        numbers["upsample"], numbers["upsample_wall"] = _timed(size.frames, restart=False)
        numbers["grains"] = round(settings.grain_millions * 1e6)
    numbers["memory"] = MemoryWatch.most
    return numbers


class MemoryWatch:
    """The most memory that a child had so far, from what the system says of it while it runs."""
    most = 0

    def __enter__(self) -> None:
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.05):
            for entry in Path("/proc/self/task").glob("*/children"):
                for child in entry.read_text().split():
                    MemoryWatch.most = max(MemoryWatch.most, _peak_memory(child))


def _peak_memory(process: str) -> int:
    try:
        status = dict(line.split(":", 1) for line in Path(f"/proc/{process}/status").read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024 if status["Name"].strip() == "grain" else 0
    except (OSError, KeyError, ValueError):  # it has just ended
        return 0


def _timed(frames: int, restart: bool) -> tuple[float, float]:
    """Seconds for a frame: of processors, and on the clock."""
    before, began = os.times(), time.monotonic()
    with MemoryWatch():
        outcome = bpy.ops.grain.bake(restart=restart)
    if outcome != {'FINISHED'}:
        sys.exit("the bake did not finish")
    after, ended = os.times(), time.monotonic()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return spent / max(frames, 1), (ended - began) / max(frames, 1)


def render(frame: int, picture: Path, share: int, samples: int) -> float:
    scene = bpy.context.scene
    scene.frame_set(frame)
    scene.render.resolution_percentage = share
    scene.cycles.samples = samples
    is_jpeg = picture.suffix == ".jpg"
    scene.render.image_settings.file_format = 'JPEG' if is_jpeg else 'PNG'
    scene.render.image_settings.quality = 88
    scene.render.use_stamp_filename = False  # a picture must not tell whose folder it was rendered in
    scene.render.filepath = str(picture)
    began = time.process_time()
    bpy.ops.render.render(write_still=True)
    return time.process_time() - began


def main() -> None:
    options = json.loads(sys.argv[sys.argv.index("--") + 1])
    module, out = load(options["scene"]), Path(options["out"])
    plan: plans.Plan = module.PLAN
    size = {"small": plan.small, "picture": plan.picture}.get(options["size"]) or plan.timings[options["size"]].size
    file = out / f"{options['scene']}.blend"
    result: dict[str, Any] = {}
    if options["blend"]:  # the one in the repository: without a bake
        build(module, plan.picture)
        bpy.ops.wm.save_as_mainfile(filepath=options["blend"], compress=True)
    if options["bake"]:
        result, _ = bake_and_measure(module, size, file)
        bpy.ops.wm.save_mainfile(compress=True)
    else:
        # A changed light, camera or material shows without a new bake.
        build(module, size)
        bpy.ops.wm.save_as_mainfile(filepath=str(file), compress=True)
        if size.frames > 0:
            from grain.scene import simulations
            from grain.scene.look import grain_object
            from grain.scene.show import apply, bodies
            bpy.context.scene.frame_set(1)
            for simulation in simulations.of_scene(bpy.context.scene):
                for item in simulations.objects(simulation, 'BODY'):
                    bodies.note_rest(item, item.name, item.matrix_world)
            grain_object.update(studio.simulation(), bpy.context.evaluated_depsgraph_get())
            apply.ensure_sand_object(studio.simulation())
        result = measured(module, cached() if size.frames > 0 else None)
    finish = getattr(module, "finish", None)  # what a scene changes once its sand is there
    if finish is not None and options["pictures"]:
        finish()
    for picture, frame in options["pictures"].items():
        result["render"] = render(frame, Path(picture), options["share"], options["samples"])
    print("RESULT " + json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
