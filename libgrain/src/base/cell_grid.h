// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Neighbour search: points sorted by cell, and for each occupied cell the ranges of its neighbours.
///
/// Cells are numbered with x running fastest, so the three cells x-1, x, x+1 of a row are adjacent in the sorted
/// order, and the 27 cells around a point are nine ranges of the sorted order:
///
///         z+1   [---] [---] [---]        a range = cells x-1..x+1 of one (y, z) row
///         z     [---] [-X-] [---]        X = the point's own cell
///         z-1   [---] [---] [---]
///                y-1    y    y+1
///
/// Only occupied cells are stored, so the domain is unbounded and empty space costs nothing. Inside a cell, points keep
/// their input order, which is therefore the same for any number of threads.
#include "base/sort.h"
#include "grain/base.h"

/// Along an axis: near what float32 coordinates can tell apart. Farther points share the last cell. That keeps
/// neighbours neighbours, since clamping never moves two coordinates apart.
#define CELL_GRID_MOST_CELLS (1 << 20)

typedef struct CellRows {
    int32_t begin[9], end[9]; ///< ranges of the sorted order, [begin, end); empty if no cell of that row is occupied
} CellRows;

typedef struct CellGrid {
    int64_t count;       ///< points
    int64_t cell_count;  ///< occupied cells
    int32_t *order;      ///< sorted order -> input index of the point
    int32_t *cell_start; ///< cell -> start of its range; cell_count + 1 entries
    CellRows *rows;      ///< cell -> its nine ranges

    // How cells are numbered, for cell_grid_rows_at.
    double low[3], cells_per_metre;
    uint64_t cells[3]; ///< along each axis, with one empty cell at either end

    // Kept between builds, so that building in every step does not allocate.
    SortItem *items;
    SortScratch sort;
    uint64_t *cell_key;
    int64_t point_capacity, order_capacity, cell_capacity, key_capacity, start_capacity;
} CellGrid;

/// Points at most cell_size apart are in each other's ranges. Fails for non-finite coordinates and more than INT32_MAX
/// points. A zeroed CellGrid is a valid start.
GrainResult cell_grid_build(CellGrid *grid, const float *x, const float *y, const float *z, int64_t count,
                            float cell_size, int threads);
/// The nine ranges around any point, which need not be in the grid. *key caches the cell of the last call: a point in
/// the same cell needs no search. Start with key UINT64_MAX.
void cell_grid_rows_at(const CellGrid *grid, float x, float y, float z, uint64_t *key, CellRows *rows);
void cell_grid_free(CellGrid *grid);
