# SPDX-License-Identifier: GPL-3.0-or-later
"""Volumes made of the sand: fog, dust, velocities, a surface."""
from bpy.props import BoolProperty, EnumProperty, FloatProperty, PointerProperty
from bpy.types import Object, PropertyGroup


class GRAIN_PG_volume(PropertyGroup):
    """Names equal the job's keys."""
    source: EnumProperty(
        name="Made From", default='COARSE', description="What the volume is made from",
        items=(('COARSE', "Simulated Particles", "Fast and soft: for fog and dust"),
               ('GRAINS', "Render Grains", "As fine as the render grains, which must be baked first")))
    voxel_size: FloatProperty(
        name="Voxel Size", default=2.0, min=0.5, max=100.0, soft_max=10.0, precision=2, step=10,
        description="Edge of a voxel, in radii of the particles or grains. Halving it takes eight times as much disk "
                    "space")
    density: BoolProperty(
        name="Density", default=True, description="Amount of sand in each voxel: renders as fog")
    velocity: BoolProperty(
        name="Velocity", default=True, description="Velocity of the sand: Cycles uses it for motion blur")
    dust: BoolProperty(
        name="Dust", default=True, description="Dust that fast sand raises and leaves behind")
    surface: BoolProperty(
        name="Surface", default=False,
        description="Distance from the surface of the sand, for a mesh of wet sand or mud (Surface Mesh)")
    surface_reach: FloatProperty(
        name="Smoothness", default=4.0, min=2.0, max=8.0, precision=1, step=10,
        description="How far a particle affects the surface around it, in radii. Larger values are smoother")
    dust_speed: FloatProperty(
        name="Dust Speed", unit='VELOCITY', default=1.0, min=0.001, max=1000.0, soft_max=10.0, precision=2,
        description="Speed at which sand begins to raise dust; at twice that speed it raises the most")
    dust_linger: FloatProperty(
        name="Linger", subtype='TIME_ABSOLUTE', unit='TIME_ABSOLUTE', default=0.5, min=0.0, max=10.0, soft_max=3.0,
        precision=2, description="Seconds until dust has disappeared. It spreads and thins out meanwhile")
    object: PointerProperty(type=Object, options={'HIDDEN'})  # what plays the sequence
    mesh_object: PointerProperty(type=Object, options={'HIDDEN'})  # the mesh of its surface
