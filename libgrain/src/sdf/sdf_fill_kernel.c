// SPDX-License-Identifier: GPL-3.0-or-later
#define SIMD_FIXED_LANES 8 // a row of a block
#include "sdf/bit_block.h"
#include "sdf/sdf_tree.h"

#include <string.h>

SIMD_INLINE float *row_at(float *values, int row) { return values + sdf_block_index(0, row & 7, row >> 3); }

// The lanes named by the lowest eight bits.
SIMD_INLINE IntV lanes_of(uint32_t bits)
{
    const IntV bit = {1, 2, 4, 8, 16, 32, 64, 128};
    return (simd_set1_int((int32_t)bits) & bit) != 0;
}

int64_t SIMD_NAME(sdf_fill_block)(float *values, float half_width)
{
    BitBlock outside, inside, unknown;
    for (int z = 0; z < 8; z++) {
        uint64_t far = 0, negative = 0;
        for (int y = 7; y >= 0; y--) {
            FloatV row = simd_load(row_at(values, 8 * z + y));
            far = far << 8 | simd_bits(row == SDF_FAR);
            negative = negative << 8 | simd_bits(row < 0.0f);
        }
        unknown.slice[z] = far;
        inside.slice[z] = negative;
        outside.slice[z] = ~(far | negative);
    }
    if (bit_block_is_empty(&unknown)) return 0;
    if (bit_block_is_empty(&outside) && bit_block_is_empty(&inside)) return SDF_NOTHING_KNOWN;
    BitBlock before = unknown;
    int64_t conflicts = 0;
    if (bit_block_is_empty(&inside))
        outside = unknown;
    else if (!bit_block_is_empty(&outside))
        conflicts = bit_block_flood(&outside, &inside, &unknown);
    else
        inside = unknown;
    FloatV plus = simd_set1(half_width);
    for (int row = 0; row < 64; row++) {
        uint32_t far = (uint32_t)(before.slice[row >> 3] >> (8 * (row & 7))) & 255;
        if (!far) continue;
        uint32_t in = (uint32_t)(inside.slice[row >> 3] >> (8 * (row & 7))) & 255;
        float *at = row_at(values, row);
        simd_store(at, simd_select(lanes_of(far), simd_select(lanes_of(in), -plus, plus), simd_load(at)));
    }
    return conflicts;
}

float SIMD_NAME(sdf_steepest)(const float *values)
{
    FloatV steepest = simd_set1(0.0f);
    for (int z = 0; z < 8; z++)
        for (int y = 0; y < 8; y++) {
            const float *at = values + sdf_block_index(0, y, z);
            FloatV row = simd_load(at);
            FloatV x = simd_abs(simd_load(at + 1) - row), up = simd_abs(simd_load(at + SDF_BLOCK_PITCH) - row);
            FloatV back = simd_abs(simd_load(at + SDF_BLOCK_PITCH * SDF_BLOCK_PITCH) - row);
            steepest = simd_max(steepest, simd_max(x, simd_max(up, back)));
        }
    float lanes[8], most = 0.0f;
    simd_store(lanes, steepest);
    for (int lane = 0; lane < 8; lane++) most = lanes[lane] > most ? lanes[lane] : most;
    return most;
}

// The values of a block with one more on every side; x from -1 on is at x + 1. Corners and edges are not used.
typedef struct Padded {
    float at[10][10][16];
} Padded;

static void pad(const float *values, const float *const before[3], Padded *out)
{
    for (int z = 0; z < 9; z++)
        for (int y = 0; y < 9; y++)
            memcpy(&out->at[z + 1][y + 1][1], values + sdf_block_index(0, y, z), 9 * sizeof(float));
    for (int i = 0; i < 8; i++) {
        for (int k = 0; k < 8; k++) {
            out->at[i + 1][k + 1][0] = before[0] ? before[0][sdf_block_index(7, k, i)] : SDF_FAR;
            out->at[i + 1][0][k + 1] = before[1] ? before[1][sdf_block_index(k, 7, i)] : SDF_FAR;
            out->at[0][i + 1][k + 1] = before[2] ? before[2][sdf_block_index(k, i, 7)] : SDF_FAR;
        }
    }
}

// How far the middle one of three in a row is off the line through the others, times two, where they are measured
// distances on different sides.
SIMD_INLINE FloatV turn_of(FloatV a, FloatV b, FloatV c, FloatV limit)
{
    IntV known = (simd_abs(a) < limit) & (simd_abs(b) < limit) & (simd_abs(c) < limit);
    IntV crosses = (IntV)(((IntV)a ^ (IntV)b) | ((IntV)b ^ (IntV)c)) < 0;
    return (FloatV)((IntV)simd_abs(a - 2.0f * b + c) & known & crosses);
}

float SIMD_NAME(sdf_sharpest_turn)(const float *values, const float *const before[3], float half_width)
{
    Padded padded;
    pad(values, before, &padded);
    FloatV sharpest = simd_set1(0.0f), limit = simd_set1(0.999f * half_width);
    for (int z = 1; z <= 8; z++)
        for (int y = 1; y <= 8; y++) {
            const float *row = &padded.at[z][y][1];
            FloatV here = simd_load(row);
            sharpest = simd_max(sharpest, turn_of(simd_load(row - 1), here, simd_load(row + 1), limit));
            const float *low = &padded.at[z][y - 1][1], *high = &padded.at[z][y + 1][1];
            sharpest = simd_max(sharpest, turn_of(simd_load(low), here, simd_load(high), limit));
            low = &padded.at[z - 1][y][1], high = &padded.at[z + 1][y][1];
            sharpest = simd_max(sharpest, turn_of(simd_load(low), here, simd_load(high), limit));
        }
    float lanes[8], most = 0.0f;
    simd_store(lanes, sharpest);
    for (int lane = 0; lane < 8; lane++) most = lanes[lane] > most ? lanes[lane] : most;
    return most;
}
