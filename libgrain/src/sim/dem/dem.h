// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Discrete elements: grains as spheres that push, rub and roll (Bell, Yu, Mucha 2005; docs/dem.md has the laws).
///
/// The balls are kept sorted by cell. Every pair that may touch before the lists are made again stands once in a list;
/// one loop over pairs works out the force of each (SIMD over pairs, results into one record a pair), a second loop
/// over balls sums its records in a fixed order and moves the ball:
///
///     lists      ball 0: pairs 0 1 2 | ball 1: pairs 3 4 | ...      a ball's own pairs stand side by side,
///                ball 7: records 2 4 .. and of walls 991 ..          the others' are listed in `shared`
///     pairs      record[pair] = force on the first ball, moment     no two pairs write to the same place
///     move       ball += own records, -= shared records             no two balls write to the same place
///
/// So nothing depends on who computes what, and each contact is worked out once. Contacts with colliders are records
/// too.
///
/// Places are kept as anchor + offset: the anchor is where the ball was when the lists were made, the offset how far it
/// has come since, and a pair keeps the difference of its anchors. So overlaps, which are some millionths of a radius
/// for grains at rest, are exact to a ten-millionth of a radius however far the scene is from the origin.
#include "base/cell_grid.h"
#include "base/real.h"
#include "base/simd.h"
#include "shape/shape.h"
#include "sim/dem/dem_law.h"
#include "sim/dem/dem_sleep.h"
#include "sim/solver_base.h"

extern const Solver dem_solver;

/// What the loops over pairs read and move writes: one cache line.
typedef struct DemBall {
    float offset[3], radius;         ///< m since the lists were made; m
    float velocity[3], inverse_mass; ///< m/s; 1/kg
    float spin[3], inverse_inertia;  ///< rad/s; 1/(kg m2), 0 for a ball of a larger grain
    float anchor[3], skin_squared;   ///< m; m2, when the offset is longer than the skin, lists are made again
} DemBall;
#define DEM_BALL_FLOATS 16

/// A grain of several balls that move as one. Its balls follow it; contacts only ever see balls.
///
/// What it has turned since the lists were made is kept apart from how it faced then, as its way is from its anchor: so
/// that the tiny turns of a grain at rest are not lost in rounding.
typedef struct DemGrain {
    float offset[3], inverse_mass;
    float velocity[3], radius;          ///< radius: of the ball around it
    float momentum[3], unused_a;        ///< kg m2/s, angular, in the world's axes
    float turned[3], unused_b;          ///< x, y, z of the quaternion of what it has turned since the lists were made
    float spin[3], unused_c;            ///< rad/s
    float inverse_inertia[3], unused_d; ///< about its principal axes
    float facing[4];                    ///< w, x, y, z: from principal axes to the world when the lists were made
    float anchor[3], unused_e;
} DemGrain;
#define DEM_GRAIN_FLOATS 32

/// Where a ball is on its grain, from the grain's centre, in the world's axes (m).
typedef struct DemArm {
    float listed[3], unused_a; ///< when the lists were made
    float now[3], unused_b;
    float rounding[3], unused_c; ///< anchor of the grain + listed - anchor of the ball
} DemArm;

/// Lists are as long as a multiple of this, so that no vector reaches past their end. The entries that fill them up
/// belong to ball 0 and touch nothing.
#define DEM_LIST_MULTIPLE 16

/// A ball's shared records are as many as a multiple of this; those too many are the one that is always 0. Most balls
/// have no more, and the processor need not guess how many there are.
#define DEM_SHARED_MULTIPLE 4

/// Three components of a vector for each entry of a list.
typedef struct DemVectors {
    float *x, *y, *z;
    int64_t capacity[3];
} DemVectors;

/// Pairs of balls; a ball's own pairs are those in which it is the first.
typedef struct DemPairs {
    int64_t count;    ///< without the filling
    int32_t *own;     ///< ball -> its first pair; ball count + 1 entries
    int32_t *a, *b;   ///< places of the balls, a < b
    int32_t *mix;     ///< which DemMix they have; NULL when there is only one kind of grain
    DemVectors apart; ///< m, anchor of a minus anchor of b
    DemVectors shear; ///< m, the tangential spring; 0 where they do not touch
    DemVectors roll;  ///< m, the rolling spring
    int64_t own_capacity, a_capacity, b_capacity, mix_capacity;
} DemPairs;

