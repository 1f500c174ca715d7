// SPDX-License-Identifier: GPL-3.0-or-later
// Grains in the order of cells, so that a block is a small box. Nothing depends on the order but the speed: a stale one
// only makes boxes larger.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Grains of a cell aimed at: few make a small box, which few coarse particles are near, but leave lanes of the last
// vector empty. The eight cells of a cube follow each other; the search around them is done once for all.
#define GRAINS_IN_CELL 48.0
// Of a group, in cells: eight cells, grown by what grains move between two sorts.
#define GROUP_CELLS 2.6f
// Cells wrap around, so that a grain that flew away does not blow the table up.
#define MOST_CELL_BITS 22
// Cells cut into blocks by one thread at a time.
#define STRIP 2048
// Thinly filled cells of a cube of eight share a block: cells, and blocks so far, of fewer grains than this.
#define SHARED_GRAINS 24

// A piece of grains that one thread counts and moves, in order; the table is kept for each.
static int piece_count(const Upsampler *u) { return u->threads; }

static int64_t cell_limit(int64_t capacity)
{
    int bits = 12;
    while (bits < MOST_CELL_BITS && ((int64_t)1 << bits) < capacity / 8) bits++;
    return (int64_t)1 << bits;
}

GrainResult upsample_sort_reserve(Upsampler *u)
{
    u->histogram_cells = cell_limit(u->capacity);
    u->histogram = ALLOC(uint32_t, u->histogram_cells * piece_count(u));
    u->block_start = ALLOC(uint32_t, u->capacity + 1); // each grain for itself, at worst
    u->is_mixed = ALLOC(uint8_t, u->histogram_cells * piece_count(u));
    u->strip_blocks = ALLOC(int64_t, parallel_block_count(u->histogram_cells, STRIP));
    u->chunk_fastest = ALLOC(float, parallel_block_count(u->capacity, UPSAMPLE_BLOCKS_IN_CHUNK) + 1);
    int made = u->histogram && u->is_mixed && u->block_start && u->strip_blocks && u->chunk_fastest;
    return made ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// --- cells ----------------------------------------------------------------------------------------

typedef struct Cells {
    float low[3], per_metre;
    uint32_t mask[3];
    int shift[3];
    uint32_t count;
} Cells;

static Cells choose_cells(const Upsampler *u)
{
    double in_reach_cube = (double)(u->capacity) / real_max((double)u->def.coarse_total, 1.0) * 3.375;
    double divisor = real_min(real_max(real_cbrt(in_reach_cube / GRAINS_IN_CELL), 0.7), 5.0);
    Cells cells = {.per_metre = (float)(divisor / (double)u->reach)};
    const CellGrid *grid = &u->field.grid;
    int bits[3], most = 0;
    while (((int64_t)1 << (most + 1)) <= u->histogram_cells) most++;
    for (int axis = 0; axis < 3; axis++) {
        double extent = grid->cell_count > 0 ? (double)grid->cells[axis] / grid->cells_per_metre : 1.0;
        cells.low[axis] = grid->cell_count > 0 ? (float)(grid->low[axis] - 1.0 / grid->cells_per_metre) : 0.0f;
        for (bits[axis] = 1;
             bits[axis] < MOST_CELL_BITS && (double)((int64_t)1 << bits[axis]) < extent * (double)cells.per_metre;)
            bits[axis]++;
    }
    while (bits[0] + bits[1] + bits[2] > most) {
        int largest = bits[0] >= bits[1] ? (bits[0] >= bits[2] ? 0 : 2) : (bits[1] >= bits[2] ? 1 : 2);
        bits[largest]--;
    }
    for (int axis = 0; axis < 3; axis++) cells.mask[axis] = ((uint32_t)1 << bits[axis]) - 1;
    cells.shift[0] = 3, cells.shift[1] = bits[0] + 2, cells.shift[2] = bits[0] + bits[1] + 1;
    cells.count = (uint32_t)1 << (bits[0] + bits[1] + bits[2]);
    return cells;
}

typedef struct Cell {
    int32_t x, y, z;
} Cell;

static inline int32_t number_along(float coordinate, float low, float per_metre)
{
    // Held to what an int can count: grains never get that far.
    float cell = (coordinate - low) * per_metre;
    cell = cell > -1e9f ? cell : -1e9f;
    cell = cell < 1e9f ? cell : 1e9f;
    int32_t number = (int32_t)cell;
    return number - (cell < (float)number);
}

static inline Cell cell_at(const Cells *cells, const GrainColumns *g, int64_t place)
{
    return (Cell){number_along(g->x[place], cells->low[0], cells->per_metre),
                  number_along(g->y[place], cells->low[1], cells->per_metre),
                  number_along(g->z[place], cells->low[2], cells->per_metre)};
}

// The lowest bits say which of the eight cells of a cube it is, the others which cube.
static inline uint32_t key_of(const Cells *cells, Cell c)
{
    uint32_t x = (uint32_t)c.x & cells->mask[0], y = (uint32_t)c.y & cells->mask[1], z = (uint32_t)c.z & cells->mask[2];
    return (x & 1) | (y & 1) << 1 | (z & 1) << 2 | x >> 1 << cells->shift[0] | y >> 1 << cells->shift[1] |
           z >> 1 << cells->shift[2];
}

static inline int is_wrapped(const Cells *cells, Cell c)
{
    return (((uint32_t)c.x & ~cells->mask[0]) | ((uint32_t)c.y & ~cells->mask[1]) |
            ((uint32_t)c.z & ~cells->mask[2])) != 0;
}

// --- sorting --------------------------------------------------------------------------------------

// Grains whose keys are worked out before they are counted.
#define KEYS_AT_ONCE 1024

// Counts the grains of each cell, and marks the cells that stand for more than one place.
static void count_cells(Upsampler *u, const Cells *cells, uint32_t *keys)
{
    int pieces = piece_count(u);
    PARALLEL_STRIPS(u->threads, piece, pieces)
    {
        uint32_t *own = u->histogram + piece * u->histogram_cells;
        uint8_t *mixed = u->is_mixed + piece * u->histogram_cells, wrapped[KEYS_AT_ONCE];
        memset(own, 0, cells->count * sizeof *own);
        memset(mixed, 0, cells->count);
        int64_t last = u->count * (piece + 1) / pieces;
        for (int64_t first = u->count * piece / pieces; first < last; first += KEYS_AT_ONCE) {
            int64_t count = last - first < KEYS_AT_ONCE ? last - first : KEYS_AT_ONCE;
            for (int64_t i = 0; i < count; i++) {
                Cell cell = cell_at(cells, &u->grains, first + i);
                wrapped[i] = (uint8_t)is_wrapped(cells, cell);
                keys[first + i] = key_of(cells, cell);
            }
            for (int64_t i = 0; i < count; i++) {
                own[keys[first + i]]++;
                if (wrapped[i]) mixed[keys[first + i]] = 1;
            }
        }
    }
}

static int is_mixed(const Upsampler *u, int64_t cell)
{
    for (int piece = 0; piece < piece_count(u); piece++)
        if (u->is_mixed[piece * u->histogram_cells + cell]) return 1;
    return 0;
}

static void counts_to_places(Upsampler *u, const Cells *cells)
{
    int pieces = piece_count(u);
    uint32_t place = 0;
    for (uint32_t cell = 0; cell < cells->count; cell++) {
        for (int piece = 0; piece < pieces; piece++) {
            uint32_t *entry = &u->histogram[piece * u->histogram_cells + cell], count = *entry;
            *entry = place;
            place += count;
        }
    }
}

static inline int is_before(const Cells *cells, const GrainColumns *g, uint32_t a, uint32_t b)
{
    Cell ca = cell_at(cells, g, a), cb = cell_at(cells, g, b);
    if (ca.z != cb.z) return ca.z < cb.z;
    if (ca.y != cb.y) return ca.y < cb.y;
    if (ca.x != cb.x) return ca.x < cb.x;
    return a < b;
}

// Heap sort: in place, and no worse for any order it finds.
static void sort_run(const Cells *cells, const GrainColumns *g, uint32_t *run, int64_t count)
{
    for (int64_t end = count, root = count / 2; end > 1;) {
        uint32_t value;
        if (root > 0) {
            value = run[--root];
        } else {
            value = run[--end];
            run[end] = run[0];
        }
        int64_t hole = root, child;
        while ((child = 2 * hole + 1) < end) {
            if (child + 1 < end && is_before(cells, g, run[child], run[child + 1])) child++;
            if (!is_before(cells, g, value, run[child])) break;
            run[hole] = run[child];
            hole = child;
        }
        run[hole] = value;
    }
}

// Places [*first, *end) of a cell, once all grains are counted and placed: the last piece's table holds where each
// ends.
static void cell_places(const Upsampler *u, int64_t cell, int64_t *first, int64_t *end)
{
    const uint32_t *ends = u->histogram + (piece_count(u) - 1) * u->histogram_cells;
    *first = cell > 0 ? ends[cell - 1] : 0;
    *end = ends[cell];
}

// Places far apart that share a wrapped cell are told apart.
static void part_mixed(Upsampler *u, const Cells *cells)
{
    int64_t block_count = parallel_block_count(cells->count, PARALLEL_BLOCK);
    PARALLEL_BLOCKS(u->threads, block, block_count)
    {
        for (int64_t cell = block * PARALLEL_BLOCK; cell < parallel_block_end(block, PARALLEL_BLOCK, cells->count);
             cell++) {
            int64_t first, end;
            if (!is_mixed(u, cell)) continue;
            cell_places(u, cell, &first, &end);
            sort_run(cells, &u->grains, u->order + first, end - first);
        }
    }
}

static void move_columns(Upsampler *u)
{
    for (int c = 0; c < UPSAMPLE_COLUMNS; c++) {
        const uint32_t *from = u->grains.column[c], *order = u->order;
        uint32_t *to = u->spare;
        PARALLEL_FOR(u->threads, i, u->count) { to[i] = from[order[i]]; }
        u->spare = u->grains.column[c];
        u->grains.column[c] = to;
    }
}

// --- blocks ---------------------------------------------------------------------------------------

static inline int is_same(Cell a, Cell b) { return a.x == b.x && a.y == b.y && a.z == b.z; }

typedef struct Cutting {
    uint32_t *starts; // of the strip's blocks
    int64_t count;
    int64_t cube, grains; // of the block begun last, where others may join it; cube -1: none may
} Cutting;

static void begin_block(Cutting *cutting, int64_t first, int64_t grains, int64_t cube)
{
    cutting->starts[cutting->count++] = (uint32_t)first;
    cutting->cube = cube, cutting->grains = grains;
}

// A cell is a block or several; thin ones of a cube are joined.
static void cut_cell(Cutting *cutting, int64_t cell, int64_t first, int64_t end)
{
    int64_t grains = end - first, cube = cell >> 3;
    if (cube == cutting->cube && grains < SHARED_GRAINS && cutting->grains < SHARED_GRAINS) {
        cutting->grains += grains;
        return;
    }
    int64_t parts = parallel_block_count(grains, UPSAMPLE_BLOCK);
    for (int64_t part = 0; part < parts; part++)
        begin_block(cutting, first + grains * part / parts, (grains + parts - 1) / parts, cube);
}

// By the places themselves, which follow each other sorted.
static void cut_mixed(const Upsampler *u, const Cells *cells, Cutting *cutting, int64_t first, int64_t end)
{
    for (int64_t i = first, begun = first; i < end; i++)
        if (i == first || i - begun == UPSAMPLE_BLOCK ||
            !is_same(cell_at(cells, &u->grains, i), cell_at(cells, &u->grains, i - 1)))
            begin_block(cutting, begun = i, UPSAMPLE_BLOCK, -1);
}

// Cuts the grains of the cells [from, to) into blocks; returns how many.
static int64_t cut_strip(const Upsampler *u, const Cells *cells, int64_t from, int64_t to)
{
    int64_t first, end;
    cell_places(u, from, &first, &end);
    Cutting cutting = {.starts = u->block_start + first, .cube = -1};
    for (int64_t cell = from; cell < to; cell++) {
        cell_places(u, cell, &first, &end);
        if (first == end) continue;
        if (is_mixed(u, cell))
            cut_mixed(u, cells, &cutting, first, end);
        else
            cut_cell(&cutting, cell, first, end);
    }
    return cutting.count;
}

static void cut_blocks(Upsampler *u, const Cells *cells)
{
    int64_t strips = parallel_block_count(cells->count, STRIP);
    PARALLEL_BLOCKS(u->threads, strip, strips)
    {
        u->strip_blocks[strip] = cut_strip(u, cells, strip * STRIP, parallel_block_end(strip, STRIP, cells->count));
    }
    u->block_count = 0;
    for (int64_t strip = 0; strip < strips; strip++) {
        int64_t first, end;
        cell_places(u, strip * STRIP, &first, &end);
        memmove(u->block_start + u->block_count, u->block_start + first,
                (size_t)u->strip_blocks[strip] * sizeof(uint32_t));
        u->block_count += u->strip_blocks[strip];
    }
    u->block_start[u->block_count] = (uint32_t)u->count;
}

void upsample_sort(Upsampler *u)
{
    Cells cells = choose_cells(u);
    u->group_side = GROUP_CELLS / cells.per_metre;
    uint32_t *keys = u->spare;
    int pieces = piece_count(u);
    count_cells(u, &cells, keys);
    counts_to_places(u, &cells);
    PARALLEL_STRIPS(u->threads, piece, pieces)
    {
        uint32_t *next = u->histogram + piece * u->histogram_cells;
        for (int64_t i = u->count * piece / pieces; i < u->count * (piece + 1) / pieces; i++)
            u->order[next[keys[i]]++] = (uint32_t)i;
    }
    part_mixed(u, &cells);
    move_columns(u);
    cut_blocks(u, &cells);
    u->substeps_since_sort = 0;
}
