// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Inside kernels: vectors, and what is done with them in registers. Included by base/simd.h.
#include <stdint.h>
#include <string.h>

#define SIMD_PASTE(name, suffix) name##_##suffix
#define SIMD_EXPAND(name, suffix) SIMD_PASTE(name, suffix)
#define SIMD_NAME(name) SIMD_EXPAND(name, SIMD_SUFFIX)

#if defined(__x86_64__)
#include <immintrin.h>
#endif
// A kernel whose work comes in eights defines SIMD_FIXED_LANES 8 before it includes anything.
#if defined(SIMD_FIXED_LANES)
#define SIMD_LANES SIMD_FIXED_LANES
#elif defined(__AVX512F__)
#define SIMD_LANES 16
#elif defined(__AVX2__)
#define SIMD_LANES 8
#else
#define SIMD_LANES 4
#endif
// Vectors as wide as the set's own registers have instructions of their own below.
#if defined(__AVX512F__) && SIMD_LANES == 16
#define SIMD_IS_AVX512 1
#elif defined(__AVX2__) && SIMD_LANES == 8
#define SIMD_IS_AVX2 1
#elif defined(__SSE2__) && SIMD_LANES == 4
#define SIMD_IS_SSE2 1
#endif

// Arithmetic and comparisons are the compiler's vector extensions: a + b, a < b (gives an IntV mask of 0 and -1).
typedef float FloatV __attribute__((vector_size(4 * SIMD_LANES)));
typedef int32_t IntV __attribute__((vector_size(4 * SIMD_LANES)));
#define SIMD_INLINE static inline __attribute__((always_inline, unused))

SIMD_INLINE FloatV simd_load(const float *from)
{
    FloatV v;
    memcpy(&v, from, sizeof v);
    return v;
}

SIMD_INLINE void simd_store(float *to, FloatV v) { memcpy(to, &v, sizeof v); }

SIMD_INLINE FloatV simd_set1(float value) { return (FloatV){0} + value; }

SIMD_INLINE IntV simd_set1_int(int32_t value) { return (IntV){0} + value; }

/// 0, 1, 2, ...
SIMD_INLINE IntV simd_lane_index(void)
{
    IntV v;
    for (int lane = 0; lane < SIMD_LANES; lane++) v[lane] = lane;
    return v;
}

SIMD_INLINE FloatV simd_select(IntV mask, FloatV where_set, FloatV where_clear)
{
#if SIMD_IS_AVX2
    return (FloatV)_mm256_blendv_ps((__m256)where_clear, (__m256)where_set, (__m256)mask);
#else
    return (FloatV)((mask & (IntV)where_set) | (~mask & (IntV)where_clear));
#endif
}

// The instructions give b where either is NaN, as a < b ? a : b does.
SIMD_INLINE FloatV simd_min(FloatV a, FloatV b)
{
#if SIMD_IS_AVX512
    return (FloatV)_mm512_min_ps((__m512)a, (__m512)b);
#elif SIMD_IS_AVX2
    return (FloatV)_mm256_min_ps((__m256)a, (__m256)b);
#elif SIMD_IS_SSE2
    return (FloatV)_mm_min_ps((__m128)a, (__m128)b);
#else
    return simd_select(a < b, a, b);
#endif
}

SIMD_INLINE FloatV simd_max(FloatV a, FloatV b)
{
#if SIMD_IS_AVX512
    return (FloatV)_mm512_max_ps((__m512)a, (__m512)b);
#elif SIMD_IS_AVX2
    return (FloatV)_mm256_max_ps((__m256)a, (__m256)b);
#elif SIMD_IS_SSE2
    return (FloatV)_mm_max_ps((__m128)a, (__m128)b);
#else
    return simd_select(a > b, a, b);
#endif
}

SIMD_INLINE FloatV simd_abs(FloatV v) { return (FloatV)((IntV)v & 0x7fffffff); }

SIMD_INLINE FloatV simd_sqrt(FloatV v)
{
#if SIMD_IS_AVX512
    return (FloatV)_mm512_sqrt_ps((__m512)v);
#elif SIMD_IS_AVX2
    return (FloatV)_mm256_sqrt_ps((__m256)v);
#elif SIMD_IS_SSE2
    return (FloatV)_mm_sqrt_ps((__m128)v);
#else
    for (int lane = 0; lane < SIMD_LANES; lane++) v[lane] = __builtin_sqrtf(v[lane]);
    return v;
#endif
}

// Doubles with as many lanes, for what floats cannot hold: a setup, not a kernel's inner loop.
typedef double DoubleV __attribute__((vector_size(8 * SIMD_LANES)));
typedef int64_t LongV __attribute__((vector_size(8 * SIMD_LANES)));

SIMD_INLINE DoubleV simd_select_double(LongV mask, DoubleV where_set, DoubleV where_clear)
{
    return (DoubleV)((mask & (LongV)where_set) | (~mask & (LongV)where_clear));
}

SIMD_INLINE DoubleV simd_sqrt_double(DoubleV v)
{
#if defined(__AVX__)
    __m256d part[SIMD_LANES / 4];
    memcpy(part, &v, sizeof v);
    for (int i = 0; i < SIMD_LANES / 4; i++) part[i] = _mm256_sqrt_pd(part[i]);
    memcpy(&v, part, sizeof v);
#elif defined(__SSE2__)
    __m128d part[SIMD_LANES / 2];
    memcpy(part, &v, sizeof v);
    for (int i = 0; i < SIMD_LANES / 2; i++) part[i] = _mm_sqrt_pd(part[i]);
    memcpy(&v, part, sizeof v);
#else
    for (int lane = 0; lane < SIMD_LANES; lane++) v[lane] = __builtin_sqrt(v[lane]);
#endif
    return v;
}

/// One bit for each lane, lane 0 lowest.
SIMD_INLINE uint32_t simd_bits(IntV mask)
{
#if SIMD_IS_AVX512
    return _mm512_movepi32_mask((__m512i)mask);
#elif SIMD_IS_AVX2
    return (uint32_t)_mm256_movemask_ps((__m256)mask);
#elif SIMD_IS_SSE2
    return (uint32_t)_mm_movemask_ps((__m128)mask);
#elif SIMD_LANES == 8 && defined(__SSE2__)
    __m128 half[2];
    memcpy(half, &mask, sizeof half);
    return (uint32_t)_mm_movemask_ps(half[0]) | (uint32_t)_mm_movemask_ps(half[1]) << 4;
#else
    uint32_t bits = 0;
    for (int lane = 0; lane < SIMD_LANES; lane++) bits |= (uint32_t)(mask[lane] & 1) << lane;
    return bits;
#endif
}
