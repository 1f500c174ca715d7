// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cell_grid.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>

// Cells are this much larger than asked for, so that rounding cannot put two points at exactly cell_size two cells
// apart.
#define CELL_MARGIN 1e-6

typedef struct Bounds {
    float low[3], high[3];
    int finite;
} Bounds;

typedef struct Numbering {
    double low[3], cells_per_metre;
    uint64_t row, slab; // step in the key from one y, one z to the next
} Numbering;

static Bounds bounds_of(const float *const axis[3], int64_t begin, int64_t end)
{
    Bounds bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 1};
    for (int a = 0; a < 3; a++) {
        float low = INFINITY, high = -INFINITY;
        int finite = 1;
        for (int64_t i = begin; i < end; i++) {
            float value = axis[a][i];
            finite &= fabsf(value) <= 3.4e38f; // false for NaN too
            low = value < low ? value : low;
            high = value > high ? value : high;
        }
        bounds.low[a] = low;
        bounds.high[a] = high;
        bounds.finite &= finite;
    }
    return bounds;
}

static GrainResult bounds_of_all(const float *const axis[3], int64_t count, int threads, Bounds *out)
{
    enum { PIECES = 64 };
    Bounds piece[PIECES];
    int64_t size = (count + PIECES - 1) / PIECES;
    PARALLEL_BLOCKS(threads, p, PIECES)
    {
        int64_t begin = p * size, end = parallel_block_end(p, size, count);
        piece[p] = bounds_of(axis, begin, end); // begin may lie past the end: an empty piece
    }
    *out = piece[0];
    for (int p = 1; p < PIECES; p++) {
        for (int a = 0; a < 3; a++) {
            out->low[a] = real_minf(out->low[a], piece[p].low[a]);
            out->high[a] = real_maxf(out->high[a], piece[p].high[a]);
        }
        out->finite &= piece[p].finite;
    }
    if (out->finite) return GRAIN_OK;
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(axis[0][i]) || !isfinite(axis[1][i]) || !isfinite(axis[2][i]))
            return fail(GRAIN_ERROR_DIVERGED, "particle %lld is at (%g, %g, %g)", (long long)i, (double)axis[0][i],
                        (double)axis[1][i], (double)axis[2][i]);
    return fail(GRAIN_ERROR_DIVERGED, "a particle is beyond the range of float32");
}

static inline uint64_t cell_along(double coordinate, double low, double cells_per_metre)
{
    double cell = (coordinate - low) * cells_per_metre;
    return cell < CELL_GRID_MOST_CELLS - 1 ? (uint64_t)cell : CELL_GRID_MOST_CELLS - 1;
}

// The key counts one empty cell around the box, so that a row's x-1 and x+1 never belong to another row.
static inline uint64_t key_of(const Numbering *n, float x, float y, float z)
{
    return (cell_along((double)z, n->low[2], n->cells_per_metre) + 1) * n->slab +
           (cell_along((double)y, n->low[1], n->cells_per_metre) + 1) * n->row +
           cell_along((double)x, n->low[0], n->cells_per_metre) + 1;
}

static Numbering numbering_of(const Bounds *bounds, float cell_size, int *key_bits)
{
    Numbering n = {.cells_per_metre = 1.0 / ((double)cell_size * (1.0 + CELL_MARGIN))};
    uint64_t cells[3];
    for (int a = 0; a < 3; a++) {
        n.low[a] = (double)bounds->low[a];
        cells[a] = cell_along((double)bounds->high[a], n.low[a], n.cells_per_metre) + 3;
    }
    n.row = cells[0];
    n.slab = cells[0] * cells[1];
    *key_bits = 64 - __builtin_clzll(n.slab * cells[2]);
    return n;
}

