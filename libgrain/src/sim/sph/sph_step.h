// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The kernels of a step, for those blocks of [first, last) that are in Sph.active.
#include "sim/sph/sph.h"

// Lists: for blocks [first, last).
SIMD_KERNEL(void, sph_list_count, (const Sph *sph, int64_t first, int64_t last))
SIMD_KERNEL(void, sph_list_fill, (const Sph *sph, int64_t first, int64_t last))

/// Velocity gradient and new stress.
SIMD_KERNEL(void, sph_elastoplastic_stress, (Sph * sph, int64_t first, int64_t last))
/// Acceleration by stress, viscosity and gravity.
SIMD_KERNEL(void, sph_elastoplastic_force, (Sph * sph, int64_t first, int64_t last))

/// Part filled; acceleration by everything but pressure and friction, and the velocities it leads to.
SIMD_KERNEL(void, sph_ihmsen2013_begin, (Sph * sph, int64_t first, int64_t last))
/// Corrects pressure and friction by what the velocities would lead to.
SIMD_KERNEL(void, sph_ihmsen2013_correct, (Sph * sph, int64_t first, int64_t last))
/// The acceleration that follows, of particles by each other.
SIMD_KERNEL(void, sph_ihmsen2013_force, (Sph * sph, int64_t first, int64_t last))

// Sums over what a block reaches, for one block; lane by lane.
/// Velocities' differences times slopes, row by row.
SIMD_KERNEL(void, sph_sum_gradient,
            (const Sph *sph, const float *const velocity[3], int64_t block, float sum[9][BLOCK_LANES]))
/// Forces by symmetric stress.
SIMD_KERNEL(void, sph_sum_symmetric, (const Sph *sph, int64_t block, float sum[3][BLOCK_LANES]))
/// Forces by any stress, and by viscosity.
SIMD_KERNEL(void, sph_sum_stress, (const Sph *sph, int64_t block, float sum[3][BLOCK_LANES]))

/// How moisture spreads: into SPH_WET.
SIMD_KERNEL(void, sph_soak, (Sph * sph, int64_t first, int64_t last))
/// Velocities, moisture and places after the step.
SIMD_KERNEL(void, sph_move, (Sph * sph, int64_t first, int64_t last))
