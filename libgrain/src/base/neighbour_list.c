// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/neighbour_list.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

// Cells handed to a thread at once.
#define CELL_BLOCK 512

GrainResult neighbour_list_build(NeighbourList *list, const CellGrid *grid, const float *x, const float *y,
                                 const float *z, const float *radius, float skin, int threads)
{
    TRY(alloc_grow((void **)&list->start, &list->start_capacity, grid->count + 1, sizeof(int64_t)));
    int64_t block_count = parallel_block_count(grid->cell_count, CELL_BLOCK);
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        SIMD_CALL(neighbours_count)
        (grid, block * CELL_BLOCK, parallel_block_end(block, CELL_BLOCK, grid->cell_count), x, y, z, radius, skin,
         list->start);
    }
    int64_t total = 0;
    for (int64_t particle = 0; particle <= grid->count; particle++) {
        int64_t entries = particle < grid->count ? list->start[particle] : 0;
        list->start[particle] = total;
        total += entries;
    }
    TRY(alloc_grow((void **)&list->neighbour, &list->entry_capacity, total, sizeof(int32_t)));
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        SIMD_CALL(neighbours_fill)
        (grid, block * CELL_BLOCK, parallel_block_end(block, CELL_BLOCK, grid->cell_count), x, y, z, radius, skin,
         list->start, list->neighbour);
    }
    return GRAIN_OK;
}

void neighbour_list_free(NeighbourList *list)
{
    alloc_free(list->start);
    alloc_free(list->neighbour);
    *list = (NeighbourList){0};
}
