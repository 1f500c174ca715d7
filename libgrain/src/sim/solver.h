// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What a solver is: a row of traits and functions. solver.c holds the one table of them. A new solver is a folder
/// beside dem/ and a line there: nothing outside sim/ asks which solver it has, only what it is like.
#include "motion/motion.h"
#include "particles/particles.h"
#include "sdf/sdf.h"
#include "sim/material.h"

/// A collider that the sand moves.
typedef struct SimBody {
    double mass;         ///< kg
    Vec3d centre;        ///< of mass, at time 0
    double inertia[9];   ///< kg m2, about the centre, along the world's axes at time 0
    Vec3d pivot;         ///< m, at time 0: the point whose way is written down
    Vec3 velocity, spin; ///< m/s, rad/s; at time 0, unless poses say how it moves
    double release;      ///< s: until then it goes where its poses say; 0: free from the start
    const float *points; ///< m, xyz, at time 0: its cover, where it touches others
    int64_t point_count;
    float point_radius; ///< m, of the cover
} SimBody;

/// What the sand may not pass. A mesh as its signed distance field, or an endless plane (sdf and mesh are NULL). All
/// coordinates are the world's at time 0, where props that move start from.
typedef struct SimCollider {
    const GrainSdf *sdf;            ///< NULL for planes and for meshes that bend
    Vec3 plane_point, plane_normal; ///< unit normal, pointing to where the sand is
    float friction;                 ///< tangent of the friction angle against grains
    float stickiness; ///< how hard it pulls at a particle that touches it, over that one's weight; the most it
                      ///< ever will, where it changes
    const float *friction_paint, *stickiness_paint; ///< of each vertex, what they are multiplied by; NULL: 1 all over
    const GrainMesh *mesh; ///< NULL for planes; needed only where it bends or where there are bodies
    Motion motion;
    const SimBody *body; ///< NULL: nothing moves it but its motion
    const char *name;    ///< for messages; NULL: it has none
} SimCollider;

/// Everything a solver is told at the start; the pointers stay valid as long as the solver lives.
typedef struct SimDef {
    const char *solver;     ///< name in the table
    Vec3 gravity;           ///< m/s2
    float largest_radius;   ///< m, over all particles
    float smallest_born;    ///< m, of particles that may be born later; 0: none will be
    Vec3 birthplace;        ///< m: about where those will be, for a scene that starts without any
    float density;          ///< kg/m3, of a grain
    float friction;         ///< tangent of the friction angle between grains
    float rolling_friction; ///< largest rolling moment over normal force and effective radius; 0: balls roll freely
    float restitution;      ///< of the normal speed, (0, 1]
    float cohesion, young_modulus, poisson_ratio; ///< as in SimMaterial
    const char *normal_law, *shear_law;           ///< of dem; NULL: its own choice
    const char *law;                              ///< of mpm: a name of mpm_law_names; NULL: sand
    const char *model;                            ///< of sph: a name of sph_model_names; NULL: its own choice
    const float *particle_moisture;    ///< of sph and mpm, of each particle, [0, 1]; NULL: all are dry, for ever
    float moisture_diffusion;          ///< m2/s, of sph
    SimMeso meso;                      ///< of meso
    const SimMaterial *more_materials; ///< kinds of grain 1, 2, ...; kind 0 is the one above
    int more_material_count;
    const uint8_t *particle_material; ///< kind of each particle; NULL: all are kind 0
    const struct BallShape *shapes;   ///< shapes of grains, of dem; NULL: spheres
    int shape_count;
    const uint8_t *particle_shape; ///< shape of each particle; NULL: all are the first
    uint64_t seed;                 ///< for how the grains face at first
    int may_sleep;          ///< of dem, mpm and sph: what is at rest is left alone until something moves near them
    const char *integrator; ///< of dem, a name of dem_integrator_names; NULL: its own choice
    float tolerance;        ///< of an adaptive integrator: error of a step, in radii
    float softness;         ///< how deep, in radii, an impact at expected_speed sinks in
    float expected_speed;   ///< m/s, the fastest impact the scene's height and sources suggest
    const SimCollider *colliders;
    int collider_count;
} SimDef;

// steering.c
/// As a simulation starts.
SimSteering steering_of(const SimDef *def);
/// Whether what lies still has to be woken to see if it still does.
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

/// Who comes and who goes between two steps. Particles are numbered in the order of birth, and the number of one that
/// is gone is not given to another.
typedef struct SimChange {
    const Particles *born;   ///< the next in the order of birth; NULL: nobody
    const uint8_t *material; ///< kind of each of them; NULL: kind 0
    const Vec3 *places;      ///< m, of every number so far, as read; NULL: they are read where they are needed
    const uint8_t *gone;     ///< of every number so far, those born now not counted: 1 for who goes now; NULL: nobody
    int will_load;           ///< `load` follows at once: only how many there are and of what kind matters
} SimChange;

