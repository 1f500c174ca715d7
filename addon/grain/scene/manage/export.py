# SPDX-License-Identifier: GPL-3.0-or-later
"""Frames for other programs: by `grain export`, or by Blender's own exporters on the sand object."""
from pathlib import Path

import bpy
from bpy.types import Context, Object

from ...engine import cache, child, ffi, files, text
from .. import paths
from ..show import apply
from ..simulations import Simulation

# What `grain export` calls it, and how its files end.
GRAIN_FORMATS = {'PLY': ("ply", ".ply"), 'VDB_POINTS': ("vdbpoints", ".vdb")}
# Blender's option it was built with, its operator, and how its files end.
BLENDER_FORMATS = {'ALEMBIC': ("alembic", "alembic_export", ".abc"), 'USD': ("usd", "usd_export", ".usdc")}


class ExportError(Exception):
    """In words for an artist."""


def source_folder(simulation: Simulation) -> Path:
    """The render grains where they are made, otherwise the simulated particles."""
    folder = paths.cache_folder(simulation)
    grains = cache.grains_folder(folder)
    return grains if simulation.use_upsample and paths.holds_cache(grains) else folder


def frame_file(path: Path, frame: int, ending: str) -> Path:
    """sand.ply -> sand_0017.ply"""
    stem = path.name[:-len(path.suffix)] if path.suffix.lower() == ending else path.name
    return path.with_name(f"{stem}_{'-' if frame < 0 else ''}{abs(frame):04d}{ending}")


def write_frames(simulation: Simulation, path: Path, kind: str, first: int, last: int) -> list[Path]:
    """A file for each baked frame of the range. Raises ExportError."""
    name, ending = GRAIN_FORMATS[kind]
    folder = source_folder(simulation)
    try:
        manifest = cache.read_manifest(folder)
    except cache.CacheError as error:
        raise ExportError(str(error)) from error
    frames = [frame for frame in range(first, last + 1) if manifest is not None and frame in manifest.particles]
    if not frames:
        raise ExportError(f"None of the frames {first} to {last} is baked. Bake the simulation first")
    written = []
    for frame in frames:
        target = frame_file(path, frame, ending)
        try:
            done = child.run([str(ffi.program()), "export", str(files.plain(folder)), "--frame", str(frame), "--format", name,
                              "-o", str(target)])
        except OSError as error:
            raise ExportError(f"{ffi.program()} cannot be started: {error.strerror}") from error
        if done.returncode != 0:
            raise ExportError(text.clean(done.stderr.strip().removeprefix("grain: ")) or f"frame {frame} could not be exported")
        written.append(target)
    return written


def can_write(kind: str) -> bool:
    """Whether this Blender was built with the exporter."""
    return kind in GRAIN_FORMATS or bool(getattr(bpy.app.build_options, BLENDER_FORMATS[kind][0], False))


def write_by_blender(context: Context, simulation: Simulation, path: Path, kind: str, first: int, last: int) -> Path:
    """The sand object, frame by frame, through Blender's exporter. Raises ExportError."""
    _, operator, ending = BLENDER_FORMATS[kind]
    if not can_write(kind):
        raise ExportError(f"This Blender was built without {kind.capitalize() if kind != 'USD' else kind}. Use another Blender, "
                          "or export PLY")
    item = apply.sand_object(simulation)
    if item is None:
        raise ExportError("There is no sand object to export. Press Show Sand first")
    target = path if path.suffix else path.with_suffix(ending)
    if kind == 'ALEMBIC':
        settings = {"start": first, "end": last, "selected": True}
    else:
        settings = {"export_animation": True, "selected_objects_only": True}
    _call(context, item, operator, str(target), settings, first, last)
    return target


def _call(context: Context, item: Object, operator: str, path: str, settings: dict, first: int, last: int) -> None:
    scene, selected, active = context.scene, list(context.selected_objects), context.view_layer.objects.active
    frames = scene.frame_start, scene.frame_end  # USD's exporter takes the scene's
    try:
        for other in selected:
            other.select_set(False)
        item.select_set(True)
        context.view_layer.objects.active = item
        scene.frame_start, scene.frame_end = first, last
        getattr(bpy.ops.wm, operator)(filepath=path, **settings)
    except RuntimeError as error:
        raise ExportError(str(error).removeprefix("Error: ").strip()) from error
    finally:
        scene.frame_start, scene.frame_end = frames
        item.select_set(False)
        for other in selected:
            other.select_set(True)
        context.view_layer.objects.active = active
