// SPDX-License-Identifier: GPL-3.0-or-later
#include "view/points_light.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "view/points_kernel.h"

#include <math.h>
#include <string.h>

#define MOST_CELLS 96 // along the longest side: a megabyte of brightness at most, which caches hold
#define BLOCK 16384
#define MOST_COUNTING 8 // threads: each takes up to 4 MB
// Grains farther from the mean than this, in standard deviations, are strays: a few that fell off the table must not
// make the grid coarse for all others.
#define REACH 3.0

typedef struct Moments {
    double sum[3], square[3], low[3], high[3];
} Moments;

static Moments moments_of(const float *positions, int64_t begin, int64_t end)
{
    Moments m = {.low = {INFINITY, INFINITY, INFINITY}, .high = {-INFINITY, -INFINITY, -INFINITY}};
    for (int64_t i = begin; i < end; i++)
        for (int k = 0; k < 3; k++) {
            double x = (double)positions[3 * i + k];
            m.sum[k] += x;
            m.square[k] += x * x;
            if (x < m.low[k]) m.low[k] = x;
            if (x > m.high[k]) m.high[k] = x;
        }
    return m;
}

static GrainResult lay_grid(PointsLight *light, const GrainPoints *points, const Run *run)
{
    int64_t blocks = parallel_block_count(points->count, BLOCK);
    Moments *parts = ALLOC(Moments, blocks);
    if (!parts) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(run->thread_count, block, blocks)
    parts[block] = moments_of(points->positions, block * BLOCK, parallel_block_end(block, BLOCK, points->count));
    double longest = 0.0, low[3], high[3];
    int is_finite = 1;
    for (int k = 0; k < 3; k++) {
        double sum = 0.0, square = 0.0, least = INFINITY, most = -INFINITY;
        for (int64_t block = 0; block < blocks; block++) {
            sum += parts[block].sum[k];
            square += parts[block].square[k];
            least = real_min(least, parts[block].low[k]);
            most = real_max(most, parts[block].high[k]);
        }
        if (!isfinite(sum)) is_finite = 0;
        double mean = sum / (double)points->count;
        double reach = REACH * sqrt(real_max(0.0, square / (double)points->count - mean * mean));
        low[k] = real_max(least, mean - reach);
        high[k] = real_min(most, mean + reach);
        longest = real_max(longest, high[k] - low[k]);
        light->bounds[k] = (float)least;
        light->bounds[3 + k] = (float)most;
    }
    alloc_free(parts);
    if (!is_finite) return fail(GRAIN_ERROR_ARGUMENT, "a grain's position is not a finite number");
    double cells = real_min(MOST_CELLS - 2.0, real_max(6.0, 0.8 * real_cbrt((double)points->count)));
    double cell = longest > 0.0 ? longest / cells : 1.0;
    light->cells_per_length = (float)(1.0 / cell);
    for (int k = 0; k < 3; k++) { // an empty cell all around
        light->low[k] = (float)(low[k] - cell);
        light->size[k] = (int32_t)real_min(MOST_CELLS, ceil((high[k] - low[k]) / cell) + 2.0);
    }
    return GRAIN_OK;
}

static int64_t cell_at(const PointsLight *light, int32_t x, int32_t y, int32_t z)
{
    return ((int64_t)z * light->size[1] + y) * light->size[0] + x;
}

static void count_block(const PointsLight *light, const float *positions, int64_t begin, int64_t end, uint32_t *counts)
{
    int32_t cells[POINTS_RUN];
    for (int64_t i = begin; i < end; i += POINTS_RUN) {
        int64_t count = end - i < POINTS_RUN ? end - i : POINTS_RUN;
        SIMD_CALL(points_cells)(light, positions + 3 * i, NULL, count, cells);
        for (int64_t j = 0; j < count; j++) counts[cells[j]]++;
    }
}

// Into counts of its own by each thread: common ones would go to and fro between their caches.
static void count_grains(const PointsLight *light, const GrainPoints *points, int threads, int64_t cell_count,
                         uint32_t *counts)
{
    PARALLEL_BLOCKS(threads, block, parallel_block_count(points->count, BLOCK))
    count_block(light, points->positions, block * BLOCK, parallel_block_end(block, BLOCK, points->count),
                counts + parallel_thread_index() * cell_count);
}

