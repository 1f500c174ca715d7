// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles as voxels, in sparse blocks of 8 x 8 x 8: density, velocity and distance from the surface. Voxel (i, j, k)
/// is at voxel_size * (i, j, k), as in OpenVDB.
///
/// Every particle belongs to the block of its nearest voxel; a block gathers the particles of the 27 blocks around it,
/// in the order of blocks and then of particles. No two threads write to the same voxel, and the sums have the same
/// bits for any number of threads.
#include "base/vec.h"
#include "grain/base.h"

/// A particle's amount is spread by a quadratic B-spline, 3 widths across; its influence must end within a block.
#define VOLUME_MOST_WIDTH 5.0f
/// Half width of the band of distances, in voxels.
#define VOLUME_BAND 3.0f

typedef struct VolumeParticles {
    int64_t count;
    const Vec3 *position;               ///< m
    const Vec3 *velocity;               ///< m/s; NULL unless velocities are requested
    const float *radius;                ///< m
    double amount_each, amount_of_cube; ///< m3 of sand in a particle: amount_each + amount_of_cube * radius^3
    const float *amount;                ///< m3, replaces these unless NULL
    const float *width;                 ///< m; NULL: a particle's diameter. At least a voxel, at most VOLUME_MOST_WIDTH
} VolumeParticles;

typedef struct VolumeDef {
    float voxel_size;       ///< m
    float velocity_seconds; ///< above 0: make velocities, extended beyond the sand by its motion in this time
    float surface_radii;    ///< above 0: make distances; reach of a particle, for the surface around it
} VolumeDef;

typedef struct Volume {
    double voxel_size; ///< m
    int64_t block_count;
    int32_t *corner;    ///< 3 for each block: its first voxel
    int32_t *neighbour; ///< 6 for each: the blocks at -x, +x, -y, ...; -1 for none
    float *density;     ///< fraction of the voxel filled with sand; 512 for each block, x fastest
    float *velocity;    ///< m/s; 3 x 512 for each block. NULL unless requested
    float *distance;    ///< m, below 0 inside, never beyond the band. NULL unless requested
} Volume;

GrainResult volume_make(Volume *out, const VolumeDef *def, const VolumeParticles *particles, int threads);
void volume_free(Volume *volume);
/// Upper bound of the memory needed, without the input.
double volume_bytes(int64_t particles, int64_t blocks, const VolumeDef *def);
