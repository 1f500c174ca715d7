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

#ifdef SIMD_SUFFIX // defined by the build for *_kernel.c only
#include "base/simd_memory.h"
#include "base/simd_vector.h"
#endif
