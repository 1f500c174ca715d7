// SPDX-License-Identifier: GPL-3.0-or-later
// Sums over what a block reaches. Two entries are added at a time, so that eight lanes of each fill the widest
// registers:
//
//     lanes  [i0 i1 ... i7 | i0 i1 ... i7]     with the even entries | with the odd ones
//
// Narrower registers take these sixteen in turn. The sums of both halves are added at the end: the same bits for all.
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

enum { PAIR = 2 * BLOCK_LANES, TURNS = PAIR / SIMD_LANES };

// Values of the block's own particles.
SIMD_INLINE FloatV own_of(const float *values, int turn)
{
#if SIMD_IS_AVX512
    (void)turn;
    return (FloatV)_mm512_broadcast_f32x8(_mm256_loadu_ps(values));
#else
    return simd_load(values + turn * SIMD_LANES % BLOCK_LANES);
#endif
}

// Values of the two entries.
SIMD_INLINE FloatV other_of(const float *values, const int32_t *entry, int turn)
{
#if SIMD_IS_AVX512
    (void)turn;
    return (FloatV)_mm512_mask_broadcastss_ps(_mm512_set1_ps(values[entry[0]]), 0xff00, _mm_load_ss(values + entry[1]));
#else
    return simd_set1(values[entry[turn * SIMD_LANES / BLOCK_LANES]]);
#endif
}

SIMD_INLINE void add_halves(const float *pair, float *sum)
{
    for (int lane = 0; lane < BLOCK_LANES; lane++) sum[lane] = pair[lane] + pair[lane + BLOCK_LANES];
}

void SIMD_NAME(sph_sum_gradient)(const Sph *sph, const float *const velocity[3], int64_t block,
                                 float sum[9][BLOCK_LANES])
{
    const float *x = sph->field[SPH_X], *y = sph->field[SPH_Y], *z = sph->field[SPH_Z];
    const float *u = velocity[0], *v = velocity[1], *w = velocity[2];
    int64_t i = block * BLOCK_LANES;
    float pair[9][PAIR];
    for (int turn = 0; turn < TURNS; turn++) {
        FloatV xi = own_of(x + i, turn), yi = own_of(y + i, turn), zi = own_of(z + i, turn);
        FloatV ui = own_of(u + i, turn), vi = own_of(v + i, turn), wi = own_of(w + i, turn), g[9] = {0};
        for (int64_t k = sph->neighbours.block[block].list; k < sph->reached_end[block]; k += 2) {
            const int32_t *j = sph->reached + k;
            FloatV slope = simd_load(sph->slope + k * BLOCK_LANES + turn * SIMD_LANES);
            FloatV gx = slope * (xi - other_of(x, j, turn)), gy = slope * (yi - other_of(y, j, turn)),
                   gz = slope * (zi - other_of(z, j, turn));
            FloatV du = other_of(u, j, turn) - ui, dv = other_of(v, j, turn) - vi, dw = other_of(w, j, turn) - wi;
            g[0] += du * gx, g[1] += du * gy, g[2] += du * gz;
            g[3] += dv * gx, g[4] += dv * gy, g[5] += dv * gz;
            g[6] += dw * gx, g[7] += dw * gy, g[8] += dw * gz;
        }
        for (int c = 0; c < 9; c++) simd_store(pair[c] + turn * SIMD_LANES, g[c]);
    }
    for (int c = 0; c < 9; c++) add_halves(pair[c], sum[c]);
}

