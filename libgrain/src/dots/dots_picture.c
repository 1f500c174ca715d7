#include "dots/dots_picture.h"
#include "base/alloc.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

#define BLOCK 16384
#define ROWS 32
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

static uint64_t pixel_of(float depth, const uint8_t *colour, float brightness)
{
    uint32_t bits;
    memcpy(&bits, &depth, sizeof bits); // orders like the number: it is not below 0
    uint32_t part[3];
    for (int k = 0; k < 3; k++) part[k] = (uint32_t)((float)colour[k] * brightness);
    return (uint64_t)bits << 32 | part[0] << 16 | part[1] << 8 | part[2];
}

static void put_dot(const Canvas *canvas, int64_t left, int64_t bottom, int64_t side, float depth,
                    const uint8_t *colour)
{
    if (left + side <= 0 || bottom + side <= 0 || left >= canvas->width || bottom >= canvas->height) return;
    uint64_t flat = pixel_of(depth, colour, 1.0f);
    float scale = 2.0f / (float)side;
    for (int64_t v = 0; v < side; v++) {
        int64_t y = bottom + v;
        if (y < 0 || y >= canvas->height) continue;
        for (int64_t u = 0; u < side; u++) {
            int64_t x = left + u;
            if (x < 0 || x >= canvas->width) continue;
            uint64_t value = flat;
            if (side >= SMALLEST_BALL) {
                float across = ((float)u + 0.5f) * scale - 1.0f, up = ((float)v + 0.5f) * scale - 1.0f;
                float towards = 1.0f - across * across - up * up;
                if (towards <= 0.0f) continue;
                value = pixel_of(depth, colour, 0.55f + 0.35f * sqrtf(towards) + 0.1f * up);
            }
            put(canvas->pixels + y * canvas->width + x, value);
        }
    }
}

static void put_grain(const Canvas *canvas, const GrainDotsView *view, const float *p, const uint8_t *colour)
{
    const float *m = view->matrix;
    float w = m[12] * p[0] + m[13] * p[1] + m[14] * p[2] + m[15];
    if (!(w > NEAREST_W)) return;
    float inverse = 1.0f / w;
    float depth = 0.5f + 0.5f * inverse * (m[8] * p[0] + m[9] * p[1] + m[10] * p[2] + m[11]);
    if (!(depth >= 0.0f && depth <= 1.0f)) return;
    float x = 0.5f + 0.5f * inverse * (m[0] * p[0] + m[1] * p[1] + m[2] * p[2] + m[3]);
    float y = 0.5f + 0.5f * inverse * (m[4] * p[0] + m[5] * p[1] + m[6] * p[2] + m[7]);
    if (!(x > -1.0f && x < 2.0f && y > -1.0f && y < 2.0f)) return;
    float wide = view->diameter * inverse * (float)colour[3] * (1.0f / 255.0f) + 0.5f;
    int64_t side = wide < (float)view->most_pixels ? (wide < 1.0f ? 1 : (int64_t)wide) : view->most_pixels;
    float half = 0.5f * (float)(side - 1);
    put_dot(canvas, (int64_t)floorf(x * (float)view->width - half) - view->left,
            (int64_t)floorf(y * (float)view->height - half) - view->bottom, side, depth, colour);
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
    for (int64_t i = block * BLOCK; i < parallel_block_end(block, BLOCK, count); i++)
        put_grain(&canvas, view, positions + 3 * i, colours + 4 * i);
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
