// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The tree over the blocks of a GrainSdf, and what lies between the blocks.
#include "sdf/sdf.h"

/// Marks voxels beyond the band, whose distance is not computed and whose sign is not yet known.
#define SDF_FAR 1e30f

/// The key of the block that holds this voxel. Keys ascend node by node, so that near blocks are near in memory.
static inline uint64_t sdf_block_key(int32_t x, int32_t y, int32_t z, int depth)
{
    uint64_t key = 0;
    for (int level = depth; level >= 1; level--) {
        int shift = 3 * level;
        key = key << 9 | (uint64_t)((z >> shift & 7) << 6 | (y >> shift & 7) << 3 | (x >> shift & 7));
    }
    return key;
}

/// Makes the nodes from depth and block_key. Entries without a child say SDF_OUTSIDE.
GrainResult sdf_tree_build(GrainSdf *sdf);
/// first[level] is the first node of that level, for levels 1 to depth; first[0] is node_count.
void sdf_tree_levels(const GrainSdf *sdf, int64_t first[SDF_MAX_DEPTH + 1]);

/// Settles the side of a place where it cannot be told from its neighbours. Coordinates are voxels.
typedef struct SdfJudge {
    void (*judge)(const void *user, const float *x, const float *y, const float *z, int64_t count, uint8_t *inside);
    const void *user;
} SdfJudge;

/// Settles the side of every voxel marked SDF_FAR and of every entry without a child, starting from the voxels that
/// are known. *conflicts gets the number of places where both sides claimed the same empty region, which a closed,
/// outward mesh that does not cross itself never has. With a judge, such regions are asked for point by point.
GrainResult sdf_fill(GrainSdf *sdf, const SdfJudge *judge, int threads, int64_t *conflicts);
/// Copies the neighbours' first values to the far sides of each block.
void sdf_copy_far_sides(GrainSdf *sdf, int threads);
/// Places where the field cannot be a distance: neighbours that differ by more than the way between them. `doubtful`
/// gets a 1 for each block where it can be one, but bends sharply near a change of side: at an edge or a corner, or
/// because layers closer than two voxels lie in front of each other, and the nearest one tells the wrong side. Only
/// with the far sides copied.
GrainResult sdf_count_contradictions(const GrainSdf *sdf, int threads, int64_t *count, uint8_t *doubtful);

/// Settles the far voxels of one block; returns the conflicts, or SDF_NOTHING_KNOWN and changes nothing.
#define SDF_NOTHING_KNOWN (-1)
SIMD_KERNEL(int64_t, sdf_fill_block, (float *values, float half_width))
/// The largest difference between neighbours, far sides included.
SIMD_KERNEL(float, sdf_steepest, (const float *values))
/// Of all three voxels in a row with both sides among them, the largest second difference. before: the blocks before
/// this one along x, y and z; NULL: there is none. Far sides have to be copied.
SIMD_KERNEL(float, sdf_sharpest_turn, (const float *values, const float *const before[3], float half_width))
