// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/neighbours/neighbours_rows.h"
#include "base/alloc.h"

#include <stdatomic.h>

// Blocks handed to a thread at once.
#define LIST_BLOCKS 64
// Room to begin with, for the neighbours of a particle as they are found, and for the rows of a block.
#define FIRST_FOUND_ROOM 256
#define FIRST_ROWS 32

// Whether all lists found room; if not, there is more of it now.
static GrainResult fill_rows(const Neighbours *n, NeighbourRows *rows, int *is_done)
{
    int threads = n->base->threads;
    int64_t pieces = parallel_block_count(n->block_count, LIST_BLOCKS), a_piece = LIST_BLOCKS * rows->rows_a_block;
    int64_t a_thread = BLOCK_LANES * rows->found_room;
    TRY(alloc_grow((void **)&rows->found, &rows->found_capacity, threads * a_thread, sizeof(int32_t)));
    TRY(alloc_grow((void **)&rows->list, &rows->list_capacity, pieces * a_piece * BLOCK_LANES, sizeof(int32_t)));
    _Atomic int found_short = 0, rows_short = 0;
    PARALLEL_BLOCKS(threads, piece, pieces)
    {
        int64_t first = piece * LIST_BLOCKS, last = parallel_block_end(piece, LIST_BLOCKS, n->block_count);
        int64_t taken = SIMD_CALL(neighbours_fill_rows)(n, rows, first, last, piece * a_piece, a_piece,
                                                        rows->found + parallel_thread_index() * a_thread);
        if (taken == NEIGHBOURS_FOUND_SHORT) found_short = 1;
        if (taken > a_piece) rows_short = 1;
    }
    if (found_short) rows->found_room *= 2;
    if (rows_short) rows->rows_a_block += rows->rows_a_block / 2;
    *is_done = !found_short && !rows_short;
    return GRAIN_OK;
}

GrainResult neighbours_make_rows(Neighbours *n, NeighbourRows *rows)
{
    TRY(neighbours_find_cells(n));
    TRY(alloc_grow((void **)&rows->extent, &rows->extent_capacity, n->room, sizeof(float)));
    PARALLEL_FOR(n->base->threads, i, n->count) { rows->extent[i] = rows->reach * rows->radius[i] + 0.5f * n->skin; }
    if (rows->found_room == 0) rows->found_room = FIRST_FOUND_ROOM, rows->rows_a_block = FIRST_ROWS;
    for (int is_done = 0; !is_done;) TRY(fill_rows(n, rows, &is_done));
    return neighbours_find_objects(n);
}

void neighbours_free_rows(NeighbourRows *rows)
{
    alloc_free(rows->extent);
    alloc_free(rows->list);
    alloc_free(rows->found);
}
