// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Smooth noise.
#include "base/rng.h"
#include "base/vec.h"

#include <math.h>

static inline float noise_slope(uint64_t seed, RngStream stream, int64_t x, int64_t y, int64_t z, float dx, float dy,
                                float dz)
{
    uint64_t cell = (uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u ^ (uint64_t)z * 83492791u;
    Rng4 random = rng_at(seed, cell, stream, 0);
    return rng_signed(random.word[0]) * dx + rng_signed(random.word[1]) * dy + rng_signed(random.word[2]) * dz;
}

static inline float noise_ease(float t) { return t * t * t * (t * (t * 6.0f - 15.0f) + 10.0f); }

/// Gradient noise (Perlin 2002), about -1 to 1; it changes within a unit of length.
static inline float noise_at(uint64_t seed, RngStream stream, Vec3 p)
{
    float low[3] = {floorf(p.x), floorf(p.y), floorf(p.z)}, d[3] = {p.x - low[0], p.y - low[1], p.z - low[2]},
          sum = 0.0f;
    for (int k = 0; k < 8; k++) {
        int x = k & 1, y = k >> 1 & 1, z = k >> 2;
        float weight = (x ? noise_ease(d[0]) : 1.0f - noise_ease(d[0])) *
                       (y ? noise_ease(d[1]) : 1.0f - noise_ease(d[1])) *
                       (z ? noise_ease(d[2]) : 1.0f - noise_ease(d[2]));
        sum += weight * noise_slope(seed, stream, (int64_t)low[0] + x, (int64_t)low[1] + y, (int64_t)low[2] + z,
                                    d[0] - (float)x, d[1] - (float)y, d[2] - (float)z);
    }
    return 2.0f * sum;
}
