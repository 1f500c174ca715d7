// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Neighbour lists for solvers whose particles are sorted by cell. Eight consecutive particles form a block. Each
/// particle lists all particles it can reach before the lists are rebuilt. The eight lists of a block are interleaved,
/// so that a row contains one neighbour of each:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     rows   [ 3  0  0  1 ...        ]   the first neighbour of each lane
///            [ 4  2  1 -- ...        ]   the second; -- is padding: a particle out of reach of all others
///
/// Both partners list each other, so a lane sums over its own neighbours in a fixed order, needs no other lane's
/// results, and has the same bits whatever else is in its block. Blocks also list the colliders near them and find the
/// contacts with these in every step.
#include "base/cell_grid.h"
#include "base/simd.h"
#include "sim/rigid/rigid.h"
#include "sim/rigid/rigid_view.h"

#define BLOCK_LANES 8
/// Walls a particle can meet at once.
#define BLOCK_WALLS 3
#define BLOCK_CONTACTS (BLOCK_LANES * BLOCK_WALLS)
/// Coordinate (m) of unused lanes and of the padding particle, out of reach of all particles.
#define BLOCK_NOWHERE 1e6f

/// A particle near a wall.
typedef struct BlockContact {
    int32_t lane, object;
    float distance;       ///< m, of the centre
    Vec3 normal, speed;   ///< of the wall
    float friction, pull; ///< of the wall: tangent; m/s2, by which it is sticky
    // The solver's to set:
    Vec3 push;       ///< N, on the particle: what a body gives
    float approach;  ///< m/s, along the normal, before the step; below 0 they come closer
    float off, slid; ///< m/s that the wall has given along its normal, and taken along itself, in this step
    float kept;      ///< N s towards the wall that it kept from the particle
    int32_t holds;   ///< the particle does not leave it or pass it in this step
} BlockContact;

typedef struct Block {
    int64_t row, row_end;   ///< of the lists
    int64_t near, near_end; ///< objects that stand near it
    int32_t contact_count;
    int32_t meets_body;
    float middle[3], reach; ///< a ball around its particles when the lists were made
    float moved, fastest;   ///< m2 since then, m2/s2: largest of its particles
} Block;                    // one cache line

typedef struct Neighbours {
    int64_t count, room, block_count; ///< particles; in whole blocks; blocks
    int threads;
    int has_moving;   ///< among the objects
    Rigid *rigid;     ///< borrowed
    double origin[3]; ///< m: places count from here
    float reach;      ///< of particles, over the sum of their radii
    float largest;    ///< m: of radii
    float skin;       ///< m: how much farther lists look
    float wall_reach; ///< m, from a centre to a wall
    float *place[3];  ///< borrowed: where the particles are
    float *radius;    ///< borrowed
    float *listed[3]; ///< where they were when the lists were made
    float *extent;    ///< m: two particles are listed when the sum of theirs is longer than the way between them
    int32_t *id;      ///< place in the order of birth
    float *before;    ///< room, for sorting
    int32_t *id_before;
    CellGrid grid;
    Block *block;
    BlockContact *contact; ///< BLOCK_CONTACTS of each block
    int32_t *list;         ///< BLOCK_LANES per row; padding is `room`
    int32_t *near;
    int32_t *found;       ///< of each thread: lists before they are set side by side
    int64_t found_room;   ///< of a lane
    int64_t rows_a_block; ///< that there is room for, on average
    int64_t list_capacity, near_capacity, found_capacity;
} Neighbours;

/// Room for this many particles, of whom those that were there before keep their id; lists must be made again. A zeroed
/// Neighbours is a valid start; reach, largest, skin, wall_reach, place, radius, rigid and has_moving are the caller's
/// to set.
GrainResult neighbours_resize(Neighbours *neighbours, int64_t count, int threads);
void neighbours_free(Neighbours *neighbours);

/// Sorts the columns of particles (each of `room` numbers, places among them) and makes the lists.
GrainResult neighbours_sort(Neighbours *neighbours, float *const *columns, int column_count);
/// Makes the lists from where the particles were when they were sorted last.
GrainResult neighbours_make_lists(Neighbours *neighbours);
/// Whether a particle has gone so far that the lists must be made again; *fastest in m/s.
int neighbours_have_left(const Neighbours *neighbours, float *fastest);

/// Which walls a block's particles are near now: its contacts, all but what is the solver's to set.
void neighbours_meet_walls(const Neighbours *neighbours, int64_t block);
/// Hands the opposite of what walls gave to the bodies among them, one after another, so that the bits do not depend on
/// who was first.
void neighbours_load_bodies(const Neighbours *neighbours);

static inline Vec3d neighbours_place_of(const Neighbours *neighbours, int64_t i)
{
    return vec3d((double)neighbours->place[0][i] + neighbours->origin[0],
                 (double)neighbours->place[1][i] + neighbours->origin[1],
                 (double)neighbours->place[2][i] + neighbours->origin[2]);
}
static inline BlockContact *neighbours_contacts_of(const Neighbours *neighbours, int64_t block)
{
    return neighbours->contact + block * BLOCK_CONTACTS;
}
/// Rows that there is room for.
static inline int64_t neighbours_row_room(const Neighbours *neighbours)
{
    return neighbours->list_capacity / BLOCK_LANES;
}
/// How many of a block's lanes are particles.
static inline int neighbours_lanes_of(const Neighbours *neighbours, int64_t block)
{
    int64_t left = neighbours->count - block * BLOCK_LANES;
    return left < BLOCK_LANES ? (int)left : BLOCK_LANES;
}

// --- kernels ----------------------------------------------------------------------------------------

#define NEIGHBOURS_FOUND_SHORT (-1)
/// Makes the lists of blocks [first, last) in rows from `row` on; returns how many that took, or would have taken where
/// they are more than `rows`; or NEIGHBOURS_FOUND_SHORT. found: found_room for each lane.
SIMD_KERNEL(int64_t, neighbours_fill_lists,
            (const Neighbours *neighbours, int64_t first, int64_t last, int64_t row, int64_t rows, int32_t *found))
