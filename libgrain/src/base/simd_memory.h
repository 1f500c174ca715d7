// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Inside kernels: how lanes come from memory and go back, other than side by side. Included by base/simd.h.
#include "base/simd_vector.h"

SIMD_INLINE FloatV simd_gather(const float *base, IntV index)
{
#if SIMD_IS_AVX512
    return (FloatV)_mm512_i32gather_ps((__m512i)index, base, 4);
#elif SIMD_IS_AVX2
    return (FloatV)_mm256_i32gather_ps(base, (__m256i)index, 4);
#else
    FloatV v;
    for (int lane = 0; lane < SIMD_LANES; lane++) v[lane] = base[index[lane]];
    return v;
#endif
}

/// Records of four floats, one from each of the places base + stride * index[lane] (in floats, 16-byte aligned), turned
/// into four vectors: x of all lanes, y of all lanes, ... Cheaper than gathers, as a record is one load.
SIMD_INLINE void simd_load_records(const float *base, int64_t stride, const int32_t *index, FloatV out[4])
{
#if SIMD_IS_AVX512
    __m512 row[4];
    for (int k = 0; k < 4; k++) {
        __m512 v = _mm512_castps128_ps512(_mm_load_ps(base + stride * index[k]));
        v = _mm512_insertf32x4(v, _mm_load_ps(base + stride * index[k + 4]), 1);
        v = _mm512_insertf32x4(v, _mm_load_ps(base + stride * index[k + 8]), 2);
        row[k] = _mm512_insertf32x4(v, _mm_load_ps(base + stride * index[k + 12]), 3);
    }
    __m512 xy01 = _mm512_unpacklo_ps(row[0], row[1]), zw01 = _mm512_unpackhi_ps(row[0], row[1]);
    __m512 xy23 = _mm512_unpacklo_ps(row[2], row[3]), zw23 = _mm512_unpackhi_ps(row[2], row[3]);
    out[0] = (FloatV)_mm512_shuffle_ps(xy01, xy23, 0x44), out[1] = (FloatV)_mm512_shuffle_ps(xy01, xy23, 0xEE);
    out[2] = (FloatV)_mm512_shuffle_ps(zw01, zw23, 0x44), out[3] = (FloatV)_mm512_shuffle_ps(zw01, zw23, 0xEE);
#elif SIMD_IS_AVX2
    __m256 row[4];
    for (int k = 0; k < 4; k++)
        row[k] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_load_ps(base + stride * index[k])),
                                      _mm_load_ps(base + stride * index[k + 4]), 1);
    __m256 xy01 = _mm256_unpacklo_ps(row[0], row[1]), zw01 = _mm256_unpackhi_ps(row[0], row[1]);
    __m256 xy23 = _mm256_unpacklo_ps(row[2], row[3]), zw23 = _mm256_unpackhi_ps(row[2], row[3]);
    out[0] = (FloatV)_mm256_shuffle_ps(xy01, xy23, 0x44), out[1] = (FloatV)_mm256_shuffle_ps(xy01, xy23, 0xEE);
    out[2] = (FloatV)_mm256_shuffle_ps(zw01, zw23, 0x44), out[3] = (FloatV)_mm256_shuffle_ps(zw01, zw23, 0xEE);
#elif SIMD_IS_SSE2
    __m128 row[4];
    for (int k = 0; k < 4; k++) row[k] = _mm_load_ps(base + stride * index[k]);
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (int k = 0; k < 4; k++) out[k] = (FloatV)row[k];
#else
    for (int k = 0; k < 4; k++) {
        out[k] = simd_set1(0.0f);
        for (int lane = 0; lane < SIMD_LANES; lane++) out[k][lane] = base[stride * index[lane] + k];
    }
#endif
}

