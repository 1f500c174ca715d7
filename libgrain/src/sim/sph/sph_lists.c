// SPDX-License-Identifier: GPL-3.0-or-later
// Neighbour lists. They look farther than the kernel reaches, by a skin, and hold until a particle has gone half of
// it.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

// Blocks handed to a thread at once.
#define LIST_BLOCKS 64

GrainResult sph_make_lists(Sph *sph)
{
    Neighbours *n = &sph->neighbours;
    TRY(neighbours_find_cells(n));
    int64_t pieces = parallel_block_count(n->block_count, LIST_BLOCKS);
    PARALLEL_BLOCKS(sph->base.threads, piece, pieces)
    {
        int64_t end = parallel_block_end(piece, LIST_BLOCKS, n->block_count);
        SIMD_CALL(sph_list_count)(sph, piece * LIST_BLOCKS, end);
    }
    int64_t total = 0;
    for (int64_t b = 0; b < n->block_count; b++) {
        Block *block = &n->block[b];
        int64_t entries = block->list_end;
        block->list = total;
        block->list_end = total + entries;
        total += entries + (entries & 1);
    }
    TRY(alloc_grow((void **)&sph->list, &sph->list_capacity, total, sizeof *sph->list));
    TRY(alloc_grow((void **)&sph->reached, &sph->reached_capacity, total, sizeof *sph->reached));
    TRY(alloc_grow((void **)&sph->slope, &sph->slope_capacity, total * BLOCK_LANES, sizeof *sph->slope));
    PARALLEL_BLOCKS(sph->base.threads, piece, pieces)
    {
        SIMD_CALL(sph_list_fill)(sph, piece * LIST_BLOCKS, parallel_block_end(piece, LIST_BLOCKS, n->block_count));
    }
    sph->must_list = 0;
    sph->lists_are_new = 1;
    return neighbours_find_objects(n);
}
