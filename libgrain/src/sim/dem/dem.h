// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Discrete elements: grains as spheres that push, rub and roll (Bell, Yu, Mucha 2005; docs/dem.md has the laws).
///
/// The balls are sorted by cell. Every pair that may touch before the lists are made again is listed once. A first loop
/// over pairs computes their forces (SIMD over pairs, one record per pair); a second loop over balls sums the records
/// of each ball in a fixed order and moves it:
///
///     lists      ball 0: pairs 0 1 2 | ball 1: pairs 3 4 | ...      a ball's own pairs are contiguous,
///                ball 7: records 2 4 .. and of walls 991 ..          the others are listed in `shared`
///     pairs      record[pair] = force on the first ball, moment     no two pairs write to the same place
///     move       ball += own records, -= shared records             no two balls write to the same place
///
/// The result therefore does not depend on the distribution of work, and each contact is computed once. Contacts with
/// colliders are records too. The row of a ball is its index in the sorted arrays; its id is its place in the order of
/// birth.
///
/// Positions are stored as anchor + offset: the anchor is the position when the lists were made, the offset the
/// displacement since, and a pair stores the difference of its anchors. Overlaps, some millionths of a radius for
/// grains at rest, are therefore exact to a ten-millionth of a radius at any distance from the origin.
#include "base/simd.h"
#include "shape/shape.h"
#include "sim/dem/dem_grains.h"
#include "sim/dem/dem_law.h"
#include "sim/dem/dem_lists.h"
#include "sim/dem/dem_sleep.h"
#include "sim/solver_base.h"

extern const Solver dem_solver;

/// The state that the pair loop reads and the move loop writes: one cache line.
typedef struct DemBall {
    float offset[3], radius;         ///< m since the lists were made; m
    float velocity[3], inverse_mass; ///< m/s; 1/kg
    float spin[3], inverse_inertia;  ///< rad/s; 1/(kg m2), 0 for a ball of a larger grain
    float anchor[3], skin_squared;   ///< m; m2, lists are made again when the offset is longer than the skin
} DemBall;
#define DEM_BALL_FLOATS 16

struct Dem {
    SolverBase base;
    int is_sticky, is_painted; ///< some of the colliders
    float smallest_radius;     ///< m, of all balls
    float largest_margin;      ///< m: how far a collider may move before lists are made again
    int32_t *loaded;           ///< walls of bodies
    int32_t *pressed;          ///< body -> how many walls it has
    int64_t loaded_count, loaded_capacity, pressed_capacity;
    int64_t count; ///< balls; those of removed grains are not stored
    DemLaw law;
    DemMixes mixes;

    // In sorted order.
    DemBall *balls, *balls_before;
    int32_t *id, *id_before;  ///< order of birth
    uint8_t *material;        ///< kind of grain, in the order of birth; NULL when there is only one
    float *x, *y, *z, *reach; ///< m: anchors, and radius + skin

    // Grains of several balls, in the order of their first ball's row. All NULL if there are none.
    int64_t grain_count;
    DemGrain *grains, *grains_before;
    int32_t *grain_id, *grain_id_before; ///< order of birth among the grains of several balls
    DemArm *arms;                        ///< of each ball, by row
    float *push, *turn;                  ///< N, N m: sums of each ball of a grain, by row
    int32_t *body;                       ///< of each ball, by row: balls with the same number do not touch
    // By order of birth.
    int32_t *row;            ///< ball -> its row
    int32_t *grain_first;    ///< grain -> its first ball; grain_count + 1 entries
    uint8_t *grain_shape;    ///< grain -> its shape
    int32_t *grain_particle; ///< grain -> its particle
    int32_t *ball_particle;  ///< ball -> its particle
    int32_t *particle_grain; ///< particle -> its grain; -1 for a single ball
    BallShape *shapes;
    // Numbers ever given; they are not reused.
    int64_t ball_born, grain_born;
    int64_t particle_capacity, ball_capacity, grain_capacity; ///< reserved
    int32_t *row_before;  ///< row -> its row in the lists before particles were added or removed; -1: added
    int32_t *ball_before; ///< the same by the rows of the new lists
    int64_t row_before_capacity, before_capacity;
    int has_changed; ///< the two are valid

