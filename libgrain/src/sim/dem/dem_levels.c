// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <string.h>

// Largest over smallest reach within a level. A larger one means more balls tested in vain, a smaller one more levels
// to look through; spreads of +- 40 % stay within one.
#define LEVEL_RATIO 2.5f

static float largest_of(const float *reach, int64_t count)
{
    float largest = 0.0f;
    for (int64_t i = 0; i < count; i++) largest = reach[i] > largest ? reach[i] : largest;
    return largest;
}

// Counted from the coarsest; turned round when it is known how many there are.
static int steps_below(float reach, float largest)
{
    int steps = 0;
    for (float limit = largest / LEVEL_RATIO; steps < DEM_MAX_LEVELS - 1 && reach <= limit; limit /= LEVEL_RATIO)
        steps++;
    return steps;
}

static GrainResult grow(DemLevels *levels, int64_t count)
{
    TRY(alloc_grow((void **)&levels->by_level, &levels->by_level_capacity, count, sizeof(int32_t)));
    TRY(alloc_grow((void **)&levels->combined, &levels->combined_capacity, count, sizeof(int32_t)));
    TRY(alloc_grow((void **)&levels->x, &levels->x_capacity, count, sizeof(float)));
    TRY(alloc_grow((void **)&levels->y, &levels->y_capacity, count, sizeof(float)));
    return alloc_grow((void **)&levels->z, &levels->z_capacity, count, sizeof(float));
}

static GrainResult build_several(DemLevels *levels, const float *x, const float *y, const float *z, float largest,
                                 int64_t count, int threads)
{
    TRY(grow(levels, count));
    int32_t next[DEM_MAX_LEVELS];
    memcpy(next, levels->first, sizeof next);
    for (int64_t i = 0; i < count; i++) levels->by_level[next[levels->level[i]]++] = (int32_t)i;
    PARALLEL_FOR(threads, k, count)
    {
        int32_t i = levels->by_level[k];
        levels->x[k] = x[i], levels->y[k] = y[i], levels->z[k] = z[i];
    }
    float cell = 2.0f * largest;
    for (int level = levels->count - 1; level >= 0; level--, cell /= LEVEL_RATIO) {
        int32_t first = levels->first[level], here = levels->first[level + 1] - first;
        CellGrid *grid = &levels->grid[level];
        TRY(cell_grid_build(grid, levels->x + first, levels->y + first, levels->z + first, here, cell, threads));
        PARALLEL_FOR(threads, k, here) { levels->combined[first + k] = levels->by_level[first + grid->order[k]]; }
    }
    levels->order = levels->combined;
    return GRAIN_OK;
}

GrainResult dem_levels_build(DemLevels *levels, const float *x, const float *y, const float *z, const float *reach,
                             int64_t count, int threads)
{
    TRY(alloc_grow((void **)&levels->level, &levels->level_capacity, count, 1));
    float largest = largest_of(reach, count);
    PARALLEL_FOR(threads, i, count) { levels->level[i] = (uint8_t)steps_below(reach[i], largest); }
    int64_t steps[DEM_MAX_LEVELS] = {0};
    for (int64_t i = 0; i < count; i++) steps[levels->level[i]]++;
    levels->count = DEM_MAX_LEVELS;
    while (levels->count > 1 && steps[levels->count - 1] == 0) levels->count--;
    levels->first[0] = 0;
    for (int level = 0; level < levels->count; level++)
        levels->first[level + 1] = levels->first[level] + (int32_t)steps[levels->count - 1 - level];
    if (levels->count == 1) {
        TRY(cell_grid_build(&levels->grid[0], x, y, z, count, 2.0f * largest, threads));
        levels->order = levels->grid[0].order;
        return GRAIN_OK;
    }
    PARALLEL_FOR(threads, i, count) { levels->level[i] = (uint8_t)(levels->count - 1 - levels->level[i]); }
    return build_several(levels, x, y, z, largest, count, threads);
}

void dem_levels_free(DemLevels *levels)
{
    for (int level = 0; level < DEM_MAX_LEVELS; level++) cell_grid_free(&levels->grid[level]);
    void *arrays[] = {levels->level, levels->by_level, levels->combined, levels->x, levels->y, levels->z};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}
