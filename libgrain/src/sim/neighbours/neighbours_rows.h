// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Lists of who is near whom. Every particle lists all those it can reach before the lists are made again; the eight
/// lists of a block stand side by side, so that a row holds one neighbour of each:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     rows   [ 3  0  0  1 ...        ]   the first neighbour of each lane
///            [ 4  2  1 -- ...        ]   the second; -- is padding: a particle out of reach of all others
///
/// Both partners list each other: a lane sums up its own neighbours in the order they stand in, needs nobody else's
/// results, and has the same bits whatever it shares a block with.
#include "sim/neighbours/neighbours.h"

typedef struct NeighbourRows {
    float reach;          ///< of particles, over the sum of their radii; the caller's to set
    float *radius;        ///< borrowed
    float *extent;        ///< m: two particles are listed when the sum of theirs is longer than the way between them
    int32_t *list;        ///< BLOCK_LANES per row; padding is `room`. Block.list and list_end count rows
    int32_t *found;       ///< of each thread: lists before they are set side by side
    int64_t found_room;   ///< of a lane
    int64_t rows_a_block; ///< that there is room for, on average
    int64_t extent_capacity, list_capacity, found_capacity;
} NeighbourRows;

/// Makes the lists from where the particles were when they were sorted last, and finds the objects near them.
GrainResult neighbours_make_rows(Neighbours *n, NeighbourRows *rows);
void neighbours_free_rows(NeighbourRows *rows);

/// Rows that there is room for.
static inline int64_t neighbours_row_room(const NeighbourRows *rows) { return rows->list_capacity / BLOCK_LANES; }

// --- kernels ----------------------------------------------------------------------------------------

#define NEIGHBOURS_FOUND_SHORT (-1)
/// Makes the lists of blocks [first, last) in rows from `row` on; returns how many that took, or would have taken where
/// they are more than `most`; or NEIGHBOURS_FOUND_SHORT. found: found_room for each lane.
SIMD_KERNEL(int64_t, neighbours_fill_rows,
            (const Neighbours *n, const NeighbourRows *rows, int64_t first, int64_t last, int64_t row, int64_t most,
             int32_t *found))
