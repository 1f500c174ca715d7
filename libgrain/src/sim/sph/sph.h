// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand as smoothed particles. Two models share everything but the stress:
///
///     elastoplastic  stress is remembered, turned with the material and returned to the Drucker-Prager cone, so that
///                    sand at rest is at rest (after Bui et al. 2008; what differs: docs/sph.md)
///     ihmsen2013     pressure and friction are found anew in every step by a few corrections (Ihmsen, Wahl, Teschner
///                    2013, "A Lagrangian framework for simulating granular material with high detail")
///
/// Particles stand in the order of their cells, and eight that follow each other make a block. A block has one list of
/// all particles that one of its eight can reach before the lists are made again:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     list   j0, j1, j2, ...             one after another, the same for all lanes: no gathers, no scatter
///
/// What a lane does not reach adds nothing to it, so a lane's sum has the same bits whatever it shares a block with.
/// Walls are not sampled by particles: the part of a particle's neighbourhood that lies behind a wall follows from the
/// distance alone (sph_spline.h), which is what ever finer boundary particles would add up to.
#include "sim/neighbours/neighbours.h"
#include "sim/sph/sph_spline.h"

/// What a particle is, in SI units; places count from SolverBase.origin.
typedef enum SphField {
    SPH_X,
    SPH_Y,
    SPH_Z,
    SPH_U, ///< velocity
    SPH_V,
    SPH_W,
    SPH_STRAIN, ///< elastoplastic: compression of the volume; ihmsen2013: none
    SPH_SXX,    ///< deviatoric stress, Pa
    SPH_SYY,
    SPH_SZZ,
    SPH_SXY,
    SPH_SXZ,
    SPH_SYZ,
    SPH_FILLED, ///< part of the neighbourhood that is filled: density over that at rest
    SPH_MOISTURE,
    SPH_MASS,
    SPH_FRICTION, ///< tangent of the friction angle
    SPH_COHESION, ///< of dry sand; elastoplastic: tension it bears, Pa; ihmsen2013: of (22), 1/s2
    SPH_RADIUS,
    SPH_STILL,  ///< s: so long it has hardly moved; INFINITY: it sleeps
    SPH_HELD_X, ///< m/s2: what pulled it when it fell asleep; what lies on a wall is not in balance
    SPH_HELD_Y,
    SPH_HELD_Z,
    SPH_FIELDS
} SphField;

/// What is worked out in each step.
typedef enum SphWork {
    SPH_AX, ///< acceleration
    SPH_AY,
    SPH_AZ,
    SPH_B0, ///< stress that acts, Pa, row by row; elastoplastic: times the correction of gradients
    SPH_B8 = SPH_B0 + 8,
    SPH_WET,   ///< moisture gained, 1/s
    SPH_DENSE, ///< part filled a step ago
    SPH_STIR,  ///< m/s, how fast the neighbours go against each other
    // of ihmsen2013
    SPH_PRESSURE, ///< Pa
    SPH_OTHER_X,  ///< acceleration by everything but pressure and friction
    SPH_OTHER_Y,
    SPH_OTHER_Z,
    SPH_NEXT_U, ///< velocity that the step is expected to end with
    SPH_NEXT_V,
    SPH_NEXT_W,
    SPH_WORKS
} SphWork;

/// What a block's particles have behind walls, summed over the walls.
typedef struct SphWalls {
    float filled[BLOCK_LANES];      ///< part of the neighbourhood
    float gradient[3][BLOCK_LANES]; ///< of it, 1/m
    float moment[6][BLOCK_LANES];   ///< mirrored ways times gradient: xx, yy, zz, xy, xz, yz
    float drive[9][BLOCK_LANES];    ///< row by row: ihmsen2013: wall speed times gradient; elastoplastic: of velocities
} SphWalls;

typedef enum SphModel { SPH_ELASTOPLASTIC, SPH_IHMSEN2013 } SphModel;
extern const char *const sph_model_names[];

