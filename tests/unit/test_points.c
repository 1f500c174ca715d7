// SPDX-License-Identifier: GPL-3.0-or-later
// Grains as points: lit from above, coloured by number, the nearest seen, the same bits whoever draws.
#include "base/alloc.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define COUNT 450000 // enough for three threads
#define SIDE 96

typedef struct Heap {
    float positions[3 * COUNT], radii[COUNT];
    uint8_t colours[4 * COUNT];
} Heap;

// A solid ball of grains around the origin, 1 in radius.
static Heap *new_heap(void)
{
    Heap *heap = ALLOC(Heap, 1);
    for (int i = 0, next = 0; heap && i < COUNT; next++) {
        Rng4 dice = rng_at(9, (uint64_t)next, RNG_STREAM_TEST, 0);
        float at[3], square = 0.0f;
        for (int k = 0; k < 3; k++) {
            at[k] = rng_signed(dice.word[k]);
            square += at[k] * at[k];
        }
        if (square > 1.0f) continue;
        memcpy(heap->positions + 3 * i, at, sizeof at);
        heap->radii[i++] = 0.01f;
    }
    return heap;
}

static GrainPoints points_of(const Heap *heap)
{
    return (GrainPoints){
        .struct_size = sizeof(GrainPoints), .count = COUNT, .positions = heap->positions, .radii = heap->radii};
}

static GrainPointsLook grey_look(void)
{
    GrainPointsLook look = {.struct_size = sizeof look, .wet_value = 0.25f, .largest_radius = 0.01f};
    for (int i = 0; i < GRAIN_POINTS_COLOURS; i++)
        for (int k = 0; k < 3; k++) look.colours[i][k] = 0.5f;
    return look;
}

// Looks along -z from 3 above the origin, 90 degrees wide.
static GrainPointsView view_from_above(void)
{
    GrainPointsView view = {
        .struct_size = sizeof view, .width = SIDE, .height = SIDE, .right = SIDE, .top = SIDE, .most_pixels = 8};
    const float near = 0.1f, far = 10.0f, height = 3.0f;
    float a = (far + near) / (near - far), b = 2.0f * far * near / (near - far);
    float matrix[16] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, a, b - a * height, 0, 0, -1, height};
    memcpy(view.matrix, matrix, sizeof matrix);
    view.diameter = 0.02f * SIDE / 2.0f;
    return view;
}

// Of the grains at the surface, above or below.
static double mean_red(const Heap *heap, float side)
{
    double sum = 0.0;
    int64_t count = 0;
    for (int i = 0; i < COUNT; i++) {
        const float *p = heap->positions + 3 * i;
        if (p[2] * side < 0.8f || p[0] * p[0] + p[1] * p[1] + p[2] * p[2] < 0.95f) continue;
        sum += heap->colours[4 * i];
        count++;
    }
    return sum / (double)count;
}

TEST(points_are_lit_from_above)
{
    Heap *heap = new_heap();
    GrainPoints points = points_of(heap);
    GrainPointsLook look = grey_look();
    float bounds[6];
    ENSURE_OK(grain_points_colour(&points, &look, NULL, heap->colours, bounds));
    double top = mean_red(heap, 1.0f), below = mean_red(heap, -1.0f);
    alloc_free(heap);
    ENSURE(top > 1.3 * below); // bytes are roots: 1.7 times as bright at least
    for (int k = 0; k < 3; k++) ENSURE(bounds[k] < -0.95f && bounds[k] >= -1.0f && bounds[3 + k] > 0.95f);
    ENSURE(below > 40.0); // but not black
}

TEST(points_wet_are_darker)
{
    Heap *heap = new_heap();
    GrainPoints points = points_of(heap);
    GrainPointsLook look = grey_look();
    ENSURE_OK(grain_points_colour(&points, &look, NULL, heap->colours, NULL));
    double dry = mean_red(heap, 1.0f);
    float *wet = ALLOC(float, COUNT);
    for (int i = 0; i < COUNT; i++) wet[i] = 1.0f;
    points.moistures = wet;
    ENSURE_OK(grain_points_colour(&points, &look, NULL, heap->colours, NULL));
    double dark = mean_red(heap, 1.0f);
    alloc_free(wet);
    alloc_free(heap);
    // A quarter as bright: half the root, to a rounding of half a byte.
    ENSURE_NEAR(dark / dry, 0.5, 0.005);
}

TEST(points_keep_their_colour_by_number)
{
    // Six grains in a row, then the same ones in another order.
    float positions[18] = {0}, radii[6] = {1, 1, 1, 1, 1, 1};
    int32_t ids[6] = {7, 300, 2, 90001, 5, 64}, turned[6];
    uint8_t first[24], second[24];
    GrainPointsLook look = grey_look();
    look.largest_radius = 1.0f;
    for (int i = 0; i < GRAIN_POINTS_COLOURS; i++) look.colours[i][0] = (float)i / 255.0f;
    for (int i = 0; i < 6; i++) turned[5 - i] = ids[i];
    GrainPoints points = {.struct_size = sizeof points, .count = 6, .positions = positions, .radii = radii, .ids = ids};
    ENSURE_OK(grain_points_colour(&points, &look, NULL, first, NULL));
    points.ids = turned;
    ENSURE_OK(grain_points_colour(&points, &look, NULL, second, NULL));
    int different = 0;
    for (int i = 0; i < 6; i++) {
        ENSURE(memcmp(first + 4 * i, second + 4 * (5 - i), 4) == 0);
        different += first[4 * i] != first[0];
    }
    ENSURE(different >= 4);
    ENSURE(first[3] == 255);
}

