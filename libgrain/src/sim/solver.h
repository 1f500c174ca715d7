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
/// moduli as two springs in a row (docs/physics.md).
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
    const char *law;                              ///< of mpm: a name of mpm_law_names; NULL: sand
    const SimMaterial *more_materials;            ///< kinds of grain 1, 2, ...; kind 0 is the one above
    int more_material_count;
    const uint8_t *particle_material; ///< kind of each particle; NULL: all are kind 0
    const struct DemShape *shapes;    ///< shapes of grains, of dem; NULL: spheres
    int shape_count;
    const uint8_t *particle_shape; ///< shape of each particle; NULL: all are the first
    uint64_t seed;                 ///< for how the grains face at first
    float softness;           ///< how deep, in radii, an impact at expected_speed sinks in
    float expected_speed;     ///< m/s, the fastest impact the scene's height and sources suggest
    const SimCollider *colliders;
    int collider_count;
} SimDef;

#define SOLVER_MAX_COLUMNS 32

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
} Solver;

/// NULL for an unknown name.
const Solver *solver_find(const char *name);
/// "dem, sph, ...", for messages.
const char *solver_names(void);
