// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf_tree.h"
#include "base/alloc.h"
#include "base/error.h"

static inline int32_t slot_at(int32_t x, int32_t y, int32_t z, int level)
{
    int shift = 3 * level;
    return (z >> shift & 7) << 6 | (y >> shift & 7) << 3 | (x >> shift & 7);
}

int32_t sdf_find_block(const GrainSdf *sdf, int32_t x, int32_t y, int32_t z)
{
    int32_t extent = 1 << (3 * (sdf->depth + 1));
    if (x < 0 || y < 0 || z < 0 || x >= extent || y >= extent || z >= extent) return SDF_OUTSIDE;
    int32_t child = 0;
    for (int level = sdf->depth; level >= 1 && child >= 0; level--)
        child = sdf->nodes[(int64_t)child * SDF_NODE_CHILDREN + slot_at(x, y, z, level)];
    return child;
}

void sdf_tree_levels(const GrainSdf *sdf, int64_t first[SDF_MAX_DEPTH + 1])
{
    // A level has as many nodes as there are different keys without their lowest slots.
    int64_t total = 0;
    for (int level = sdf->depth; level >= 1; level--) {
        first[level] = total;
        for (int64_t block = 0; block < sdf->block_count; block++)
            total += block == 0 || sdf->block_key[block] >> 9 * level != sdf->block_key[block - 1] >> 9 * level;
    }
    first[0] = total;
}

GrainResult sdf_tree_build(GrainSdf *sdf)
{
    // Level by level from the root (level depth), each level in the order of the keys.
    int64_t first_of_level[SDF_MAX_DEPTH + 1];
    sdf_tree_levels(sdf, first_of_level);
    int64_t total = first_of_level[0];
    if (total > INT32_MAX / SDF_NODE_CHILDREN)
        return fail(GRAIN_ERROR_MEMORY, "the tree over the distance field would have %lld nodes: use larger voxels",
                    (long long)total);
    sdf->nodes = ALLOC(int32_t, total * SDF_NODE_CHILDREN);
    if (!sdf->nodes) return GRAIN_ERROR_MEMORY;
    sdf->node_count = total;
    for (int64_t i = 0; i < total * SDF_NODE_CHILDREN; i++) sdf->nodes[i] = SDF_OUTSIDE;
    for (int level = sdf->depth; level >= 1; level--) {
        int64_t node = first_of_level[level] - 1, child = level > 1 ? first_of_level[level - 1] - 1 : -1;
        for (int64_t block = 0; block < sdf->block_count; block++) {
            uint64_t key = sdf->block_key[block], before = block > 0 ? sdf->block_key[block - 1] : 0;
            if (block == 0 || key >> 9 * level != before >> 9 * level) node++;
            if (block == 0 || key >> 9 * (level - 1) != before >> 9 * (level - 1)) child++;
            sdf->nodes[node * SDF_NODE_CHILDREN + (int64_t)(key >> 9 * (level - 1) & 511)] = (int32_t)child;
        }
    }
    return GRAIN_OK;
}
