// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The cubic spline (Monaghan 2005) with support h, as the difference of two cubes, and what of it lies behind a plane.
///
///     W(q) = 8 / (pi h^3) * (2 (1 - q)^3 - 8 (1/2 - q)^3),  q = r / h, each cube 0 where it would be negative
///
/// A half space at distance d holds of the kernel the part w(d) = 16 * integral from d/h to 1 of P, where P(q) is the
/// integral of W over a plane; the gradient of w is minus 16 P / h along the normal.
#include "base/simd.h"

#define SPH_PI 3.14159265f

/// W(0).
static inline float sph_spline_peak(float h) { return 8.0f / (SPH_PI * h * h * h); }

static inline float sph_spline(float r, float h)
{
    float q = r / h, u = q < 1.0f ? 1.0f - q : 0.0f, v = q < 0.5f ? 0.5f - q : 0.0f;
    return sph_spline_peak(h) * (2.0f * u * u * u - 8.0f * v * v * v);
}

/// dW/dr over r; the gradient at a way x from the other particle is this times x.
static inline float sph_spline_slope(float r, float h)
{
    float q = r / h, u = q < 1.0f ? 1.0f - q : 0.0f, scale = sph_spline_peak(h) / (h * h);
    return scale * (q < 0.5f ? 18.0f * q - 12.0f : -6.0f * u * u / q);
}

/// The part of a neighbourhood behind a plane at this distance (below 0: on the other side), and minus its derivative,
/// 1/m.
static inline float sph_spline_behind(float distance, float h, float *slope)
{
    float q = distance / h, t = q < 0.0f ? -q : q, part, plane;
    if (t >= 1.0f) {
        part = plane = 0.0f;
    } else if (t >= 0.5f) {
        float u = 1.0f - t, u4 = u * u * u * u;
        plane = u4 * (0.5f - 0.4f * u);
        part = 16.0f * u4 * u * (0.1f - u / 15.0f);
    } else {
        float t2 = t * t;
        plane = 0.0875f - t2 * (0.5f - t2 * (1.5f - 1.2f * t));
        part = 0.5f - 16.0f * t * (0.0875f - t2 * (1.0f / 6.0f - t2 * (0.3f - 0.2f * t)));
    }
    *slope = 16.0f * plane / h;
    return q < 0.0f ? 1.0f - part : part;
}

#ifdef SIMD_SUFFIX
/// dW/dr over r, over W(0) / h^2, of q = r / h.
SIMD_INLINE FloatV sph_slope(FloatV q)
{
    FloatV u = simd_max(1.0f - q, simd_set1(0.0f));
    return simd_select(q < 0.5f, 18.0f * q - 12.0f, -6.0f * u * u / q);
}

/// W over W(0).
SIMD_INLINE FloatV sph_weight(FloatV q)
{
    FloatV u = simd_max(1.0f - q, simd_set1(0.0f)), v = simd_max(0.5f - q, simd_set1(0.0f));
    return 2.0f * u * u * u - 8.0f * v * v * v;
}
#endif
