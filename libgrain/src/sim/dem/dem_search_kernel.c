// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"

// Which of the SIMD_LANES balls from `other` on are near the one given; lanes past `end` are left out.
SIMD_INLINE uint32_t near_bits(const Dem *dem, int32_t ball, int32_t other, int32_t end)
{
    FloatV dx = simd_load(dem->x + other) - dem->x[ball];
    FloatV dy = simd_load(dem->y + other) - dem->y[ball];
    FloatV dz = simd_load(dem->z + other) - dem->z[ball];
    FloatV reach = simd_load(dem->reach + other) + dem->reach[ball];
    uint32_t bits = simd_bits(dx * dx + dy * dy + dz * dz < reach * reach);
    if (dem->body) { // balls of one grain
        IntV body;
        memcpy(&body, dem->body + other, sizeof body);
        bits &= ~simd_bits(body == dem->body[ball]);
    }
    if (end - other < SIMD_LANES) bits &= (1u << (end - other)) - 1;
    return bits;
}

typedef struct Finder {
    int32_t *found;
    int64_t count, room; // count runs on when there is no room
} Finder;

SIMD_INLINE void look_through(const Dem *dem, int32_t ball, int32_t begin, int32_t end, Finder *finder)
{
    for (int32_t other = begin; other < end; other += SIMD_LANES) {
        uint32_t bits = near_bits(dem, ball, other, end);
        if (finder->count + SIMD_LANES <= finder->room)
            for (; bits; bits &= bits - 1) finder->found[finder->count++] = other + __builtin_ctz(bits);
        else
            finder->count += __builtin_popcount(bits);
    }
}

int64_t SIMD_NAME(dem_search)(const Dem *dem, int level, int64_t first_cell, int64_t last_cell, int32_t *own,
                              int32_t *found, int64_t room)
{
    const DemLevels *levels = &dem->levels;
    const CellGrid *grid = &levels->grid[level];
    int32_t first = levels->first[level];
    Finder finder = {found, 0, room};
    CellRows coarse_rows[DEM_MAX_LEVELS];
    uint64_t coarse_key[DEM_MAX_LEVELS];
    for (int coarse = level + 1; coarse < levels->count; coarse++) coarse_key[coarse] = UINT64_MAX;
    for (int64_t cell = first_cell; cell < last_cell; cell++) {
        const CellRows *rows = &grid->rows[cell];
        for (int32_t ball = first + grid->cell_start[cell]; ball < first + grid->cell_start[cell + 1]; ball++) {
            int64_t before = finder.count;
            // Rows 4 to 8 are this one and those behind it in the order, so each pair is met once, from its first ball.
            for (int row = 4; row < 9; row++)
                look_through(dem, ball, row == 4 ? ball + 1 : first + rows->begin[row], first + rows->end[row],
                             &finder);
            for (int coarse = level + 1; coarse < levels->count; coarse++) {
                CellRows *around = &coarse_rows[coarse];
                cell_grid_rows_at(&levels->grid[coarse], dem->x[ball], dem->y[ball], dem->z[ball], &coarse_key[coarse],
                                  around);
                for (int row = 0; row < 9; row++)
                    look_through(dem, ball, levels->first[coarse] + around->begin[row],
                                 levels->first[coarse] + around->end[row], &finder);
            }
            own[ball] = (int32_t)(finder.count - before);
        }
    }
    return finder.count;
}