/// A text of SimDef that is one of several names.
typedef struct SolverChoice {
    const char *key;          ///< as in job.json: "law", "model", ...
    const char *const *names; ///< NULL-ended; the first is the default
} SolverChoice;
#define SOLVER_MAX_CHOICES 4

/// What the stages around a simulation need to know of its solver.
typedef struct SolverTraits {
    int is_continuum;              ///< particles are pieces of a bulk, which overlap; otherwise each is a grain
    int has_shapes;                ///< grains may be clumps of balls, which turn
    float grain_share;             ///< part of a particle's room that is solid grain; 0: the particle itself is solid
    float fill_shake;              ///< radii: how far a particle of a source is moved off the lattice that fills it
    float collider_reach;          ///< radii: from how far away a particle feels a collider
    uint32_t steers;               ///< SIM_STEERS_...: which parameters of its materials may change
    const char *const *fixed_laws; ///< the laws among them that allow none to change, NULL-ended; NULL: there are none
    float memory;                  ///< bytes per particle or ball at the peak, the whole program included
    float checkpoint;              ///< bytes per particle in a checkpoint
    const char *uses;              ///< keys of a job that not every solver uses, but this one, with blanks in between
    SolverChoice choices[SOLVER_MAX_CHOICES]; ///< those after the last have no key
} SolverTraits;

typedef struct Solver {
    const char *name;
    SolverTraits traits;
    /// Raised by every change that moves a bit of the result: a cache baked by another number is not continued.
    int version;
    int64_t state_bytes; ///< of the state, which begins with a SolverBase (solver_base.h)
    /// A state that is zeroed but for its SolverBase becomes that of these particles.
    GrainResult (*start)(void *state, const SimDef *def, const Particles *start);
    /// What the state holds, however far it was started, but not itself nor its SolverBase.
    void (*free)(void *state);
    /// The longest step that is stable now, s.
    double (*largest_step)(const void *state);
    GrainResult (*step)(void *state, double seconds);
    /// The present state in the order of birth: out->count is how many were ever born; what out has of those that are
    /// gone stays as it is.
    GrainResult (*read)(const void *state, Particles *out);
    /// Everything needed to go on bit for bit, as columns that point into the state. Returns how many. load is only
    /// called for a state that has the same particles: sim_load sees to that through `change`.
    int (*save)(const void *state, Column columns[SOLVER_MAX_COLUMNS]);
    GrainResult (*load)(void *state, const Column *columns, int column_count);
    void (*measure)(const void *state, SimStats *out);
    /// Adds and removes particles. The only call after create that may take memory for them. What rests on one that is
    /// removed wakes up.
    GrainResult (*change)(void *state, const SimChange *change);
    /// What holds from now on. grips: of each collider; NULL: as they are. wake: of every number, 1 for who must not
    /// sleep on; NULL: nobody.
    GrainResult (*steer)(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
    /// Makes every particle that is awake faster by its own acceleration (m/s2, by number) times this. A step does the
    /// same with SolverBase.acceleration.
    void (*push)(void *state, const Vec3 *acceleration, double seconds);
} Solver;

GrainResult solver_create(const Solver *solver, const SimDef *def, const Particles *start, int threads, void **state);
/// Accepts a NULL state.
void solver_destroy(const Solver *solver, void *state);
/// What is solid in the scene, bodies among it.
struct Rigid *solver_rigid(const void *state);

/// NULL for an unknown name.
const Solver *solver_find(const char *name);
/// Number index of the table; NULL behind the last.
const Solver *solver_at(int index);
/// "dem, mpm, ...", for messages.
const char *solver_names(void);
/// Whether the solver says that it uses the setting of a job.
int solver_uses(const Solver *solver, const char *key);
/// The names, NULL-ended.
extern const char *const solver_name_list[];
/// The names that the solvers' choice of this key allows, NULL-ended; NULL: no solver has it.
const char *const *solver_choices(const char *key);
/// Which parameters (SIM_STEERS_...) may change in a material of this law.
uint32_t solver_steers(const Solver *solver, const char *law);

/// Part of a heap of single grains that is solid.
#define SOLVER_HEAP_PACKING 0.6
/// m3 of sand, gaps between grains included, that a particle stands for where radii are spread by size_spread.
double solver_room(const Solver *solver, double radius, double size_spread);
/// m3 of solid grain in a particle; 0: as much as its own shape holds.
double solver_grain_volume(const Solver *solver, float largest_radius);
/// m3: the room of a piece of bulk. Sources are filled with the densest packing of balls.
double solver_bulk_room(float largest_radius);
