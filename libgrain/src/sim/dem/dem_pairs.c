// SPDX-License-Identifier: GPL-3.0-or-later
// The list of pairs, with the springs of those that were in the lists before.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"

#include <stdatomic.h>

// Cells of one piece of work.
#define CELL_BLOCK 512

// A piece of work: some cells of one level, and their balls.
typedef struct Block {
    int level;
    int64_t first_cell, last_cell;
    int32_t first_ball, last_ball;
} Block;

static int64_t count_blocks(const Dem *dem)
{
    int64_t count = 0;
    for (int level = 0; level < dem->levels.count; level++)
        count += parallel_block_count(dem->levels.grid[level].cell_count, CELL_BLOCK);
    return count;
}

static Block block_at(const Dem *dem, int64_t number)
{
    Block block = {0};
    const DemLevels *levels = &dem->levels;
    for (;;) {
        int64_t here = parallel_block_count(levels->grid[block.level].cell_count, CELL_BLOCK);
        if (number < here) break;
        number -= here;
        block.level++;
    }
    const CellGrid *grid = &levels->grid[block.level];
    block.first_cell = number * CELL_BLOCK;
    block.last_cell = parallel_block_end(number, CELL_BLOCK, grid->cell_count);
    block.first_ball = levels->first[block.level] + grid->cell_start[block.first_cell];
    block.last_ball = levels->first[block.level] + grid->cell_start[block.last_cell];
    return block;
}

static int32_t *found_of(const Dem *dem, const Block *block, int64_t number)
{
    return dem->found + block->first_ball * dem->found_per_ball + number * DEM_LIST_MULTIPLE;
}

// Into `found`, block by block, with as much room as it takes.
static GrainResult search_pairs(Dem *dem)
{
    int64_t block_count = count_blocks(dem);
    for (;;) {
        int64_t needed = dem->count * dem->found_per_ball + block_count * DEM_LIST_MULTIPLE;
        TRY(alloc_grow((void **)&dem->found, &dem->found_capacity, needed, sizeof(int32_t)));
        _Atomic int too_small = 0;
        PARALLEL_BLOCKS(dem->base.threads, number, block_count)
        {
            Block block = block_at(dem, number);
            int64_t room = (block.last_ball - block.first_ball) * dem->found_per_ball + DEM_LIST_MULTIPLE;
            int64_t found = SIMD_CALL(dem_search)(dem, block.level, block.first_cell, block.last_cell, dem->pairs.own,
                                                  found_of(dem, &block, number), room);
            if (found + DEM_LIST_MULTIPLE > room) too_small = 1;
        }
        if (!too_small) return GRAIN_OK;
        dem->found_per_ball += dem->found_per_ball / 2;
    }
}

static GrainResult grow_pairs(Dem *dem, int64_t count)
{
    DemPairs *pairs = &dem->pairs;
    if (count > INT32_MAX / 2)
        return fail(GRAIN_ERROR_MEMORY, "%lld contacts are more than one simulation can hold; use larger particles",
                    (long long)count);
    int64_t padded = dem_round_up(count);
    TRY(alloc_grow((void **)&pairs->a, &pairs->a_capacity, padded, sizeof(int32_t)));
    TRY(alloc_grow((void **)&pairs->b, &pairs->b_capacity, padded, sizeof(int32_t)));
    if (dem->material) TRY(alloc_grow((void **)&pairs->mix, &pairs->mix_capacity, padded, sizeof(int32_t)));
    TRY(dem_vectors_grow(&pairs->apart, padded));
    TRY(dem_vectors_grow(&pairs->shear, padded));
    if (dem->law.resists_rolling) TRY(dem_vectors_grow(&pairs->roll, padded));
    pairs->count = count;
    for (int64_t pair = count; pair < padded; pair++) {
        pairs->a[pair] = pairs->b[pair] = 0;
        if (pairs->mix) pairs->mix[pair] = 0;
        pairs->apart.x[pair] = pairs->apart.y[pair] = pairs->apart.z[pair] = 1e9f;
    }
    return GRAIN_OK;
}

// Counts to places; returns the number of all.
static int64_t sum_counts(int32_t *counts, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t here = counts[i];
        counts[i] = (int32_t)sum;
        sum += here;
    }
    counts[count] = (int32_t)sum;
    return sum;
}

static void copy_spring(const DemVectors *from, int64_t source, DemVectors *to, int64_t target, float sign)
{
    to->x[target] = sign * from->x[source];
    to->y[target] = sign * from->y[source];
    to->z[target] = sign * from->z[source];
}

// The springs of the pair as it stood in the lists before. It may have been listed the other way round.
static void take_springs(Dem *dem, const int32_t *ball_before, int64_t pair, int32_t a, int32_t b)
{
    const DemPairs *before = &dem->pairs_before;
    DemVectors *shear = &dem->pairs.shear, *roll = &dem->pairs.roll;
    int resists_rolling = dem->law.resists_rolling;
    if (ball_before && ball_before[a] >= 0 && ball_before[b] >= 0) {
        int32_t first = ball_before[a], second = ball_before[b];
        float sign = first < second ? 1.0f : -1.0f;
        if (first > second) first = ball_before[b], second = ball_before[a];
        for (int64_t old = before->own[first]; old < before->own[first + 1]; old++) {
            if (before->b[old] != second) continue;
            copy_spring(&before->shear, old, shear, pair, sign);
            if (resists_rolling) copy_spring(&before->roll, old, roll, pair, sign);
            return;
        }
    }
    shear->x[pair] = shear->y[pair] = shear->z[pair] = 0.0f;
    if (resists_rolling) roll->x[pair] = roll->y[pair] = roll->z[pair] = 0.0f;
}

static void fill_pairs(Dem *dem, const int32_t *ball_before)
{
    DemPairs *pairs = &dem->pairs;
    PARALLEL_BLOCKS(dem->base.threads, number, count_blocks(dem))
    {
        Block block = block_at(dem, number);
        const int32_t *found = found_of(dem, &block, number);
        for (int32_t a = block.first_ball; a < block.last_ball; a++) {
            for (int64_t pair = pairs->own[a]; pair < pairs->own[a + 1]; pair++) {
                int32_t b = *found++;
                pairs->a[pair] = a;
                pairs->b[pair] = b;
                pairs->apart.x[pair] = dem->x[a] - dem->x[b];
                pairs->apart.y[pair] = dem->y[a] - dem->y[b];
                pairs->apart.z[pair] = dem->z[a] - dem->z[b];
                if (pairs->mix)
                    pairs->mix[pair] = dem->material[dem->ball_particle[dem->id[a]]] * DEM_MAX_MATERIALS +
                                       dem->material[dem->ball_particle[dem->id[b]]];
                take_springs(dem, ball_before, pair, a, b);
            }
        }
    }
}

GrainResult dem_list_pairs(Dem *dem, const int32_t *ball_before)
{
    TRY(alloc_grow((void **)&dem->pairs.own, &dem->pairs.own_capacity, dem->count + 1, sizeof(int32_t)));
    TRY(search_pairs(dem));
    TRY(grow_pairs(dem, sum_counts(dem->pairs.own, dem->count)));
    fill_pairs(dem, ball_before);
    return GRAIN_OK;
}

void dem_free_pairs(DemPairs *pairs)
{
    alloc_free(pairs->own);
    alloc_free(pairs->a);
    alloc_free(pairs->b);
    alloc_free(pairs->mix);
    dem_vectors_free(&pairs->apart);
    dem_vectors_free(&pairs->shear);
    dem_vectors_free(&pairs->roll);
}