static int64_t first_cell_from(const uint64_t *cell_key, int64_t cell_count, uint64_t key)
{
    int64_t low = 0, high = cell_count;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (cell_key[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Going through the cells in order, the start and end of each of the nine ranges only ever move forward: eighteen
// fingers on the list of cells take the place of a hash table.
static void find_rows_of(CellGrid *grid, const Numbering *n, int64_t first, int64_t last)
{
    const uint64_t *key = grid->cell_key;
    uint64_t offset[9];
    int64_t begin[9], end[9], cell_count = grid->cell_count;
    for (int row = 0; row < 9; row++) {
        offset[row] = (uint64_t)((int64_t)n->slab * (row / 3 - 1) + (int64_t)n->row * (row % 3 - 1) - 1);
        begin[row] = end[row] = first_cell_from(key, cell_count, key[first] + offset[row]);
    }
    for (int64_t cell = first; cell < last; cell++) {
        for (int row = 0; row < 9; row++) {
            uint64_t from = key[cell] + offset[row];
            while (begin[row] < cell_count && key[begin[row]] < from) begin[row]++;
            if (end[row] < begin[row]) end[row] = begin[row];
            while (end[row] < cell_count && key[end[row]] < from + 3) end[row]++;
            grid->rows[cell].begin[row] = grid->cell_start[begin[row]];
            grid->rows[cell].end[row] = grid->cell_start[end[row]];
        }
    }
}

static void find_rows(CellGrid *grid, const Numbering *n, int threads)
{
    int64_t block_count = parallel_block_count(grid->cell_count, PARALLEL_BLOCK);
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        find_rows_of(grid, n, block * PARALLEL_BLOCK, parallel_block_end(block, PARALLEL_BLOCK, grid->cell_count));
    }
}

static GrainResult list_cells(CellGrid *grid)
{
    int64_t cell_count = 0;
    for (int64_t place = 0; place < grid->count; place++)
        cell_count += place == 0 || grid->items[place].key != grid->items[place - 1].key;
    TRY(alloc_grow((void **)&grid->cell_key, &grid->key_capacity, cell_count, sizeof(uint64_t)));
    TRY(alloc_grow((void **)&grid->cell_start, &grid->start_capacity, cell_count + 1, sizeof(int32_t)));
    TRY(alloc_grow((void **)&grid->rows, &grid->cell_capacity, cell_count, sizeof(CellRows)));
    int64_t cell = 0;
    for (int64_t place = 0; place < grid->count; place++) {
        if (place > 0 && grid->items[place].key == grid->items[place - 1].key) continue;
        grid->cell_key[cell] = grid->items[place].key;
        grid->cell_start[cell++] = (int32_t)place;
    }
    grid->cell_start[cell_count] = (int32_t)grid->count;
    grid->cell_count = cell_count;
    return GRAIN_OK;
}

GrainResult cell_grid_build(CellGrid *grid, const float *x, const float *y, const float *z, int64_t count,
                            float cell_size, int threads)
{
    if (!(cell_size > 0.0f) || !isfinite(cell_size))
        return fail(GRAIN_ERROR_ARGUMENT, "cell_size is %g m; it must be above 0", (double)cell_size);
    if (count < 0 || count > INT32_MAX)
        return fail(GRAIN_ERROR_ARGUMENT, "%lld points; at most %d fit into one grid", (long long)count, INT32_MAX);
    grid->count = grid->cell_count = 0;
    if (count == 0) return GRAIN_OK;

    const float *const axis[3] = {x, y, z};
    Bounds bounds;
    TRY(bounds_of_all(axis, count, threads, &bounds));
    int key_bits;
    Numbering numbering = numbering_of(&bounds, cell_size, &key_bits);

    TRY(alloc_grow((void **)&grid->items, &grid->point_capacity, count, sizeof(SortItem)));
    TRY(alloc_grow((void **)&grid->order, &grid->order_capacity, count, sizeof(int32_t)));
    PARALLEL_FOR(threads, i, count)
    {
        grid->items[i] = (SortItem){key_of(&numbering, x[i], y[i], z[i]), (uint32_t)i, 0};
    }
    TRY(sort_by_key(grid->items, count, key_bits, &grid->sort, threads));
    PARALLEL_FOR(threads, place, count) { grid->order[place] = (int32_t)grid->items[place].value; }

    grid->count = count;
    TRY(list_cells(grid));
    find_rows(grid, &numbering, threads);
    for (int a = 0; a < 3; a++) grid->low[a] = numbering.low[a];
    grid->cells_per_metre = numbering.cells_per_metre;
    grid->cells[0] = numbering.row;
    grid->cells[1] = numbering.slab / numbering.row;
    grid->cells[2] = cell_along((double)bounds.high[2], numbering.low[2], numbering.cells_per_metre) + 3;
    return GRAIN_OK;
}

// Next to the box, the empty cells around it count; farther out there are no particles.
static int number_along(const CellGrid *grid, int axis, double coordinate, uint64_t *number)
{
    double cell = floor((coordinate - grid->low[axis]) * grid->cells_per_metre);
    if (!(cell >= -1.0)) return 0;
    if (cell > (double)(grid->cells[axis] - 2)) {
        // Points beyond the last cell that can be numbered share it.
        if (grid->cells[axis] - 2 < CELL_GRID_MOST_CELLS) return 0;
        cell = (double)(grid->cells[axis] - 3);
    }
    *number = (uint64_t)(cell + 1.0);
    return 1;
}

void cell_grid_rows_at(const CellGrid *grid, float x, float y, float z, uint64_t *key, CellRows *rows)
{
    uint64_t number[3], here = UINT64_MAX - 1; // no cell has that number
    if (grid->cell_count > 0 && number_along(grid, 0, (double)x, &number[0]) &&
        number_along(grid, 1, (double)y, &number[1]) && number_along(grid, 2, (double)z, &number[2]))
        here = (number[2] * grid->cells[1] + number[1]) * grid->cells[0] + number[0];
    if (here == *key) return;
    *key = here;
    for (int row = 0; row < 9; row++) {
        rows->begin[row] = rows->end[row] = 0;
        if (here == UINT64_MAX - 1) continue;
        int64_t offset =
            (int64_t)(grid->cells[0] * grid->cells[1]) * (row / 3 - 1) + (int64_t)grid->cells[0] * (row % 3 - 1);
        int64_t from = (int64_t)here + offset - 1;
        if (from + 2 < 0) continue;
        int64_t begin = first_cell_from(grid->cell_key, grid->cell_count, from < 0 ? 0 : (uint64_t)from), end = begin;
        while (end < grid->cell_count && grid->cell_key[end] < (uint64_t)(from + 3)) end++;
        rows->begin[row] = grid->cell_start[begin];
        rows->end[row] = grid->cell_start[end];
    }
}

void cell_grid_free(CellGrid *grid)
{
    alloc_free(grid->order);
    alloc_free(grid->cell_start);
    alloc_free(grid->rows);
    alloc_free(grid->items);
    alloc_free(grid->cell_key);
    sort_scratch_free(&grid->sort);
    *grid = (CellGrid){0};
}
