// SPDX-License-Identifier: GPL-3.0-or-later
// A block's list: every particle that lies within support and skin of one of its eight, itself included, in the order
// they stand in.
#define SIMD_FIXED_LANES 8
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

#define MAX_RANGES (9 * BLOCK_LANES)

typedef struct Ranges {
    int32_t begin[MAX_RANGES], end[MAX_RANGES];
    int count;
} Ranges;

// Kept in order; those that meet become one.
static void add_range(Ranges *ranges, int32_t begin, int32_t end)
{
    if (begin >= end) return;
    int at = ranges->count;
    while (at > 0 && ranges->begin[at - 1] > begin) at--;
    for (int i = ranges->count++; i > at; i--)
        ranges->begin[i] = ranges->begin[i - 1], ranges->end[i] = ranges->end[i - 1];
    ranges->begin[at] = begin, ranges->end[at] = end;
    int kept = 0;
    for (int i = 1; i < ranges->count; i++) {
        if (ranges->begin[i] <= ranges->end[kept]) {
            if (ranges->end[i] > ranges->end[kept]) ranges->end[kept] = ranges->end[i];
        } else {
            kept++;
            ranges->begin[kept] = ranges->begin[i], ranges->end[kept] = ranges->end[i];
        }
    }
    ranges->count = kept + 1;
}

static void find_ranges(const CellGrid *grid, int64_t begin, int64_t end, int64_t *cell, Ranges *ranges)
{
    ranges->count = 0;
    while (grid->cell_start[*cell + 1] <= begin) ++*cell;
    for (int64_t c = *cell; c < grid->cell_count && grid->cell_start[c] < end; c++)
        for (int row = 0; row < 9; row++) add_range(ranges, grid->rows[c].begin[row], grid->rows[c].end[row]);
}

// Writes the list unless it is only to be counted.
SIMD_INLINE int64_t search(const Sph *sph, int64_t block, const Ranges *ranges, int32_t *out)
{
    const float *x = sph->neighbours.listed[0], *y = sph->neighbours.listed[1], *z = sph->neighbours.listed[2];
    FloatV xi = simd_load(x + block * BLOCK_LANES), yi = simd_load(y + block * BLOCK_LANES),
           zi = simd_load(z + block * BLOCK_LANES);
    float reach = sph->rules.support + sph->neighbours.skin, squared = reach * reach;
    int64_t count = 0;
    for (int r = 0; r < ranges->count; r++)
        for (int32_t j = ranges->begin[r]; j < ranges->end[r]; j++) {
            FloatV dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
            if (!simd_bits(dx * dx + dy * dy + dz * dz < squared)) continue;
            if (out) out[count] = j;
            count++;
        }
    return count;
}

void SIMD_NAME(sph_list_count)(const Sph *sph, int64_t first, int64_t last)
{
    Ranges ranges;
    int64_t cell = neighbours_cell_of(&sph->neighbours.grid, first * BLOCK_LANES);
    for (int64_t b = first; b < last; b++) {
        find_ranges(&sph->neighbours.grid, b * BLOCK_LANES, (b + 1) * BLOCK_LANES, &cell, &ranges);
        sph->neighbours.block[b].list_end = search(sph, b, &ranges, NULL);
    }
}

void SIMD_NAME(sph_list_fill)(const Sph *sph, int64_t first, int64_t last)
{
    Ranges ranges;
    int64_t cell = neighbours_cell_of(&sph->neighbours.grid, first * BLOCK_LANES);
    for (int64_t b = first; b < last; b++) {
        find_ranges(&sph->neighbours.grid, b * BLOCK_LANES, (b + 1) * BLOCK_LANES, &cell, &ranges);
        search(sph, b, &ranges, sph->list + sph->neighbours.block[b].list);
    }
}
