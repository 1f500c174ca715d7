# SPDX-License-Identifier: GPL-3.0-or-later
"""From a simulation and its scene to a job."""
from typing import Optional

from bpy.types import Object, PropertyGroup, Scene, ViewLayer

from ... import ADDON_VERSION
from ...compat import VERSION_TEXT
from ...engine import schema
from ...engine.job import Job, Solver, Upsample
from .. import frames, simulations
from ..read import animated_settings, meshes, motion_search, snapshot
from ..read.errors import SnapshotError
from ..show import bodies
from ..simulations import Simulation
from ..units import metres_per_unit, tidy

EARTH = 9.81  # m/s2


def settings_only(settings: Simulation) -> Job:
    """The job without its objects: quick, for panels that compare it with what was baked."""
    scene = settings.id_data
    scale = metres_per_unit(scene)
    first, last = frames.bake_range(settings)
    solver = Solver(
        particle_radius=tidy(settings.particle_radius * scale), size_spread=tidy(settings.size_spread),
        density=tidy(settings.density), friction=animated_settings.value(settings, "friction", first),
        rolling_friction=tidy(settings.rolling_friction), restitution=tidy(settings.restitution),
        softness=tidy(settings.softness), cohesion=animated_settings.value(settings, "cohesion", first), type=settings.solver.lower(),
        sleep=settings.sleep)
    # What has no part in it must not make a bake look outdated.
    if schema.uses(settings.solver, "solver.law"):
        solver.law = settings.law.lower()
    if schema.uses(settings.solver, "solver.model"):
        solver.model, solver.moisture_diffusion = settings.model.lower(), tidy(settings.moisture_diffusion)
    if schema.uses(settings.solver, "solver.viscosity"):
        solver.viscosity = animated_settings.value(settings, "viscosity", first)
        for name in ("elasticity", "elastic_reach", "reach_ratio", "ambient_viscosity"):
            setattr(solver, name, tidy(getattr(settings, name)))
        # No number beyond what the job allows together: viscosity reaches 8 diameters at most.
        solver.reach_ratio = min(solver.reach_ratio, 7.99 / solver.elastic_reach)
        solver.cohesion = 0.0
    if schema.uses(settings.solver, "solver.normal_law"):
        _add_contact(solver, settings)
    return Job(
        name=settings.name, writer=f"Grain {ADDON_VERSION}, Blender {VERSION_TEXT}",
        fps=tidy(frames.frames_per_second(scene)), frame_start=first, frame_end=last, gravity=snapshot.gravity_of(scene, first),
        seed=settings.seed, checkpoint_every=settings.checkpoint_every, solver=solver, upsample=upsample_settings(settings))


def _add_contact(solver: Solver, settings: PropertyGroup) -> None:
    """What single grains are like and how they touch."""
    solver.grain_shape = settings.grain_shape.lower()
    solver.normal_law = settings.normal_law.lower()
    solver.shear_law = settings.shear_law.lower()
    solver.integrator = settings.integrator.lower()
    if settings.grain_shape == 'MESH':
        solver.grain_balls = settings.grain_balls
    if settings.normal_law != 'LINEAR':
        solver.young_modulus, solver.poisson_ratio = tidy(settings.young_modulus), tidy(settings.poisson_ratio)
    if settings.integrator == 'RKF45':
        solver.tolerance = tidy(settings.tolerance)


def upsample_settings(settings: Simulation) -> Optional[Upsample]:
    if not settings.use_upsample:
        return None
    is_total = settings.upsample_mode == 'TOTAL'
    return Upsample(
        grains_per_particle=0 if is_total else settings.grains_per_particle,
        grains=round(settings.grain_millions * 1e6) if is_total else 0.0,
        size_spread=tidy(settings.grain_size_spread), seed=settings.grain_seed,
        orientation=settings.shape_object is not None)  # points look the same however they are turned


def make(simulation: Simulation, view_layer: ViewLayer) -> tuple[Job, list[str]]:
    """The whole job and warnings for the artist. Notes in the bodies how the bake will know them. Raises
    SnapshotError."""
    scene = simulation.id_data
    job = settings_only(simulation)
    warnings = _gravity_warning(scene)
    if job.frame_end < job.frame_start:
        raise SnapshotError(f"The last frame ({job.frame_end}) is before the first ({job.frame_start}). "
                                     "Correct the frame range")
    bodies.restore_all(simulation)  # where they were placed counts, not where an earlier bake moved them
    with frames.visiting(scene):
        if scene.frame_current != job.frame_start or scene.frame_subframe != 0.0:
            scene.frame_set(job.frame_start)
        taken = snapshot.take(simulation, view_layer, job.frame_end)
    for item, entry, matrix in taken.bodies:
        bodies.note_rest(item, entry.name, matrix)
    job.objects, job.fields = taken.objects, taken.fields
    if taken.gravity is not None:
        job.animation["gravity"] = taken.gravity
    job.solver.animation = taken.settings.animation
    warnings += taken.warnings
    warnings += _motion_warnings(simulation, view_layer)
    return job, warnings


def _gravity_warning(scene: Scene) -> list[str]:
    scale = metres_per_unit(scene)
    if not scene.use_gravity or abs(scale - 1.0) < 1e-6 or abs(scene.gravity.length - EARTH) > 0.01:
        return []
    return [f"Gravity is {EARTH * scale:.3g} m/s² at this scene's unit scale. For the Earth's, type -9.81 m/s2 into "
            "Scene > Gravity > Z"]


def _motion_warnings(simulation: Simulation, view_layer: ViewLayer) -> list[str]:
    items: list[Object] = [item for item in simulations.objects(simulation)
                           if (item.grain.type == 'SOURCE' or meshes.is_plane(item))
                           and item.name in view_layer.objects and not item.hide_viewport]
    first = frames.bake_range(simulation)[0]
    result = []
    for item, what in motion_search.moving_objects(simulation, view_layer, sorted(items, key=lambda item: item.name)).items():
        if item.grain.type == 'SOURCE':
            result.append(f"'{item.name}' {what}; the sand fills it as it is at frame {first}")
        else:
            result.append(f"'{item.name}' {what}; an endless floor cannot move and stays as it is at frame {first}. "
                          "Use Shape > Mesh for a moving floor")
    return result
