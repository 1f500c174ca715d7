// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Signed distances in a sparse narrow band.
///
/// Space is cut into voxels, 8 x 8 x 8 voxels make a block, and only blocks that hold a part of the band are stored. A
/// tree of nodes with 8 x 8 x 8 children finds them; where nothing is stored, the tree knows the side:
///
///     nodes[0] (root) -> ... -> node of level 1 -> block
///              \-> SDF_INSIDE or SDF_OUTSIDE wherever the surface is farther away than the band is wide
///
/// All paths have the same length (depth), so that the lanes of a vector go down in step. A block stores 9 x 9 x 9
/// values: its own 8 x 8 x 8 and, on its three far sides, copies of the next block's first ones. So each of its 512
/// cells has all eight corners at hand, for interpolation and for surface extraction alike.
///
/// The value at a voxel belongs to the point sdf_voxel_position, not to a box.
#include "base/simd.h"
#include "base/vec.h"
#include "grain/sdf.h"

#define SDF_BLOCK_PITCH 9
#define SDF_BLOCK_VALUES (SDF_BLOCK_PITCH * SDF_BLOCK_PITCH * SDF_BLOCK_PITCH)
#define SDF_NODE_CHILDREN 512
/// What a node's entry says where no child is stored; children are counted from 0.
#define SDF_OUTSIDE (-1)
#define SDF_INSIDE (-2)
/// 8^8 voxels along an axis: more than float32 coordinates can tell apart.
#define SDF_MAX_DEPTH 7

struct GrainSdf {
    Vec3 origin;         ///< m, where voxel (0, 0, 0) is
    float voxel_size;    ///< m
    float half_width;    ///< m, of the band
    int32_t lattice[3];  ///< voxel (0, 0, 0) counted from the world's origin: meshes in motion keep their lattice
    int32_t depth;       ///< levels of nodes; there are 8^(depth + 1) voxels along an axis
    int64_t block_count; ///< at least 1
    int64_t node_count;
    int32_t *nodes;      ///< node_count * 512 entries: child index, SDF_OUTSIDE or SDF_INSIDE
    float *values;       ///< block_count * 729 distances (m), x fastest, held at plus or minus half_width
    uint64_t *block_key; ///< where each block is (sdf_block_corner); ascending
    Vec3 bounds_low, bounds_high;
};

/// Trilinear value (m) and, unless NULL, its gradient. Beyond the band: plus or minus half_width, gradient 0.
float sdf_sample_point(const GrainSdf *sdf, Vec3 position, Vec3 *gradient);
/// The same for many points, bit by bit. gx, gy, gz may be NULL together. One thread: callers cut their points into
/// blocks of their own.
void sdf_sample(const GrainSdf *sdf, const float *x, const float *y, const float *z, int64_t count, float *distance,
                float *gx, float *gy, float *gz);

/// Box around all that is inside or in the band (m).
void sdf_bounds(const GrainSdf *sdf, Vec3 *low, Vec3 *high);
static inline float sdf_voxel_size(const GrainSdf *sdf) { return sdf->voxel_size; }
/// Half width of the band (m).
static inline float sdf_half_width(const GrainSdf *sdf) { return sdf->half_width; }

// --- walking over all of the band, in an order that never changes ---------------------------------
//
//     for (int64_t block = 0; block < sdf->block_count; block++) {
//         int32_t corner[3];
//         sdf_block_corner(sdf, block, corner);
//         const float *values = sdf_block_values(sdf, block);
//         // cell (x, y, z), 0 to 7 each: corners values[sdf_block_index(x + 0..1, y + 0..1, z + 0..1)],
//         // the first of them at sdf_voxel_position(sdf, corner[0] + x, corner[1] + y, corner[2] + z)
//     }

/// Voxel coordinates of the block's first voxel.
static inline void sdf_block_corner(const GrainSdf *sdf, int64_t block, int32_t corner[3])
{
    uint64_t key = sdf->block_key[block];
    corner[0] = corner[1] = corner[2] = 0;
    for (int level = 1; level <= sdf->depth; level++, key >>= 9)
        for (int axis = 0; axis < 3; axis++) corner[axis] |= (int32_t)(key >> (3 * axis) & 7) << (3 * level);
}

/// Position in a block's values of one of its 9 x 9 x 9.
static inline int32_t sdf_block_index(int x, int y, int z) { return (z * SDF_BLOCK_PITCH + y) * SDF_BLOCK_PITCH + x; }

static inline const float *sdf_block_values(const GrainSdf *sdf, int64_t block)
{
    return sdf->values + block * SDF_BLOCK_VALUES;
}

static inline Vec3 sdf_voxel_position(const GrainSdf *sdf, int32_t x, int32_t y, int32_t z)
{
    return vec3((float)((double)sdf->origin.x + (double)x * (double)sdf->voxel_size),
                (float)((double)sdf->origin.y + (double)y * (double)sdf->voxel_size),
                (float)((double)sdf->origin.z + (double)z * (double)sdf->voxel_size));
}

/// The block that holds this voxel, or SDF_INSIDE or SDF_OUTSIDE.
int32_t sdf_find_block(const GrainSdf *sdf, int32_t x, int32_t y, int32_t z);

SIMD_KERNEL(void, sdf_sample,
            (const GrainSdf *sdf, const float *x, const float *y, const float *z, int64_t count, float *distance,
             float *gx, float *gy, float *gz))
