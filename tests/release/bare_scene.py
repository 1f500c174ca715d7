# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs in Blender, where test_bare_system.py starts it: installs the zip, bakes, refines, makes a volume, renders.

    python bare_scene.py ZIP FOLDER                    Blender as a module of Python's
    blender -b --python bare_scene.py -- ZIP FOLDER    the program
"""
import importlib
import os
import sys
from pathlib import Path

import bpy
import numpy as np

archive, folder = map(Path, sys.argv[-2:])
SIZE = 320


def box(name: str, low: tuple[float, float, float], high: tuple[float, float, float]) -> bpy.types.Object:
    bpy.ops.mesh.primitive_cube_add(size=1.0, location=[(a + b) / 2 for a, b in zip(low, high)])
    item = bpy.context.object
    item.name, item.scale = name, [b - a for a, b in zip(low, high)]
    return item


def make_scene() -> bpy.types.Scene:
    """A block of sand falls on a step on a floor, seen from the side in sunlight."""
    scene = bpy.context.scene
    source = box("Block", (-0.1, -0.1, 0.15), (0.1, 0.1, 0.3))
    step = box("Step", (-0.06, -0.06, 0.0), (0.06, 0.06, 0.08))
    bpy.ops.mesh.primitive_plane_add(size=4.0)
    ground = bpy.context.object
    bpy.ops.object.light_add(type='SUN', rotation=(0.6, 0.3, 0.0))
    bpy.context.object.data.energy = 4.0
    bpy.ops.object.camera_add(location=(0.0, -1.1, 0.45), rotation=(1.25, 0.0, 0.0))
    scene.camera = bpy.context.object
    bpy.context.view_layer.update()
    source.grain.type = 'SOURCE'
    step.grain.type = ground.grain.type = 'COLLIDER'
    ground.grain.collider.shape = 'PLANE'
    simulation = scene.grain.active
    simulation.particle_radius = 0.008
    simulation.use_upsample, simulation.grains_per_particle = True, 12
    simulation.volume.dust_speed = 0.2
    scene.frame_start, scene.frame_end = 1, 8
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "bare.blend"))
    return scene


def render(scene: bpy.types.Scene, name: str) -> np.ndarray:
    scene.render.engine = 'CYCLES'
    scene.cycles.device, scene.cycles.samples, scene.cycles.use_denoising = 'CPU', 16, False
    scene.render.resolution_x = scene.render.resolution_y = SIZE
    scene.render.filepath = str(folder / name)
    bpy.ops.render.render(write_still=True)
    image = bpy.data.images.load(str(folder / name))
    pixels = np.empty(SIZE * SIZE * 4, np.float32)
    image.pixels.foreach_get(pixels)
    return pixels.reshape(SIZE, SIZE, 4)[:, :, :3]


def covered(sand: np.ndarray, empty: np.ndarray) -> float:
    """Share of the picture that the sand changes."""
    return float((np.abs(sand - empty).max(axis=2) > 0.1).mean())


def install() -> str:
    """As the Preferences do; from 4.2 on as an extension. Returns the add-on's name as a module."""
    if bpy.app.version >= (4, 2, 0):
        bpy.ops.extensions.package_install_files(filepath=str(archive), repo='user_default', enable_on_install=True)
        return "bl_ext.user_default.grain"
    bpy.ops.preferences.addon_install(filepath=str(archive))
    bpy.ops.preferences.addon_enable(module="grain")
    return "grain"


def main() -> None:
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon = install()
    ffi = importlib.import_module(f"{addon}.engine.ffi")
    print("FROM", sys.modules[addon].__file__, ffi.problem() or "loads", flush=True)
    scene = make_scene()
    cache = folder / "grain_cache/Sand"
    print("BAKE", bpy.ops.grain.bake(), len(list(cache.glob("coarse_*.grain"))), flush=True)
    print("UPSAMPLE", len(list(cache.glob("grains/grains_*.grain"))), flush=True)
    print("VOLUME", bpy.ops.grain.bake_volume(), len(list(cache.glob("volume/volume_*.vdb"))), flush=True)
    scene.frame_set(8)
    volume = scene.grain.active.volume.object
    grids = volume.evaluated_get(bpy.context.evaluated_depsgraph_get()).data.grids
    print("GRIDS", grids.load(), ",".join(sorted(grid.name for grid in grids)), flush=True)
    bpy.data.objects["Block"].hide_render = volume.hide_render = True
    sand = scene.grain.active.sand_object
    with_sand = render(scene, "sand.png")
    sand.hide_render, volume.hide_render = True, False
    with_dust = render(scene, "dust.png")
    volume.hide_render = True
    empty = render(scene, "empty.png")
    print(f"RENDER {covered(with_sand, empty):.4f} {float(np.abs(with_dust - empty).mean()):.5f}", flush=True)
    loaded = {line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if "grain" in line}
    print("LOADED", " ".join(sorted(loaded)), flush=True)
    sys.stdout.flush()
    os._exit(0)  # taking Blender down as a module of Python's crashes at times by itself


if __name__ == "__main__":
    main()
