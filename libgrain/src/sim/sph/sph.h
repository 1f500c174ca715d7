// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand as smoothed particles. Two models share everything but the stress:
///
///     elastoplastic  stress is stored, rotated with the material and returned to the Drucker-Prager cone, so that sand
///                    comes to a complete rest (after Bui et al. 2008; differences: docs/sph.md)
///     ihmsen2013     pressure and friction are solved in every step by a few corrections (Ihmsen, Wahl, Teschner
///                    2013, "A Lagrangian framework for simulating granular material with high detail")
///
/// Particles are sorted by cell; eight consecutive ones form a block. A block has one list of all particles that one of
/// its eight can reach before the lists are made again:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     list   j0, j1, j2, ...             one after another, the same for all lanes: no gathers, no scatter
///
/// Particles out of reach add an exact zero to a lane, so its sum has the same bits whichever particles share its
/// block. Walls are not sampled by particles: the part of a neighbourhood behind a wall is a function of the distance
/// (sph_spline.h), the limit of ever finer boundary particles.
#include "sim/neighbours/neighbours.h"
#include "sim/sph/sph_spline.h"

/// State of a particle, in SI units; positions are relative to SolverBase.origin.
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
    SPH_FILLED, ///< filled part of the neighbourhood: density relative to that at rest
    SPH_MOISTURE,
    SPH_MASS,
    SPH_FRICTION, ///< tangent of the friction angle
    SPH_COHESION, ///< of dry sand; elastoplastic: tensile strength, Pa; ihmsen2013: of (22), 1/s2
    SPH_RADIUS,
    SPH_STILL,  ///< s for which it has hardly moved; INFINITY: it sleeps
    SPH_HELD_X, ///< m/s2: its acceleration when it fell asleep; particles on walls are not in balance
    SPH_HELD_Y,
    SPH_HELD_Z,
    SPH_FIELDS
} SphField;

/// Results of each step.
typedef enum SphWork {
    SPH_AX, ///< acceleration
    SPH_AY,
    SPH_AZ,
    SPH_B0, ///< effective stress, Pa, row by row; elastoplastic: times the correction of gradients
    SPH_B8 = SPH_B0 + 8,
    SPH_WET,   ///< moisture gained, 1/s
    SPH_DENSE, ///< SPH_FILLED of the step before
    SPH_STIR,  ///< m/s, relative speed of the neighbours
    // of ihmsen2013
    SPH_PRESSURE, ///< Pa
    SPH_OTHER_X,  ///< acceleration without pressure and friction
    SPH_OTHER_Y,
    SPH_OTHER_Z,
    SPH_NEXT_U, ///< predicted velocity at the end of the step
    SPH_NEXT_V,
    SPH_NEXT_W,
    SPH_WORKS
} SphWork;

/// The part of the neighbourhood behind walls, for each particle of a block, summed over the walls.
typedef struct SphWalls {
    float filled[BLOCK_LANES];      ///< part of the neighbourhood
    float gradient[3][BLOCK_LANES]; ///< of it, 1/m
    float moment[6][BLOCK_LANES];   ///< mirrored distances times gradient: xx, yy, zz, xy, xz, yz
    float drive[9][BLOCK_LANES];    ///< row by row: ihmsen2013: wall speed times gradient; elastoplastic: of velocities
} SphWalls;

typedef enum SphModel { SPH_ELASTOPLASTIC, SPH_IHMSEN2013 } SphModel;
extern const char *const sph_model_names[];