void SIMD_NAME(sph_sum_symmetric)(const Sph *sph, int64_t block, float sum[3][BLOCK_LANES])
{
    const float *x = sph->field[SPH_X], *y = sph->field[SPH_Y], *z = sph->field[SPH_Z];
    const float *xx = sph->work[SPH_B0], *xy = sph->work[SPH_B0 + 1], *xz = sph->work[SPH_B0 + 2];
    const float *yy = sph->work[SPH_B0 + 4], *yz = sph->work[SPH_B0 + 5], *zz = sph->work[SPH_B8];
    int64_t i = block * BLOCK_LANES;
    float pair[3][PAIR];
    for (int turn = 0; turn < TURNS; turn++) {
        FloatV xi = own_of(x + i, turn), yi = own_of(y + i, turn), zi = own_of(z + i, turn);
        FloatV s[6] = {own_of(xx + i, turn), own_of(yy + i, turn), own_of(zz + i, turn),
                       own_of(xy + i, turn), own_of(xz + i, turn), own_of(yz + i, turn)};
        FloatV a[3] = {0};
        for (int64_t k = sph->neighbours.block[block].list; k < sph->reached_end[block]; k += 2) {
            const int32_t *j = sph->reached + k;
            FloatV slope = simd_load(sph->slope + k * BLOCK_LANES + turn * SIMD_LANES);
            FloatV gx = slope * (xi - other_of(x, j, turn)), gy = slope * (yi - other_of(y, j, turn)),
                   gz = slope * (zi - other_of(z, j, turn));
            FloatV sxy = s[3] + other_of(xy, j, turn), sxz = s[4] + other_of(xz, j, turn),
                   syz = s[5] + other_of(yz, j, turn);
            a[0] += (s[0] + other_of(xx, j, turn)) * gx + sxy * gy + sxz * gz;
            a[1] += sxy * gx + (s[1] + other_of(yy, j, turn)) * gy + syz * gz;
            a[2] += sxz * gx + syz * gy + (s[2] + other_of(zz, j, turn)) * gz;
        }
        for (int c = 0; c < 3; c++) simd_store(pair[c] + turn * SIMD_LANES, a[c]);
    }
    for (int c = 0; c < 3; c++) add_halves(pair[c], sum[c]);
}

void SIMD_NAME(sph_sum_stress)(const Sph *sph, int64_t block, float sum[3][BLOCK_LANES])
{
    const float *x = sph->field[SPH_X], *y = sph->field[SPH_Y], *z = sph->field[SPH_Z];
    const float *u = sph->field[SPH_U], *v = sph->field[SPH_V], *w = sph->field[SPH_W];
    const float *wet = sph->field[SPH_MOISTURE];
    float *const *b = &sph->work[SPH_B0];
    const SphRules *rules = &sph->rules;
    float unit = rules->support * rules->sound * rules->density, apart = 0.01f * rules->support * rules->support;
    float viscous = rules->viscosity * unit, wet_viscous = 0.5f * rules->wet_viscosity * unit;
    int64_t i = block * BLOCK_LANES;
    float pair[3][PAIR];
    for (int turn = 0; turn < TURNS; turn++) {
        FloatV xi = own_of(x + i, turn), yi = own_of(y + i, turn), zi = own_of(z + i, turn);
        FloatV ui = own_of(u + i, turn), vi = own_of(v + i, turn), wi = own_of(w + i, turn);
        FloatV s[9], a[3] = {0}, damp = viscous + wet_viscous * own_of(wet + i, turn);
        for (int c = 0; c < 9; c++) s[c] = own_of(b[c] + i, turn);
        for (int64_t k = sph->neighbours.block[block].list; k < sph->reached_end[block]; k += 2) {
            const int32_t *j = sph->reached + k;
            FloatV dx = xi - other_of(x, j, turn), dy = yi - other_of(y, j, turn), dz = zi - other_of(z, j, turn);
            FloatV slope = simd_load(sph->slope + k * BLOCK_LANES + turn * SIMD_LANES);
            FloatV closing =
                (ui - other_of(u, j, turn)) * dx + (vi - other_of(v, j, turn)) * dy + (wi - other_of(w, j, turn)) * dz;
            FloatV press = (damp + wet_viscous * other_of(wet, j, turn)) * simd_min(closing, simd_set1(0.0f)) /
                           (dx * dx + dy * dy + dz * dz + apart);
            FloatV gx = slope * dx, gy = slope * dy, gz = slope * dz;
            a[0] += (s[0] + other_of(b[0], j, turn) + press) * gx + (s[1] + other_of(b[1], j, turn)) * gy +
                    (s[2] + other_of(b[2], j, turn)) * gz;
            a[1] += (s[3] + other_of(b[3], j, turn)) * gx + (s[4] + other_of(b[4], j, turn) + press) * gy +
                    (s[5] + other_of(b[5], j, turn)) * gz;
            a[2] += (s[6] + other_of(b[6], j, turn)) * gx + (s[7] + other_of(b[7], j, turn)) * gy +
                    (s[8] + other_of(b[8], j, turn) + press) * gz;
        }
        for (int c = 0; c < 3; c++) simd_store(pair[c] + turn * SIMD_LANES, a[c]);
    }
    for (int c = 0; c < 3; c++) add_halves(pair[c], sum[c]);
}
