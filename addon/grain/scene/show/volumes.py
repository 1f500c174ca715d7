# SPDX-License-Identifier: GPL-3.0-or-later
"""The Volume object that plays the baked sequence. Blender reads the files itself: no handler has a part in it."""
from math import floor
from pathlib import Path
from typing import Any, Optional

import bpy
from bpy.types import Object

from ... import compat
from ...engine import cache, job as job_files, text
from .. import paths
from ..look import volume_material
from ..simulations import Simulation
from ..units import metres_per_unit, tidy
from .retime import Moment

OBJECT_NAME = "Grain Volume"
MESH_NAME = "Grain Surface"
MODIFIER_NAME = "Grain Surface"


def settings_of(simulation: Simulation) -> dict[str, Any]:
    """The job's "volume"."""
    wish = simulation.volume
    settings: dict[str, Any] = {
        "source": wish.source.lower(), "voxel_size": tidy(wish.voxel_size), "density": wish.density,
        "velocity": wish.velocity, "dust": wish.dust, "surface": wish.surface}
    if wish.surface:
        settings["surface_reach"] = tidy(wish.surface_reach)
    if wish.dust:
        settings["dust_speed"] = tidy(wish.dust_speed * metres_per_unit(simulation.id_data))
        settings["dust_linger"] = tidy(wish.dust_linger)
    return settings


def volume_object(simulation: Simulation) -> Optional[Object]:
    """The simulation's volume, unless the artist deleted it."""
    return _present(simulation, simulation.volume.object, 'VOLUME')


def mesh_object(simulation: Simulation) -> Optional[Object]:
    return _present(simulation, simulation.volume.mesh_object, 'MESH')


def _present(simulation: Simulation, item: Optional[Object], kind: str) -> Optional[Object]:
    return item if item is not None and item.type == kind and simulation.id_data.objects.get(item.name) == item else None


def manifest_of(simulation: Simulation) -> Optional[cache.Manifest]:
    """What is baked; None also where it is damaged: condition() tells."""
    try:
        return cache.read_manifest(cache.volume_folder(paths.cache_folder(simulation)))
    except cache.CacheError:
        return None


def grid_names(simulation: Simulation) -> tuple[str, ...]:
    """Grids of the baked volume."""
    made = manifest_of(simulation)
    return made.grids if made is not None else ()


def condition(simulation: Simulation) -> tuple[str, str]:
    """'EMPTY', 'PARTIAL', 'OTHER', 'DAMAGED' or 'COMPLETE', and words for the panel."""
    folder = paths.cache_folder(simulation)
    try:
        made, baked = cache.read_manifest(cache.volume_folder(folder)), cache.read_manifest(folder)
    except cache.CacheError as error:
        return 'DAMAGED', str(error)
    if made is None:
        return 'EMPTY', "No volume is baked yet"
    document = job_files.read_document(cache.job_folder(folder)) or {}
    if document.get("volume") != settings_of(simulation):
        return 'OTHER', "The volume was baked with other settings"
    missing = len(set(baked.particles) - set(made.particles)) if baked is not None else 0
    if missing:
        return 'PARTIAL', f"{text.plural(len(made.particles), 'frame')} of the volume are baked, {text.count(missing)} missing"
    return 'COMPLETE', f"{text.plural(len(made.particles), 'frame')} of the volume, {text.size(made.byte_count)}"


def refresh(simulation: Simulation) -> Optional[Object]:
    """Makes the object once, and points it at what is baked now; for operators, never for handlers."""
    made = manifest_of(simulation)
    if made is None:
        return volume_object(simulation)
    item = volume_object(simulation)
    if item is None:
        item = _new_object(simulation)
    else:
        recognize(item, made)
    data = item.data
    data.is_sequence = True
    data.frame_start = made.first
    data.frame_duration = made.last - made.first + 1
    data.frame_offset = made.first - 1 + made.number_shift  # Blender calls the first file's number 1
    set_path(simulation)
    _align(item, made.voxel_size, metres_per_unit(simulation.id_data))
    volume_material.fit(item, simulation.particle_radius)
    return item


def _new_object(simulation: Simulation) -> Object:
    data = bpy.data.volumes.new(OBJECT_NAME)
    data.velocity_unit = 'SECOND'
    data.sequence_mode = 'EXTEND'
    data.materials.append(volume_material.new_material())
    item = bpy.data.objects.new(OBJECT_NAME, data)
    simulation.id_data.collection.objects.link(item)
    simulation.volume.object = item
    return item


