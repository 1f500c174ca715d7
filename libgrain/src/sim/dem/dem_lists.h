// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Who may touch whom until the lists are made again: pairs of balls, walls, and the grids that find both.
#include "base/cell_grid.h"
#include "base/vec.h"
#include "sim/material.h"
#include "sim/solver.h"

typedef struct Dem Dem;

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

// dem_lists.c
/// Makes the lists if somebody has left the skin. Springs of pairs that stay are kept.
GrainResult dem_make_lists(Dem *dem, double seconds);
/// Makes them as they were when the balls stood at their anchors; springs are 0. columns: what was saved.
GrainResult dem_restore_lists(Dem *dem, const Column *columns, int column_count);
void dem_free_lists(Dem *dem);
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

static inline int64_t dem_round_up(int64_t count)
{
    return (count + DEM_LIST_MULTIPLE - 1) / DEM_LIST_MULTIPLE * DEM_LIST_MULTIPLE;
}
