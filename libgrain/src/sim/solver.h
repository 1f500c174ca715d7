// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A solver is a row of traits and functions in the table of solver.c. To add one, add a folder beside dem/ and a line
/// to that table: code outside sim/ never asks for a solver's name, only for its traits.
#include "motion/motion.h"
#include "particles/column_rules.h"
#include "particles/particles.h"
#include "sdf/sdf.h"
#include "sim/material.h"

/// A collider that the sand moves.
typedef struct SimBody {
    double mass;         ///< kg
    Vec3d centre;        ///< of mass, at time 0
    double inertia[9];   ///< kg m2, about the centre, along the world's axes at time 0
    Vec3d pivot;         ///< m, at time 0: the point whose path is written to frames
    Vec3 velocity, spin; ///< m/s, rad/s; at time 0, unless poses say how it moves
    double release;      ///< s: until then it follows its poses; 0: free from the start
    const float *points; ///< m, xyz, at time 0: its cover, where it touches others
    int64_t point_count;
    float point_radius; ///< m, of the cover
} SimBody;

/// An object that sand cannot pass: a mesh with its signed distance field, or an endless plane (sdf and mesh are NULL).
/// All coordinates are world coordinates at time 0.
typedef struct SimCollider {
    const GrainSdf *sdf;            ///< NULL for planes and for meshes that bend
    Vec3 plane_point, plane_normal; ///< unit normal, pointing to where the sand is
    float friction;                 ///< tangent of the friction angle against grains
    float stickiness; ///< pull at a particle that touches it, as a multiple of the particle's weight; the largest
                      ///< value over the shot if it is animated
    const float *friction_paint, *stickiness_paint; ///< factors of each vertex; NULL: 1 everywhere
    const GrainMesh *mesh; ///< NULL for planes; needed only if it deforms or the scene has bodies
    Motion motion;
    const SimBody *body; ///< NULL: it is not a body
    const char *name;    ///< for messages; may be NULL
} SimCollider;

/// The settings a solver starts with. The pointers stay valid for the solver's lifetime.
typedef struct SimDef {
    const char *solver;     ///< name in the table
    Vec3 gravity;           ///< m/s2
    float largest_radius;   ///< m, over all particles
    float smallest_born;    ///< m, of particles emitted later; 0: there are none
    Vec3 birthplace;        ///< m: roughly where they appear, for a scene that starts empty
    float density;          ///< kg/m3, of a grain
    float friction;         ///< tangent of the friction angle between grains
    float rolling_friction; ///< largest rolling moment over normal force and effective radius; 0: balls roll freely
    float restitution;      ///< of the normal speed, (0, 1]
    float cohesion, young_modulus, poisson_ratio; ///< as in SimMaterial
    const char *normal_law, *shear_law;           ///< of dem; NULL: the default
    const char *law;                              ///< of mpm: a name of mpm_law_names; NULL: sand
    const char *model;                            ///< of sph: a name of sph_model_names; NULL: the default
    const float *particle_moisture;               ///< of sph and mpm, of each particle, [0, 1]; NULL: all stay dry
    float moisture_diffusion;                     ///< m2/s, of sph
    SimMeso meso;                                 ///< of meso
    const SimMaterial *more_materials;            ///< kinds of grain 1, 2, ...; kind 0 is the one above
    int more_material_count;
    const uint8_t *particle_material; ///< kind of each particle; NULL: all are kind 0
    const struct BallShape *shapes;   ///< shapes of grains, of dem; NULL: spheres
    int shape_count;
    const uint8_t *particle_shape; ///< shape of each particle; NULL: all are the first
    uint64_t seed;                 ///< of the initial orientation of the grains
    int may_sleep;                 ///< of dem, mpm and sph: particles at rest are skipped until something moves nearby
    const char *integrator;        ///< of dem, a name of dem_integrator_names; NULL: the default
    float tolerance;               ///< of an adaptive integrator: largest error of a step, in radii
    float softness;                ///< how deep, in radii, an impact at expected_speed sinks in
    float expected_speed;          ///< m/s, the fastest impact the scene's height and sources suggest
    const SimCollider *colliders;
    int collider_count;
} SimDef;

// steering.c
/// The values at the start of a simulation.
SimSteering steering_of(const SimDef *def);
/// Whether the change is large enough to wake sleeping sand.
int steering_is_noticed(const SimSteering *now, const SimSteering *before);
int grips_are_noticed(const SimGrip *now, const SimGrip *before, int count);
#define STEERING_NOTICED 0.2f ///< m/s2, a fiftieth of the Earth's gravity

/// The state in a few numbers. A solver leaves those it does not compute at 0.
typedef struct SimStats {
    double kinetic;          ///< J, of motion and spin
    double potential;        ///< J, in gravity, against the origin
    double elastic;          ///< J, stored in contacts
    int64_t contacts;        ///< that touch, of grains with each other and with colliders
    double deepest;          ///< largest overlap of two balls, over the smaller one's radius
    int64_t asleep;          ///< balls
    int64_t steps, rejected; ///< since this run began; rejected: adaptive steps repeated with a shorter step
} SimStats;

#define SOLVER_MAX_COLUMNS 60

