// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Logarithm and exponential of float vectors, for kernels: the compiler's own are called one lane at a time. After the
/// Cephes library's methods: the range is reduced by powers of two, the rest is a polynomial. Within 2 units in the
/// last place, the same bits on every instruction set.
#include "base/simd.h"

#ifdef SIMD_SUFFIX

/// Of v > 0; below the smallest normal number as of that one.
SIMD_INLINE FloatV simd_log(FloatV v)
{
    v = simd_max(v, simd_set1(1.17549435e-38f));
    IntV bits = (IntV)v;
    IntV exponent = (bits >> 23) - 126;
    FloatV m = (FloatV)((bits & 0x007fffff) | 0x3f000000); // [0.5, 1)
    IntV is_low = m < simd_set1(0.70710678f);
    exponent += is_low; // a mask is -1
    m = simd_select(is_low, m + m, m) - 1.0f;
    FloatV e = __builtin_convertvector(exponent, FloatV), square = m * m;
    FloatV p = simd_set1(7.0376836292e-2f);
    p = p * m - 1.1514610310e-1f;
    p = p * m + 1.1676998740e-1f;
    p = p * m - 1.2420140846e-1f;
    p = p * m + 1.4249322787e-1f;
    p = p * m - 1.6668057665e-1f;
    p = p * m + 2.0000714765e-1f;
    p = p * m - 2.4999993993e-1f;
    p = p * m + 3.3333331174e-1f;
    FloatV rest = m * square * p + e * -2.12194440e-4f - 0.5f * square;
    return m + rest + e * 0.693359375f;
}

/// Held within what a float can hold.
SIMD_INLINE FloatV simd_exp(FloatV v)
{
    v = simd_max(simd_min(v, simd_set1(88.0f)), simd_set1(-87.0f));
    // Adding and taking away 1.5 * 2^23 rounds to a whole number.
    FloatV whole = v * 1.44269504f + 12582912.0f - 12582912.0f;
    FloatV r = v - whole * 0.693359375f - whole * -2.12194440e-4f;
    FloatV p = simd_set1(1.9875691500e-4f);
    p = p * r + 1.3981999507e-3f;
    p = p * r + 8.3334519073e-3f;
    p = p * r + 4.1665795894e-2f;
    p = p * r + 1.6666665459e-1f;
    p = p * r + 5.0000001201e-1f;
    FloatV value = p * r * r + r + 1.0f;
    IntV power = (__builtin_convertvector(whole, IntV) + 127) << 23;
    return value * (FloatV)power;
}

#endif
