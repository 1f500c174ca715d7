// SPDX-License-Identifier: GPL-3.0-or-later
#define SIMD_FIXED_LANES 8 // a row of a block
#include "volume/volume_inside.h"

#include <math.h>

typedef struct Range {
    int first, last;
} Range;

// Voxels of a row that are nearer than reach.
SIMD_INLINE Range range_of(float at, float reach)
{
    int first = (int)ceilf(at - reach), last = (int)floorf(at + reach);
    return (Range){first < 0 ? 0 : first, last > 7 ? 7 : last};
}

// Quadratic B-spline, 0 from 1.5 on.
SIMD_INLINE float spline(float t)
{
    t = fabsf(t);
    float far = 1.5f - t;
    return t < 0.5f ? 0.75f - t * t : t < 1.5f ? 0.5f * far * far : 0.0f;
}

SIMD_INLINE FloatV spline_row(FloatV t)
{
    t = simd_abs(t);
    FloatV far = simd_max(1.5f - t, simd_set1(0.0f));
    return simd_select(t < 0.5f, 0.75f - t * t, 0.5f * far * far);
}

SIMD_INLINE FloatV lane_numbers(void) { return (FloatV){0, 1, 2, 3, 4, 5, 6, 7}; }

SIMD_INLINE void add_row(float *row, FloatV value) { simd_store(row, simd_load(row) + value); }

void SIMD_NAME(volume_gather_amount)(VolumeSums *sums, const VolumePoint *points, int64_t count, const float shift[3],
                                     int has_velocity)
{
    for (int64_t i = 0; i < count; i++) {
        const VolumePoint *p = &points[i];
        float x = p->x + shift[0], y = p->y + shift[1], z = p->z + shift[2], inverse = p->inverse_width;
        float reach = 1.5f / inverse;
        Range rows = range_of(y, reach), slices = range_of(z, reach);
        if (x + reach < 0.0f || x - reach > 7.0f || rows.first > rows.last || slices.first > slices.last) continue;
        FloatV along = spline_row((lane_numbers() - x) * inverse) * p->amount;
        for (int k = slices.first; k <= slices.last; k++) {
            float across = spline(((float)k - z) * inverse);
            for (int j = rows.first; j <= rows.last; j++) {
                int row = 64 * k + 8 * j;
                FloatV amount = along * (across * spline(((float)j - y) * inverse));
                add_row(sums->amount + row, amount);
                for (int axis = 0; has_velocity && axis < 3; axis++)
                    add_row(sums->momentum[axis] + row, amount * p->velocity[axis]);
            }
        }
    }
}

// Zhu and Bridson 2005: the weighted mean of the particles' centres and radii makes one ball for each voxel.
void SIMD_NAME(volume_gather_surface)(VolumeSums *sums, const VolumePoint *points, int64_t count, const float shift[3],
                                      float radii)
{
    for (int64_t i = 0; i < count; i++) {
        const VolumePoint *p = &points[i];
        float x = p->x + shift[0], y = p->y + shift[1], z = p->z + shift[2];
        float reach = volume_surface_reach(p->radius, radii), scale = 1.0f / (reach * reach);
        Range rows = range_of(y, reach), slices = range_of(z, reach);
        if (x + reach < 0.0f || x - reach > 7.0f || rows.first > rows.last || slices.first > slices.last) continue;
        FloatV dx = x - lane_numbers();
        for (int k = slices.first; k <= slices.last; k++) {
            float dz = z - (float)k;
            for (int j = rows.first; j <= rows.last; j++) {
                float dy = y - (float)j;
                int row = 64 * k + 8 * j;
                FloatV s = simd_max(1.0f - (dx * dx + (dy * dy + dz * dz)) * scale, simd_set1(0.0f));
                FloatV weight = s * s * s;
                add_row(sums->weight + row, weight);
                add_row(sums->offset[0] + row, weight * dx);
                add_row(sums->offset[1] + row, weight * dy);
                add_row(sums->offset[2] + row, weight * dz);
                add_row(sums->radius + row, weight * p->radius);
            }
        }
    }
}