/// Particles to add and to remove between two steps. Particles are numbered in the order of birth; numbers of removed
/// particles are not reused.
typedef struct SimChange {
    const Particles *born;   ///< the next in the order of birth; NULL: none
    const uint8_t *material; ///< kind of each of them; NULL: kind 0
    const Vec3 *position;    ///< m, of every number so far, as read; NULL: read when needed
    const uint8_t *gone;     ///< of every number before `born`: 1 for a particle to remove; NULL: none
    int will_load;           ///< `load` follows at once: only the number and the kinds of the particles matter
} SimChange;

/// A text setting of SimDef with a fixed list of values.
typedef struct SolverChoice {
    const char *key;          ///< as in job.json: "law", "model", ...
    const char *const *names; ///< NULL-ended; the first is the default
} SolverChoice;
#define SOLVER_MAX_CHOICES 4

/// What the stages around a simulation need to know of its solver.
typedef struct SolverTraits {
    int is_continuum;     ///< particles are overlapping pieces of a continuum; otherwise each is a grain
    int has_shapes;       ///< grains may be clumps of balls, which turn
    float grain_share;    ///< solid fraction of the volume a particle stands for; 0: the particle itself is solid
    float fill_shake;     ///< radii: random displacement of a source's particles from the filling lattice
    float collider_reach; ///< radii: distance at which a particle feels a collider
    uint32_t steers;      ///< SIM_STEERS_...: material parameters that can be animated
    const char *const *fixed_laws; ///< laws without animated parameters, NULL-ended; NULL: none
    float memory;                  ///< bytes per particle or ball at the peak, the whole program included
    float checkpoint;              ///< bytes per particle in a checkpoint
    const char *uses; ///< keys of a job that this solver uses and not every solver does, separated by blanks
    SolverChoice choices[SOLVER_MAX_CHOICES]; ///< those after the last have no key
} SolverTraits;

typedef struct Solver {
    const char *name;
    const char *label, *tip; ///< for artists: its name in the interface, and what to take it for
    SolverTraits traits;
    /// Raised by every change that moves a bit of the result: a cache baked by another number is not continued.
    int version;
    int64_t state_bytes; ///< of the state, which begins with a SolverBase (solver_base.h)
    /// Initializes a state, zeroed except for its SolverBase, with these particles.
    GrainResult (*start)(void *state, const SimDef *def, const Particles *start);
    /// Frees what the state owns, even if `start` failed, but not the state itself nor its SolverBase.
    void (*free)(void *state);
    /// The longest step that is stable now, s.
    double (*largest_step)(const void *state);
    GrainResult (*step)(void *state, double seconds);
    /// The current state in the order of birth. out->count is the number of particles ever born; rows of removed
    /// particles are left unchanged.
    GrainResult (*read)(const void *state, Particles *out);
    /// What the columns of `save` may hold; a NULL name ends the table. Numbers that load sees are within these rules.
    const ColumnRule *columns;
    /// Everything needed to continue bit for bit, as columns that point into the state. Returns their number. load is
    /// only called for a state with the same particles, which sim_load arranges through `change`.
    int (*save)(const void *state, Column columns[SOLVER_MAX_COLUMNS]);
    GrainResult (*load)(void *state, const Column *columns, int column_count);
    void (*measure)(const void *state, SimStats *out);
    /// Adds and removes particles: the only call after `start` that may allocate memory for particles. Wakes what rests
    /// on removed particles.
    GrainResult (*change)(void *state, const SimChange *change);
    /// Sets the animated parameters. grips: of each collider; NULL: unchanged. wake: of every number, 1 for a particle
    /// to wake; NULL: none.
    GrainResult (*steer)(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
    /// Accelerates every particle that is awake for this time: acceleration in m/s2, by number. A step does the same
    /// with SolverBase.acceleration.
    void (*push)(void *state, const Vec3 *acceleration, double seconds);
} Solver;

GrainResult solver_create(const Solver *solver, const SimDef *def, const Particles *start, int threads, void **state);
/// Accepts a NULL state.
void solver_destroy(const Solver *solver, void *state);
/// The colliders and bodies of the scene.
struct Rigid *solver_rigid(const void *state);

/// The solver with this name, or NULL.
const Solver *solver_find(const char *name);
/// A row of the table; NULL past the end.
const Solver *solver_at(int index);
/// The rule of this column of a checkpoint in the tables of all solvers and of what moves; NULL: no solver saves it.
const ColumnRule *solver_find_rule(const char *name);
/// "dem, mpm, ...", for messages.
const char *solver_names(void);
/// Whether the solver uses this setting of a job.
int solver_uses(const Solver *solver, const char *key);
/// The names, NULL-ended.
extern const char *const solver_name_list[];
/// The values of this text setting, NULL-ended; NULL: no solver has it.
const char *const *solver_choices(const char *key);
/// The parameters (SIM_STEERS_...) that can be animated for a material of this law.
uint32_t solver_steers(const Solver *solver, const char *law);

/// Solid fraction of a heap of single grains.
#define SOLVER_HEAP_PACKING 0.6
/// m3 of sand, including the gaps between grains, that a particle stands for if radii are spread by size_spread.
double solver_room(const Solver *solver, double radius, double size_spread);
/// m3 of solid grain in a particle; 0: the volume of its own shape.
double solver_grain_volume(const Solver *solver, float largest_radius);
/// m3 that a particle of a continuum stands for. Sources are filled with the densest packing of balls.
double solver_bulk_room(float largest_radius);
