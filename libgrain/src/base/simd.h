// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Vectors of floats for kernels. A file named *_kernel.c is compiled once for each instruction set (libgrain's
/// CMakeLists.txt), with SIMD_LANES floats to a vector, and one of the builds is chosen at run time:
///
///     // in a header:              SIMD_KERNEL(void, scale, (float *values, int64_t count, float factor))
///     // in scale_kernel.c:        void SIMD_NAME(scale)(float *values, int64_t count, float factor) { ... }
///     // in the code that calls:   SIMD_CALL(scale)(values, count, 2.0f);
///
/// Rule: lanes do not meet. A lane works on its own particle, voxel or pair, and whatever is summed over lanes is
/// summed one by one in memory order. Then the results are the same bits for 4, 8 or 16 lanes, so a bake may move from
/// one machine to another.
#include <stdint.h>
#include <string.h>

typedef enum SimdSet { SIMD_BASE, SIMD_AVX2, SIMD_AVX512 } SimdSet;

/// The best set this CPU has, or the one named by the environment variable GRAIN_SIMD (base, avx2, avx512) if it is
/// lower.
SimdSet simd_set(void);
/// "avx512", "avx2", "sse2", "neon" or "plain".
const char *simd_name(void);
/// For tests: use no more than this set from now on. Returns the set in force, which the CPU may hold lower.
SimdSet simd_limit(SimdSet most);

#if defined(__x86_64__) && defined(__GNUC__)
#define SIMD_KERNEL(Return, name, arguments)                                                                           \
    Return name##_base arguments;                                                                                      \
    Return name##_avx2 arguments;                                                                                      \
    Return name##_avx512 arguments;
#define SIMD_CALL(name)                                                                                                \
    (simd_set() == SIMD_AVX512 ? name##_avx512 : simd_set() == SIMD_AVX2 ? name##_avx2 : name##_base)
#else
#define SIMD_KERNEL(Return, name, arguments) Return name##_base arguments;
#define SIMD_CALL(name) name##_base
#endif

// --- inside kernels ------------------------------------------------------------------------------

#ifdef SIMD_SUFFIX // defined by the build for *_kernel.c only

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

#endif