/// Numbers that hold for all particles.
typedef struct SphRules {
    float spacing, support;         ///< m: of particles at rest; where the kernel ends
    float volume;                   ///< m3, of a particle
    float density;                  ///< kg/m3, of the densest material
    float sound;                    ///< m/s
    float viscosity, wet_viscosity; ///< artificial: of dry sand; what moisture 1 adds
    float wet_cohesion;             ///< what moisture 1 adds to SPH_COHESION
    float diffusion;                ///< m2/s, of moisture
    float gravity[3];
    float dt;         ///< s, of this step
    float wall_share; ///< of the wall's answer to a particle's stress: 2, the mirror's too, or 1 as in (17)
    // ihmsen2013
    float pressure_scale; ///< (7) times the density at rest, Pa
    float friction_scale; ///< half the inverse of (12), Pa s
    float sleep_speed, wake_acceleration;
    // elastoplastic
    float slow;      ///< m/s: what is slower for a while sleeps; 0: nothing does
    float wake_pull; ///< m/s2 more than when it fell asleep that wake a sleeper
} SphRules;

typedef struct Sph {
    SolverBase base;
    Neighbours neighbours; ///< a block's list ends at an odd or even place, the next one's begins at an even one
    SphModel model;
    SphRules rules;
    double step_limit;      ///< s
    double gradient_square; ///< 1/m8: squared gradients over a full neighbourhood, for (7) and (12)
    float fastest;          ///< m/s
    float weight;           ///< m/s2: what cohesion counts in, gravity at the start
    int64_t steps;
    float *field[SPH_FIELDS];
    float *works;
    float *work[SPH_WORKS];
    uint8_t *kind; ///< of grain, in the order of birth; NULL when there is only one
    int64_t kind_capacity;
    SimSteering steering; ///< as it is now
    int32_t must_list;

    // Of each block, block_count + 1.
    SphWalls *walls;
    int64_t *reached_end; ///< of the entries that one of its particles reaches in this step; they begin at `list` too
    uint8_t *is_awake;    ///< one of its particles is
    uint8_t *must_wake;   ///< something that moves has come near
    uint8_t *awake;       ///< 2: one of its particles is; 1: was a step ago; 0: none is
    uint8_t *is_watching; ///< it sleeps, and can reach one that does not
    int32_t *active;      ///< blocks that are worked on in this step, ascending
    int64_t active_count;
    int32_t lists_are_new, sleep_has_changed;
    int32_t *list;
    int32_t *reached; ///< of each block's list what the kernel reaches, an even number: found in a step's first sum
    float *slope;     ///< of the kernel, for each entry of `reached` and each lane
    int64_t list_capacity, reached_capacity, slope_capacity;
} Sph;

/// Ends what a block reaches: with an even number, the last of which may be nothing.
static inline void sph_end_reached(Sph *sph, int64_t block, int64_t end)
{
    if (end & 1) { // lists begin at even places
        sph->reached[end] = (int32_t)(block * BLOCK_LANES);
        for (int lane = 0; lane < BLOCK_LANES; lane++) sph->slope[end * BLOCK_LANES + lane] = 0.0f;
        end++;
    }
    sph->reached_end[block] = end;
}

extern const Solver sph_solver;
/// Of a grain's density: how densely grains pack.
#define SPH_PACKING 0.6f
/// What friction and cohesion of a kind are now, into SPH_FRICTION and SPH_COHESION of a particle.
void sph_set_strength(Sph *sph, int64_t particle, int kind);

// sph_change.c
/// Room for this many particles; those that are there stay. The count becomes this, and lanes of nobody are out of
/// reach.
GrainResult sph_resize(Sph *sph, int64_t count);
/// Room to note the kinds of so many more.
GrainResult sph_reserve_kinds(Sph *sph, int64_t born);
/// Fills the order from `first` on with particles that are born now.
void sph_start_particles(Sph *sph, int64_t first, const Particles *start, const uint8_t *material,
                         const float *moisture);
GrainResult sph_change(void *state, const SimChange *change);
GrainResult sph_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void sph_push(void *state, const Vec3 *acceleration, double seconds);

// sph_lists.c
/// Makes the lists from where the particles were when they were sorted last.
GrainResult sph_make_lists(Sph *sph);
void sph_free_lists(Sph *sph);

// sph_walls.c
/// What a block has behind walls now.
void sph_look_at_walls(Sph *sph, int64_t block);
/// What a block's stress does to walls, and they to it.
void sph_press_walls(Sph *sph, int64_t block);
/// Moves a block's particles out of walls they have come too far into.
void sph_push_out(Sph *sph, int64_t block);

// sph_sleep.c
/// Speeds and pulls that decide who sleeps.
void sph_set_sleep(Sph *sph);
/// Which blocks this step works on.
void sph_find_active(Sph *sph);
/// After a step: who has fallen asleep or woken.
void sph_note_sleep(Sph *sph);
#define SPH_SLEEP_SECONDS 0.25f
