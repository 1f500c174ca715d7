#pragma once
/// Who is near whom, for solvers whose particles stand in the order of their cells. Eight that follow each other make a
/// block, and a block has one list of all particles that one of its eight can reach before the lists are made again:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     list   j0, j1, j2, ...             one after another, the same for all lanes: no gathers, no scatter
///
/// What a lane does not reach adds nothing to it, so a lane's sum has the same bits whatever it shares a block with.
/// Blocks also know which solid objects they come near to, and meet them in every step.
#include "base/cell_grid.h"
#include "base/simd.h"
#include "sim/rigid/rigid.h"
#include "sim/rigid/rigid_view.h"

#define BLOCK_LANES 8
/// Walls a particle can meet at once.
#define BLOCK_WALLS 3
/// Lanes of no particle stand here (m), beyond everybody's reach.
#define BLOCK_NOWHERE 1e6f

/// A particle near a wall.
typedef struct BlockContact {
    int32_t lane, object;
    float distance;     ///< m, of the centre
    Vec3 normal, speed; ///< of the wall
    // The solver's to set:
    Vec3 push;       ///< N, on the particle: what a body gives
    float approach;  ///< m/s, along the normal, before the step; below 0 they come closer
    float off, slid; ///< m/s that the wall has given along its normal, and taken along itself, in this step
    float kept;      ///< N s towards the wall that it kept from the particle
    int32_t holds;   ///< the particle does not leave it or pass it in this step
} BlockContact;

typedef struct Block {
    int64_t list;           ///< first entry of its list; the next block's is its end
    int64_t near, near_end; ///< objects that stand near it
    int32_t contact_count;
    int32_t meets_body;
    float middle[3], reach; ///< a ball around its particles when the lists were made
    float moved, fastest;   ///< m2 since then, m2/s2: largest of its particles
    BlockContact contact[BLOCK_LANES * BLOCK_WALLS];
} Block;

typedef struct Blocks {
    int64_t count, room, block_count; ///< particles; in whole blocks; blocks
    int threads;
    int has_moving;    ///< among the objects
    Rigid *rigid;      ///< borrowed
    double origin[3];  ///< m: places count from here
    float reach, skin; ///< m: of particles; how much farther lists look
    float wall_reach;  ///< m, from a centre to a wall
    float *place[3];   ///< borrowed: where the particles are
    float *listed[3];  ///< where they were when the lists were made
    int32_t *id;       ///< place in the order of birth
    float *before;     ///< room, for sorting
    int32_t *id_before;
    CellGrid grid;
    Block *block; ///< block_count + 1
    int32_t *list;
    int32_t *near;
    int64_t list_capacity, near_capacity;
} Blocks;

/// Room for this many particles, of whom those that were there before keep their id; lists must be made again. A zeroed
/// Blocks is a valid start; reach, skin, wall_reach, place, rigid and has_moving are the caller's to set.
GrainResult blocks_resize(Blocks *blocks, int64_t count, int threads);
void blocks_free(Blocks *blocks);

/// Sorts the columns of particles (each of `room` numbers, places among them) and makes the lists.
GrainResult blocks_sort(Blocks *blocks, float *const *columns, int column_count);
/// Makes the lists from where the particles were when they were sorted last.
GrainResult blocks_make_lists(Blocks *blocks);
/// Whether a particle has gone so far that the lists must be made again; *fastest in m/s.
int blocks_have_left(const Blocks *blocks, float *fastest);

/// Which walls a block's particles are near now: its contacts, all but what is the solver's to set.
void blocks_meet_walls(const Blocks *blocks, int64_t block);
/// Hands the opposite of what walls gave to the bodies among them, one after another, so that the bits do not depend on
/// who was first.
void blocks_load_bodies(const Blocks *blocks);

static inline Vec3d blocks_place_of(const Blocks *blocks, int64_t i)
{
    return vec3d((double)blocks->place[0][i] + blocks->origin[0], (double)blocks->place[1][i] + blocks->origin[1],
                 (double)blocks->place[2][i] + blocks->origin[2]);
}
/// How many of a block's lanes are particles.
static inline int blocks_lanes_of(const Blocks *blocks, int64_t block)
{
    int64_t left = blocks->count - block * BLOCK_LANES;
    return left < BLOCK_LANES ? (int)left : BLOCK_LANES;
}

// --- kernels: for blocks [first, last) ------------------------------------------------------------

SIMD_KERNEL(void, blocks_count_list, (const Blocks *blocks, int64_t first, int64_t last))
SIMD_KERNEL(void, blocks_fill_list, (const Blocks *blocks, int64_t first, int64_t last))
