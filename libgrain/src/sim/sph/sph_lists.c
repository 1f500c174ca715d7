// SPDX-License-Identifier: GPL-3.0-or-later
// Who is near whom. Lists look farther than the kernel reaches, by a skin, and hold until a particle has gone half of
// it.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/sph/sph.h"

#include <math.h>
#include <string.h>

// Blocks handed to a thread at once.
#define LIST_BLOCKS 64

static void copy_in_order(float *values, float *before, const int32_t *order, int64_t count, int threads)
{
    memcpy(before, values, (size_t)count * sizeof *values);
    PARALLEL_FOR(threads, i, count) { values[i] = before[order[i]]; }
}

// A ball around the block's particles.
static void enclose(const Sph *sph, int64_t number)
{
    SphBlock *block = &sph->blocks[number];
    int64_t begin = number * SPH_LANES, end = begin + SPH_LANES < sph->count ? begin + SPH_LANES : sph->count;
    float squared = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = begin; i < end; i++)
            low = real_minf(low, sph->listed[axis][i]), high = real_maxf(high, sph->listed[axis][i]);
        block->middle[axis] = 0.5f * (low + high);
        squared += 0.25f * (high - low) * (high - low);
    }
    block->reach = sqrtf(squared);
}

GrainResult sph_make_lists(Sph *sph)
{
    TRY(cell_grid_build(&sph->grid, sph->listed[0], sph->listed[1], sph->listed[2], sph->count,
                        sph->rules.support + sph->skin, sph->threads));
    int64_t pieces = parallel_block_count(sph->block_count, LIST_BLOCKS);
    PARALLEL_BLOCKS(sph->threads, piece, pieces)
    {
        int64_t end = parallel_block_end(piece, LIST_BLOCKS, sph->block_count);
        SIMD_CALL(sph_list_count)(sph, piece * LIST_BLOCKS, end);
        for (int64_t b = piece * LIST_BLOCKS; b < end; b++) enclose(sph, b);
    }
    int64_t total = 0;
    for (int64_t b = 0; b < sph->block_count; b++) {
        SphBlock *block = &sph->blocks[b];
        int64_t entries = block->list_end;
        block->list = total;
        block->list_end = total + entries;
        total += entries + (entries & 1);
    }
    TRY(alloc_grow((void **)&sph->list, &sph->list_capacity, total, sizeof *sph->list));
    TRY(alloc_grow((void **)&sph->reached, &sph->reached_capacity, total, sizeof *sph->reached));
    TRY(alloc_grow((void **)&sph->slope, &sph->slope_capacity, total * SPH_LANES, sizeof *sph->slope));
    PARALLEL_BLOCKS(sph->threads, piece, pieces)
    {
        SIMD_CALL(sph_list_fill)(sph, piece * LIST_BLOCKS, parallel_block_end(piece, LIST_BLOCKS, sph->block_count));
    }
    sph->lists_are_new = 1;
    return sph_find_near(sph);
}

GrainResult sph_sort(Sph *sph)
{
    TRY(cell_grid_build(&sph->grid, sph->field[SPH_X], sph->field[SPH_Y], sph->field[SPH_Z], sph->count,
                        sph->rules.support + sph->skin, sph->threads));
    const int32_t *order = sph->grid.order;
    for (int f = 0; f < SPH_FIELDS; f++) copy_in_order(sph->field[f], sph->before, order, sph->count, sph->threads);
    memcpy(sph->id_before, sph->id, (size_t)sph->count * sizeof *sph->id);
    for (int64_t i = 0; i < sph->count; i++) sph->id[i] = sph->id_before[order[i]];
    for (int axis = 0; axis < 3; axis++)
        memcpy(sph->listed[axis], sph->field[SPH_X + axis], (size_t)sph->room * sizeof(float));
    sph->must_list = 0;
    return sph_make_lists(sph);
}

void sph_free_lists(Sph *sph)
{
    cell_grid_free(&sph->grid);
    alloc_free(sph->blocks);
    alloc_free(sph->active);
    alloc_free(sph->awake);
    alloc_free(sph->is_watching);
    alloc_free(sph->list);
    alloc_free(sph->reached);
    alloc_free(sph->slope);
    alloc_free(sph->near);
}
