// SPDX-License-Identifier: GPL-3.0-or-later
#include "sdf/sdf.h"

// What one lane finds on its way down: the corners of its cell start at values[first], or the side is known.
typedef struct Cells {
    IntV first;        // into GrainSdf.values; 0 where nothing is stored
    IntV stored;       // mask
    IntV inside;       // mask, of those not stored
    FloatV fx, fy, fz; // place in the cell, 0 to 1
} Cells;

SIMD_INLINE IntV slot_at(IntV x, IntV y, IntV z, int level)
{
    int shift = 3 * level;
    return (x >> shift & 7) + ((y >> shift & 7) << 3) + ((z >> shift & 7) << 6);
}

SIMD_INLINE Cells find_cells(const GrainSdf *sdf, FloatV x, FloatV y, FloatV z)
{
    float voxels_per_metre = 1.0f / sdf->voxel_size, extent = (float)(1 << (3 * (sdf->depth + 1)));
    FloatV u = (x - sdf->origin.x) * voxels_per_metre;
    FloatV v = (y - sdf->origin.y) * voxels_per_metre;
    FloatV w = (z - sdf->origin.z) * voxels_per_metre;
    // Also false for NaN. Lanes that are out go to voxel 0, where they can do no harm.
    IntV within = (u >= 0.0f) & (u < extent) & (v >= 0.0f) & (v < extent) & (w >= 0.0f) & (w < extent);
    FloatV zero = simd_set1(0.0f);
    u = simd_select(within, u, zero), v = simd_select(within, v, zero), w = simd_select(within, w, zero);
    IntV ix = __builtin_convertvector(u, IntV), iy = __builtin_convertvector(v, IntV),
         iz = __builtin_convertvector(w, IntV);

    IntV child = (within & 0) | (~within & SDF_OUTSIDE);
    for (int level = sdf->depth; level >= 1; level--) {
        IntV going_down = child >= 0;
        IntV index = (child & going_down) * SDF_NODE_CHILDREN + slot_at(ix, iy, iz, level);
        IntV entry = (IntV)simd_gather((const float *)sdf->nodes, index);
        child = (entry & going_down) | (child & ~going_down);
    }
    Cells cells;
    cells.stored = child >= 0;
    cells.inside = child == SDF_INSIDE;
    IntV index = child * SDF_BLOCK_VALUES + (iz & 7) * (SDF_BLOCK_PITCH * SDF_BLOCK_PITCH) +
                 (iy & 7) * SDF_BLOCK_PITCH + (ix & 7);
    cells.first = index & cells.stored;
    cells.fx = u - __builtin_convertvector(ix, FloatV);
    cells.fy = v - __builtin_convertvector(iy, FloatV);
    cells.fz = w - __builtin_convertvector(iz, FloatV);
    return cells;
}

typedef struct Samples {
    FloatV distance, gx, gy, gz;
} Samples;

SIMD_INLINE FloatV mix(FloatV a, FloatV b, FloatV t) { return a + (b - a) * t; }

SIMD_INLINE Samples sample_lanes(const GrainSdf *sdf, FloatV x, FloatV y, FloatV z)
{
    enum { Y = SDF_BLOCK_PITCH, Z = SDF_BLOCK_PITCH * SDF_BLOCK_PITCH };
    Cells c = find_cells(sdf, x, y, z);
    const float *values = sdf->values;
    FloatV v000 = simd_gather(values, c.first), v100 = simd_gather(values + 1, c.first);
    FloatV v010 = simd_gather(values + Y, c.first), v110 = simd_gather(values + Y + 1, c.first);
    FloatV v001 = simd_gather(values + Z, c.first), v101 = simd_gather(values + Z + 1, c.first);
    FloatV v011 = simd_gather(values + Z + Y, c.first), v111 = simd_gather(values + Z + Y + 1, c.first);

    FloatV x00 = mix(v000, v100, c.fx), x10 = mix(v010, v110, c.fx);
    FloatV x01 = mix(v001, v101, c.fx), x11 = mix(v011, v111, c.fx);
    FloatV y0 = mix(x00, x10, c.fy), y1 = mix(x01, x11, c.fy);
    float per_voxel = 1.0f / sdf->voxel_size;
    FloatV zero = simd_set1(0.0f);
    FloatV far = simd_select(c.inside, simd_set1(-sdf->half_width), simd_set1(sdf->half_width));
    Samples s;
    s.distance = simd_select(c.stored, mix(y0, y1, c.fz), far);
    FloatV along_x = mix(mix(v100 - v000, v110 - v010, c.fy), mix(v101 - v001, v111 - v011, c.fy), c.fz);
    FloatV along_y = mix(x10 - x00, x11 - x01, c.fz);
    s.gx = simd_select(c.stored, along_x * per_voxel, zero);
    s.gy = simd_select(c.stored, along_y * per_voxel, zero);
    s.gz = simd_select(c.stored, (y1 - y0) * per_voxel, zero);
    return s;
}

void SIMD_NAME(sdf_sample)(const GrainSdf *sdf, const float *x, const float *y, const float *z, int64_t count,
                           float *distance, float *gx, float *gy, float *gz)
{
    int64_t i = 0;
    for (; i + SIMD_LANES <= count; i += SIMD_LANES) {
        Samples s = sample_lanes(sdf, simd_load(x + i), simd_load(y + i), simd_load(z + i));
        simd_store(distance + i, s.distance);
        if (gx) simd_store(gx + i, s.gx), simd_store(gy + i, s.gy), simd_store(gz + i, s.gz);
    }
    if (i == count) return;
    // The last few through a vector of their own: the caller's arrays end here.
    float px[SIMD_LANES] = {0}, py[SIMD_LANES] = {0}, pz[SIMD_LANES] = {0};
    size_t bytes = (size_t)(count - i) * sizeof(float);
    memcpy(px, x + i, bytes), memcpy(py, y + i, bytes), memcpy(pz, z + i, bytes);
    Samples s = sample_lanes(sdf, simd_load(px), simd_load(py), simd_load(pz));
    memcpy(distance + i, &s.distance, bytes);
    if (gx) memcpy(gx + i, &s.gx, bytes), memcpy(gy + i, &s.gy, bytes), memcpy(gz + i, &s.gz, bytes);
}
