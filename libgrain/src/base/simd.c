// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/simd.h"
#include "grain/base.h"

#include <stdatomic.h>
#include <stdlib.h>

#define NOT_ASKED_YET (-1)
static _Atomic int chosen = NOT_ASKED_YET;

static SimdSet best_of_cpu(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512bw"))
        return SIMD_AVX512;
    if (__builtin_cpu_supports("avx2")) return SIMD_AVX2;
#endif
    return SIMD_BASE;
}

SimdSet simd_limit(SimdSet most)
{
    SimdSet best = best_of_cpu();
    chosen = most < best ? most : best;
    return (SimdSet)chosen;
}

SimdSet simd_set(void)
{
    int set = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (set != NOT_ASKED_YET) return (SimdSet)set;
    const char *wish = getenv("GRAIN_SIMD");
    if (wish && strcmp(wish, "base") == 0) return simd_limit(SIMD_BASE);
    if (wish && strcmp(wish, "avx2") == 0) return simd_limit(SIMD_AVX2);
    return simd_limit(SIMD_AVX512);
}

const char *grain_instruction_set(void)
{
    switch (simd_set()) {
    case SIMD_AVX512:
        return "avx512";
    case SIMD_AVX2:
        return "avx2";
    default:
        break;
    }
#if defined(__SSE2__)
    return "sse2";
#else
    return "plain";
#endif
}
