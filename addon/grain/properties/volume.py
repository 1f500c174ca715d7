# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes made of the sand: fog, dust, velocities, a surface."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty
from bpy.types import Object, PropertyGroup


class GRAIN_PG_volume(PropertyGroup):
    """Names equal the job's keys."""
    source: EnumProperty(
        name="Made Of", default='COARSE', description="What the volume is made of",
        items=(('COARSE', "Simulated Particles", "Quick, and soft: fog and dust"),
               ('GRAINS', "Render Grains", "As fine as the grains: needs Render Grains to be baked")))
    voxel_size: FloatProperty(
        name="Voxel Size", default=2.0, min=0.5, max=100.0, soft_max=10.0, precision=2, step=10,
        description="Edge of a voxel, in radii of the particles or grains. Half of it takes eight times the disk")
    density: BoolProperty(
        name="Density", default=True, description="How much sand there is in each voxel: renders as fog")
    velocity: BoolProperty(
        name="Velocity", default=True, description="How fast it moves: Cycles blurs the volume by it")
    dust: BoolProperty(
        name="Dust", default=True, description="Dust that fast sand raises and leaves behind")
    surface: BoolProperty(
        name="Surface", default=False,
        description="Distance from the surface of the sand: for a mesh of wet sand or mud (Surface Mesh)")
    surface_reach: FloatProperty(
        name="Smoothness", default=4.0, min=2.0, max=8.0, precision=1, step=10,
        description="How far, in radii, a particle counts for the surface around it. More is smoother")
    dust_speed: FloatProperty(
        name="Dust Speed", unit='VELOCITY', default=1.0, min=0.001, max=1000.0, soft_max=10.0, precision=2,
        description="Speed from which sand raises dust; at twice that, all it can")
    dust_linger: FloatProperty(
        name="Linger", subtype='TIME_ABSOLUTE', unit='TIME_ABSOLUTE', default=0.5, min=0.0, max=10.0, soft_max=3.0,
        precision=2, description="Seconds until dust is gone. It spreads and thins meanwhile")
    object: PointerProperty(type=Object, options={'HIDDEN'})  # what plays the sequence
    mesh_object: PointerProperty(type=Object, options={'HIDDEN'})  # the mesh of its surface