/// A wall of a collider that moves, as it was when the lists were made: the plane goes with the collider from there.
typedef struct DemWallHeld {
    float normal[3], gap;       ///< as in DemWalls
    float sampled[3], unused_a; ///< m, offset of the ball from its anchor, seen from the collider
    float drive[3], unused_b;   ///< m/s, of a surface that bends
} DemWallHeld;
#define DEM_HELD_FLOATS 12

/// Places where a collider may touch a ball: a plane that stands for the collider near the ball.
typedef struct DemWalls {
    int64_t count;
    int32_t *ball;
    int32_t *collider;  ///< DEM_WALL_FIXED is set where several planes stand for one collider, in a corner
    DemVectors normal;  ///< towards the ball
    DemVectors sampled; ///< m, the ball's offset when the plane was found
    float *gap;         ///< m, from the plane to the ball's centre at that offset
    float *friction;    ///< of the collider, there
    float *pull;        ///< m/s2, by which the collider is sticky there; NULL when none ever is
    SimGrip *part;      ///< what is painted there, of both; NULL when nothing is
    int64_t pull_capacity, part_capacity;
    int32_t *mix; ///< the grain's kind with itself; NULL when there is only one
    DemVectors shear, roll;
    // Only in scenes where something moves; then dem_drive_walls writes normal, sampled and gap in every step.
    DemVectors drive;  ///< m/s, of the collider where it touches
    float *partner;    ///< 1/kg, what a body's mass counts for in this contact; 0 for other colliders
    DemWallHeld *held; ///< means nothing for colliders that stand
    int64_t partner_capacity, held_capacity;
    int64_t ball_capacity, collider_capacity, gap_capacity, friction_capacity, mix_capacity;
} DemWalls;

#define DEM_WALL_FIXED (1 << 30)

/// A wall as it is found, before it gets a place in the lists.
typedef struct DemWallFound {
    int32_t ball, collider;
    Vec3 normal;
    float gap;
    Vec3 drive;
    SimGrip part; ///< painted
} DemWallFound;

/// Balls of very different sizes are sorted into grids of their own, each with cells for the largest of it; the balls
/// of a finer grid look for partners in the coarser ones too. Most scenes need one level.
#define DEM_MAX_LEVELS 8
typedef struct DemLevels {
    int count;                         ///< finest first
    CellGrid grid[DEM_MAX_LEVELS];     ///< places within a level
    int32_t first[DEM_MAX_LEVELS + 1]; ///< level -> place of its first ball
    const int32_t *order;              ///< place -> place before
    uint8_t *level;                    ///< of each ball, as it stood before
    int32_t *by_level, *combined;      ///< only with several levels
    float *x, *y, *z;
    int64_t level_capacity, by_level_capacity, combined_capacity, x_capacity, y_capacity, z_capacity;
} DemLevels;

typedef struct Dem {
    SolverBase base;
    int is_sticky, is_painted; ///< some of the colliders
    float smallest_radius;     ///< m, of all balls
    float largest_margin;      ///< m, that a collider may move before lists are made again
    int32_t *loaded;           ///< walls of bodies
    int32_t *pressed;          ///< body -> how many walls it has
    int64_t loaded_count, loaded_capacity, pressed_capacity;
    int64_t count; ///< balls; those of grains that are gone are not stored
    DemLaw law;
    DemMixes mixes;

    // In sorted order.
    DemBall *balls, *balls_before;
    int32_t *id, *id_before;  ///< order of birth
    uint8_t *material;        ///< kind of grain, in the order of birth; NULL when there is only one
    float *x, *y, *z, *reach; ///< m: places when the lists were made, and radius + skin; in sorted order

    // Grains of several balls, in the order of their first ball's place. All NULL when there are none.
    int64_t grain_count;
    DemGrain *grains, *grains_before;
    int32_t *grain_id, *grain_id_before; ///< order of birth among the grains of several balls
    DemArm *arms;                        ///< of each ball, by place
    float *push, *turn;                  ///< N, N m: sums of each ball of a grain, by place
    int32_t *body;                       ///< of each ball, by place: balls with the same number do not touch
    // By order of birth.
    int32_t *place;          ///< ball -> its place
    int32_t *grain_first;    ///< grain -> its first ball; grain_count + 1 entries
    uint8_t *grain_shape;    ///< grain -> its shape
    int32_t *grain_particle; ///< grain -> the particle it is outside
    int32_t *ball_particle;  ///< ball -> the particle it is, or belongs to
    int32_t *particle_grain; ///< particle -> its grain; -1 for a ball alone
    BallShape *shapes;
    // Of everything that ever was, for numbers are not given twice.
    int64_t ball_born, grain_born;
    int64_t particle_capacity, ball_capacity, grain_capacity; ///< that there is room for
    int32_t *stood;       ///< place -> its place in the lists before particles came or went, -1 for who came
    int32_t *ball_before; ///< the same by the places in the new lists
    int64_t stood_capacity, before_capacity;
    int has_changed; ///< the two mean something

    DemLevels levels;
    DemPairs pairs, pairs_before; ///< of pairs_before only own, b, shear and roll mean anything
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

    int32_t must_list; ///< somebody left the skin, or nothing is listed yet
    int64_t block_count;
} Dem;

