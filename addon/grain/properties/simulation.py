# SPDX-License-Identifier: GPL-3.0-or-later
"""Settings of a simulation."""
from math import radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, IntProperty, PointerProperty, StringProperty
from bpy.types import Context, Object, PropertyGroup

from .. import compat, runtime
from ..scene import simulations
from ..scene.manage import consistency
from ..scene.read import materials, snapshot
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
    return item.type in snapshot.MESH_TYPES and item.grain.type == 'NONE'


class GRAIN_PG_simulation(PropertyGroup):
    name: StringProperty(
        name="Name", default="Sand", update=_on_name,
        description="Name of the simulation, and of its cache folder unless one is chosen")

    edition: IntProperty(options={'HIDDEN'})  # what its unset settings mean: scene/migrate.py
    cast: IntProperty(options={'HIDDEN'})  # which objects take part: those of the same number, and those of none

    particle_radius: FloatProperty(
        name="Particle Radius", options=FIXED, subtype='DISTANCE', unit='LENGTH', default=0.02, min=1e-6, max=100.0,
        soft_min=1e-4, soft_max=1.0, step=0.1, precision=5, update=_on_radius,
        description="Half the size of a simulated grain. It drives everything: half the radius means eight times the "
                    "particles. Fitted to the first source, until changed here")
    is_radius_chosen: BoolProperty(options={'HIDDEN'})
    size_spread: FloatProperty(
        name="Size Spread", options=FIXED, subtype='FACTOR', default=0.2, min=0.0, max=0.5, precision=2,
        description="How much radii vary: 0.2 spreads them evenly between 80 % and 120 % of the radius. "
                    "Equal grains pack like oranges in a crate, which looks wrong")
    friction_angle: FloatProperty(
        name="Friction", subtype='ANGLE', unit='ROTATION', default=radians(31.0), min=0.0, max=radians(63.4),
        soft_max=radians(50.0), step=100, precision=1,
        description="As an angle. Of sand: the slope at which it starts to flow, and heaps up. Of single grains: the slope at "
                    "which one starts to slide on another. Smooth beads about 15°, dry sand 31°, gravel 38°. Keyframe it and a "
                    "heap gives way")
    rolling_friction: FloatProperty(
        name="Rolling Friction", options=FIXED, subtype='FACTOR', default=0.3, min=0.0, max=2.0, soft_max=1.0, precision=2,
        description="How much grains resist rolling, as angular ones do. 0 lets them roll away like marbles, "
                    "0.3 heaps up like sand, 0.6 like gravel")
    solver: EnumProperty(
        name="Solver", options=FIXED, default='MPM', description="How the sand is computed",
        # The numbers are what files hold, in the order the solvers came: they stay, whatever the menu's order.
        items=(('MPM', "Sand and Snow", "The one to begin with: the particles carry a bulk of sand, snow or mud. Quick, "
                                        "also for everything large", 'NONE', 1),
               ('DEM', "Grains", "Every particle is a grain that rolls, rubs and stacks: few big grains, close-ups, "
                                 "rubble. Slow for many", 'NONE', 0),
               ('SPH', "Sand, Dry and Wet", "The particles carry a bulk of sand that heaps up at its friction angle, "
                                            "lies truly still, and can be wet", 'NONE', 2),
               ('MESO', "Fluid to Paste", "The particles are parcels of anything between a fluid, sand, cream and paste, "
                                          "by two sliders", 'NONE', 3)))
    firmness: FloatProperty(
        name="Firmness", options=FIXED, subtype='FACTOR', min=0.0, max=1.0, precision=2, get=_get_firmness, set=_set_firmness,
        description="From soft fluids and foams to hard grains and dough. It is the elasticity against a particle's weight")
    reach_ratio: FloatProperty(
        name="Creaminess", options=FIXED, default=2.0, min=0.0, max=6.0, soft_min=0.5, soft_max=4.0, precision=2,
        description="How far particles drag each other along, over how far they push. Below 1 they flow freely, above 2 they "
                    "hold together and fold. Baking takes longer the farther it is")
    elasticity: FloatProperty(
        name="Elasticity", options=FIXED, default=2e4, min=0.0, max=1e9, soft_max=1e6, precision=0, step=10000,
        description="How hard particles push each other apart, in pascals: the force of two over how deep they overlap and "
                    "over a diameter")
    viscosity: FloatProperty(
        name="Viscosity", default=60.0, min=0.0, max=1e7, soft_max=1000.0, precision=2, step=100,
        description="How strongly particles drag each other along, in Pa s: the force of two over the speed they come apart "
                    "at and over a diameter. 0 loses no energy at all. Keyframe it and a paste melts or sets")
    elastic_reach: FloatProperty(
        name="Push Reach", options=FIXED, default=1.0, min=0.2, max=4.0, soft_max=2.0, precision=2,
        description="From how far particles push, in diameters. 1.5 makes fluids smooth")
    ambient_viscosity: FloatProperty(
        name="Ambient Viscosity", options=FIXED, default=0.0, min=0.0, max=1000.0, soft_max=10.0, precision=2,
        description="How fast what is around the particles slows them, per second: air 0, water 5")
    model: EnumProperty(
        name="Model", options=FIXED, default='ELASTOPLASTIC', description="How the sand holds together",
        items=(('ELASTOPLASTIC', "Elastoplastic", "Remembers what presses on it: slopes and loads rest"),
               ('IHMSEN2013', "Ihmsen 2013", "The scheme of the paper of that year: heaps come out flatter than their "
                                             "friction angle. For comparisons")))
    moisture_diffusion: FloatProperty(
        name="Moisture Spread", options=FIXED, default=0.0, min=0.0, max=1.0, soft_max=0.01, precision=4, step=0.01,
        description="How fast moisture spreads from wet sand into dry, in m²/s. 0 keeps it where it is")
    law: EnumProperty(
        name="Material", options=FIXED, default='SAND', items=materials.LAWS,
        description="What the sources are made of that have no material of their own")
    grain_shape: EnumProperty(
        name="Grain Shape", options=FIXED, default='SPHERE',
        description="What a single grain looks like. Grains that are not round catch in each other and heap up "
                    "steeper; they bake slower, by the number of balls they are made of",
        items=(('SPHERE', "Sphere", "Round grains: the quickest"),
               ('TETRAHEDRON', "Tetrahedron", "Four balls: crushed stone"),
               ('CUBE', "Cube", "Eight balls: dice, salt, rubble"),
               ('ROD', "Rod", "Four balls in a row: rice, pins, twigs"),
               ('BEAN', "Bean", "Three balls: beans, nuts, pebbles"),
               ('MESH', "Object", "Any small closed object, filled with balls")))
    grain_object: PointerProperty(
        name="Object", type=Object, poll=_can_be_grain,
        description="The object grains are shaped like. It needs a closed surface; its size does not matter, the "
                    "particle radius is that of the ball around a grain")
    grain_balls: IntProperty(
        name="Balls", options=FIXED, default=12, min=1, max=64,
        description="Balls that stand for the object in collisions, at most. More follow its surface closer and bake "
                    "slower")
    cohesion: FloatProperty(
        name="Cohesion", default=0.0, min=0.0, max=1000.0, soft_max=20.0, precision=2,
        description="How strongly grains stick to each other: the pull, over the weight of one grain. "
                    "0 is dry, 2 to 10 damp sand. Keyframe it to 0 and a castle dries and crumbles")
    normal_law: EnumProperty(
        name="Push", options=FIXED, default='LINEAR', description="How hard grains push each other apart",
        items=(('LINEAR', "Linear", "A damped spring: the quickest. Bounciness does not depend on speed"),
               ('HERTZ', "Hertz", "Elastic spheres: fast impacts bounce less, as real ones do"),
               ('HERTZ_TSUJI', "Hertz, Constant Bounce", "Elastic spheres whose bounciness does not depend on speed"),
               ('HERTZ_DASHPOT', "Hertz, Dashpot", "Elastic spheres, plainly damped: fast impacts bounce more, unlike "
                                                   "anything real. For comparisons")))
    shear_law: EnumProperty(
        name="Rub", options=FIXED, default='SPRING', description="How grains rub against each other",
        items=(('SPRING', "Spring", "Grains remember where they touched: heaps truly rest"),
               ('SLIDING', "Sliding", "Friction only while they slide: spheres slowly flow apart"),
               ('VISCOUS', "Viscous", "As in a thick liquid, without limit"),
               ('COULOMB', "Coulomb", "Full friction at any speed, which jitters at rest"),
               ('NONE', "None", "No friction between grains")))
    young_modulus: FloatProperty(
        name="Stiffness", options=FIXED, default=0.0, min=0.0, max=1e12, soft_max=1e9, precision=0,
        description="Young's modulus of a grain in pascals; 0 lets it follow from Softness. Real quartz (7e10) would "
                    "need steps a thousand times smaller, and look the same")
    poisson_ratio: FloatProperty(
        name="Poisson's Ratio", options=FIXED, default=0.3, min=0.0, max=0.49, precision=2,
        description="How much a squeezed grain bulges. Most solids 0.2 to 0.35")
    integrator: EnumProperty(
        name="Integrator", options=FIXED, default='SYMPLECTIC', description="How the grains are moved through time",
        items=(('SYMPLECTIC', "Fixed Step", "Quick and steady: the step follows from how long a collision lasts"),
               ('RKF45', "Adaptive (RKF45)", "Steps as long as an error allows, repeated where it was too large. "
                                             "Much slower; for comparisons")))
    tolerance: FloatProperty(
        name="Tolerance", options=FIXED, default=1e-5, min=1e-8, max=0.01, precision=7, step=0.001,
        description="Error a step may make, in radii")
    sleep: BoolProperty(
        name="Let Grains Sleep", options=FIXED, default=True,
        description="Sand that lies still is left alone until something moves near it. Heaps bake several times "
                    "faster, and nobody sees it")
    density: FloatProperty(
        name="Density", options=FIXED, default=2600.0, min=1.0, max=30000.0, soft_min=500.0, soft_max=8000.0, step=1000,
        precision=0,
        description="Of a single grain, not of the heap, in kg/m³. Quartz 2600, salt 2160, iron 7870")
    restitution: FloatProperty(
        name="Bounciness", options=FIXED, subtype='FACTOR', default=0.3, min=0.05, max=1.0, precision=2,
        description="Share of its speed a grain keeps when it hits something head-on. Sand 0.3, glass beads 0.9")
    softness: FloatProperty(
        name="Softness", options=FIXED, subtype='FACTOR', default=0.1, min=0.01, max=0.5, precision=2,
        description="How deep the fastest impact may press grains into each other, in radii. "
                    "Larger bakes faster, smaller is more exact")
    seed: IntProperty(
        name="Seed", options=FIXED, default=0, min=0,
        description="Another number gives another arrangement of the grains")

    motion_samples: IntProperty(
        name="Motion Steps", options=FIXED, default=2, min=1, max=16,
        description="How often in a frame the motion of animated colliders is looked at. More follow fast shaking and "
                    "spinning more closely, and take longer when a bake starts")

    use_upsample: BoolProperty(
        name="Render Grains", default=False, update=_on_folder,
        description="Refine the bake into many more, smaller grains that follow it. Changing their number never "
                    "simulates again")
    upsample_mode: EnumProperty(
        name="Number", default='PER_PARTICLE',
        items=(('PER_PARTICLE', "Per Particle", "So many grains for each simulated particle"),
               ('TOTAL', "In All", "As many grains as needed to have so many million in all")),
        description="How the number of render grains is given")
    grains_per_particle: IntProperty(
        name="Grains per Particle", default=64, min=1, max=1000, soft_max=500,
        description="Render grains made of each simulated particle. A grain is as much smaller as there are more of "
                    "them: 64 make it a quarter of the size")
    grain_millions: FloatProperty(
        name="Million Grains", default=2.0, min=0.001, max=100000.0, soft_max=100.0, precision=3,
        description="Render grains in all. A million take about 44 MB on disk for each frame")
    grain_size_spread: FloatProperty(
        name="Grain Size Spread", subtype='FACTOR', default=0.3, min=0.0, max=0.9, precision=2,
        description="How much the render grains' radii vary")
    grain_seed: IntProperty(
        name="Grain Seed", default=0, min=0,
        description="Another number gives other render grains in the same sand")

    use_frame_range: BoolProperty(
        name="Custom Range", default=False,
        description="Bake other frames than the scene's. The first frame is the source's own shape")
    frame_start: IntProperty(
        name="Frame Start", default=1, min=-FRAME_LIMIT, max=FRAME_LIMIT, update=_on_frame_start,
        description="First frame: the sand fills its source and is let go")
    frame_end: IntProperty(
        name="End", default=250, min=-FRAME_LIMIT, max=FRAME_LIMIT, update=_on_frame_end,
        description="Last frame. A bake can be made longer later without starting again")

    cache_folder: StringProperty(
        name="Cache Folder", subtype='DIR_PATH', default="", options=compat.FOLDER_OPTIONS, update=_on_folder,
        description="Folder for the baked frames. Empty: 'grain_cache' and the simulation's name, beside the .blend")
    checkpoint_every: IntProperty(
        name="State Interval", default=10, min=1, max=1000, soft_max=100,
        description="Frames between states from which Bake From Frame can go on. Of the last ten such states all are kept, of earlier "
                    "ones every tenth. A state takes as much disk as several frames; 1 lets you go on from any of the last ten frames")
    thread_count: IntProperty(
        name="Threads", default=0, min=0, max=1024,
        description="Processor threads used by a bake. 0 uses all of them, after Blender itself. "
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
                            description="How far the bake is")
