# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a simulation."""
from math import radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from .. import compat, runtime
from ..scene import simulations
from ..scene.manage import consistency
from ..scene.read import materials, meshes
from ..scene.show import playback
from ..scene.units import metres_per_unit
from .display import GRAIN_PG_display, GRAIN_PG_retime
from .volume import GRAIN_PG_volume

FRAME_LIMIT = 1048574
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

    particle_radius: FloatProperty(
        name="Particle Radius", options=FIXED, subtype='DISTANCE', unit='LENGTH', default=0.02, min=1e-6, max=100.0,
        soft_min=1e-4, soft_max=1.0, step=0.1, precision=5, update=_on_radius,
        description="Radius of a simulated particle. The main quality setting: halving it means eight times as many "
                    "particles. Fitted to the first source until you change it here")
    is_radius_chosen: BoolProperty(options={'HIDDEN'})
    size_spread: FloatProperty(
        name="Size Spread", options=FIXED, subtype='FACTOR', default=0.2, min=0.0, max=0.5, precision=2,
        description="How much radii vary: 0.2 spreads them evenly between 80 % and 120 % of the radius. Equal grains "
                    "pack like oranges in a crate, which looks wrong")
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="As an angle. Of a continuum: the slope at which sand starts to flow, and the slope of a heap. Of "
                    "individual grains: the slope at which one starts to slide on another. Smooth beads about 15°, "
                    "dry sand 31°, gravel 38°. Keyframe it to make a heap give way")
    rolling_friction: FloatProperty(
        name="Rolling Friction", options=FIXED, subtype='FACTOR', default=0.3, min=0.0, max=2.0, soft_max=1.0, precision=2,
        description="How much grains resist rolling, as angular ones do. 0 lets them roll away like marbles, 0.3 "
                    "heaps up like sand, 0.6 like gravel")
    solver: EnumProperty(
        name="Solver", options=FIXED, default='MPM', description="How the sand is computed",
        # The numbers are what files hold, in the order the solvers came: they stay, whatever the menu's order.
        items=(('MPM', "Continuum (Sand, Snow, Mud)",
                "The one to start with. Particles carry a volume of sand, snow or mud. Fast, for everything large", 'NONE', 1),
               ('DEM', "Individual Grains",
                "Every particle is a grain that rolls, rubs and stacks: for close-ups, rubble and few large grains. "
                "Slow for many", 'NONE', 0),
               ('SPH', "Smoothed Particles (Dry and Wet Sand)",
                "Particles carry a volume of sand that heaps up at its friction angle, comes to a complete rest and "
                "can be wet", 'NONE', 2),
               ('MESO', "Viscous (Fluid to Paste)",
                "Particles are parcels of a fluid, cream or paste, set by two sliders", 'NONE', 3)))
    firmness: FloatProperty(
        name="Firmness", options=FIXED, subtype='FACTOR', min=0.0, max=1.0, precision=2, get=_get_firmness, set=_set_firmness,
        description="From soft fluids and foams to hard grains and dough: stiffness relative to the weight of a "
                    "particle")
    reach_ratio: FloatProperty(
        name="Creaminess", options=FIXED, default=2.0, min=0.0, max=6.0, soft_min=0.5, soft_max=4.0, precision=2,
        description="How far particles drag each other along, relative to how far they push. Below 1 they flow "
                    "freely, above 2 they hold together and fold. Larger values bake more slowly")
    elasticity: FloatProperty(
        name="Elasticity", options=FIXED, default=2e4, min=0.0, max=1e9, soft_max=1e6, precision=0, step=10000,
        description="How hard particles push each other apart: contact force per unit of overlap and diameter, in "
                    "pascals")
    viscosity: FloatProperty(
        name="Viscosity", default=60.0, min=0.0, max=1e7, soft_max=1000.0, precision=2, step=100,
        description="How strongly particles drag each other along: contact force per unit of separation speed and "
                    "diameter, in Pa s. At 0 no energy is lost. Keyframe it to make a paste melt or set")
    elastic_reach: FloatProperty(
        name="Push Reach", options=FIXED, default=1.0, min=0.2, max=4.0, soft_max=2.0, precision=2,
        description="Distance at which particles begin to push each other, in diameters. 1.5 makes fluids smooth")
    ambient_viscosity: FloatProperty(
        name="Ambient Viscosity", options=FIXED, default=0.0, min=0.0, max=1000.0, soft_max=10.0, precision=2,
        description="Drag of the surrounding medium (1/s): 0 for air, about 5 for water")
    model: EnumProperty(
        name="Model", options=FIXED, default='ELASTOPLASTIC', description="How the sand holds together",
        items=(('ELASTOPLASTIC', "Elastoplastic", "Remembers what presses on it: slopes and loads rest"),
               ('IHMSEN2013', "Ihmsen 2013", "The method of Ihmsen et al. (2013), for comparison: heaps come out flatter "
                                             "than the friction angle")))
    moisture_diffusion: FloatProperty(
        name="Moisture Spread", options=FIXED, default=0.0, min=0.0, max=1.0, soft_max=0.01, precision=4, step=0.01,
        description="How fast moisture spreads from wet sand into dry, in m²/s. At 0 it does not spread")
    law: EnumProperty(
        name="Material", options=FIXED, default='SAND', items=materials.LAWS,
        description="Material of all sources that do not set their own")
    grain_shape: EnumProperty(
        name="Grain Shape", options=FIXED, default='SPHERE',
        description="Shape of a single grain. Grains that are not round interlock and heap up steeper; they bake more "
                    "slowly, by the number of balls they are made of",
        items=(('SPHERE', "Sphere", "Round grains: the quickest"),
               ('TETRAHEDRON', "Tetrahedron", "Four balls: crushed stone"),
               ('CUBE', "Cube", "Eight balls: dice, salt, rubble"),
               ('ROD', "Rod", "Four balls in a row: rice, pins, twigs"),
               ('BEAN', "Bean", "Three balls: beans, nuts, pebbles"),
               ('MESH', "Object", "Any small closed object, filled with balls")))
    grain_object: PointerProperty(
        name="Object", type=Object, poll=_can_be_grain,
        description="The object that gives grains their shape. It needs a closed surface. Its size does not matter: "
                    "the particle radius is that of the ball around a grain")
    grain_balls: IntProperty(
        name="Balls", options=FIXED, default=12, min=1, max=64,
        description="Largest number of balls that represent the object in collisions. More follow its surface more "
                    "closely and bake more slowly")
    cohesion: FloatProperty(
        name="Cohesion", default=0.0, min=0.0, max=1000.0, soft_max=20.0, precision=2,
        description="How strongly grains stick to each other, as a multiple of the weight of one. 0 is dry, 2 to 10 "
                    "damp sand. Keyframe it to 0 to let a castle dry and crumble")
    normal_law: EnumProperty(
        name="Push", options=FIXED, default='LINEAR', description="How hard grains push each other apart",
        items=(('LINEAR', "Linear", "A damped spring: the quickest. Bounciness does not depend on speed"),
               ('HERTZ', "Hertz", "Elastic spheres: fast impacts bounce less, as real ones do"),
               ('HERTZ_TSUJI', "Hertz, Constant Bounce", "Elastic spheres whose bounciness does not depend on speed"),
               ('HERTZ_DASHPOT', "Hertz, Dashpot", "Elastic spheres with plain damping: fast impacts bounce more, unlike "
                                                   "anything real. For comparison")))
    shear_law: EnumProperty(
        name="Rub", options=FIXED, default='SPRING', description="How grains rub against each other",
        items=(('SPRING', "Spring", "Grains remember where they touched: heaps truly rest"),
               ('SLIDING', "Sliding", "Friction only while they slide: spheres slowly flow apart"),
               ('VISCOUS', "Viscous", "As in a thick liquid, without limit"),
               ('COULOMB', "Coulomb", "Full friction at any speed, which jitters at rest"),
               ('NONE', "None", "No friction between grains")))
    young_modulus: FloatProperty(
        name="Stiffness", options=FIXED, default=0.0, min=0.0, max=1e12, soft_max=1e9, precision=0,
        description="Young's modulus of a grain in pascals; at 0 it follows from Softness. Real quartz (7e10) would "
                    "need steps a thousand times shorter and look the same")
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio", options=FIXED, default=0.3, min=0.0, max=0.49, precision=2,
        description="How much a squeezed grain bulges. Most solids 0.2 to 0.35")
    integrator: EnumProperty(
        name="Integrator", options=FIXED, default='SYMPLECTIC', description="How the grains are moved through time",
        items=(('SYMPLECTIC', "Fixed Step", "Quick and steady: the step follows from how long a collision lasts"),
               ('RKF45', "Adaptive (RKF45)", "Steps as long as an error limit allows, repeated where the error was too "
                                             "large. Much slower; for comparison")))
    tolerance: FloatProperty(
        name="Tolerance", options=FIXED, default=1e-5, min=1e-8, max=0.01, precision=7, step=0.001,
        description="Largest error of a step, in radii")
    sleep: BoolProperty(
        name="Let Grains Sleep", options=FIXED, default=True,
        description="Sand that lies still is skipped until something moves near it. Heaps bake several times faster, "
                    "with no visible difference")
    density: FloatProperty(
        name="Density", options=FIXED, default=2600.0, min=1.0, max=30000.0, soft_min=500.0, soft_max=8000.0, step=1000,
        precision=0,
        description="Of a single grain, not of the heap, in kg/m³. Quartz 2600, salt 2160, iron 7870")
    restitution: FloatProperty(
        name="Bounciness", options=FIXED, subtype='FACTOR', default=0.3, min=0.05, max=1.0, precision=2,
        description="Share of its speed a grain keeps when it hits something head-on. Sand 0.3, glass beads 0.9")
    softness: FloatProperty(
        name="Softness", options=FIXED, subtype='FACTOR', default=0.1, min=0.01, max=0.5, precision=2,
        description="How deep the fastest impact may press grains into each other, in radii. Larger values bake "
                    "faster, smaller ones are more accurate")
    seed: IntProperty(
        name="Seed", options=FIXED, default=0, min=0,
        description="Changes the arrangement of the grains")

    motion_samples: IntProperty(
        name="Motion Steps", options=FIXED, default=2, min=1, max=16,
        description="Motion samples per frame for animated colliders. Raise it for fast shaking or spinning; a bake "
                    "then takes longer to start")

    use_upsample: BoolProperty(
        name="Render Grains", default=False, update=_on_folder,
        description="Refine the bake into many more, smaller grains that follow it. Changing their number never "
                    "repeats the simulation")
    upsample_mode: EnumProperty(
        name="Number", default='PER_PARTICLE',
        items=(('PER_PARTICLE', "Per Particle", "Set the number of grains for each simulated particle"),
               ('TOTAL', "Total", "Set the total number of render grains")),
        description="How the number of render grains is given")
    grains_per_particle: IntProperty(
        name="Grains per Particle", default=64, min=1, max=1000, soft_max=500,
        description="Render grains made from each simulated particle. Grain radius shrinks with the cube root: 64 per "
                    "particle gives a quarter of the radius")
    grain_millions: FloatProperty(
        name="Million Grains", default=2.0, min=0.001, max=100000.0, soft_max=100.0, precision=3,
        description="Total number of render grains, in millions. A million takes about 7 MB on disk for each frame "
                    "while all of them move (11 MB with orientation), and almost nothing at rest")
    grain_size_spread: FloatProperty(
        name="Grain Size Spread", subtype='FACTOR', default=0.3, min=0.0, max=0.9, precision=2,
        description="How much the radii of the render grains vary")
    grain_seed: IntProperty(
        name="Grain Seed", default=0, min=0,
        description="Changes the render grains without changing the sand")

    use_frame_range: BoolProperty(
        name="Custom Range", default=False,
        description="Bake a custom frame range instead of the scene's. At the first frame the sand fills its sources")
    frame_start: IntProperty(
        name="Frame Start", default=1, min=-FRAME_LIMIT, max=FRAME_LIMIT, update=_on_frame_start,
        description="First frame of the bake: the sand fills its sources")
    frame_end: IntProperty(
        name="End", default=250, min=-FRAME_LIMIT, max=FRAME_LIMIT, update=_on_frame_end,
        description="Last frame of the bake. It can be raised later without starting again")

    cache_folder: StringProperty(
        name="Cache Folder", subtype='DIR_PATH', default="", options=compat.FOLDER_OPTIONS, update=_on_folder,
        description="Folder for the baked frames. Leave empty to use 'grain_cache' and the simulation's name, next to "
                    "the .blend file")
    checkpoint_every: IntProperty(
        name="Restart Interval", default=10, min=1, max=1000, soft_max=100,
        description="Save a restart point every N frames. The ten newest are kept, plus every tenth older one. A "
                    "restart point takes as much disk space as several frames; with 1 you can restart from any of the "
                    "last ten frames")
    thread_count: IntProperty(
        name="Threads", default=0, min=0, max=1024,
        description="Processor threads used by a bake. 0 uses all cores at low priority. The result does not depend "
                    "on it")

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
