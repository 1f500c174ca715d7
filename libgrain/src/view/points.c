// SPDX-License-Identifier: GPL-3.0-or-later
// The colours of grains drawn as points.
#include "view/points.h"
#include "base/parallel.h"
#include "base/real.h"
#include "view/points_kernel.h"

#include <math.h>
#include <string.h>

#define BLOCK 16384

// Numbers that follow each other must look unrelated (the finaliser of MurmurHash3, Appleby 2011).
static uint32_t scramble(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x85EBCA6Bu;
    x ^= x >> 13;
    x *= 0xC2B2AE35u;
    return x ^ x >> 16;
}

// The square roots of what a grain's colour is made of: that of a product is their product, and roots take long.
typedef struct Roots {
    float colour[GRAIN_POINTS_COLOURS][3]; ///< times 255
    float brightness[POINTS_LIGHT_STEPS];
} Roots;

static void roots_of(const GrainPointsLook *look, Roots *out)
{
    for (int i = 0; i < GRAIN_POINTS_COLOURS; i++)
        for (int k = 0; k < 3; k++) out->colour[i][k] = 255.0f * sqrtf(real_maxf(look->colours[i][k], 0.0f));
    for (int i = 0; i < POINTS_LIGHT_STEPS; i++) out->brightness[i] = sqrtf((float)i * (1.0f / POINTS_LIGHT_UNIT));
}

static float darker_by(float moisture, float wet_value)
{
    float wet = moisture > 0.0f ? (moisture < 1.0f ? moisture : 1.0f) : 0.0f;
    return sqrtf(1.0f + wet * (wet_value - 1.0f));
}

static void colour_run(const GrainPoints *points, const GrainPointsLook *look, const Roots *roots,
                       const PointsLight *light, int64_t begin, int64_t count, uint8_t *out)
{
    uint32_t dice[POINTS_RUN];
    uint8_t lit[POINTS_RUN];
    for (int64_t i = 0; i < count; i++)
        dice[i] = scramble(points->ids ? (uint32_t)points->ids[begin + i] : (uint32_t)(begin + i));
    points_light_at(light, points->positions + 3 * begin, dice, count, lit);
    const float unit = 255.0f / look->largest_radius;
    for (int64_t i = 0; i < count; i++, out += 4) {
        const float *colour = roots->colour[dice[i] >> 24];
        float brightness = roots->brightness[lit[i]];
        if (points->moistures) brightness *= darker_by(points->moistures[begin + i], look->wet_value);
        for (int k = 0; k < 3; k++) {
            float root = colour[k] * brightness + 0.5f;
            out[k] = (uint8_t)(int32_t)(root < 255.0f ? root : 255.0f);
        }
        float size = points->radii[begin + i] * unit + 0.5f;
        out[3] = (uint8_t)(int32_t)(size > 1.0f ? (size < 255.0f ? size : 255.0f) : 1.0f);
    }
}

static void colour_block(const GrainPoints *points, const GrainPointsLook *look, const Roots *roots,
                         const PointsLight *light, int64_t begin, int64_t end, uint8_t *out)
{
    for (int64_t i = begin; i < end; i += POINTS_RUN)
        colour_run(points, look, roots, light, i, end - i < POINTS_RUN ? end - i : POINTS_RUN, out + 4 * i);
}

GrainResult points_colour(const GrainPoints *points, const GrainPointsLook *look, const Run *run, uint8_t *out,
                          float bounds[6])
{
    PointsLight light;
    Roots roots;
    roots_of(look, &roots);
    GrainResult result = points_light_create(&light, points, run);
    if (result == GRAIN_OK) PARALLEL_BLOCKS(run->thread_count, block, parallel_block_count(points->count, BLOCK))
    colour_block(points, look, &roots, &light, block * BLOCK, parallel_block_end(block, BLOCK, points->count), out);
    if (result == GRAIN_OK && bounds) memcpy(bounds, light.bounds, sizeof light.bounds);
    points_light_destroy(&light);
    return result;
}