// 1 2 1 along one axis, beyond the edge nothing.
static void smooth(float *amount, int64_t count, int64_t stride)
{
    float before = 0.0f;
    for (int64_t i = 0; i < count; i++) {
        float here = amount[i * stride];
        float after = i + 1 < count ? amount[(i + 1) * stride] : 0.0f;
        amount[i * stride] = 0.25f * (before + after) + 0.5f * here;
        before = here;
    }
}

static void smooth_all(const PointsLight *light, float *amount, const Run *run)
{
    int64_t nx = light->size[0], ny = light->size[1], nz = light->size[2];
    PARALLEL_BLOCKS(run->thread_count, z, nz)
    {
        float *layer = amount + z * nx * ny;
        for (int64_t y = 0; y < ny; y++) smooth(layer + y * nx, nx, 1);
        for (int64_t x = 0; x < nx; x++) smooth(layer + x, ny, nx);
    }
    PARALLEL_BLOCKS(run->thread_count, y, ny)
    for (int64_t x = 0; x < nx; x++) smooth(amount + y * nx + x, nz, nx * ny);
}

// 0.15 (turned away) to 1.15 (facing the light).
static float brightness_of(const PointsLight *light, const float *amount, const int32_t at[3], float full)
{
    // From above, the left and the front; of length 1.
    static const float from[3] = {-0.36f, -0.48f, 0.8f};
    float length = 0.0f, facing = 0.0f;
    int64_t here = cell_at(light, at[0], at[1], at[2]), stride = 1;
    for (int k = 0; k < 3; k++) {
        float before = at[k] > 0 ? amount[here - stride] : 0.0f;
        float after = at[k] + 1 < light->size[k] ? amount[here + stride] : 0.0f;
        float outwards = before - after;
        length += outwards * outwards;
        facing += outwards * from[k];
        stride *= light->size[k];
    }
    length = sqrtf(length);
    if (!(length > 0.0f)) return 0.65f;
    // Deep inside, and in thin clouds, nothing faces anywhere.
    float clear = length / (length + 0.35f * full);
    return 0.65f + 0.5f * clear * facing / length;
}

static void light_cells(PointsLight *light, const float *amount, float full, const Run *run)
{
    PARALLEL_BLOCKS(run->thread_count, z, light->size[2])
    for (int32_t y = 0; y < light->size[1]; y++)
        for (int32_t x = 0; x < light->size[0]; x++) {
            const int32_t at[3] = {x, y, (int32_t)z};
            light->brightness[cell_at(light, x, y, (int32_t)z)] =
                (uint8_t)(brightness_of(light, amount, at, full) * POINTS_LIGHT_UNIT + 0.5f);
        }
}

GrainResult points_light_create(PointsLight *light, const GrainPoints *points, const Run *run)
{
    *light = (PointsLight){0};
    TRY(lay_grid(light, points, run));
    int64_t cells = (int64_t)light->size[0] * light->size[1] * light->size[2], used = 0;
    int threads = run->thread_count < MOST_COUNTING ? run->thread_count : MOST_COUNTING;
    uint32_t *counts = ALLOC_ZEROED(uint32_t, threads * cells);
    float *amount = ALLOC(float, cells);
    light->brightness = ALLOC(uint8_t, cells);
    if (!counts || !amount || !light->brightness) {
        alloc_free(counts);
        alloc_free(amount);
        return GRAIN_ERROR_MEMORY;
    }
    count_grains(light, points, threads, cells, counts);
    for (int64_t i = 0; i < cells; i++) {
        uint32_t count = counts[i];
        for (int t = 1; t < threads; t++) count += counts[t * cells + i];
        amount[i] = (float)count;
        used += count > 0;
    }
    alloc_free(counts);
    smooth_all(light, amount, run);
    light_cells(light, amount, (float)((double)points->count / (double)used), run);
    alloc_free(amount);
    return GRAIN_OK;
}

void points_light_destroy(PointsLight *light)
{
    alloc_free(light->brightness);
    light->brightness = NULL;
}

void points_light_at(const PointsLight *light, const float *positions, const uint32_t *dice, int64_t count,
                     uint8_t *out)
{
    int32_t cells[POINTS_RUN];
    SIMD_CALL(points_cells)(light, positions, dice, count, cells);
    for (int64_t i = 0; i < count; i++) out[i] = light->brightness[cells[i]];
}
