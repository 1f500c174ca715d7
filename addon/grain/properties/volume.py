# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes made of the sand: fog, dust, velocities, a surface."""
from bpy.props import PointerProperty
from bpy.types import Object, PropertyGroup

from . import from_schema


class GRAIN_PG_volume(PropertyGroup):
    """Names equal the job's keys."""
    source: from_schema.choice("volume.source")
    voxel_size: from_schema.number("volume.voxel_size", precision=2, step=10)
    density: from_schema.flag("volume.density")
    velocity: from_schema.flag("volume.velocity")
    dust: from_schema.flag("volume.dust")
    surface: from_schema.flag("volume.surface")
    surface_reach: from_schema.number("volume.surface_reach", precision=1, step=10)
    dust_speed: from_schema.number("volume.dust_speed", unit='VELOCITY', precision=2)
    dust_linger: from_schema.number("volume.dust_linger", subtype='TIME_ABSOLUTE', unit='TIME_ABSOLUTE', precision=2)
    object: PointerProperty(type=Object, options={'HIDDEN'})  # what plays the sequence
    mesh_object: PointerProperty(type=Object, options={'HIDDEN'})  # the mesh of its surface