TEST(points_nearest_is_seen)
{
    // One above the other, listed both ways; one beside them; one behind the eye.
    const float positions[12] = {0, 0, -1, 0, 0, 1, 1, 0, 1, 0, 0, 4};
    const uint8_t colours[16] = {10, 20, 30, 255, 40, 50, 60, 255, 70, 80, 90, 255, 1, 2, 3, 255};
    const float swapped[12] = {0, 0, 4, 1, 0, 1, 0, 0, 1, 0, 0, -1};
    const uint8_t swapped_colours[16] = {1, 2, 3, 255, 70, 80, 90, 255, 40, 50, 60, 255, 10, 20, 30, 255};
    float picture[2 * SIDE * SIDE], other[2 * SIDE * SIDE];
    GrainPointsView view = view_from_above();
    view.diameter = 1.0f;
    ENSURE_OK(grain_points_picture(positions, colours, 4, &view, NULL, picture));
    ENSURE_OK(grain_points_picture(swapped, swapped_colours, 4, &view, NULL, other));
    ENSURE(memcmp(picture, other, sizeof picture) == 0);
    int64_t seen = 0;
    for (int64_t i = 0; i < SIDE * SIDE; i++) seen += picture[2 * i] < 2.0f;
    ENSURE(seen == 2);
    const float *middle = picture + 2 * (SIDE / 2 * SIDE + SIDE / 2);
    ENSURE(middle[1] == (float)(40 << 16 | 50 << 8 | 60));
    // Two away: z of the clip space is a * -2 + b, over w = 2; float32 near 1.
    double a = 10.1 / -9.9, b = 2.0 / -9.9;
    ENSURE_NEAR(middle[0], 0.5 + 0.5 * (-a * 2.0 + b) / 2.0, 1e-6);
    // 1 to the right at 45 degrees' half width of 2: three quarters across.
    const float *right = picture + 2 * (SIDE / 2 * SIDE + 3 * SIDE / 4);
    ENSURE(right[1] == (float)(70 << 16 | 80 << 8 | 90));
}

TEST(points_picture_any_number_of_threads)
{
    Heap *heap = new_heap();
    GrainPoints points = points_of(heap);
    GrainPointsLook look = grey_look();
    for (int i = 0; i < GRAIN_POINTS_COLOURS; i++) look.colours[i][1] = (float)i / 255.0f;
    GrainPointsView view = view_from_above();
    view.diameter *= 4.0f; // balls, not only points
    float *pictures[2] = {ALLOC(float, 2 * SIDE * SIDE), ALLOC(float, 2 * SIDE * SIDE)};
    int32_t threads[2] = {1, 5};
    GrainResult result = GRAIN_OK;
    for (int k = 0; k < 2 && result == GRAIN_OK; k++) {
        GrainRun run = {.struct_size = sizeof run, .thread_count = threads[k]};
        result = grain_points_colour(&points, &look, &run, heap->colours, NULL);
        if (result == GRAIN_OK)
            result = grain_points_picture(heap->positions, heap->colours, COUNT, &view, &run, pictures[k]);
    }
    int differs = memcmp(pictures[0], pictures[1], 2 * SIDE * SIDE * sizeof(float));
    // A part of the view holds the same pixels.
    float part[2 * 20 * 10];
    GrainPointsView small = view;
    small.left = 30, small.right = 50, small.bottom = 40, small.top = 50;
    if (result == GRAIN_OK) result = grain_points_picture(heap->positions, heap->colours, COUNT, &small, NULL, part);
    for (int y = 0; y < 10; y++)
        differs |= memcmp(part + 2 * 20 * y, pictures[0] + 2 * ((40 + y) * SIDE + 30), 2 * 20 * sizeof(float));
    alloc_free(pictures[0]);
    alloc_free(pictures[1]);
    alloc_free(heap);
    ENSURE_OK(result);
    ENSURE(differs == 0);
}

TEST(points_refuse_what_they_cannot_draw)
{
    float positions[3] = {0, NAN, 0}, radius = 1.0f, out[2];
    uint8_t colour[4] = {1, 2, 3, 4};
    GrainPointsLook look = grey_look();
    GrainPoints points = {.struct_size = sizeof points, .count = 1, .positions = positions, .radii = &radius};
    ENSURE_FAILS(grain_points_colour(&points, &look, NULL, colour, NULL), GRAIN_ERROR_ARGUMENT, "not a finite number");
    positions[1] = 0.0f;
    ENSURE_OK(grain_points_colour(&points, &look, NULL, colour, NULL));
    ENSURE_EQUAL(colour[3], 255); // as large as the largest
    positions[1] = NAN;
    const float bad[3] = {0.0f, -1.0f, NAN};
    for (int i = 0; i < 3; i++) {
        look.largest_radius = bad[i];
        ENSURE_FAILS(grain_points_colour(&points, &look, NULL, colour, NULL), GRAIN_ERROR_ARGUMENT, "largest_radius");
    }
    points.count = 0;
    ENSURE_OK(grain_points_colour(&points, &look, NULL, NULL, NULL));
    GrainPointsView view = view_from_above();
    view.right = SIDE + 1;
    ENSURE_FAILS(grain_points_picture(positions, colour, 1, &view, NULL, out), GRAIN_ERROR_ARGUMENT, "part");
    view = view_from_above();
    view.right = view.top = 1;
    ENSURE_OK(grain_points_picture(positions, colour, 1, &view, NULL, out)); // a grain that is nowhere
    ENSURE(out[0] == 2.0f);
}