/// Parameters common to all particles.
typedef struct SphRules {
    float spacing, support;         ///< m: of particles at rest; radius of the kernel
    float volume;                   ///< m3, of a particle
    float density;                  ///< kg/m3, of the densest material
    float sound;                    ///< m/s
    float viscosity, wet_viscosity; ///< artificial: of dry sand; added by moisture 1
    float wet_cohesion;             ///< added to SPH_COHESION by moisture 1
    float diffusion;                ///< m2/s, of moisture
    float gravity[3];
    float dt; ///< s, of this step
    float
        wall_share; ///< factor of a wall's reaction to a particle's stress: 2 with the mirrored stress, or 1 as in (17)
    // ihmsen2013
    float pressure_scale; ///< (7) times the density at rest, Pa
    float friction_scale; ///< half the inverse of (12), Pa s
    float sleep_speed, wake_acceleration;
    // elastoplastic
    float slow;      ///< m/s: particles that stay slower fall asleep; 0: none do
    float wake_pull; ///< m/s2: change of acceleration that wakes a sleeping particle
} SphRules;

typedef struct Sph {
    SolverBase base;
    Neighbours neighbours; ///< lists of blocks begin at even indices
    SphModel model;
    SphRules rules;
    double step_limit;      ///< s
    double gradient_square; ///< 1/m8: squared gradients over a full neighbourhood, for (7) and (12)
    float fastest;          ///< m/s
    float weight;           ///< m/s2: unit of cohesion, the initial gravity
    int64_t steps;
    float *field[SPH_FIELDS];
    float *works;
    float *work[SPH_WORKS];
    uint8_t *kind; ///< material, in the order of birth; NULL if there is only one
    int64_t kind_capacity;
    SimSteering steering; ///< current
    int32_t must_list;

    // Of each block, block_count + 1.
    SphWalls *walls;
    int64_t *reached_end; ///< end of the entries that one of its particles reaches in this step; they begin at `list`
    uint8_t *is_awake;    ///< one of its particles is
    uint8_t *must_wake;   ///< a moving object has come near
    uint8_t *awake;       ///< 2: one of its particles is awake; 1: was a step ago; 0: none is
    uint8_t *is_watching; ///< it sleeps within reach of one that does not
    int32_t *active;      ///< blocks to compute in this step, ascending
    int64_t active_count;
    int32_t lists_are_new, sleep_has_changed;
    int32_t *list;
    int32_t *reached; ///< the entries of each block's list within the kernel, an even number: found in the first sum of
                      ///< a step
    float *slope;     ///< of the kernel, for each entry of `reached` and each lane
    int64_t list_capacity, reached_capacity, slope_capacity;
} Sph;

/// Ends the list of reached entries of a block, padded to an even number.
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
/// Solid fraction of packed grains.
#define SPH_PACKING 0.6f
/// Sets SPH_FRICTION and SPH_COHESION of a particle from the current values of its material.
void sph_set_strength(Sph *sph, int64_t particle, int kind);

// sph_change.c
/// Sets the number of particles. Existing ones keep their state; unused lanes are out of reach.
GrainResult sph_resize(Sph *sph, int64_t count);
/// Reserves memory for the materials of new particles.
GrainResult sph_reserve_kinds(Sph *sph, int64_t born);
/// Initializes new particles in the rows from `first` on.
void sph_start_particles(Sph *sph, int64_t first, const Particles *start, const uint8_t *material,
                         const float *moisture);
GrainResult sph_change(void *state, const SimChange *change);
GrainResult sph_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void sph_push(void *state, const Vec3 *acceleration, double seconds);

// sph_lists.c
/// Makes the lists from the positions at the last sort.
GrainResult sph_make_lists(Sph *sph);

// sph_walls.c
/// Computes SphWalls of a block.
void sph_look_at_walls(Sph *sph, int64_t block);
/// Applies the stress of a block to walls, and their reaction to it.
void sph_press_walls(Sph *sph, int64_t block);
/// Moves the particles of a block out of walls they have penetrated too far.
void sph_push_out(Sph *sph, int64_t block);

// sph_sleep.c
/// Sets the thresholds of sleeping.
void sph_set_sleep(Sph *sph);
/// Finds the blocks to compute in this step.
void sph_find_active(Sph *sph);
/// After a step: lets particles fall asleep or wake.
void sph_note_sleep(Sph *sph);
#define SPH_SLEEP_SECONDS 0.25f
