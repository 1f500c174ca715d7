# SPDX-License-Identifier: GPL-3.0-or-later
"""Scenes that several tests in Blender bake, and what is shown and written of them."""
from pathlib import Path

import bpy
import numpy as np
import support


def made(last_frame: int = 5) -> "tuple[object, list[str]]":
    from grain.scene.manage import job_builder
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, last_frame
    return job_builder.make(bpy.context.scene.grain.active, bpy.context.view_layer)


def entry(job: "object", name: str) -> "object":
    return next(item for item in job.objects if item.name == name)


def key(holder: bpy.types.bpy_struct, path: str, values: dict[int, float]) -> None:
    """Keys with straight lines between them."""
    for frame, value in values.items():
        setattr(holder, path, value)
        holder.keyframe_insert(path, frame=frame)
    for curve in support.keyed(holder.id_data):
        for point in curve.keyframe_points:
            point.interpolation = 'LINEAR'


def baked_scene(folder: Path, last_frame: int = 5) -> bpy.types.Scene:
    scene = support.small_scene(last_frame)
    support.save(folder)
    bpy.ops.grain.bake()
    return scene


def sand_scene(folder: Path, last_frame: int = 4) -> bpy.types.Scene:
    scene = support.small_scene(last_frame)
    scene.grain.active.use_upsample = True
    scene.grain.active.grains_per_particle = 12
    support.save(folder)
    return scene


def shown_message(scene: bpy.types.Scene) -> str:
    from grain import runtime
    from grain.scene import paths
    shown = runtime.state.shown[paths.cache_folder(scene.grain.active)]
    return shown.message.text if shown.message is not None else ""


def positions(scene: bpy.types.Scene) -> np.ndarray:
    mesh = scene.grain.active.sand_object.data
    found = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", found)
    return found.reshape(-1, 3)


def heights(scene: bpy.types.Scene) -> np.ndarray:
    mesh = scene.grain.active.sand_object.data
    position = np.empty(len(mesh.vertices) * 3, np.float32)
    mesh.vertices.foreach_get("co", position)
    return position[2::3]


def cached_heights(folder: Path, frame: int) -> np.ndarray:
    return support.read_frame(folder / f"grain_cache/Sand/coarse_{frame:06d}.grain")["position"][:, 2]


def picture(path: Path) -> np.ndarray:
    image = bpy.data.images.load(str(path))
    image.reload()
    pixels = np.empty(image.size[0] * image.size[1] * 4, np.float32)
    image.pixels.foreach_get(pixels)
    shape = (image.size[1], image.size[0], 4)
    bpy.data.images.remove(image)
    return pixels.reshape(shape)
