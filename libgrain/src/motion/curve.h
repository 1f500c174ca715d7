// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A value that may change over the shot: a constant, or one sample per frame with linear interpolation; the last
/// sample is held.
#include "base/vec.h"
#include <stdint.h>

typedef struct Curve {
    float constant[3];    ///< used without samples
    const float *samples; ///< count * components
    int64_t count;
    int components; ///< 1 or 3
} Curve;

static inline float curve_part(const Curve *curve, double frames, int component)
{
    if (curve->count == 0) return curve->constant[component];
    if (!(frames > 0.0)) return curve->samples[component];
    int64_t at = frames >= (double)(curve->count - 1) ? curve->count - 1 : (int64_t)frames;
    const float *sample = curve->samples + at * curve->components + component;
    if (at == curve->count - 1) return *sample;
    return *sample + (float)(frames - (double)at) * (sample[curve->components] - *sample);
}

/// Value at a frame, counted from 0 (1.5: between the second and the third).
static inline float curve_number(const Curve *curve, double frames) { return curve_part(curve, frames, 0); }
static inline Vec3 curve_vector(const Curve *curve, double frames)
{
    return vec3(curve_part(curve, frames, 0), curve_part(curve, frames, 1), curve_part(curve, frames, 2));
}

/// Sets the constant, which samples replace.
static inline Vec3 curve_constant(const Curve *curve)
{
    return vec3(curve->constant[0], curve->constant[1], curve->constant[2]);
}

/// Length of the longest vector, or the largest number.
static inline float curve_largest(const Curve *curve)
{
    float largest = 0.0f;
    int64_t count = curve->count > 0 ? curve->count : 1;
    for (int64_t i = 0; i < count; i++) {
        const float *v = curve->count > 0 ? curve->samples + i * curve->components : curve->constant;
        float size = curve->components == 1 ? v[0] : vec3_length(vec3(v[0], v[1], v[2]));
        largest = size > largest ? size : largest;
    }
    return largest;
}
