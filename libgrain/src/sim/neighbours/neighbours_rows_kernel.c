// SPDX-License-Identifier: GPL-3.0-or-later
// The list of every particle: those within both extents, in sorted order.
#include "sim/neighbours/neighbours_rows.h"

SIMD_INLINE int64_t look_through(const Neighbours *n, const float *extent, int64_t i, int32_t begin, int32_t end,
                                 int32_t *found, int64_t count)
{
    const float *x = n->listed[0], *y = n->listed[1], *z = n->listed[2];
    for (int32_t j = begin; j < end; j += SIMD_LANES) {
        FloatV dx = simd_load(x + j) - x[i], dy = simd_load(y + j) - y[i], dz = simd_load(z + j) - z[i];
        FloatV reach = simd_load(extent + j) + extent[i];
        uint32_t bits = simd_bits(dx * dx + dy * dy + dz * dz < reach * reach);
        if (end - j < SIMD_LANES) bits &= (1u << (end - j)) - 1;
        count += simd_store_picked(found + count, simd_lane_index() + j, bits);
    }
    return count;
}

// How many particle i has, or NEIGHBOURS_FOUND_SHORT.
SIMD_INLINE int64_t find(const Neighbours *n, const NeighbourRows *lists, int64_t i, const CellRows *rows,
                         int32_t *found)
{
    int64_t count = 0;
    for (int row = 0; row < 9; row++) {
        int32_t begin = rows->begin[row], end = rows->end[row];
        if (count + end - begin + 2 * SIMD_LANES > lists->found_room) return NEIGHBOURS_FOUND_SHORT;
        if (row == 4) { // its own: all but itself
            count = look_through(n, lists->extent, i, begin, (int32_t)i, found, count);
            begin = (int32_t)i + 1;
        }
        count = look_through(n, lists->extent, i, begin, end, found, count);
    }
    return count;
}

static void set_side_by_side(const int32_t *found, int64_t room, const int64_t *count, int64_t rows, int32_t nobody,
                             int32_t *out)
{
    for (int lane = 0; lane < BLOCK_LANES; lane++) {
        const int32_t *own = found + lane * room;
        for (int64_t k = 0; k < count[lane]; k++) out[k * BLOCK_LANES + lane] = own[k];
        for (int64_t k = count[lane]; k < rows; k++) out[k * BLOCK_LANES + lane] = nobody;
    }
}

int64_t SIMD_NAME(neighbours_fill_rows)(const Neighbours *n, const NeighbourRows *rows, int64_t first, int64_t last,
                                        int64_t row, int64_t most, int32_t *found)
{
    const CellGrid *grid = &n->grid;
    int64_t cell = neighbours_cell_of(grid, first * BLOCK_LANES), room = rows->found_room, taken = 0;
    for (int64_t b = first; b < last; b++) {
        Block *block = &n->block[b];
        int64_t count[BLOCK_LANES] = {0}, longest = 0;
        for (int lane = 0; lane < neighbours_lanes_of(n, b); lane++) {
            int64_t i = b * BLOCK_LANES + lane;
            while (grid->cell_start[cell + 1] <= i) cell++;
            count[lane] = find(n, rows, i, &grid->rows[cell], found + lane * room);
            if (count[lane] == NEIGHBOURS_FOUND_SHORT) return NEIGHBOURS_FOUND_SHORT;
            if (count[lane] > longest) longest = count[lane];
        }
        block->list = row + taken;
        block->list_end = block->list + longest;
        taken += longest;
        if (taken <= most)
            set_side_by_side(found, room, count, longest, (int32_t)n->room, rows->list + block->list * BLOCK_LANES);
    }
    return taken;
}
