// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// For each particle of a cell-sorted set, the particles near enough to touch it before the list is made again.
#include "base/cell_grid.h"
#include "base/simd.h"

typedef struct NeighbourList {
    int64_t *start;     ///< particle -> its first entry; count + 1 entries
    int32_t *neighbour; ///< places in the sorted order, ascending within a range, never the particle itself
    int64_t start_capacity, entry_capacity;
} NeighbourList;

/// Both partners list each other, so a particle's sum over its list needs nobody else's results. Two particles are
/// neighbours when their surfaces are at most `skin` apart. Arrays are in the grid's sorted order and from alloc_array
/// (vectors are loaded past their end); the grid's cells must be at least twice the largest radius plus skin. A zeroed
/// NeighbourList is a valid start.
GrainResult neighbour_list_build(NeighbourList *list, const CellGrid *grid, const float *x, const float *y,
                                 const float *z, const float *radius, float skin, int threads);
void neighbour_list_free(NeighbourList *list);

/// For the particles of cells [first_cell, last_cell): how many neighbours each has, written to count[particle]; then,
/// with start known, which.
SIMD_KERNEL(void, neighbours_count,
            (const CellGrid *grid, int64_t first_cell, int64_t last_cell, const float *x, const float *y,
             const float *z, const float *radius, float skin, int64_t *count))
SIMD_KERNEL(void, neighbours_fill,
            (const CellGrid *grid, int64_t first_cell, int64_t last_cell, const float *x, const float *y,
             const float *z, const float *radius, float skin, const int64_t *start, int32_t *neighbour))
