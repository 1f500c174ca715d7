// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/neighbour_list.h"

// Which of the SIMD_LANES particles from `other` on touch the one given; lanes past `end` are left out.
SIMD_INLINE uint32_t touching_bits(const float *x, const float *y, const float *z, const float *radius, float skin,
                                   int32_t particle, int32_t other, int32_t end)
{
    FloatV dx = simd_load(x + other) - x[particle];
    FloatV dy = simd_load(y + other) - y[particle];
    FloatV dz = simd_load(z + other) - z[particle];
    FloatV reach = simd_load(radius + other) + (radius[particle] + skin);
    uint32_t bits = simd_bits(dx * dx + dy * dy + dz * dz < reach * reach);
    if (end - other < SIMD_LANES) bits &= (1u << (end - other)) - 1;
    if ((uint32_t)(particle - other) < SIMD_LANES) bits &= ~(1u << (particle - other));
    return bits;
}

void SIMD_NAME(neighbours_count)(const CellGrid *grid, int64_t first_cell, int64_t last_cell, const float *x,
                                 const float *y, const float *z, const float *radius, float skin, int64_t *count)
{
    for (int64_t cell = first_cell; cell < last_cell; cell++) {
        const CellRows *rows = &grid->rows[cell];
        for (int32_t particle = grid->cell_start[cell]; particle < grid->cell_start[cell + 1]; particle++) {
            int64_t found = 0;
            for (int row = 0; row < 9; row++)
                for (int32_t other = rows->begin[row]; other < rows->end[row]; other += SIMD_LANES)
                    found += __builtin_popcount(touching_bits(x, y, z, radius, skin, particle, other, rows->end[row]));
            count[particle] = found;
        }
    }
}

void SIMD_NAME(neighbours_fill)(const CellGrid *grid, int64_t first_cell, int64_t last_cell, const float *x,
                                const float *y, const float *z, const float *radius, float skin, const int64_t *start,
                                int32_t *neighbour)
{
    for (int64_t cell = first_cell; cell < last_cell; cell++) {
        const CellRows *rows = &grid->rows[cell];
        for (int32_t particle = grid->cell_start[cell]; particle < grid->cell_start[cell + 1]; particle++) {
            int32_t *entry = neighbour + start[particle];
            for (int row = 0; row < 9; row++) {
                for (int32_t other = rows->begin[row]; other < rows->end[row]; other += SIMD_LANES) {
                    uint32_t bits = touching_bits(x, y, z, radius, skin, particle, other, rows->end[row]);
                    for (; bits; bits &= bits - 1) *entry++ = other + __builtin_ctz(bits);
                }
            }
        }
    }
}
