// SPDX-License-Identifier: GPL-3.0-or-later
// Arguments of the dots are checked here; dots_light.c finds which way the sand faces, dots_picture.c draws.
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "dots/dots_kernel.h"
#include "dots/dots_picture.h"

#include <math.h>
#include <string.h>

#define BLOCK 16384
#define MOST_SIDE 16384
#define MOST_PIXELS 32
// Below that one thread is done before a second has come: while a bake has the cores that may take longer than the
// work.
#define PER_THREAD 200000

static int threads_for(int64_t count, const Run *run)
{
    int64_t useful = count / PER_THREAD + 1;
    return useful < run->thread_count ? (int)useful : run->thread_count;
}

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
    float colour[GRAIN_DOTS_COLOURS][3]; ///< times 255
    float brightness[DOTS_LIGHT_STEPS];
} Roots;

static void roots_of(const GrainDotsLook *look, Roots *out)
{
    for (int i = 0; i < GRAIN_DOTS_COLOURS; i++)
        for (int k = 0; k < 3; k++) out->colour[i][k] = 255.0f * sqrtf(real_maxf(look->colours[i][k], 0.0f));
    for (int i = 0; i < DOTS_LIGHT_STEPS; i++) out->brightness[i] = sqrtf((float)i * (1.0f / DOTS_LIGHT_UNIT));
}

static float darker_by(float moisture, float wet_value)
{
    float wet = moisture > 0.0f ? (moisture < 1.0f ? moisture : 1.0f) : 0.0f;
    return sqrtf(1.0f + wet * (wet_value - 1.0f));
}

static void colour_run(const GrainDots *dots, const GrainDotsLook *look, const Roots *roots, const DotsLight *light,
                       int64_t begin, int64_t count, uint8_t *out)
{
    uint32_t dice[DOTS_RUN];
    uint8_t lit[DOTS_RUN];
    for (int64_t i = 0; i < count; i++)
        dice[i] = scramble(dots->ids ? (uint32_t)dots->ids[begin + i] : (uint32_t)(begin + i));
    dots_light_at(light, dots->positions + 3 * begin, dice, count, lit);
    const float unit = 255.0f / look->largest_radius;
    for (int64_t i = 0; i < count; i++, out += 4) {
        const float *colour = roots->colour[dice[i] >> 24];
        float brightness = roots->brightness[lit[i]];
        if (dots->moistures) brightness *= darker_by(dots->moistures[begin + i], look->wet_value);
        for (int k = 0; k < 3; k++) {
            float root = colour[k] * brightness + 0.5f;
            out[k] = (uint8_t)(int32_t)(root < 255.0f ? root : 255.0f);
        }
        float size = dots->radii[begin + i] * unit + 0.5f;
        out[3] = (uint8_t)(int32_t)(size > 1.0f ? (size < 255.0f ? size : 255.0f) : 1.0f);
    }
}

static void colour_block(const GrainDots *dots, const GrainDotsLook *look, const Roots *roots, const DotsLight *light,
                         int64_t begin, int64_t end, uint8_t *out)
{
    for (int64_t i = begin; i < end; i += DOTS_RUN)
        colour_run(dots, look, roots, light, i, end - i < DOTS_RUN ? end - i : DOTS_RUN, out + 4 * i);
}

GrainResult grain_dots_colour(const GrainDots *dots, const GrainDotsLook *look, const GrainRun *options, uint8_t *out,
                              float bounds[6])
{
    Run run;
    CHECK_STRUCT(dots, GrainDots);
    CHECK_STRUCT(look, GrainDotsLook);
    TRY(run_begin(&run, options));
    if (dots->count < 0) return fail(GRAIN_ERROR_ARGUMENT, "count is %lld", (long long)dots->count);
    if (dots->count == 0) return GRAIN_OK;
    if (!dots->positions || !dots->radii || !out) return fail(GRAIN_ERROR_ARGUMENT, "positions, radii or out is NULL");
    if (!(look->largest_radius > 0.0f) || !isfinite(look->largest_radius))
        return fail(GRAIN_ERROR_ARGUMENT, "largest_radius is %g; it must be above 0", (double)look->largest_radius);
    run.thread_count = threads_for(dots->count, &run);
    DotsLight light;
    Roots roots;
    roots_of(look, &roots);
    GrainResult result = dots_light_create(&light, dots, &run);
    if (result == GRAIN_OK) PARALLEL_BLOCKS(run.thread_count, block, parallel_block_count(dots->count, BLOCK))
    colour_block(dots, look, &roots, &light, block * BLOCK, parallel_block_end(block, BLOCK, dots->count), out);
    if (result == GRAIN_OK && bounds) memcpy(bounds, light.bounds, sizeof light.bounds);
    dots_light_destroy(&light);
    return result;
}

GrainResult grain_dots_picture(const float *positions, const uint8_t *colours, int64_t count, const GrainDotsView *view,
                               const GrainRun *options, float *out)
{
    Run run;
    CHECK_STRUCT(view, GrainDotsView);
    TRY(run_begin(&run, options));
    if (count < 0) return fail(GRAIN_ERROR_ARGUMENT, "count is %lld", (long long)count);
    if (!out || (count > 0 && (!positions || !colours)))
        return fail(GRAIN_ERROR_ARGUMENT, "positions, colours or out is NULL");
    if (view->width < 1 || view->height < 1 || view->width > MOST_SIDE || view->height > MOST_SIDE)
        return fail(GRAIN_ERROR_ARGUMENT, "the view is %d x %d pixels; allowed are 1 to %d", view->width, view->height,
                    MOST_SIDE);
    if (view->left < 0 || view->bottom < 0 || view->right <= view->left || view->top <= view->bottom ||
        view->right > view->width || view->top > view->height)
        return fail(GRAIN_ERROR_ARGUMENT, "the part from (%d, %d) to (%d, %d) is none of a view of %d x %d pixels",
                    view->left, view->bottom, view->right, view->top, view->width, view->height);
    if (view->most_pixels < 1 || view->most_pixels > MOST_PIXELS)
        return fail(GRAIN_ERROR_ARGUMENT, "most_pixels is %d; allowed are 1 to %d", view->most_pixels, MOST_PIXELS);
    run.thread_count = threads_for(count, &run);
    return dots_picture(positions, colours, count, view, &run, out);
}
