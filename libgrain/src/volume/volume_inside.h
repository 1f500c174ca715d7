// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shared by the files of this folder.
#include "base/simd.h"
#include "volume/volume.h"

#define VOLUME_VOXELS 512

/// A particle in voxels, relative to the first voxel of its block.
typedef struct VolumePoint {
    float x, y, z;
    float velocity[3];
    float amount;        ///< in voxels
    float inverse_width; ///< 1 / voxels
    float radius;        ///< voxels
} VolumePoint;

/// The particles of one block.
typedef struct VolumeCell {
    uint64_t key;
    int64_t first, end;
} VolumeCell;

/// Particles sorted by block, and the blocks they reach.
typedef struct VolumeLattice {
    const VolumeDef *def;
    int64_t low[3]; ///< of keys: the block that has key 0
    int bits[3];    ///< of a key, along each axis
    VolumePoint *points;
    VolumeCell *cells;
    int64_t cell_count;
    uint64_t *block_key; ///< ascending
    int64_t block_count;
} VolumeLattice;

// volume_blocks.c
GrainResult volume_lattice_make(VolumeLattice *lattice, const VolumeDef *def, const VolumeParticles *in, int threads);
void volume_lattice_free(VolumeLattice *lattice);
/// The cell `step` blocks away from a block, or NULL.
const VolumeCell *volume_cell_near(const VolumeLattice *lattice, uint64_t block_key, const int step[3]);
/// Fills in corners and neighbours.
GrainResult volume_place_blocks(Volume *volume, const VolumeLattice *lattice, int threads);
/// The values of a block with a layer of its neighbours' values at the six sides: voxel (x, y, z) at (z + 1) * 100 + (y
/// + 1) * 10 + x + 1.
void volume_pad(const Volume *volume, const float *values, int64_t stride, int64_t block, float missing,
                float padded[1000]);
static inline int volume_padded_index(int voxel)
{
    return ((voxel >> 6) + 1) * 100 + ((voxel >> 3 & 7) + 1) * 10 + (voxel & 7) + 1;
}

// volume_velocity.c
/// Converts momentum to velocity and extends it beyond the sand.
GrainResult volume_finish_velocity(Volume *volume, float seconds, int threads);

// volume_distance.c
/// Converts the level function of Zhu and Bridson to distances.
GrainResult volume_finish_distance(Volume *volume, int threads);

// volume_gather_kernel.c
typedef struct VolumeSums {
    float amount[VOLUME_VOXELS];
    float momentum[3][VOLUME_VOXELS];
    float weight[VOLUME_VOXELS], offset[3][VOLUME_VOXELS], radius[VOLUME_VOXELS]; ///< of the surface; voxels
} VolumeSums;
/// Adds points to the block whose first voxel lies at -shift from their own.
SIMD_KERNEL(void, volume_gather_amount,
            (VolumeSums * sums, const VolumePoint *points, int64_t count, const float shift[3], int has_velocity))
SIMD_KERNEL(void, volume_gather_surface,
            (VolumeSums * sums, const VolumePoint *points, int64_t count, const float shift[3], float radii))
/// Reach of a particle for the surface, in voxels: at least two, so that it does not fall between voxels.
static inline float volume_surface_reach(float radius, float radii)
{
    float reach = radius * radii;
    return reach < 2.0f ? 2.0f : reach > 8.0f ? 8.0f : reach;
}
