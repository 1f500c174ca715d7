// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The coarse sand during one substep, as grains look for it (upsample_coarse.c).
#include "base/cell_grid.h"
#include "upsample/upsample.h"

/// Reach of a coarse particle over its radius; the paper's h_HR.
#define UPSAMPLE_REACH 3.0f
/// Coarse particles around a group of blocks, at most; where there are more, each block looks for itself.
#define UPSAMPLE_NEAR 512

/// A coarse particle as the kernel reads it.
typedef struct CoarseRecord {
    float x, y, z;    ///< m, at the start of the substep
    float vx, vy, vz; ///< m/s, mean over the substep
    float sx, sy, sz; ///< rad/s
    float height;     ///< m, against gravity
    float unused[2];
} CoarseRecord;

/// The coarse sand during one substep, in the order of its grid.
typedef struct CoarseField {
    CellGrid grid;
    float reach;     ///< m, also the cells' side
    int64_t present; ///< particles born by now
    int64_t count;   ///< those of them that are not gone: only these are in the grid
    CoarseRecord *records;
    float *x, *y, *z; ///< by index, of all present
    int32_t *alive;   ///< index in the grid -> index; only where some are gone
    float *alive_x, *alive_y, *alive_z;
    int64_t alive_capacity[4];
    float *sorted_x, *sorted_y, *sorted_z;
    Vec3 up;       ///< against gravity, a unit
    Vec3 *shift;   ///< by index, displacement over the substep; then used for spins
    float fastest; ///< m/s
    int32_t
        *first; ///< place of the first particle of a cell or of one behind it, by the cell's key, one more at the end
    int is_listed; ///< whether it is: not where cells are too many
    int64_t capacity, first_capacity;
} CoarseField;

/// Box around a block's grains.
typedef struct BlockBox {
    float low[3], high[3];
} BlockBox;
GrainResult coarse_field_reserve(CoarseField *field, int64_t count);
/// The coarse particles that are there at `time`, between the two frames `span` seconds apart, of which the first is at
/// `from_time`; displaced over `seconds`.
GrainResult coarse_field_set(CoarseField *field, const UpsampleCoarse *from, const UpsampleCoarse *to, double from_time,
                             double span, double time, double seconds, float radius, int threads);
/// As it stands in one frame, with its velocities.
GrainResult coarse_field_still(CoarseField *field, const UpsampleCoarse *coarse, float radius, int threads);
/// How the sand turns around each particle.
void coarse_field_spin(CoarseField *field, int threads);
void coarse_field_free(CoarseField *field);
/// m2. A little farther than the weights reach, for rounding: what is left out must add an exact zero.
static inline float coarse_field_limit2(const CoarseField *field)
{
    return field->reach * field->reach * (1.0f + 1e-5f);
}

/// Goes through the rows of cells that a box and the reach around it touch, in the order of the grid.
typedef struct CoarseWalk {
    const CoarseField *field;
    float low[3], high[3];                   ///< of the box
    int64_t cell_low[3], cell_high[3], y, z; ///< cells' numbers
} CoarseWalk;
void coarse_walk_begin(CoarseWalk *walk, const CoarseField *field, const float low[3], const float high[3]);
/// The next run of places, [begin, end); 0 when there is none.
int coarse_walk_next(CoarseWalk *walk, int64_t *begin, int64_t *end);

/// Coarse particles around a group of blocks, in the order of the grid.
typedef struct CoarseNear {
    int count; ///< -1: too many to list
    float x[UPSAMPLE_NEAR + 32], y[UPSAMPLE_NEAR + 32], z[UPSAMPLE_NEAR + 32];
    CoarseRecord records[UPSAMPLE_NEAR];
} CoarseNear;
void coarse_field_near(const CoarseField *field, const BlockBox *box, CoarseNear *near);
