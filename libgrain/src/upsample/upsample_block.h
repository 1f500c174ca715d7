// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A block of grains: its sums over coarse particles, the walls around it, and its kernels.
#include "base/simd.h"
#include "upsample/upsample_coarse.h"

/// Grains processed together: their sums fit into the first-level cache.
#define UPSAMPLE_BLOCK 256
/// Most colliders around a block; if there are more, all colliders are tested.
#define UPSAMPLE_NEAR_WALLS 32

/// Sums over the coarse particles around each grain of a block.
typedef struct BlockSums {
    float weight[UPSAMPLE_BLOCK + 32];
    float height[UPSAMPLE_BLOCK + 32];  ///< of the coarse particles; not for the paper's scheme
    float largest[UPSAMPLE_BLOCK + 32]; ///< of the weights; only for the paper's scheme
    float vx[UPSAMPLE_BLOCK + 32], vy[UPSAMPLE_BLOCK + 32], vz[UPSAMPLE_BLOCK + 32];
    float sx[UPSAMPLE_BLOCK + 32], sy[UPSAMPLE_BLOCK + 32], sz[UPSAMPLE_BLOCK + 32];
} BlockSums;

/// Colliders near the grains of a block at the start of a substep.
typedef struct BlockWalls {
    float distance[UPSAMPLE_BLOCK + 32];
    float nx[UPSAMPLE_BLOCK + 32], ny[UPSAMPLE_BLOCK + 32], nz[UPSAMPLE_BLOCK + 32];
    float vx[UPSAMPLE_BLOCK + 32], vy[UPSAMPLE_BLOCK + 32], vz[UPSAMPLE_BLOCK + 32]; ///< of the nearest wall there
    int nearest[UPSAMPLE_BLOCK + 32];                                                ///< which collider; -1: none near
    int near[UPSAMPLE_NEAR_WALLS]; ///< colliders that may be within `range` of a grain during the substep, ascending
    int near_count;                ///< -1: too many to list
    float range;                   ///< m
} BlockWalls;

typedef struct StepNumbers {
    UpsampleScheme scheme;
    float seconds;
    float inverse_reach2;            ///< 1 / h^2
    float wall_range;                ///< m
    float flies, is_sand;            ///< sums of weights
    float blend;                     ///< seconds over UPSAMPLE_BLEND_TIME
    float friction;                  ///< m/s removed by full sand in the substep
    float gx, gy, gz;                ///< m/s gained by falling for the substep
    float weight_at_radius;          ///< of the paper's second case
    float ux, uy, uz;                ///< upwards, a unit; 0 without gravity
    float hang_low, hang_high;       ///< m: sand this far above a grain, without any below, does not support it
    float carry_low, carry_high;     ///< m: a wall this far below supports it
    float tumbling;                  ///< rad/m: rotation of a free grain over its path
    float squeeze_low, squeeze_high; ///< m: distances from a wall between which the flow towards it fades out
} StepNumbers;

SIMD_KERNEL(void, upsample_box, (const float *x, const float *y, const float *z, int count, BlockBox *box))
/// Lists the indices in [*begin, end) that are nearer to the box than the root of limit2, in order, until there is no
/// room for another vector; *begin is then the index to continue from. Returns their number. May write one entry past
/// the last.
SIMD_KERNEL(int, upsample_gather,
            (const float *x, const float *y, const float *z, int64_t *begin, int64_t end, const BlockBox *box,
             float limit2, int32_t *out, int room))
/// Positions of a block's grains.
typedef struct BlockPlaces {
    const float *x, *y, *z;
    int count;
} BlockPlaces;
/// Coarse particles within reach of some of them.
typedef struct CoarseList {
    const CoarseRecord *records;
    const int32_t *entry; ///< indices of records
    int count;
    float reach; ///< m
} CoarseList;
/// Adds the listed coarse particles to the sums of the grains. The first call for a block clears the sums, the last one
/// divides them by the weights.
enum { SUM_SPIN = 1, SUM_PAPER = 2, SUM_FIRST = 4, SUM_LAST = 8 };
SIMD_KERNEL(void, upsample_accumulate, (const BlockPlaces *places, const CoarseList *near, int flags, BlockSums *sums))
/// Coarse particles whose spin is computed together.
#define UPSAMPLE_SPIN_BLOCK 16
/// Sums around each of them: moments of the velocities, and of the masses.
typedef struct SpinSums {
    float x[UPSAMPLE_SPIN_BLOCK], y[UPSAMPLE_SPIN_BLOCK], z[UPSAMPLE_SPIN_BLOCK], inertia[UPSAMPLE_SPIN_BLOCK];
} SpinSums;
SIMD_KERNEL(void, upsample_add_spin,
            (const CoarseRecord *own, int count, const CoarseRecord *coarse, const int32_t *list, int list_count,
             float reach, SpinSums *sums))
/// The amount of supporting sand around each grain, to compare with StepNumbers.flies and .is_sand. Not used by the
/// paper's scheme. walls may be NULL.
SIMD_KERNEL(void, upsample_sand,
            (const float *x, const float *y, const float *z, int count, const StepNumbers *step, const BlockSums *sums,
             const BlockWalls *walls, float *sand))
/// A block's grains: x, y and z of each.
typedef struct BlockGrains {
    float *position[3], *velocity[3];
    int count;
} BlockGrains;
/// Velocities from the sums (walls may be NULL); moves the grains too if walls is NULL. alpha receives the remaining
/// fraction of the grain's own motion, 0 to 1. Returns the largest speed.
SIMD_KERNEL(float, upsample_blend,
            (const BlockGrains *grains, const StepNumbers *step, const BlockSums *sums, const BlockWalls *walls,
             const float *sand, float *alpha))

/// Rotates the grains (w, x, y, z) over a frame with the sand around them; grains at rest are not rotated.
SIMD_KERNEL(void, upsample_turn,
            (float *const q[4], const float *const v[3], int count, const StepNumbers *step, const BlockSums *sums,
             const float *alpha, float seconds))