// dem_change.c
/// Room for particles that are born now, on top of those there are.
GrainResult dem_reserve(Dem *dem, const Particles *born);
/// As many threads as the balls are worth.
void dem_set_threads(Dem *dem);
GrainResult dem_change(void *state, const SimChange *change);
GrainResult dem_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake);
void dem_push(void *state, const Vec3 *acceleration, double seconds);

// dem_grains.c
/// How many balls and grains of several balls these particles are, numbered from SolverBase.born on.
void dem_count_grains(const Dem *dem, const Particles *born, int64_t *balls, int64_t *grains);
/// Balls and grains as they start, behind those there are; kinds: of each, or NULL.
void dem_start_grains(Dem *dem, const Particles *born, const uint8_t *kinds);
/// The present state becomes the one that turns and offsets are counted from; anchors of their balls follow.
void dem_anchor_grains(Dem *dem);
/// Grains of particles that are gone leave; their balls are gone already.
void dem_remove_grains(Dem *dem, const uint8_t *gone);
/// After the balls have been sorted: grains in the order of their first ball, and where each ball is on its grain.
void dem_sort_grains(Dem *dem);
void dem_place_arms(Dem *dem);
/// How the shape as it was given has to be turned to face as grain g does now.
Quat dem_grain_orientation(const Dem *dem, int64_t g);
void dem_free_grains(Dem *dem);

// dem.c
double dem_longest_step(const Dem *dem);

// dem_lists.c
/// Makes the lists if somebody has left the skin. Springs of pairs that stay are kept.
GrainResult dem_make_lists(Dem *dem, double seconds);
/// Makes them as they were when the balls stood at their anchors; springs are 0. columns: what was saved.
GrainResult dem_restore_lists(Dem *dem, const Column *columns, int column_count);
void dem_free_lists(Dem *dem);
/// GRAIN_ERROR_DIVERGED with the name of a particle that is nowhere.
GrainResult dem_name_lost(const Dem *dem);

// dem_walls.c
/// Finds the planes that stand for the colliders near each ball, keeping the springs of those before.
GrainResult dem_find_walls(Dem *dem, const int32_t *ball_before);
/// The walls as they were listed, when that does not follow from the balls alone; what they have learnt is still to
/// come.
GrainResult dem_restore_walls(Dem *dem, const int32_t *ball, const int32_t *collider, int64_t count);
/// Looks at the colliders again for balls that have moved on.
void dem_refresh_walls(Dem *dem, int64_t first, int64_t last);
void dem_free_walls(DemWalls *walls);
/// Friction and stickiness of walls [first, last) as their colliders have them now.
void dem_grip_walls(Dem *dem, int64_t first, int64_t last);

// dem_drive.c
/// Puts walls [first, last) of colliders that move where they are now.
void dem_drive_walls(Dem *dem, int64_t first, int64_t last);
/// What of the walls belongs to bodies; called when walls have been found.
GrainResult dem_list_loads(Dem *dem);
/// Hands what the walls felt on to the bodies.
void dem_load_bodies(Dem *dem);

// dem_rkf45.c
/// "symplectic", the default, and "rkf45"; NULL-ended.
extern const char *const dem_integrator_names[];
/// GRAIN_ERROR_ARGUMENT for an unknown name in the def.
GrainResult dem_adaptive_create(Dem *dem);
void dem_adaptive_destroy(struct DemAdaptive *adaptive);
/// Advances by this much in as many steps as the tolerance asks for.
GrainResult dem_adaptive_advance(Dem *dem, double seconds);
/// s, of the next step; kept in checkpoints.
double *dem_adaptive_step(struct DemAdaptive *adaptive);

