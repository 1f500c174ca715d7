#pragma once
/// The tree over the blocks of a GrainSdf, and what lies between the blocks.
#include "sdf/sdf.h"

/// Marks voxels whose distance nobody has measured: they are beyond the band, on a side yet to be found.
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

/// Settles the side of every voxel marked SDF_FAR and of every entry without a child, starting from the voxels that
/// are known, and copies the neighbours' values into the blocks' far sides. Sets *conflicts to the number of places
/// where both sides claimed the same empty region, which a closed, outward mesh that does not cross itself never has.
GrainResult sdf_tree_fill(GrainSdf *sdf, int threads, int64_t *conflicts);
