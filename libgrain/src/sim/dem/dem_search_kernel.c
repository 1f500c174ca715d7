#include "sim/dem/dem.h"

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

int64_t SIMD_NAME(dem_search)(const Dem *dem, int64_t first_cell, int64_t last_cell, int32_t *own, int32_t *found,
                              int64_t room)
{
    int64_t total = 0;
    for (int64_t cell = first_cell; cell < last_cell; cell++) {
        const CellRows *rows = &dem->grid.rows[cell];
        for (int32_t ball = dem->grid.cell_start[cell]; ball < dem->grid.cell_start[cell + 1]; ball++) {
            int64_t before = total;
            // Rows 4 to 8 are this one and those behind it in the order, so each pair is met once, from its first ball.
            for (int row = 4; row < 9; row++) {
                int32_t begin = row == 4 ? ball + 1 : rows->begin[row], end = rows->end[row];
                for (int32_t other = begin; other < end; other += SIMD_LANES) {
                    uint32_t bits = near_bits(dem, ball, other, end);
                    if (total + SIMD_LANES <= room)
                        for (; bits; bits &= bits - 1) found[total++] = other + __builtin_ctz(bits);
                    else
                        total += __builtin_popcount(bits);
                }
            }
            own[ball] = (int32_t)(total - before);
        }
    }
    return total;
}
