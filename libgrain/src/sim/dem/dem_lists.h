// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The contacts that may occur until the lists are made again: pairs of balls, walls, and the grids that find them.
#include "base/cell_grid.h"
#include "base/vec.h"
#include "sim/material.h"
#include "sim/solver.h"

typedef struct Dem Dem;

/// Lists are padded to a multiple of this length, so that vectors do not read past the end. Padding entries belong to
/// ball 0 and touch nothing.
#define DEM_LIST_MULTIPLE 16

/// A ball's shared records are padded to a multiple of this with the record that is always 0. Most balls need no more,
/// so the loop over them has a predictable length.
#define DEM_SHARED_MULTIPLE 4

/// Three components of a vector for each entry of a list.
typedef struct DemVectors {
    float *x, *y, *z;
    int64_t capacity[3];
} DemVectors;

/// Pairs of balls; a ball's own pairs are those in which it is the first.
typedef struct DemPairs {
    int64_t count;    ///< without padding
    int32_t *own;     ///< ball -> its first pair; ball count + 1 entries
    int32_t *a, *b;   ///< rows of the balls, a < b
    int32_t *mix;     ///< index of their DemMix; NULL if there is only one material
    DemVectors apart; ///< m, anchor of a minus anchor of b
    DemVectors shear; ///< m, the tangential spring; 0 where they do not touch
    DemVectors roll;  ///< m, the rolling spring
    int64_t own_capacity, a_capacity, b_capacity, mix_capacity;
} DemPairs;

/// A wall of a moving collider as it was when the lists were made: from there the plane moves with the collider.
typedef struct DemWallHeld {
    float normal[3], gap;       ///< as in DemWalls
    float sampled[3], unused_a; ///< m, offset of the ball from its anchor, seen from the collider
    float drive[3], unused_b;   ///< m/s, of a surface that bends
} DemWallHeld;
#define DEM_HELD_FLOATS 12

/// Possible contacts of balls with colliders: a plane approximates the collider near the ball.
typedef struct DemWalls {
    int64_t count;
    int32_t *ball;
    int32_t *collider;  ///< with DEM_WALL_FIXED if several planes represent one collider, in a corner
    DemVectors normal;  ///< towards the ball
    DemVectors sampled; ///< m, the ball's offset when the plane was found
    float *gap;         ///< m, from the plane to the ball's centre at that offset
    float *friction;    ///< of the collider, there
    float *pull;        ///< m/s2, pull of a sticky collider there; NULL if none is sticky
    SimGrip *part;      ///< painted factors of both there; NULL if nothing is painted
    int64_t pull_capacity, part_capacity;
    int32_t *mix; ///< of the grain's material with itself; NULL if there is only one
    DemVectors shear, roll;
    // Only in scenes with moving colliders, where dem_drive_walls updates normal, sampled and gap in every step.
    DemVectors drive;  ///< m/s, of the collider where it touches
    float *partner;    ///< 1/kg, effective inverse mass of a body in this contact; 0 for other colliders
    DemWallHeld *held; ///< unused for static colliders
    int64_t partner_capacity, held_capacity;
    int64_t ball_capacity, collider_capacity, gap_capacity, friction_capacity, mix_capacity;
} DemWalls;

#define DEM_WALL_FIXED (1 << 30)

/// A wall as found by the search, before it is listed.
typedef struct DemWallFound {
    int32_t ball, collider;
    Vec3 normal;
    float gap;
    Vec3 drive;
    SimGrip part; ///< painted
} DemWallFound;

/// Balls of very different sizes are sorted into separate grids, each with cells for its largest ball; balls of a finer
/// grid search the coarser ones too. Most scenes need one level.
#define DEM_MAX_LEVELS 8
typedef struct DemLevels {
    int count;                         ///< finest first
    CellGrid grid[DEM_MAX_LEVELS];     ///< rows within a level
    int32_t first[DEM_MAX_LEVELS + 1]; ///< level -> row of its first ball
    const int32_t *order;              ///< row -> row before sorting
    uint8_t *level;                    ///< of each ball, by row before sorting
    int32_t *by_level, *combined;      ///< only with several levels
    float *x, *y, *z;
    int64_t level_capacity, by_level_capacity, combined_capacity, x_capacity, y_capacity, z_capacity;
} DemLevels;

// dem_lists.c
/// Makes the lists if they are out of date. Springs of pairs that remain are kept.
GrainResult dem_make_lists(Dem *dem, double seconds);
/// Makes them from the anchors, as they were when saved in `columns`; springs are 0.
GrainResult dem_restore_lists(Dem *dem, const Column *columns, int column_count);
void dem_free_lists(Dem *dem);
// dem_walls.c
/// Finds the planes that represent the colliders near each ball, keeping the springs of known ones.
GrainResult dem_find_walls(Dem *dem, const int32_t *ball_before);
/// Restores the list of walls where it does not follow from the balls alone; their springs are loaded afterwards.
GrainResult dem_restore_walls(Dem *dem, const int32_t *ball, const int32_t *collider, int64_t count);
/// Updates the planes of balls that have moved along their collider.
void dem_refresh_walls(Dem *dem, int64_t first, int64_t last);
void dem_free_walls(DemWalls *walls);
/// Sets friction and stickiness of walls [first, last) to the current values of their colliders.
void dem_grip_walls(Dem *dem, int64_t first, int64_t last);

// dem_levels.c
/// Sorts balls at x, y, z with this reach (all in the current order) into levels and cells.
GrainResult dem_levels_build(DemLevels *levels, const float *x, const float *y, const float *z, const float *reach,
                             int64_t count, int threads);
void dem_levels_free(DemLevels *levels);

// dem_pairs.c
/// Finds all pairs that may touch. ball_before: row -> row in the lists before; NULL: there were none.
GrainResult dem_list_pairs(Dem *dem, const int32_t *ball_before);
void dem_free_pairs(DemPairs *pairs);

// dem_vectors.c
GrainResult dem_vectors_grow(DemVectors *vectors, int64_t count);
void dem_vectors_free(DemVectors *vectors);

static inline int64_t dem_round_up(int64_t count)
{
    return (count + DEM_LIST_MULTIPLE - 1) / DEM_LIST_MULTIPLE * DEM_LIST_MULTIPLE;
}