    DemLevels levels;
    DemPairs pairs, pairs_before; ///< of pairs_before only own, b, shear and roll are valid
    DemWalls walls, walls_before;
    int32_t *shared;       ///< records in which a ball is the second, or touches a wall
    int32_t *shared_start; ///< ball -> its first entry in shared; count + 2 entries, the last is not used
    float *force, *moment,
        *torque;          ///< records: force on the first ball (N), its moment for a lever of 1 (N), rolling (N m)
    int64_t record_count; ///< of pairs and walls; the one behind them is always 0
    int32_t *found;       ///< partners as the search finds them, found_per_ball for each ball of a block
    int64_t found_per_ball;
    DemWallFound *wall_found; ///< wall_room for each block
    int64_t wall_room, wall_found_capacity;
    int64_t *block_walls; ///< how many were found, block by block; block_count + 1 entries
    int64_t block_walls_capacity;
    int64_t shared_capacity, force_capacity, moment_capacity, torque_capacity, found_capacity;

    DemSleep sleep;
    struct DemAdaptive *adaptive; ///< NULL: the default integrator
    int64_t steps_done, steps_rejected;

    int32_t must_list; ///< a ball left its skin, or nothing is listed yet
    int64_t block_count;
};

// dem_change.c
/// Reserves memory for new particles.
GrainResult dem_reserve(Dem *dem, const Particles *born);
/// Chooses the number of threads for the number of balls.
void dem_set_threads(Dem *dem);
GrainResult dem_change(void *state, const SimChange *change);
GrainResult dem_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void dem_push(void *state, const Vec3 *acceleration, double seconds);

// dem.c
double dem_longest_step(const Dem *dem);
/// GRAIN_ERROR_DIVERGED, naming a particle without a finite position.
GrainResult dem_name_lost(const Dem *dem);

// dem_drive.c
/// Moves walls [first, last) with their colliders.
void dem_drive_walls(Dem *dem, int64_t first, int64_t last);
/// Lists the walls that belong to bodies; call after walls were found.
GrainResult dem_list_loads(Dem *dem);
/// Applies the forces on walls to their bodies.
void dem_load_bodies(Dem *dem);

// dem_save.c
extern const ColumnRule dem_column_rules[];
int dem_save(const void *state, Column columns[SOLVER_MAX_COLUMNS]);
GrainResult dem_load(void *state, const Column *columns, int column_count);

// dem_rkf45.c
/// "symplectic", the default, and "rkf45"; NULL-ended.
extern const char *const dem_integrator_names[];
/// GRAIN_ERROR_ARGUMENT for an unknown name in the def.
GrainResult dem_adaptive_create(Dem *dem);
void dem_adaptive_destroy(struct DemAdaptive *adaptive);
/// Advances by this time in as many steps as the tolerance requires.
GrainResult dem_adaptive_advance(Dem *dem, double seconds);
/// s, of the next step; kept in checkpoints.
double *dem_adaptive_step(struct DemAdaptive *adaptive);

// dem_sleep.c
GrainResult dem_sleep_create(Dem *dem);
void dem_sleep_free(Dem *dem);
/// Reserves memory for dem->ball_capacity balls.
GrainResult dem_sleep_reserve(Dem *dem);
/// Wakes balls that touch or nearly touch particles about to be removed.
void dem_sleep_wake(Dem *dem, const uint8_t *gone);
/// After the balls have been sorted.
void dem_sleep_sort(Dem *dem);
/// Decides which balls sleep, by how long they have been quiet; called after the lists were made and at the end of a
/// window.
GrainResult dem_sleep_choose(Dem *dem);
/// Ends a window when it is due.
GrainResult dem_sleep_end_step(Dem *dem);

// dem_energy.c
void dem_measure(const void *state, SimStats *out);
