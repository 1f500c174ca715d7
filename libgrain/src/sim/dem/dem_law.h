#pragma once
/// What two touching balls do to each other, as slots that are filled from a table (dem_law.c). Formulas, sources and
/// tests: docs/physics.md.
#include "base/simd.h"
#include "sim/solver.h"

typedef enum DemShear {
    DEM_SHEAR_NONE,
    DEM_SHEAR_SPRING, ///< eq. 19: a spring from where they first touched, up to the Coulomb limit
} DemShear;

/// The numbers the kernels work with. k and c are the stiffness (N/m) and damping (kg/s) of a contact in its present
/// state: normal force k * overlap - c * separation speed, never below 0.
typedef struct DemLaw {
    DemShear shear;
    float stiffness;        ///< 1/s2: k over the effective mass
    float damping;          ///< 1/s: c over the effective mass
    float shear_stiffness;  ///< of the tangential spring, over k
    float shear_damping;    ///< over c
    float friction;         ///< tangent of the friction angle between grains
    float rolling_friction; ///< limit of the rolling moment over normal force and effective radius
    float roll_stiffness;   ///< of the rolling spring, over k
    float roll_damping;     ///< over c
    float contact_seconds;  ///< duration of a collision; the substep is a part of it
} DemLaw;

GrainResult dem_law_choose(const SimDef *def, DemLaw *law);
/// The law for substeps of this length. Damping is meant for the speed in the middle of the kick a contact gives, which
/// is not known before: a pair alone comes out as if it were, so that restitution is exact to the second order.
DemLaw dem_law_for_step(const DemLaw *law, double seconds);

/// Damping over stiffness so that a collision that ends when the force vanishes (it never pulls) has this restitution.
/// For the linear law, as a fraction of critical damping.
double dem_linear_damping_ratio(double restitution);
