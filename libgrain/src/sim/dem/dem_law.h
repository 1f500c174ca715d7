// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The contact law of two balls, chosen from tables (dem_law.c): a normal law, a shear law, rolling, cohesion.
/// Formulas, sources, ranges and tests: docs/dem.md.
#include "base/simd.h"
#include "sim/solver.h"

/// f + k_d overlap^alpha overlap' + k_r overlap^beta = 0 (Bell 2005, eq. 7).
typedef enum DemNormal {
    DEM_NORMAL_LINEAR,        ///< (0, 1): restitution does not depend on speed
    DEM_NORMAL_HERTZ,         ///< (1/2, 3/2): the viscoelastic sphere; 1 - restitution grows as speed^(1/5)
    DEM_NORMAL_HERTZ_TSUJI,   ///< (1/4, 3/2): restitution does not depend on speed
    DEM_NORMAL_HERTZ_DASHPOT, ///< (0, 3/2): restitution grows with speed, unlike anything real; for comparison
} DemNormal;

typedef enum DemShear {
    DEM_SHEAR_SPRING,  ///< eq. 19: a damped spring from where they first touched, slipping at the Coulomb limit
    DEM_SHEAR_SLIDING, ///< eq. 18: viscous up to the Coulomb limit
    DEM_SHEAR_VISCOUS, ///< eq. 16: viscous without limit
    DEM_SHEAR_COULOMB, ///< eq. 17: the Coulomb limit at any speed
    DEM_SHEAR_NONE,
} DemShear;

/// Contact parameters of two materials. k and c are the stiffness (N/m) and damping (kg/s) of a contact in its current
/// state: the normal force is k * overlap - c * separation speed, at least 0, minus cohesion.
typedef struct DemMix {
    float stiffness;        ///< linear: k over effective mass, 1/s2; Hertz: k over sqrt(effective radius * overlap), Pa
    float damping;          ///< linear and dashpot: c over effective mass, 1/s; Hertz: c over k, s; Tsuji: c over
                            ///< sqrt(effective mass * k)
    float friction;         ///< tangent of the friction angle
    float rolling_friction; ///< limit of the rolling moment over normal force and effective radius
    float cohesion;         ///< pull over effective mass, m/s2
} DemMix;
#define DEM_MIX_FLOATS 5
#define DEM_MAX_MATERIALS SIM_MAX_MATERIALS

/// Parameters of the kernels.
typedef struct DemLaw {
    DemNormal normal;
    DemShear shear;
    int material_count;
    int resists_rolling;
    int is_cohesive;
    float shear_stiffness; ///< of the tangential spring, over k
    float shear_damping;   ///< over c
    float roll_stiffness;  ///< of the rolling spring, over k
    float roll_damping;    ///< over c
    float viscosity;       ///< of the shear laws without spring, over effective mass, 1/s
    float contact_seconds; ///< duration of the shortest collision expected; the substep is a part of it
    double weight;         ///< m/s2: unit of cohesion, the initial gravity
    DemMix first;          ///< of material 0 with itself
} DemLaw;

/// [first * DEM_MAX_MATERIALS + second]
typedef struct DemMixes {
    DemMix mix[DEM_MAX_MATERIALS * DEM_MAX_MATERIALS];
} DemMixes;

/// From the settings and the radii of the balls. GRAIN_ERROR_ARGUMENT names an
/// unknown law.
GrainResult dem_law_choose(const SimDef *def, float smallest_radius, float largest_radius, DemLaw *law,
                           DemMixes *mixes);
/// Sets friction and cohesion.
void dem_law_steer(DemLaw *law, DemMixes *mixes, const SimSteering *now);
/// Adapts them to substeps of this length. Damping should act on the speed in the middle of a kick, which is not known
/// in advance: the correction is exact for an isolated pair, so that restitution is of second order.
void dem_law_for_step(DemLaw *law, DemMixes *mixes, double seconds);
/// The part of it for an integrator that knows the speed at every stage: laws that would stop a pair within one step of
/// this length stop it over several.
void dem_law_soften_sliding(DemLaw *law, double seconds);

/// The names of the laws, NULL-ended, in the order of the enums above.
extern const char *const dem_normal_names[], *const dem_shear_names[];
/// The given material; 0 is the one in the def itself.
SimMaterial dem_material(const SimDef *def, int material);

/// Restitution of x'' + damping x^alpha x' + x^beta = 0 from x = 0, x' = 1, ending when the force vanishes.
double dem_law_restitution(DemNormal normal, double damping);
/// The inverse.
double dem_law_damping(DemNormal normal, double restitution);
