# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a simulation."""
import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from .. import compat, runtime
from ..engine import schema
from ..scene import simulations
from ..scene.manage import consistency
from ..scene.read import meshes
from ..scene.show import playback
from ..scene.units import metres_per_unit
from . import from_schema
from .display import GRAIN_PG_display, GRAIN_PG_retime
from .volume import GRAIN_PG_volume

FIXED: set[str] = set()  # not for keyframes: what a bake takes from its first frame


def _on_radius(group: "GRAIN_PG_simulation", context: Context) -> None:
    group.is_radius_chosen = True


def _on_frame_start(group: "GRAIN_PG_simulation", context: Context) -> None:
    if group.frame_end < group.frame_start:
        group.frame_end = group.frame_start


def _on_frame_end(group: "GRAIN_PG_simulation", context: Context) -> None:
    if group.frame_start > group.frame_end:
        group.frame_start = group.frame_end


def _on_name(group: "GRAIN_PG_simulation", context: Context) -> None:
    free = simulations.free_name(group, group.name)
    if free != group.name:
        group.name = free  # and this again
        return
    _on_folder(group, context)


def _on_folder(group: "GRAIN_PG_simulation", context: Context) -> None:
    playback.show(group)


def _firm_unit(group: "GRAIN_PG_simulation") -> tuple[float, float, float]:
    scene = group.id_data
    gravity = abs(scene.gravity[2]) if scene.use_gravity else 0.0
    return group.particle_radius * metres_per_unit(scene), group.density, gravity or 9.81


def _get_firmness(group: "GRAIN_PG_simulation") -> float:
    return consistency.to_slider(consistency.firmness(group.elasticity, *_firm_unit(group)))


def _set_firmness(group: "GRAIN_PG_simulation", share: float) -> None:
    group.elasticity = consistency.elasticity(consistency.from_slider(share), *_firm_unit(group))


def _can_be_grain(group: "GRAIN_PG_simulation", item: Object) -> bool:
    return item.type in meshes.MESH_TYPES and item.grain.type == 'NONE'


