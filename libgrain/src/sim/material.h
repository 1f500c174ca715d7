// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Properties of materials, and those of them that can be animated.
#include "base/vec.h"

/// A kind of grain. Two kinds that touch mix: geometric means of friction, rolling friction, restitution and cohesion,
/// moduli as two springs in a row (docs/dem.md).
typedef struct SimMaterial {
    float density;          ///< kg/m3, of a grain
    float friction;         ///< tangent of the friction angle between grains
    float rolling_friction; ///< largest rolling moment over normal force and effective radius; 0: balls roll freely
    float restitution;      ///< of the normal speed, (0, 1]
    float cohesion;         ///< force to pull two grains apart, over the weight of one
    float young_modulus;    ///< Pa, for the Hertz laws; 0: follows from softness
    float poisson_ratio;    ///< for the Hertz laws
    const char *law;        ///< of mpm: one of mpm_law_names; NULL: SimDef.law
} SimMaterial;

#define SIM_MESO_SEGMENTS 4
/// A piece of the force between two mesoscopic particles, along the line of their centres. Lengths are over the sum of
/// their radii.
typedef struct SimMesoSegment {
    float strength; ///< elastic: Pa, pushes apart below the rest length and pulls beyond it; viscous: Pa s
    float rest;     ///< elastic: where it is 0; viscous: unused
    float from, to; ///< where it acts
} SimMesoSegment;

/// The material of meso: a sum of pieces of either kind (docs/meso.md). Without any, particles do not interact.
typedef struct SimMeso {
    SimMesoSegment elastic[SIM_MESO_SEGMENTS], viscous[SIM_MESO_SEGMENTS];
    int elastic_count, viscous_count;
    float ambient; ///< 1/s: drag of the surrounding medium
} SimMeso;

/// A material of meso in four numbers.
typedef struct SimMesoNumbers {
    float elasticity, viscosity; ///< Pa, Pa s: K and Z of a pair over the sum of its radii
    float elastic_reach;         ///< De over the sum of radii
    float reach_ratio;           ///< Rs = Dv / De
} SimMesoNumbers;
/// The interactions of figure 3 of the paper, which give the defaults of these numbers: "ip1", ..., NULL-ended.
extern const char *const sim_meso_interaction_names[];
/// The numbers of an interaction, by its index.
SimMesoNumbers sim_meso_numbers(int interaction);
/// One piece of each kind; the elastic one ends at its rest length.
SimMeso sim_meso_of(const SimMesoNumbers *numbers);

/// Kinds of grain in one simulation.
#define SIM_MAX_MATERIALS 8
/// The current values of the parameters that can be animated.
typedef struct SimSteering {
    Vec3 gravity;                                                   ///< m/s2, also of bodies
    float friction[SIM_MAX_MATERIALS], cohesion[SIM_MAX_MATERIALS]; ///< of each kind of grain
    float viscosity; ///< Pa s, of meso: strength of its first viscous piece
} SimSteering;
#define SIM_STEERING_FLOATS ((int)(sizeof(SimSteering) / sizeof(float)))
/// Parameters of a material that can be animated, as bits.
#define SIM_STEERS_FRICTION 1u
#define SIM_STEERS_COHESION 2u
#define SIM_STEERS_VISCOSITY 4u
/// The same of a collider (SimCollider).
typedef struct SimGrip {
    float friction, stickiness;
} SimGrip;
/// m/s2: the unit of stickiness, from the gravity that a simulation starts with. Without gravity, that of the Earth.
float sim_grip_unit(Vec3 gravity);

/// Pa: tensile strength of capillary bridges in sand of moisture 1.
#define SIM_WET_TENSION 2000.0f
