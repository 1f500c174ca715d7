#include "dots/dots_picture.h"
#include "base/alloc.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

#define BLOCK 16384
#define ROWS 32
#define RUN 256 // grains at a time: their places first, which needs no branches
#define AHEAD 12
#define EMPTY UINT64_MAX
#define NEAREST_W 1e-6f // behind the eye
#define SMALLEST_BALL 4 // pixels: from here on a dot is shaded as a ball

typedef struct Canvas {
    uint64_t *pixels; ///< depth above, colour below: the smallest number is the nearest grain
    int64_t width, height;
} Canvas;

// Whoever is nearest stays, in whatever order they come.
static void put(uint64_t *pixel, uint64_t value)
{
    uint64_t before = __atomic_load_n(pixel, __ATOMIC_RELAXED);
    while (value < before &&
           !__atomic_compare_exchange_n(pixel, &before, value, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
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

// A square of up to three pixels that lies on the canvas as a whole: most dots are that.
static void put_square(const Canvas *canvas, int64_t left, int64_t bottom, int64_t side, uint64_t value)
{
    uint64_t *row = canvas->pixels + bottom * canvas->width + left;
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
            if (side >= SMALLEST_BALL) {
                float across = ((float)u + 0.5f) * scale - 1.0f, up = ((float)v + 0.5f) * scale - 1.0f;
                float towards = 1.0f - across * across - up * up;
                if (towards <= 0.0f) continue;
                brightness = 0.55f + 0.35f * sqrtf(towards) + 0.1f * up;
            }
            put(canvas->pixels + y * canvas->width + x, depth | colour_of(colour, brightness));
        }
    }
}

/// Where a run of grains is on the canvas: pixels from its lower left corner; a depth outside of 0 to 1 is not seen.
typedef struct Places {
    float x[RUN], y[RUN], depth[RUN], wide[RUN];
} Places;

static void find_places(const GrainDotsView *view, const float *positions, const uint8_t *colours, int64_t count,
                        Places *out)
{
    const float *m = view->matrix;
    float width = 0.5f * (float)view->width, height = 0.5f * (float)view->height;
    float size = view->diameter * (1.0f / 255.0f);
    for (int64_t i = 0; i < count; i++) {
        const float *p = positions + 3 * i;
        float w = m[12] * p[0] + m[13] * p[1] + m[14] * p[2] + m[15];
        float inverse = w > NEAREST_W ? 1.0f / w : NAN; // behind the eye nothing is anywhere
        out->depth[i] = 0.5f + 0.5f * inverse * (m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11]);
        out->x[i] = width + width * inverse * (m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3]) - (float)view->left;
        out->y[i] = height + height * inverse * (m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7]) - (float)view->bottom;
        out->wide[i] = size * inverse * (float)colours[4 * i + 3] + 0.5f;
    }
}

// Grains come in no order and the canvas is larger than the nearest cache: what will be needed is on its way meanwhile.
static void fetch(const Canvas *canvas, float x, float y)
{
    if (x >= 0.0f && y >= 0.0f && x < (float)canvas->width && y < (float)canvas->height)
        __builtin_prefetch(canvas->pixels + (int64_t)y * canvas->width + (int64_t)x, 1);
}

static void put_run(const Canvas *canvas, const GrainDotsView *view, const Places *places, const uint8_t *colours,
                    int64_t count)
{
    const float most = (float)view->most_pixels, right = (float)canvas->width + most,
                top = (float)canvas->height + most;
    for (int64_t i = 0; i < count; i++) {
        if (i + AHEAD < count) fetch(canvas, places->x[i + AHEAD], places->y[i + AHEAD]);
        float depth = places->depth[i], x = places->x[i], y = places->y[i];
        if (!(depth >= 0.0f && depth <= 1.0f && x > -most && x < right && y > -most && y < top)) continue;
        float wide = places->wide[i] < most ? places->wide[i] : most;
        int64_t side = wide < 1.0f ? 1 : (int64_t)wide;
        float half = 0.5f * (float)(side - 1);
        // Down to whole numbers: above 0 that is what a conversion does.
        int64_t left = (int64_t)(x - half + 64.0f) - 64, bottom = (int64_t)(y - half + 64.0f) - 64;
        const uint8_t *colour = colours + 4 * i;
        int is_inside = left >= 0 && bottom >= 0 && left + side <= canvas->width && bottom + side <= canvas->height;
        if (side < SMALLEST_BALL && is_inside)
            put_square(canvas, left, bottom, side,
                       depth_above(depth) | (uint32_t)(colour[0] << 16 | colour[1] << 8 | colour[2]));
        else
            put_ball(canvas, left, bottom, side, depth_above(depth), colour);
    }
}

static void put_block(const Canvas *canvas, const GrainDotsView *view, const float *positions, const uint8_t *colours,
                      int64_t begin, int64_t end)
{
    Places places;
    for (int64_t i = begin; i < end; i += RUN) {
        int64_t count = end - i < RUN ? end - i : RUN;
        find_places(view, positions + 3 * i, colours + 4 * i, count, &places);
        put_run(canvas, view, &places, colours + 4 * i, count);
    }
}

GrainResult dots_picture(const float *positions, const uint8_t *colours, int64_t count, const GrainDotsView *view,
                         const Run *run, float *out)
{
    Canvas canvas = {.width = view->right - view->left, .height = view->top - view->bottom};
    int64_t size = canvas.width * canvas.height, strip = ROWS * canvas.width;
    canvas.pixels = ALLOC(uint64_t, size);
    if (!canvas.pixels) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(run->thread_count, block, parallel_block_count(size, strip))
    for (int64_t i = block * strip; i < parallel_block_end(block, strip, size); i++) canvas.pixels[i] = EMPTY;
    PARALLEL_BLOCKS(run->thread_count, block, parallel_block_count(count, BLOCK))
    put_block(&canvas, view, positions, colours, block * BLOCK, parallel_block_end(block, BLOCK, count));
    PARALLEL_BLOCKS(run->thread_count, block, parallel_block_count(size, strip))
    for (int64_t i = block * strip; i < parallel_block_end(block, strip, size); i++) {
        uint64_t pixel = canvas.pixels[i];
        uint32_t bits = (uint32_t)(pixel >> 32);
        float depth = 2.0f;
        if (pixel != EMPTY) memcpy(&depth, &bits, sizeof depth);
        out[2 * i] = depth;
        out[2 * i + 1] = (float)(pixel & 0xffffff); // below 2^24: exact
    }
    alloc_free(canvas.pixels);
    return GRAIN_OK;
}
