// Grains in the order of cells, so that a block is a small box. Nothing depends on the order but the speed: a stale one
// only makes boxes larger.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <string.h>

// Grains of a cell aimed at: enough to pay for the search around it, few enough for a small box.
#define GRAINS_IN_CELL 128.0
// Cells wrap around, so that a grain that flew away does not blow the table up.
#define MOST_CELL_BITS 22
// Places cut into blocks by one thread at a time.
#define STRIP 65536
// Thinly filled cells of a row share a block: up to this many grains and cells.
#define SHARED_GRAINS 64
#define SHARED_CELLS 4

// A piece of grains that one thread counts and moves, in order; the table is kept for each.
static int piece_count(const Upsampler *u) { return u->threads; }

static int64_t cell_limit(int64_t capacity)
{
    int bits = 12;
    while (bits < MOST_CELL_BITS && ((int64_t)1 << bits) < capacity / 16) bits++;
    return (int64_t)1 << bits;
}

GrainResult upsample_sort_reserve(Upsampler *u)
{
    u->histogram_cells = cell_limit(u->capacity);
    u->histogram = ALLOC(uint32_t, u->histogram_cells * piece_count(u));
    u->block_start = ALLOC(uint32_t, u->capacity + 1); // each grain for itself, at worst
    u->strip_blocks = ALLOC(int64_t, parallel_block_count(u->capacity, STRIP));
    u->chunk_fastest = ALLOC(float, parallel_block_count(u->capacity, UPSAMPLE_BLOCKS_IN_CHUNK) + 1);
    int made = u->histogram && u->block_start && u->strip_blocks && u->chunk_fastest;
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
    double in_reach_cube = (double)(u->capacity) / fmax((double)u->def.coarse_total, 1.0) * 3.375;
    double divisor = fmin(fmax(cbrt(in_reach_cube / GRAINS_IN_CELL), 0.7), 4.0);
    Cells cells = {.per_metre = (float)(divisor / (double)u->reach)};
    const CellGrid *grid = &u->field.grid;
    int bits[3], most = 0;
    while (((int64_t)1 << (most + 1)) <= u->histogram_cells) most++;
    for (int axis = 0; axis < 3; axis++) {
        double extent = grid->cell_count > 0 ? (double)grid->cells[axis] / grid->cells_per_metre : 1.0;
        cells.low[axis] = grid->cell_count > 0 ? (float)(grid->low[axis] - 1.0 / grid->cells_per_metre) : 0.0f;
        for (bits[axis] = 0; bits[axis] < MOST_CELL_BITS && (double)((int64_t)1 << bits[axis]) < extent * (double)cells.per_metre;)
            bits[axis]++;
    }
    while (bits[0] + bits[1] + bits[2] > most) {
        int largest = bits[0] >= bits[1] ? (bits[0] >= bits[2] ? 0 : 2) : (bits[1] >= bits[2] ? 1 : 2);
        bits[largest]--;
    }
    for (int axis = 0; axis < 3; axis++) cells.mask[axis] = ((uint32_t)1 << bits[axis]) - 1;
    cells.shift[1] = bits[0], cells.shift[2] = bits[0] + bits[1];
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

static inline uint32_t key_of(const Cells *cells, Cell c)
{
    return ((uint32_t)c.x & cells->mask[0]) | ((uint32_t)c.y & cells->mask[1]) << cells->shift[1] |
           ((uint32_t)c.z & cells->mask[2]) << cells->shift[2];
}

static inline int is_wrapped(const Cells *cells, Cell c)
{
    return (((uint32_t)c.x & ~cells->mask[0]) | ((uint32_t)c.y & ~cells->mask[1]) | ((uint32_t)c.z & ~cells->mask[2])) != 0;
}

// --- sorting --------------------------------------------------------------------------------------

// Counts the grains of each cell. Whether any cell stands for two places.
static int count_cells(Upsampler *u, const Cells *cells, uint32_t *keys)
{
    int pieces = piece_count(u);
    PARALLEL_STRIPS(u->threads, piece, pieces)
    {
        uint32_t *own = u->histogram + piece * u->histogram_cells;
        memset(own, 0, cells->count * sizeof *own);
        int wrapped = 0;
        for (int64_t i = u->count * piece / pieces; i < u->count * (piece + 1) / pieces; i++) {
            Cell cell = cell_at(cells, &u->grains, i);
            wrapped |= is_wrapped(cells, cell);
            keys[i] = key_of(cells, cell);
            own[keys[i]]++;
        }
        u->scratch[piece].wrapped = wrapped;
    }
    int any = 0;
    for (int piece = 0; piece < pieces; piece++) any |= u->scratch[piece].wrapped;
    return any;
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

// Places far apart that share a wrapped cell are told apart. The last piece's table now holds where each cell ends.
static void part_wrapped(Upsampler *u, const Cells *cells)
{
    const uint32_t *end = u->histogram + (piece_count(u) - 1) * u->histogram_cells;
    int64_t block_count = parallel_block_count(cells->count, PARALLEL_BLOCK);
    PARALLEL_BLOCKS(u->threads, block, block_count)
    {
        for (int64_t cell = block * PARALLEL_BLOCK; cell < parallel_block_end(block, PARALLEL_BLOCK, cells->count); cell++) {
            int64_t first = cell > 0 ? end[cell - 1] : 0, count = end[cell] - first;
            int mixed = 0;
            for (int64_t i = first + 1; i < first + count && !mixed; i++)
                mixed = is_before(cells, &u->grains, u->order[i], u->order[i - 1]);
            if (mixed) sort_run(cells, &u->grains, u->order + first, count);
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

// Cuts the places [begin, end) into blocks; returns how many, and stores where they start. A cell is a block or several;
// thin ones are joined to the one before.
static int64_t cut_strip(const Upsampler *u, const Cells *cells, int64_t begin, int64_t end, uint32_t *starts)
{
    int64_t blocks = 0, first = begin;
    Cell from = {0}, now = {0};
    for (int64_t i = begin; i < end; i++) {
        Cell cell = cell_at(cells, &u->grains, i);
        if (i > begin && is_same(cell, now) && i - first < UPSAMPLE_BLOCK) continue;
        int is_next = i > begin && cell.y == from.y && cell.z == from.z && cell.x >= from.x && cell.x - from.x < SHARED_CELLS;
        int is_thin = i + SHARED_GRAINS >= end || !is_same(cell, cell_at(cells, &u->grains, i + SHARED_GRAINS));
        now = cell;
        if (is_next && is_thin && i - first < SHARED_GRAINS) continue;
        starts[blocks++] = (uint32_t)i;
        first = i, from = cell;
    }
    return blocks;
}

static void cut_blocks(Upsampler *u, const Cells *cells)
{
    int64_t strips = parallel_block_count(u->count, STRIP);
    PARALLEL_BLOCKS(u->threads, strip, strips)
    {
        int64_t begin = strip * STRIP, end = parallel_block_end(strip, STRIP, u->count);
        u->strip_blocks[strip] = cut_strip(u, cells, begin, end, u->block_start + begin);
    }
    u->block_count = 0;
    for (int64_t strip = 0; strip < strips; strip++) {
        memmove(u->block_start + u->block_count, u->block_start + strip * STRIP, (size_t)u->strip_blocks[strip] * sizeof(uint32_t));
        u->block_count += u->strip_blocks[strip];
    }
    u->block_start[u->block_count] = (uint32_t)u->count;
}

void upsample_sort(Upsampler *u)
{
    Cells cells = choose_cells(u);
    uint32_t *keys = u->spare;
    int wrapped = count_cells(u, &cells, keys), pieces = piece_count(u);
    counts_to_places(u, &cells);
    PARALLEL_STRIPS(u->threads, piece, pieces)
    {
        uint32_t *next = u->histogram + piece * u->histogram_cells;
        for (int64_t i = u->count * piece / pieces; i < u->count * (piece + 1) / pieces; i++)
            u->order[next[keys[i]]++] = (uint32_t)i;
    }
    if (wrapped) part_wrapped(u, &cells);
    move_columns(u);
    cut_blocks(u, &cells);
    u->substeps_since_sort = 0;
}
