// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The mesoscopic model of Luciani 2000, "From granular avalanches to fluid turbulences through oozing pastes":
/// particles that are parcels of matter, with an elastic and a viscous force along the line of their centres, each a
/// sum of straight pieces that act between two distances (SimMeso; docs/meso.md).
///
///     F_elastic = sum of K (rest - D)     where from <= D <= to
///     F_viscous = sum of -Z dD/dt         where from <= D <= to
///
/// A step kicks, then drifts. Viscous forces too stiff for its length are integrated implicitly (meso_viscous.c), so
/// that neither viscosity nor its reach shortens the step.
#include "base/simd.h"
#include "sim/neighbours/neighbours_rows.h"
#include "sim/solver.h"

/// State of a particle, in SI units; positions are relative to SolverBase.origin.
typedef enum MesoField {
    MESO_X,
    MESO_Y,
    MESO_Z,
    MESO_U, ///< velocity
    MESO_V,
    MESO_W,
    MESO_MASS,
    MESO_RADIUS,
    MESO_FIELDS
} MesoField;

/// Results of each step.
typedef enum MesoWork {
    MESO_NEXT_U, ///< velocity at the end of the step
    MESO_NEXT_V,
    MESO_NEXT_W,
    // of the implicit solution, N s
    MESO_LEFT_U, ///< residual momentum
    MESO_LEFT_V,
    MESO_LEFT_W,
    MESO_ALONG_U, ///< direction of search, m/s
    MESO_ALONG_V,
    MESO_ALONG_W,
    MESO_IMAGE_U, ///< change of momentum by the direction
    MESO_IMAGE_V,
    MESO_IMAGE_W,
    MESO_WORKS
} MesoWork;

/// What a neighbour needs of a particle, contiguous, so that it takes two loads.
typedef struct MesoRecord {
    float place[3], radius;
    float velocity[3], mass;
} MesoRecord;
#define MESO_RECORD_FLOATS 8

/// Parameters common to all particles.
typedef struct MesoRules {
    SimMeso law; ///< K and Z of a pair: strength times the sum of radii
    float gravity[3];
    float dt;                           ///< s, of this step
    int implicit;                       ///< viscous forces are integrated implicitly
    float wall;                         ///< radii: distance centres keep from walls
    float wall_viscosity, wall_viscous; ///< Pa s, and within how many radii of the wall
} MesoRules;

/// Sums of a block in a step.
typedef struct MesoNote {
    float spring_rate, damping_rate; ///< 1/s2, 1/s: largest sum of K and of Z divided by mass
    double first, second, third;     ///< sums of the implicit solution
} MesoNote;

typedef struct Meso {
    SolverBase base;
    MesoRules rules;
    Neighbours neighbours;
    NeighbourRows rows;
    double lightest;                 ///< kg
    float smallest;                  ///< m: of radii
    float fastest;                   ///< m/s
    float spring_rate, damping_rate; ///< 1/s2, 1/s: of the last step, at least the expected value
    float spring_floor, damping_floor;
    int64_t steps;
    int64_t solved, iterations; ///< implicit steps and their iterations; statistics, not saved
    float *field[MESO_FIELDS];
    float *works;
    float *work[MESO_WORKS];
    MesoRecord *records; ///< room + 1, the last for padding: the particles at the start of the step
    float *seen;         ///< four numbers each, as many: velocities of neighbours in the implicit solution
    int32_t must_record; ///< fields have changed since they were recorded
    MesoNote *notes;     ///< of each block
    int64_t *pressed;    ///< contacts of each body in this step
    int32_t must_list;
    float *weight; ///< Z / D2, N s/m3, for each row of the lists and each lane: of the implicit solution
    int64_t weight_capacity;
} Meso;

extern const Solver meso_solver;

// meso_change.c
/// Solver.change; also adds the initial particles.
GrainResult meso_change(void *state, const SimChange *change);
GrainResult meso_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void meso_push(void *state, const Vec3 *acceleration, double seconds);
double meso_mass(float density, float radius);

// meso.c
/// Sets the viscosity.
void meso_steer_viscosity(Meso *meso, float viscosity);

// meso_viscous.c
/// Solves M (v - v*) = -dt C v for the velocities v at the end of the step, from v* in MESO_NEXT_U.
void meso_solve_viscous(Meso *meso);

// meso_walls.c
/// Finds the walls near a block, and their speed of approach.
void meso_meet_walls(Meso *meso, int64_t block);
/// Counts the contacts of every body in this step.
void meso_count_pressed(Meso *meso);
/// Corrects the final velocities of a block so that nothing passes walls. Called before and after an implicit solution:
/// particles stopped by the first call are held in between.
void meso_hold_at_walls(Meso *meso, int64_t block);
/// At the end of a step, sticky walls hold particles that leave them.
void meso_stick_to_walls(Meso *meso, int64_t block);
/// Removes from the residual what walls keep from particles they hold.
void meso_keep_at_walls(Meso *meso, int64_t block);

// --- kernels: for blocks [first, last) ------------------------------------------------------------

/// Records from fields.
SIMD_KERNEL(void, meso_record, (Meso * meso, int64_t first, int64_t last))
/// Velocities at the end of the step, without implicit forces.
SIMD_KERNEL(void, meso_kick, (Meso * meso, int64_t first, int64_t last))
/// Positions after the step.
SIMD_KERNEL(void, meso_drift, (Meso * meso, int64_t first, int64_t last))

// Of the implicit solution. Sums go to MesoNote.
/// Publishes v* to neighbours.
SIMD_KERNEL(void, meso_viscous_show, (Meso * meso, int64_t first, int64_t last))
/// Residual of v*; second: m v*^2; third: m (v* - v)^2 with v before the step.
SIMD_KERNEL(void, meso_viscous_begin, (Meso * meso, int64_t first, int64_t last))
/// Image of the direction; first: its product with the direction.
SIMD_KERNEL(void, meso_viscous_image, (Meso * meso, int64_t first, int64_t last))
/// Moves along the direction.
SIMD_KERNEL(void, meso_viscous_go, (Meso * meso, int64_t first, int64_t last, float way))
/// first: squared residual divided by mass.
SIMD_KERNEL(void, meso_viscous_left, (Meso * meso, int64_t first, int64_t last))
/// The next direction, published to neighbours.
SIMD_KERNEL(void, meso_viscous_turn, (Meso * meso, int64_t first, int64_t last, float kept))
