#pragma once
/// What a solver is: a row of functions. solver_list.c holds the one table of them; a new solver is a folder beside dem/
/// and a line there.
#include "particles/particles.h"
#include "sdf/sdf.h"

/// What the sand may not pass. A mesh as its signed distance field, or an endless plane (sdf is NULL).
typedef struct SimCollider {
    const GrainSdf *sdf;
    Vec3 plane_point, plane_normal; ///< unit normal, pointing to where the sand is
    float friction;                 ///< tangent of the friction angle against grains
} SimCollider;

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
} SimMaterial;

/// Everything a solver is told at the start; the pointers stay valid as long as the solver lives.
typedef struct SimDef {
    const char *solver;       ///< name in the table
    Vec3 gravity;             ///< m/s2
    float largest_radius;     ///< m, over all particles
    float density;            ///< kg/m3, of a grain
    float friction;           ///< tangent of the friction angle between grains
    float rolling_friction;   ///< largest rolling moment over normal force and effective radius; 0: balls roll freely
    float restitution;        ///< of the normal speed, (0, 1]
    float cohesion, young_modulus, poisson_ratio; ///< as in SimMaterial
    const char *normal_law, *shear_law;           ///< of dem; NULL: its own choice
    const SimMaterial *more_materials;            ///< kinds of grain 1, 2, ...; kind 0 is the one above
    int more_material_count;
    const uint8_t *particle_material; ///< kind of each particle; NULL: all are kind 0
    const struct DemShape *shapes;    ///< shapes of grains, of dem; NULL: spheres
    int shape_count;
    const uint8_t *particle_shape; ///< shape of each particle; NULL: all are the first
    uint64_t seed;                 ///< for how the grains face at first
    int may_sleep;                 ///< of dem: balls at rest are left alone until something moves near them
    const char *integrator;        ///< of dem, a name of dem_integrator_names; NULL: its own choice
    float tolerance;               ///< of an adaptive integrator: error of a step, in radii
    float softness;           ///< how deep, in radii, an impact at expected_speed sinks in
    float expected_speed;     ///< m/s, the fastest impact the scene's height and sources suggest
    const SimCollider *colliders;
    int collider_count;
} SimDef;

/// The state in a few numbers. What a solver does not know stays 0.
typedef struct SimStats {
    double kinetic;          ///< J, of motion and spin
    double potential;        ///< J, in gravity, against the origin
    double elastic;          ///< J, stored in contacts
    int64_t contacts;        ///< that touch, of grains with each other and with colliders
    double deepest;          ///< largest overlap of two balls, over the smaller one's radius
    int64_t asleep;          ///< balls
    int64_t steps, rejected; ///< since this run began; rejected: adaptive steps that were done again shorter
} SimStats;

#define SOLVER_MAX_COLUMNS 48

typedef struct Solver {
    const char *name;
    /// Raised by every change that moves a bit of the result: a cache baked by another number is not continued.
    int version;
    GrainResult (*create)(const SimDef *def, const Particles *start, int threads, void **state);
    void (*destroy)(void *state);
    /// The longest step that is stable now, s.
    double (*largest_step)(const void *state);
    GrainResult (*step)(void *state, double seconds);
    /// The present state in the order of birth.
    GrainResult (*read)(const void *state, Particles *out);
    /// Everything needed to go on bit for bit, as columns that point into the state. Returns how many.
    int (*save)(const void *state, Column columns[SOLVER_MAX_COLUMNS]);
    GrainResult (*load)(void *state, const Column *columns, int column_count);
    void (*measure)(const void *state, SimStats *out);
} Solver;

/// NULL for an unknown name.
const Solver *solver_find(const char *name);
/// "dem, sph, ...", for messages.
const char *solver_names(void);