def _align(item: Object, voxel: float, scale: float) -> None:
    """The files are in metres and OpenVDB's way; the object makes up for both, beside the place the artist gives it."""
    item.delta_scale = (1.0 / scale,) * 3
    item.grain.volume_voxel = voxel / scale
    keep_place(item)


def keep_place(item: Object) -> None:
    """Moves a volume that another Blender or another size of voxels placed to where it lies in this one. What the
    artist adds to its delta location stays; doing it again does nothing."""
    settings = item.grain
    way = compat.VOLUME_SHIFT * settings.volume_voxel - settings.volume_shift
    if abs(way) > 1e-6 * settings.volume_voxel:  # kept as float32
        item.delta_location = [length + way for length in item.delta_location]
        settings.volume_shift += way


def recognize(item: Object, made: Optional[cache.Manifest]) -> None:
    """Before there was a note of it, Grain moved a volume half a voxel back in every Blender."""
    if item.grain.volume_voxel > 0.0:
        return
    x, y, z = item.delta_location
    if x == y == z and x < 0.0:  # just as Grain left it
        voxel = -2.0 * x
    elif made is not None:
        voxel = made.voxel_size * item.delta_scale[0]
    else:
        return
    item.grain.volume_voxel, item.grain.volume_shift = voxel, -0.5 * voxel


def keep_places() -> None:
    """Of all volumes in the file, those of copies and libraries too; but not of overrides, which would keep the place
    in this file and take the note of it from the library's at the next load."""
    for item in bpy.data.objects:
        if item.type == 'VOLUME' and item.grain.volume_voxel > 0.0 and item.override_library is None:
            keep_place(item)


def set_path(simulation: Simulation) -> None:
    """Setting the path, even to what it was, makes Blender read the files anew."""
    made, item = manifest_of(simulation), volume_object(simulation)
    if made is None or item is None:
        return
    path = cache.volume_path(paths.cache_folder(simulation), made.first + made.number_shift)
    item.data.filepath = _relative(path)
    item.data.grids.unload()


def follow_time(simulation: Simulation, now: Moment) -> None:
    """Retimed sand takes its volume along: the file of the nearest frame. Without retiming Blender does it by itself."""
    item, made = volume_object(simulation), manifest_of(simulation)
    if item is None or made is None:
        return
    data = item.data
    own = made.first - 1 + made.number_shift
    # Blender shows the file of the scene's frame, held at both ends of the sequence, and then adds the offset.
    at = min(max(simulation.id_data.frame_current - data.frame_start, 0), data.frame_duration - 1) + made.first
    shown = min(max(floor(now.frame + 0.5), made.first), made.last)
    wanted = own + shown - at if now.is_retimed else own
    if data.frame_offset != wanted:
        data.frame_offset = wanted


def _relative(path: Path) -> str:
    if not bpy.data.filepath:
        return str(path)
    try:
        return bpy.path.relpath(str(path))
    except ValueError:  # on another drive
        return str(path)


def follow_cache(simulation: Simulation) -> None:
    """A cache that went along with the first save of its file: the object's path led to the temporary folder."""
    item = volume_object(simulation)
    if item is None or manifest_of(simulation) is None:
        return
    if not Path(bpy.path.abspath(item.data.filepath)).exists():
        set_path(simulation)


def ensure_mesh(simulation: Simulation) -> Object:
    """A mesh of the volume's surface, made anew by Blender in every frame."""
    item = mesh_object(simulation)
    if item is None:
        mesh = bpy.data.meshes.new(MESH_NAME)
        mesh.materials.append(volume_material.wet_material())
        item = bpy.data.objects.new(MESH_NAME, mesh)
        simulation.id_data.collection.objects.link(item)
        simulation.volume.mesh_object = item
    modifier = item.modifiers.get(MODIFIER_NAME) or item.modifiers.new(MODIFIER_NAME, 'VOLUME_TO_MESH')
    modifier.object = volume_object(simulation)
    modifier.grid_name = "surface"
    modifier.resolution_mode = 'GRID'
    modifier.threshold = 0.0
    modifier.use_smooth_shade = True
    return item
