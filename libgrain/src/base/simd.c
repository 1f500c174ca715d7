// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/simd.h"
#include "grain/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NOT_ASKED_YET (-1)
static _Atomic int chosen = NOT_ASKED_YET;

#if defined(__x86_64__)
// Asked for here: not every compiler's runtime has the table that __builtin_cpu_supports looks into.
#include <cpuid.h>
#include <string.h>

#define SAVES_YMM 0x06 // registers that the system saves when it switches threads
#define SAVES_ZMM 0xe6

static uint64_t registers_saved(void)
{
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

static SimdSet best_of_cpu(void)
{
    const uint32_t avx512 = bit_AVX512F | bit_AVX512DQ | bit_AVX512VL | bit_AVX512BW;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX)) return SIMD_BASE;
    uint64_t saved = registers_saved();
    if ((saved & SAVES_YMM) != SAVES_YMM || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return SIMD_BASE;
    if ((saved & SAVES_ZMM) == SAVES_ZMM && (b & avx512) == avx512) return SIMD_AVX512;
    return b & bit_AVX2 ? SIMD_AVX2 : SIMD_BASE;
}
#else
static SimdSet best_of_cpu(void) { return SIMD_BASE; }
#endif

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

const char *simd_name(void)
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
#elif defined(__ARM_NEON)
    return "neon";
#else
    return "plain";
#endif
}
