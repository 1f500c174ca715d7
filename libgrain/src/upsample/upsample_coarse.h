// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The coarse particles during one substep, as grains query them (upsample_coarse.c).
#include "base/cell_grid.h"
#include "upsample/upsample.h"

/// Reach of a coarse particle in radii; h_HR of the paper.
#define UPSAMPLE_REACH 3.0f
/// Most coarse particles around a group of blocks; if there are more, each block searches on its own.
#define UPSAMPLE_NEAR 512

/// A coarse particle as stored for the kernel.
typedef struct CoarseRecord {
    float x, y, z;    ///< m, at the start of the substep
    float vx, vy, vz; ///< m/s, mean over the substep
    float sx, sy, sz; ///< rad/s
    float height;     ///< m, against gravity
    float unused[2];
} CoarseRecord;

/// The coarse particles during one substep, in the order of their grid.
typedef struct CoarseField {
    CellGrid grid;
    float reach;     ///< m, also the side of cells
    int64_t present; ///< particles born by now
    int64_t count;   ///< those not removed: only these are in the grid
    CoarseRecord *records;
    float *x, *y, *z; ///< by index, of all present
    int32_t *alive;   ///< index in the grid -> index; only if some were removed
    float *alive_x, *alive_y, *alive_z;
    int64_t alive_capacity[4];
    float *sorted_x, *sorted_y, *sorted_z;
    Vec3 up;        ///< against gravity, a unit
    Vec3 *shift;    ///< by index, displacement over the substep; then used for spins
    float fastest;  ///< m/s
    int32_t *first; ///< by key of the cell: index of its first particle, or of the next one; one more at the end
    int is_listed;  ///< whether `first` is valid: not if there are too many cells
    int64_t capacity, first_capacity;
} CoarseField;

/// Box around a block's grains.
typedef struct BlockBox {
    float low[3], high[3];
} BlockBox;
GrainResult coarse_field_reserve(CoarseField *field, int64_t count);
/// Sets it to the coarse particles that exist at `time`, between two frames `span` seconds apart, the first of them at
/// `from_time`; their displacement is over `seconds`.
GrainResult coarse_field_set(CoarseField *field, const UpsampleCoarse *from, const UpsampleCoarse *to, double from_time,
                             double span, double time, double seconds, float radius, int threads);
/// Sets it to a single frame, with its velocities.
GrainResult coarse_field_still(CoarseField *field, const UpsampleCoarse *coarse, float radius, int threads);
/// Computes the rotation of the sand around each particle.
void coarse_field_spin(CoarseField *field, int threads);
void coarse_field_free(CoarseField *field);
/// m2, slightly more than the reach of the weights because of rounding: skipped particles must add an exact zero.
static inline float coarse_field_limit2(const CoarseField *field)
{
    return field->reach * field->reach * (1.0f + 1e-5f);
}

/// Iterates over the rows of cells within reach of a box, in the order of the grid.
typedef struct CoarseWalk {
    const CoarseField *field;
    float low[3], high[3];                   ///< of the box
    int64_t cell_low[3], cell_high[3], y, z; ///< cells' numbers
} CoarseWalk;
void coarse_walk_begin(CoarseWalk *walk, const CoarseField *field, const float low[3], const float high[3]);
/// The next range of indices, [begin, end); returns 0 at the end.
int coarse_walk_next(CoarseWalk *walk, int64_t *begin, int64_t *end);

/// Coarse particles around a group of blocks, in the order of the grid.
typedef struct CoarseNear {
    int count; ///< -1: too many to list
    float x[UPSAMPLE_NEAR + 32], y[UPSAMPLE_NEAR + 32], z[UPSAMPLE_NEAR + 32];
    CoarseRecord records[UPSAMPLE_NEAR];
} CoarseNear;
void coarse_field_near(const CoarseField *field, const BlockBox *box, CoarseNear *near);
