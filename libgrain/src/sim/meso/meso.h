// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The mesoscopic model of Luciani 2000, "From granular avalanches to fluid turbulences through oozing pastes":
/// particles that are parcels of matter, with an elastic and a viscous force along the line of their centres, each a
/// sum of straight pieces that act between two distances (SimMeso; docs/meso.md).
///
///     F_elastic = sum of K (rest - D)     where from <= D <= to
///     F_viscous = sum of -Z dD/dt         where from <= D <= to
///
/// A step kicks, then drifts. Viscous forces that are too stiff for its length are taken where the step ends instead of
/// where it begins (meso_viscous.c), so that no viscosity and no reach of it shortens the step.
#include "base/simd.h"
#include "sim/neighbours/neighbours_rows.h"
#include "sim/solver.h"

/// What a particle is, in SI units; places count from SolverBase.origin.
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

/// What is worked out in each step.
typedef enum MesoWork {
    MESO_NEXT_U, ///< velocity that the step ends with
    MESO_NEXT_V,
    MESO_NEXT_W,
    // of the implicit solution, N s
    MESO_LEFT_U, ///< momentum that is still missing
    MESO_LEFT_V,
    MESO_LEFT_W,
    MESO_ALONG_U, ///< direction of search, m/s
    MESO_ALONG_V,
    MESO_ALONG_W,
    MESO_IMAGE_U, ///< what the direction does to momentum
    MESO_IMAGE_V,
    MESO_IMAGE_W,
    MESO_WORKS
} MesoWork;

/// A particle as its neighbours see it: side by side, so that it comes with two loads.
typedef struct MesoRecord {
    float place[3], radius;
    float velocity[3], mass;
} MesoRecord;
#define MESO_RECORD_FLOATS 8

/// Numbers that hold for all particles.
typedef struct MesoRules {
    SimMeso law; ///< K and Z of a pair: strength times the sum of radii
    float gravity[3];
    float dt;                           ///< s, of this step
    int implicit;                       ///< viscous forces are those at the end of the step
    float wall;                         ///< radii: how near a centre comes to a wall
    float wall_viscosity, wall_viscous; ///< Pa s, and within how many radii of the wall
} MesoRules;

/// What a block notes in a step.
typedef struct MesoNote {
    float stiff, thick;          ///< 1/s2, 1/s: largest sum of K and of Z over mass
    double first, second, third; ///< sums of the implicit solution
} MesoNote;

typedef struct Meso {
    SolverBase base;
    MesoRules rules;
    Neighbours neighbours;
    NeighbourRows rows;
    double lightest;    ///< kg
    float smallest;     ///< m: of radii
    float fastest;      ///< m/s
    float stiff, thick; ///< 1/s2, 1/s: of the last step, no less than what is expected
    float stiff_floor, thick_floor;
    int64_t steps;
    int64_t solved, iterations; ///< steps with an implicit solution, and how many passes it took; no part of the state
    float *field[MESO_FIELDS];
    float *works;
    float *work[MESO_WORKS];
    MesoRecord *records; ///< room + 1, the last is nobody's: what neighbours see, as it was when the step began
    float *seen;         ///< four numbers each, as many: velocities that the implicit solution looks at, of neighbours
    int32_t must_record; ///< fields have changed since
    MesoNote *notes;     ///< of each block
    int64_t *pressed;    ///< contacts of each body in this step
    int32_t must_list;
    float *weight; ///< Z / D2, N s/m3, for each row of the lists and each lane: of the implicit solution
    int64_t weight_capacity;
} Meso;

extern const Solver meso_solver;

// meso_change.c
/// Solver.change; the first particles come that way too.
GrainResult meso_change(void *state, const SimChange *change);
GrainResult meso_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void meso_push(void *state, const Vec3 *acceleration, double seconds);
double meso_mass(float density, float radius);

// meso.c
/// Viscosity as it is from now on.
void meso_steer_viscosity(Meso *meso, float viscosity);

// meso_viscous.c
/// Solves M (v - v*) = -dt C v for the velocities v that the step ends with, from v* in MESO_NEXT_U.
void meso_solve_viscous(Meso *meso);

// meso_walls.c
/// Which walls a block is near, and how fast they come closer.
void meso_meet_walls(Meso *meso, int64_t block);
/// How many contacts every body has in this step.
void meso_count_pressed(Meso *meso);
/// Changes the velocities a block's step ends with so that nothing passes walls. Called before and after an implicit
/// solution: what the first call has stopped is held in between.
void meso_hold_at_walls(Meso *meso, int64_t block);
/// Sticky walls hold what leaves them, at the end of a step.
void meso_stick_to_walls(Meso *meso, int64_t block);
/// Of the momentum that is missing, what walls keep from particles they hold.
void meso_keep_at_walls(Meso *meso, int64_t block);

// --- kernels: for blocks [first, last) ------------------------------------------------------------

/// Records from fields.
SIMD_KERNEL(void, meso_record, (Meso * meso, int64_t first, int64_t last))
/// The velocities the step ends with, but for what is implicit.
SIMD_KERNEL(void, meso_kick, (Meso * meso, int64_t first, int64_t last))
/// Places after the step.
SIMD_KERNEL(void, meso_drift, (Meso * meso, int64_t first, int64_t last))

// Of the implicit solution. Sums go to MesoNote.
/// v* for neighbours to look at.
SIMD_KERNEL(void, meso_viscous_show, (Meso * meso, int64_t first, int64_t last))
/// What momentum v* lacks; second: m v*^2; third: m (v* - v)^2 with v before the step.
SIMD_KERNEL(void, meso_viscous_begin, (Meso * meso, int64_t first, int64_t last))
/// The image of the direction; first: image times direction.
SIMD_KERNEL(void, meso_viscous_image, (Meso * meso, int64_t first, int64_t last))
/// Goes along by this much.
SIMD_KERNEL(void, meso_viscous_go, (Meso * meso, int64_t first, int64_t last, float way))
/// first: what momentum is missing, squared over mass.
SIMD_KERNEL(void, meso_viscous_left, (Meso * meso, int64_t first, int64_t last))
/// The next direction, for neighbours to look at.
SIMD_KERNEL(void, meso_viscous_turn, (Meso * meso, int64_t first, int64_t last, float kept))
