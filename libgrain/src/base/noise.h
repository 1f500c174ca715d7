// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Smooth noise.
#include "base/rng.h"
#include "base/vec.h"

#include <math.h>

// floorf, which without SSE 4.1 is a call.
static inline float noise_floor(float x)
{
    if (!(fabsf(x) < 0x1p23f)) return floorf(x);
    float towards_zero = (float)(int32_t)x;
    return towards_zero > x ? towards_zero - 1.0f : towards_zero == x ? x : towards_zero;
}

/// A cell of three noises that share their lattice.
typedef struct NoiseCell {
    int is_filled;
    float low[3];            ///< its lowest corner
    float gradient[3][3][8]; ///< of each noise: x, y, z at the corners
} NoiseCell;
/// The cells visited last, neighbours beside each other: no random numbers are drawn for them again. Start with zeros.
typedef struct NoiseCells {
    NoiseCell of[8]; ///< by odd and even coordinates
} NoiseCells;

/// Which of a cell's corners is k: 1 along an axis for the higher ones.
#define NOISE_CORNER(k)                                                                                                \
    {                                                                                                                  \
        (k) & 1, (k) >> 1 & 1, (k) >> 2                                                                                \
    }

static inline void noise_fill(float gradient[3][8], uint64_t seed, RngStream stream, const float low[3])
{
    for (int k = 0; k < 8; k++) {
        const int64_t corner[3] = NOISE_CORNER(k);
        uint64_t cell = (uint64_t)((int64_t)low[0] + corner[0]) * 73856093u ^
                        (uint64_t)((int64_t)low[1] + corner[1]) * 19349663u ^
                        (uint64_t)((int64_t)low[2] + corner[2]) * 83492791u;
        Rng4 random = rng_at(seed, cell, stream, 0);
        for (int axis = 0; axis < 3; axis++) gradient[axis][k] = rng_signed(random.word[axis]);
    }
}

static inline float noise_ease(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

// Of the corners at a point of the cell.
static inline void noise_weigh(const float d[3], float weight[8])
{
    const float ease[3] = {noise_ease(d[0]), noise_ease(d[1]), noise_ease(d[2])};
    for (int k = 0; k < 8; k++) {
        const int corner[3] = NOISE_CORNER(k);
        weight[k] = (corner[0] ? ease[0] : 1.0f - ease[0]) * (corner[1] ? ease[1] : 1.0f - ease[1]) *
                    (corner[2] ? ease[2] : 1.0f - ease[2]);
    }
}

static inline float noise_sum(const float gradient[3][8], const float weight[8], const float d[3])
{
    float part[8], sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        const int corner[3] = NOISE_CORNER(k);
        part[k] = weight[k] * (gradient[0][k] * (d[0] - (float)corner[0]) + gradient[1][k] * (d[1] - (float)corner[1]) +
                               gradient[2][k] * (d[2] - (float)corner[2]));
    }
    for (int k = 0; k < 8; k++) sum += part[k];
    return 2.0f * sum;
}

/// Gradient noise (Perlin 2002), about -1 to 1; it changes within a unit of length.
static inline float noise_at(uint64_t seed, RngStream stream, Vec3 p)
{
    const float low[3] = {noise_floor(p.x), noise_floor(p.y), noise_floor(p.z)},
                d[3] = {p.x - low[0], p.y - low[1], p.z - low[2]};
    float gradient[3][8], weight[8];
    noise_fill(gradient, seed, stream, low);
    noise_weigh(d, weight);
    return noise_sum(gradient, weight, d);
}

static inline const NoiseCell *noise_enter(NoiseCells *cells, const uint64_t seed[3], RngStream stream,
                                           const float low[3])
{
    NoiseCell *cell = &cells->of[((int64_t)low[0] & 1) | ((int64_t)low[1] & 1) << 1 | ((int64_t)low[2] & 1) << 2];
    if (cell->is_filled && low[0] == cell->low[0] && low[1] == cell->low[1] && low[2] == cell->low[2]) return cell;
    for (int n = 0; n < 3; n++) noise_fill(cell->gradient[n], seed[n], stream, low);
    for (int axis = 0; axis < 3; axis++) cell->low[axis] = low[axis];
    cell->is_filled = 1;
    return cell;
}

#define NOISE_LANES 16

/// How many of these points, x, y, z of each, lie in the cell of the first one before one does not. low: its lowest
/// corner.
static inline int noise_in_one_cell(float p[3][NOISE_LANES], float low[3])
{
    int is_in[NOISE_LANES], count = 1;
    for (int axis = 0; axis < 3; axis++) low[axis] = noise_floor(p[axis][0]);
    for (int l = 0; l < NOISE_LANES; l++)
        is_in[l] = (p[0][l] >= low[0]) & (p[0][l] - low[0] < 1.0f) & (p[1][l] >= low[1]) & (p[1][l] - low[1] < 1.0f) &
                   (p[2][l] >= low[2]) & (p[2][l] - low[2] < 1.0f);
    while (count < NOISE_LANES && is_in[count]) count++;
    return count;
}

/// noise_at for three seeds, always the same with the same cells, at points of one cell. out: x, y, z of each.
static inline void noise_vectors_at(NoiseCells *cells, const uint64_t seed[3], RngStream stream, const float low[3],
                                    float p[3][NOISE_LANES], float out[3][NOISE_LANES])
{
    float d[3][NOISE_LANES], ease[3][NOISE_LANES], sum[3][NOISE_LANES] = {{0}};
    const NoiseCell *cell = noise_enter(cells, seed, stream, low);
    for (int axis = 0; axis < 3; axis++)
        for (int l = 0; l < NOISE_LANES; l++) {
            d[axis][l] = p[axis][l] - low[axis];
            ease[axis][l] = noise_ease(d[axis][l]);
        }
    for (int k = 0; k < 8; k++) {
        const int corner[3] = NOISE_CORNER(k);
        float weight[NOISE_LANES], arm[3][NOISE_LANES];
        for (int l = 0; l < NOISE_LANES; l++)
            weight[l] = (corner[0] ? ease[0][l] : 1.0f - ease[0][l]) * (corner[1] ? ease[1][l] : 1.0f - ease[1][l]) *
                        (corner[2] ? ease[2][l] : 1.0f - ease[2][l]);
        for (int axis = 0; axis < 3; axis++)
            for (int l = 0; l < NOISE_LANES; l++) arm[axis][l] = d[axis][l] - (float)corner[axis];
        for (int n = 0; n < 3; n++) {
            float x = cell->gradient[n][0][k], y = cell->gradient[n][1][k], z = cell->gradient[n][2][k];
            for (int l = 0; l < NOISE_LANES; l++)
                sum[n][l] += weight[l] * (x * arm[0][l] + y * arm[1][l] + z * arm[2][l]);
        }
    }
    for (int n = 0; n < 3; n++)
        for (int l = 0; l < NOISE_LANES; l++) out[n][l] = 2.0f * sum[n][l];
}
