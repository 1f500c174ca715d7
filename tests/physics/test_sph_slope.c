// SPDX-License-Identifier: GPL-3.0-or-later
// Layers of sand on a rough floor that is tilted: below the friction angle they stay, above they flow. Friction is what
// this solver remembers, so nothing may creep.
//
// The layer lies in a long, narrow tray with smooth sides. The lower end wall holds the sand back by at most the
// passive pressure, K_p / 2 of the layer's height squared; over 21 heights the excess weight at 3 degrees more than the
// friction angle is larger than that.
#include "shared/sand_scene.h"
#include "sim/sph/sph.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>

#define RADIUS 0.028f
#define SETTLE 0.6 // s, flat
#define TILT 0.4   // s, from flat to tilted
#define CALM 0.6   // s, before anything is measured

typedef struct Slope {
    float friction, tilt; // degrees
    int layers;
    float lengths; // of the tray, over the layer's height
    double seconds;
    // measured
    double surface, farthest; // spacings that the surface's particles have moved, mean and most; far from the ends
    double speed;             // m/s, mean at the end
} Slope;

static GrainResult start(SandScene *scene, const Slope *slope)
{
    sand_begin(scene, "sph", RADIUS, slope->friction);
    float pitch = sand_spacing(scene), height = (float)slope->layers * pitch, length = slope->lengths * height;
    float width = 2.0f * pitch + 2.0f * RADIUS;
    sand_expect_fall(scene, height);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 2.0f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 1, 0), 0.0f);
    sand_add_plane(scene, vec3(0, width, 0), vec3(0, -1, 0), 0.0f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.0f);
    sand_add_plane(scene, vec3(length, 0, 0), vec3(-1, 0, 0), 0.0f);
    GrainResult result =
        sand_fill_box(scene, vec3(0, 0, 0), vec3(length, width, height + 2.0f * RADIUS - pitch), NULL, NULL);
    return result == GRAIN_OK ? sand_create(scene, 1) : result;
}

// Runs with gravity turned from flat to tilted; time counts from when the floor begins to tilt.
static GrainResult run_tilted(SandScene *scene, const Slope *slope, double from, double until)
{
    Sph *sph = scene->sim.state;
    double step = sph_solver.largest_step(sph);
    for (double time = from; time < until; time += step) {
        double angle = (double)slope->tilt * 0.01745329 * fmin(fmax(time / TILT, 0.0), 1.0);
        sph->rules.gravity[0] = (float)(9.81 * sin(angle));
        sph->rules.gravity[2] = (float)(-9.81 * cos(angle));
        GrainResult result = sph_solver.step(sph, step);
        if (result != GRAIN_OK) return result;
    }
    return sph_solver.read(sph, &scene->now);
}

static GrainResult run_slope(Slope *slope)
{
    SandScene scene;
    Vec3 *noted = NULL;
    GrainResult result = start(&scene, slope);
    if (result == GRAIN_OK) result = run_tilted(&scene, slope, -SETTLE, TILT + CALM);
    if (result == GRAIN_OK) noted = malloc((size_t)scene.now.count * sizeof *noted);
    for (int64_t i = 0; noted && i < scene.now.count; i++) noted[i] = scene.now.position[i];
    if (noted) result = run_tilted(&scene, slope, TILT + CALM, TILT + CALM + slope->seconds);
    float pitch = sand_spacing(&scene), height = (float)slope->layers * pitch, length = slope->lengths * height;
    double sum = 0.0, most = 0.0, fastest;
    int64_t count = 0;
    for (int64_t i = 0; noted && i < scene.now.count; i++) {
        if (noted[i].z < height - 1.5f * pitch || noted[i].x < 0.1f * length || noted[i].x > 0.9f * length) continue;
        double way = (double)(vec3_length(vec3_sub(scene.now.position[i], noted[i])) / pitch);
        sum += way, most = fmax(most, way), count++;
    }
    slope->surface = count ? sum / (double)count : HUGE_VAL;
    slope->farthest = most;
    slope->speed = noted ? sand_mean_speed(&scene, &fastest) : HUGE_VAL;
    printf(
        "# friction %.0f, tilt %.0f degrees, %d layers, %lld particles: surface moved %.3f spacings (%.3f at most) in "
        "%.1f s, then %.1e m/s\n",
        (double)slope->friction, (double)slope->tilt, slope->layers, (long long)scene.now.count, slope->surface, most,
        slope->seconds, slope->speed);
    free(noted);
    sand_end(&scene);
    return result;
}

// A fifth of a spacing in 5 s is what nobody sees. What flows goes at a part of the speed it would fall its own height
// with, and gathers more.
static void check_slope(float friction, int layers, double rest_seconds)
{
    Slope below = {
        .friction = friction, .tilt = friction - 3.0f, .layers = layers, .lengths = 12.0f, .seconds = rest_seconds};
    Slope above = {.friction = friction, .tilt = friction + 3.0f, .layers = layers, .lengths = 21.0f, .seconds = 1.0};
    ENSURE_OK(run_slope(&below));
    ENSURE_OK(run_slope(&above));
    ENSURE(below.surface < 0.2 * rest_seconds / 5.0);
    ENSURE(above.surface > 1.0);
    ENSURE(above.speed > 20.0 * below.speed);
}

TEST(sph_slope_of_6_layers) { check_slope(30.0f, 6, 2.0); }
TEST(sph_slope_of_8_layers_at_20_degrees) { check_slope(20.0f, 8, 2.0); }

HEAVY_TEST(sph_slopes_of_10_layers_at_20_25_30_35_and_40_degrees)
{
    for (int k = 0; k < 5; k++) check_slope(20.0f + 5.0f * (float)k, 10, 5.0);
}

HEAVY_TEST(sph_slopes_of_20_layers_at_20_25_30_35_and_40_degrees)
{
    for (int k = 0; k < 5; k++) check_slope(20.0f + 5.0f * (float)k, 20, 5.0);
}

HEAVY_TEST(sph_slopes_of_30_layers_at_20_25_30_35_and_40_degrees)
{
    for (int k = 0; k < 5; k++) check_slope(20.0f + 5.0f * (float)k, 30, 5.0);
}