/// The way back: SIMD_LANES records of four floats, one behind the other (16-byte aligned).
SIMD_INLINE void simd_store_records(float *to, FloatV x, FloatV y, FloatV z, FloatV w)
{
#if SIMD_IS_AVX512
    __m512 xy02 = _mm512_unpacklo_ps((__m512)x, (__m512)y), xy13 = _mm512_unpackhi_ps((__m512)x, (__m512)y);
    __m512 zw02 = _mm512_unpacklo_ps((__m512)z, (__m512)w), zw13 = _mm512_unpackhi_ps((__m512)z, (__m512)w);
    __m512 row[4] = {_mm512_shuffle_ps(xy02, zw02, 0x44), _mm512_shuffle_ps(xy02, zw02, 0xEE),
                     _mm512_shuffle_ps(xy13, zw13, 0x44), _mm512_shuffle_ps(xy13, zw13, 0xEE)};
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(to + 4 * k, _mm512_castps512_ps128(row[k]));
        _mm_store_ps(to + 4 * (k + 4), _mm512_extractf32x4_ps(row[k], 1));
        _mm_store_ps(to + 4 * (k + 8), _mm512_extractf32x4_ps(row[k], 2));
        _mm_store_ps(to + 4 * (k + 12), _mm512_extractf32x4_ps(row[k], 3));
    }
#elif SIMD_IS_AVX2
    __m256 xy02 = _mm256_unpacklo_ps((__m256)x, (__m256)y), xy13 = _mm256_unpackhi_ps((__m256)x, (__m256)y);
    __m256 zw02 = _mm256_unpacklo_ps((__m256)z, (__m256)w), zw13 = _mm256_unpackhi_ps((__m256)z, (__m256)w);
    __m256 row[4] = {_mm256_shuffle_ps(xy02, zw02, 0x44), _mm256_shuffle_ps(xy02, zw02, 0xEE),
                     _mm256_shuffle_ps(xy13, zw13, 0x44), _mm256_shuffle_ps(xy13, zw13, 0xEE)};
    for (int k = 0; k < 4; k++) {
        _mm_store_ps(to + 4 * k, _mm256_castps256_ps128(row[k]));
        _mm_store_ps(to + 4 * (k + 4), _mm256_extractf128_ps(row[k], 1));
    }
#elif SIMD_IS_SSE2
    __m128 row[4] = {(__m128)x, (__m128)y, (__m128)z, (__m128)w};
    _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]);
    for (int k = 0; k < 4; k++) _mm_store_ps(to + 4 * k, row[k]);
#else
    for (int lane = 0; lane < SIMD_LANES; lane++)
        to[4 * lane] = x[lane], to[4 * lane + 1] = y[lane], to[4 * lane + 2] = z[lane], to[4 * lane + 3] = w[lane];
#endif
}

#if SIMD_IS_AVX2
// For each set of four lanes, those that are in it first.
static const int32_t simd_picked_first[16][4] __attribute__((aligned(16), unused)) = {
    {0, 1, 2, 3}, {0, 1, 2, 3}, {1, 0, 2, 3}, {0, 1, 2, 3}, {2, 0, 1, 3}, {0, 2, 1, 3}, {1, 2, 0, 3}, {0, 1, 2, 3},
    {3, 0, 1, 2}, {0, 3, 1, 2}, {1, 3, 0, 2}, {0, 1, 3, 2}, {2, 3, 0, 1}, {0, 2, 3, 1}, {1, 2, 3, 0}, {0, 1, 2, 3}};
#endif

/// Stores the lanes whose bit is set side by side, in their order; returns how many. There is room for a whole vector,
/// what is behind them means nothing.
SIMD_INLINE int simd_store_picked(int32_t *to, IntV v, uint32_t bits)
{
#if SIMD_IS_AVX512
    _mm512_storeu_si512(to, _mm512_maskz_compress_epi32((__mmask16)bits, (__m512i)v));
    return __builtin_popcount(bits);
#elif SIMD_IS_AVX2
    __m128 half[2];
    memcpy(half, &v, sizeof half);
    int taken = __builtin_popcount(bits & 15);
    for (int i = 0; i < 2; i++) {
        __m128i order = _mm_load_si128((const __m128i *)simd_picked_first[bits >> 4 * i & 15]);
        _mm_storeu_ps((float *)(to + i * taken), _mm_permutevar_ps(half[i], order));
    }
    return taken + __builtin_popcount(bits >> 4);
#else
    int taken = 0;
    for (int lane = 0; lane < SIMD_LANES; lane++) { // no branch: it could not be predicted
        to[taken] = v[lane];
        taken += (int)(bits >> lane & 1);
    }
    return taken;
#endif
}
