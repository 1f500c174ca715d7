// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/parallel.h"
#include "view/points.h"
#include "view/points_kernel.h"

#include <math.h>
#include <string.h>

#define BLOCK 16384
#define ROWS 32
#define AHEAD 12
#define EMPTY UINT64_MAX
#define MOST_CANVAS_BYTES 100000000

// Each thread has one of its own: lines of a common one would go to and fro between their caches all the time.
typedef struct Canvas {
    uint64_t *pixels; ///< depth above, colour below: the smallest number is the nearest grain
    int64_t width, height;
} Canvas;

// Whoever is nearest stays, in whatever order they come.
static void put(uint64_t *pixel, uint64_t value)
{
    uint64_t before = *pixel;
    *pixel = value < before ? value : before; // without a branch, which could not be predicted
}

static uint64_t depth_above(float depth)
{
    uint32_t bits;
    memcpy(&bits, &depth, sizeof bits); // orders like the number: it is not below 0
    return (uint64_t)bits << 32;
}

static uint64_t colour_of(const uint8_t *colour, float brightness)
{
    uint32_t part[3];
    for (int k = 0; k < 3; k++) part[k] = (uint32_t)((float)colour[k] * brightness);
    return part[0] << 16 | part[1] << 8 | part[2];
}

// Most points are that: a square of up to three pixels that lies on the canvas as a whole.
static void put_square(const Canvas *canvas, int64_t corner, int64_t side, uint64_t value)
{
    uint64_t *row = canvas->pixels + corner;
    for (int64_t v = 0; v < side; v++, row += canvas->width)
        for (int64_t u = 0; u < side; u++) put(row + u, value);
}

static void put_ball(const Canvas *canvas, int64_t left, int64_t bottom, int64_t side, uint64_t depth,
                     const uint8_t *colour)
{
    float scale = 2.0f / (float)side;
    for (int64_t v = 0; v < side; v++) {
        int64_t y = bottom + v;
        if (y < 0 || y >= canvas->height) continue;
        for (int64_t u = 0; u < side; u++) {
            int64_t x = left + u;
            if (x < 0 || x >= canvas->width) continue;
            float brightness = 1.0f;
            if (side >= POINTS_SMALLEST_BALL) {
                float across = ((float)u + 0.5f) * scale - 1.0f, up = ((float)v + 0.5f) * scale - 1.0f;
                float towards = 1.0f - across * across - up * up;
                if (towards <= 0.0f) continue;
                brightness = 0.55f + 0.35f * sqrtf(towards) + 0.1f * up;
            }
            put(canvas->pixels + y * canvas->width + x, depth | colour_of(colour, brightness));
        }
    }
}

static void put_run(const Canvas *canvas, const PointsPlaces *places, const uint8_t *colours, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        // Grains come in no order and the canvas is larger than the nearest cache: what will be needed is on its way.
        if (i + AHEAD < count && places->corner[i + AHEAD] >= 0)
            __builtin_prefetch(canvas->pixels + places->corner[i + AHEAD], 1);
        const uint8_t *colour = colours + 4 * i;
        uint64_t depth = depth_above(places->depth[i]);
        if (places->corner[i] >= 0)
            put_square(canvas, places->corner[i], places->side[i],
                       depth | (uint32_t)(colour[0] << 16 | colour[1] << 8 | colour[2]));
        else if (places->side[i] > 0)
            put_ball(canvas, places->left[i], places->bottom[i], places->side[i], depth, colour);
    }
}

static void put_block(const Canvas *canvas, const GrainPointsView *view, const float *positions, const uint8_t *colours,
                      int64_t begin, int64_t end)
{
    PointsPlaces places;
    for (int64_t i = begin; i < end; i += POINTS_RUN) {
        int64_t count = end - i < POINTS_RUN ? end - i : POINTS_RUN;
        SIMD_CALL(points_places)(view, positions + 3 * i, colours + 4 * i, count, &places);
        put_run(canvas, &places, colours + 4 * i, count);
    }
}

// The nearest of all canvases, as floats.
static void resolve(const uint64_t *pixels, int64_t size, int canvas_count, int64_t begin, int64_t end, float *out)
{
    for (int64_t i = begin; i < end; i++) {
        uint64_t pixel = pixels[i];
        for (int c = 1; c < canvas_count; c++) pixel = pixels[c * size + i] < pixel ? pixels[c * size + i] : pixel;
        uint32_t bits = (uint32_t)(pixel >> 32);
        float depth = 2.0f;
        if (pixel != EMPTY) memcpy(&depth, &bits, sizeof depth);
        out[2 * i] = depth;
        out[2 * i + 1] = (float)(int32_t)(pixel & 0xffffff); // below 2^24: exact
    }
}

GrainResult points_picture(const float *positions, const uint8_t *colours, int64_t count, const GrainPointsView *view,
                           const Run *run, float *out)
{
    const int64_t width = view->right - view->left, height = view->top - view->bottom;
    const int64_t size = width * height, strip = ROWS * width;
    int64_t most = MOST_CANVAS_BYTES / (size * (int64_t)sizeof(uint64_t));
    int threads = run->thread_count < most ? run->thread_count : most > 1 ? (int)most : 1;
    uint64_t *pixels = ALLOC(uint64_t, threads * size);
    if (!pixels) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, canvas, threads)
    memset(pixels + canvas * size, 0xff, (size_t)size * sizeof *pixels);
    PARALLEL_BLOCKS(threads, block, parallel_block_count(count, BLOCK))
    {
        const Canvas canvas = {pixels + parallel_thread_index() * size, width, height};
        put_block(&canvas, view, positions, colours, block * BLOCK, parallel_block_end(block, BLOCK, count));
    }
    PARALLEL_BLOCKS(threads, block, parallel_block_count(size, strip))
    resolve(pixels, size, threads, block * strip, parallel_block_end(block, strip, size), out);
    alloc_free(pixels);
    return GRAIN_OK;
}
