# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes addon/docs/pictures/presets.jpg: every preset, baked and rendered small, side by side.

    blender -b --factory-startup --python addon/docs/make_presets_picture.py -- FOLDER

FOLDER keeps the single pictures; those that are there are not made again. GRAIN_LIBRARY_FOLDER says where grain was built.
"""
import math
import sys
from pathlib import Path

import bpy
import numpy as np

HERE = Path(__file__).resolve().parent
COLUMNS, WIDTH, HEIGHT, LAST_FRAME = 3, 320, 240, 14


def prepare() -> bpy.types.Scene:
    scene = bpy.context.scene
    bpy.ops.mesh.primitive_cube_add(size=0.1, location=(0.0, 0.0, 0.07))
    bpy.context.object.grain.type = 'SOURCE'
    bpy.ops.mesh.primitive_plane_add(size=2.0)
    bpy.context.object.grain.type = 'COLLIDER'
    bpy.context.object.grain.collider.shape = 'PLANE'
    bpy.ops.object.camera_add(location=(0.0, -0.36, 0.17), rotation=(math.radians(70.0), 0.0, 0.0))
    scene.camera = bpy.context.object
    scene.camera.data.lens = 55.0
    bpy.ops.object.light_add(type='SUN', rotation=(0.8, 0.3, 0.5))
    bpy.context.object.data.energy, bpy.context.object.data.angle = 3.5, 0.05
    scene.world = bpy.data.worlds.new("Sky")
    scene.world.use_nodes = True
    sky = scene.world.node_tree.nodes["Background"]
    sky.inputs[0].default_value, sky.inputs[1].default_value = (0.55, 0.65, 0.8, 1.0), 0.5
    scene.frame_end, scene.render.engine = LAST_FRAME, 'CYCLES'
    scene.cycles.samples, scene.cycles.use_denoising = 48, False
    scene.render.resolution_x, scene.render.resolution_y = WIDTH, HEIGHT
    return scene


def main() -> None:
    folder = Path(sys.argv[sys.argv.index("--") + 1]).resolve()
    sys.path.insert(0, str(HERE.parent))
    import addon_utils
    bpy.ops.wm.read_factory_settings(use_empty=True)
    addon_utils.enable("grain")
    from grain.engine import schema
    from grain.scene.manage import presets
    scene = prepare()
    bpy.ops.wm.save_as_mainfile(filepath=str(folder / "presets.blend"))
    names = sorted(presets.PRESETS)
    for name in names:
        if (folder / f"{name}.png").is_file():
            continue
        bpy.ops.grain.preset(preset=name)
        is_bulk = schema.SOLVERS[scene.grain.active.solver.lower()]["continuum"]
        scene.grain.active.particle_radius = 0.0022 if is_bulk else 0.0035
        bpy.ops.grain.bake(restart=True)
        scene.frame_set(LAST_FRAME)
        scene.render.filepath = str(folder / f"{name}.png")
        bpy.ops.render.render(write_still=True)
    join([folder / f"{name}.png" for name in names], HERE / "pictures/presets.jpg")


def join(paths: list[Path], target: Path) -> None:
    rows = -(-len(paths) // COLUMNS)
    whole = np.ones((rows * HEIGHT, COLUMNS * WIDTH, 4), np.float32)
    for number, path in enumerate(paths):
        image = bpy.data.images.load(str(path))
        bottom, left = (rows - 1 - number // COLUMNS) * HEIGHT, number % COLUMNS * WIDTH
        whole[bottom:bottom + HEIGHT, left:left + WIDTH] = np.array(image.pixels[:]).reshape(HEIGHT, WIDTH, 4)
    joined = bpy.data.images.new("joined", COLUMNS * WIDTH, rows * HEIGHT)
    joined.pixels = whole.reshape(-1).tolist()
    joined.filepath_raw, joined.file_format = str(target), 'JPEG'
    joined.save()


if __name__ == "__main__":
    main()