class GRAIN_PG_simulation(PropertyGroup):
    name: StringProperty(
        name="Name", default="Sand", update=_on_name,
        description="Name of the simulation, and of its cache folder unless another folder is chosen")

    edition: IntProperty(options={'HIDDEN'})  # what its unset settings mean: scene/migrate.py
    cast: IntProperty(options={'HIDDEN'})  # which objects take part: those of the same number, and those of none

    particle_radius: from_schema.number(
        "solver.particle_radius", options=FIXED, subtype='DISTANCE', unit='LENGTH', step=0.1, precision=5, update=_on_radius)
    is_radius_chosen: BoolProperty(options={'HIDDEN'})
    size_spread: from_schema.number("solver.size_spread", options=FIXED, subtype='FACTOR', precision=2)
    friction_angle: from_schema.number("solver.friction", step=100, precision=1)
    rolling_friction: from_schema.number("solver.rolling_friction", options=FIXED, subtype='FACTOR', precision=2)
    solver: from_schema.choice("solver.type", schema.find("solver.type").start, options=FIXED)
    firmness: FloatProperty(
        name="Firmness", options=FIXED, subtype='FACTOR', min=0.0, max=1.0, precision=2, get=_get_firmness, set=_set_firmness,
        description="From soft fluids and foams to hard grains and dough. Stiffness relative to the weight of a particle")
    reach_ratio: from_schema.number("solver.reach_ratio", options=FIXED, precision=2)
    elasticity: from_schema.number("solver.elasticity", options=FIXED, precision=0, step=10000)
    viscosity: from_schema.number("solver.viscosity", precision=2, step=100)
    elastic_reach: from_schema.number("solver.elastic_reach", options=FIXED, precision=2)
    ambient_viscosity: from_schema.number("solver.ambient_viscosity", options=FIXED, precision=2)
    model: from_schema.choice("solver.model", options=FIXED)
    moisture_diffusion: from_schema.number("solver.moisture_diffusion", options=FIXED, precision=4, step=0.01)
    law: from_schema.choice("solver.law", options=FIXED)
    grain_shape: from_schema.choice("solver.grain_shape", options=FIXED)
    grain_object: PointerProperty(
        name="Object", type=Object, poll=_can_be_grain,
        description="The object that gives grains their shape. It needs a closed surface; its size does not matter, the "
                    "particle radius is that of the ball around a grain")
    grain_balls: from_schema.integer("solver.grain_balls", options=FIXED)
    cohesion: from_schema.number("solver.cohesion", precision=2)
    normal_law: from_schema.choice("solver.normal_law", options=FIXED)
    shear_law: from_schema.choice("solver.shear_law", options=FIXED)
    young_modulus: from_schema.number("solver.young_modulus", options=FIXED, precision=0)
    poisson_ratio: from_schema.number("solver.poisson_ratio", options=FIXED, precision=2)
    integrator: from_schema.choice("solver.integrator", options=FIXED)
    tolerance: from_schema.number("solver.tolerance", options=FIXED, precision=7, step=0.001)
    sleep: from_schema.flag("solver.sleep", options=FIXED)
    density: from_schema.number("solver.density", options=FIXED, step=1000, precision=0)
    restitution: from_schema.number("solver.restitution", options=FIXED, subtype='FACTOR', precision=2)
    softness: from_schema.number("solver.softness", options=FIXED, subtype='FACTOR', precision=2)
    seed: from_schema.integer("job.seed", options=FIXED)

    motion_samples: IntProperty(
        name="Motion Steps", options=FIXED, default=2, min=1, max=16,
        description="Motion samples per frame for animated colliders. Raise it for fast shaking or spinning; a bake then takes "
                    "longer to start")

    use_upsample: BoolProperty(
        name="Render Grains", default=False, update=_on_folder,
        description="Refine the bake into many more, smaller grains that follow it. Changing their number never "
                    "repeats the simulation")
    upsample_mode: EnumProperty(
        name="Number", default='PER_PARTICLE',
        items=(('PER_PARTICLE', "Per Particle", "Set the number of grains made of each simulated particle"),
               ('TOTAL', "Total", "Set the total number of render grains")),
        description="How the number of render grains is set")
    grains_per_particle: from_schema.integer("upsample.grains_per_particle")
    grain_millions: from_schema.number("upsample.grains", precision=3)
    grain_size_spread: from_schema.number("upsample.size_spread", subtype='FACTOR', precision=2)
    grain_seed: from_schema.integer("upsample.seed")

    use_frame_range: BoolProperty(
        name="Custom Range", default=False,
        description="Bake a custom frame range. At the first frame the sand fills its sources")
    frame_start: from_schema.integer("job.frame_start", name="Frame Start", update=_on_frame_start)
    frame_end: from_schema.integer("job.frame_end", name="End", update=_on_frame_end)

    cache_folder: StringProperty(
        name="Cache Folder", subtype='DIR_PATH', default="", options=compat.FOLDER_OPTIONS, update=_on_folder,
        description="Folder for the baked frames. Leave empty for 'grain_cache' and the simulation's name, next to the .blend file")
    checkpoint_every: from_schema.integer("job.checkpoint_every")
    thread_count: IntProperty(
        name="Threads", default=0, min=0, max=1024,
        description="Processor threads used by a bake. 0 uses all cores at low priority. "
                    "The result does not depend on it")

    display: PointerProperty(type=GRAIN_PG_display)
    retime: PointerProperty(type=GRAIN_PG_retime)
    volume: PointerProperty(type=GRAIN_PG_volume)
    sand_object: PointerProperty(type=bpy.types.Object, options={'HIDDEN'})
    shape_object: PointerProperty(type=bpy.types.Object, options={'HIDDEN'})  # what grains are drawn as; none: points


def _progress(group: "GRAIN_PG_status") -> float:
    bake = runtime.state.bake
    return 100.0 * bake.process.status.fraction if bake else 0.0


class GRAIN_PG_status(PropertyGroup):
    """Read by panels only; nothing of it is written to the file."""
    progress: FloatProperty(name="Progress", subtype='PERCENTAGE', min=0.0, max=100.0, precision=0, get=_progress,
                            description="Progress of the bake")
