// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Neighbour lists. Every particle lists all particles it can reach before the lists are made again. The eight lists of
/// a block are interleaved, so that a row holds one neighbour for each lane:
///
///     block  [i0 i1 i2 i3 i4 i5 i6 i7]   a lane each
///     rows   [ 3  0  0  1 ...        ]   the first neighbour of each lane
///            [ 4  2  1 -- ...        ]   the second; -- is padding: a particle out of reach of all others
///
/// Both partners list each other: a lane sums over its own neighbours in sorted order, independently of other lanes, so
/// its bits do not depend on which particles share its block.
#include "sim/neighbours/neighbours.h"

typedef struct NeighbourRows {
    float reach;          ///< of the interaction, relative to the sum of radii; set by the caller
    float *radius;        ///< borrowed
    float *extent;        ///< m: two particles are listed if the sum of their extents exceeds their distance
    int32_t *list;        ///< BLOCK_LANES per row; padding is `room`. Block.list and list_end count rows
    int32_t *found;       ///< of each thread: lists before they are interleaved
    int64_t found_room;   ///< of a lane
    int64_t rows_a_block; ///< reserved, on average
    int64_t extent_capacity, list_capacity, found_capacity;
} NeighbourRows;

/// Makes the lists from the positions at the last sort, and finds the objects near each block.
GrainResult neighbours_make_rows(Neighbours *n, NeighbourRows *rows);
void neighbours_free_rows(NeighbourRows *rows);

/// Rows reserved.
static inline int64_t neighbours_row_room(const NeighbourRows *rows) { return rows->list_capacity / BLOCK_LANES; }

// --- kernels ----------------------------------------------------------------------------------------

#define NEIGHBOURS_FOUND_SHORT (-1)
/// Makes the lists of blocks [first, last) in rows from `row` on; returns how many that took, or would have taken where
/// they are more than `most`; or NEIGHBOURS_FOUND_SHORT. found: found_room for each lane.
SIMD_KERNEL(int64_t, neighbours_fill_rows,
            (const Neighbours *n, const NeighbourRows *rows, int64_t first, int64_t last, int64_t row, int64_t most,
             int32_t *found))