// dem_sleep.c
GrainResult dem_sleep_create(Dem *dem);
void dem_sleep_free(Dem *dem);
/// Room for as many balls as there is room for.
GrainResult dem_sleep_reserve(Dem *dem);
/// Wakes what touches or nearly touches particles that go.
void dem_sleep_wake(Dem *dem, const uint8_t *gone);
/// After the balls have been sorted.
void dem_sleep_sort(Dem *dem);
/// Who sleeps, by how long everybody has been quiet; after the lists have been made, and at the end of a window.
GrainResult dem_sleep_choose(Dem *dem);
/// Looks at the balls when it is time.
GrainResult dem_sleep_end_step(Dem *dem);

// dem_energy.c
void dem_measure(const void *state, SimStats *out);

// dem_levels.c
/// Sorts balls at x, y, z with this reach (all in the order they stand in) into levels and cells.
GrainResult dem_levels_build(DemLevels *levels, const float *x, const float *y, const float *z, const float *reach,
                             int64_t count, int threads);
void dem_levels_free(DemLevels *levels);

// dem_pairs.c
/// Finds all pairs that may touch; ball_before[place] is where a ball stood in the lists before, NULL: there were none.
GrainResult dem_list_pairs(Dem *dem, const int32_t *ball_before);
void dem_free_pairs(DemPairs *pairs);

// dem_vectors.c
GrainResult dem_vectors_grow(DemVectors *vectors, int64_t count);
void dem_vectors_free(DemVectors *vectors);

/// How a vector changes when it is turned by the quaternion with these x, y, z. No digit is lost however small the
/// turn.
static inline Vec3 dem_turn_arm(Vec3 turned, Vec3 arm)
{
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    Vec3 cross = vec3_cross(turned, arm);
    return vec3_scale(vec3_add(vec3_scale(cross, w), vec3_cross(turned, cross)), 2.0f);
}

static inline int64_t dem_round_up(int64_t count)
{
    return (count + DEM_LIST_MULTIPLE - 1) / DEM_LIST_MULTIPLE * DEM_LIST_MULTIPLE;
}

// --- kernels ------------------------------------------------------------------------------------

/// What the two loops over contacts need to know. They work on a copy of their own: a store into an array might change
/// what they were given by address, for all the compiler knows, and everything would be read again and again.
typedef struct DemWork {
    const DemBall *balls;
    DemPairs pairs;
    DemWalls walls;
    float *force, *moment, *torque; ///< torque is NULL when nothing resists rolling
    DemLaw law;                     ///< for a substep of this length
    const DemMixes *mixes;
    float seconds;
    int wakes_all;   ///< pairs of balls that sleep are worked out too
    int gives_rates; ///< springs are read as they are, and overwritten by how fast they stretch
} DemWork;

// dem_forces.c
/// The forces of all contacts, into their records.
void dem_find_forces(Dem *dem, const DemWork *work);
/// Balls and grains by these.
void dem_move_all(Dem *dem, float seconds);

// dem.c
/// Work as it is for the default integrator, save for the law.
DemWork dem_work(const Dem *dem);

/// Forces of pairs [first, last), both multiples of DEM_LIST_MULTIPLE, into their records.
SIMD_KERNEL(void, dem_pairs, (const DemWork *work, int64_t first, int64_t last))
/// The same for walls; their records stand behind those of the pairs.
SIMD_KERNEL(void, dem_walls, (const DemWork *work, int64_t first, int64_t last, int64_t first_record))
/// Sums the records of balls [first, last) and moves them. Returns whether one of them left its skin.
SIMD_KERNEL(int32_t, dem_move, (const Dem *dem, int64_t first, int64_t last, float seconds))
/// Moves grains [first, last) by the sums of their balls, and the balls with them. Returns whether a ball left its
/// skin.
SIMD_KERNEL(int32_t, dem_grains, (const Dem *dem, int64_t first, int64_t last, float seconds))
/// Partners b > a of the balls of cells [first_cell, last_cell) of a level into found (room for `room` of them), how
/// many each ball has into own[ball]. Returns how many there are in all, also when that is more than room.
SIMD_KERNEL(int64_t, dem_search,
            (const Dem *dem, int level, int64_t first_cell, int64_t last_cell, int32_t *own, int32_t *found,
             int64_t room))
