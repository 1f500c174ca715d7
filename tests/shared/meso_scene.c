// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/meso_scene.h"
#include "base/error.h"
#include "base/rng.h"

#include <math.h>

// Of the radius: what the shaken lattice of sand_fill_box has room for.
#define FREE_RADIUS 0.8f
#define SIZES 0.2f

void meso_begin(SandScene *scene, float radius, SimMesoNumbers numbers)
{
    sand_begin(scene, "meso", radius, 0.0f);
    sand_expect_fall(scene, 20.0f * radius);
    scene->def.meso = sim_meso_of(&numbers);
}

GrainResult meso_fill(SandScene *scene, Vec3 low, Vec3 high, SandFn *is_inside, const void *user)
{
    int64_t first = scene->start.count;
    TRY(sand_fill_box(scene, low, high, is_inside, user));
    for (int64_t i = first; i < scene->start.count; i++) {
        float part = rng_unit(rng_at(5, (uint64_t)i, RNG_STREAM_TEST, 0).word[0]);
        scene->start.radius[i] *= FREE_RADIUS * (1.0f - SIZES * part);
    }
    return GRAIN_OK;
}

static void measure_slope(const SandScene *scene, double length, MesoSlope *out)
{
    enum { STRIPS = 20 };
    double height[STRIPS], n = 0.0, x = 0.0, z = 0.0, xx = 0.0, xz = 0.0;
    sand_profile(scene, 0.0, length, STRIPS, height);
    for (int s = 0; s < STRIPS; s++) {
        double at = ((double)s + 0.5) * length / STRIPS;
        if (height[s] <= 0.0) continue;
        n += 1.0, x += at, z += height[s], xx += at * at, xz += at * height[s];
    }
    out->degrees = -atan((n * xz - x * z) / (n * xx - x * x)) * 57.29578;
    out->covered = n / STRIPS;
    out->run_out = sand_reach(scene, 0.98);
    out->height = 0.0;
    for (int64_t i = 0; i < scene->now.count; i++)
        out->height += (double)scene->now.position[i].z / (double)scene->now.count;
}

GrainResult meso_break_dam(SandScene *scene, SimMesoNumbers numbers, double seconds, MesoSlope *out)
{
    const float diameter = 0.02f, length = 40.0f * diameter, width = 4.0f * diameter;
    meso_begin(scene, 0.5f * diameter, numbers);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.0f);
    sand_add_plane(scene, vec3(length, 0, 0), vec3(-1, 0, 0), 0.0f);
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 1, 0), 0.0f);
    sand_add_plane(scene, vec3(0, width, 0), vec3(0, -1, 0), 0.0f);
    TRY(meso_fill(scene, vec3(0, 0, 0), vec3(12.0f * diameter, width, 18.0f * diameter), NULL, NULL));
    TRY(sand_create(scene, 1));
    TRY(sand_run(scene, seconds));
    measure_slope(scene, (double)length, out);
    return GRAIN_OK;
}

// Height below which 98 % of those within 8 diameters of the axis lie.
static double heap_height(const SandScene *scene)
{
    enum { BINS = 400 };
    double bin = 0.25 * (double)scene->def.largest_radius;
    int64_t count[BINS] = {0}, all = scene->now.count, below = 0;
    for (int64_t i = 0; i < all; i++) {
        int at = (int)((double)scene->now.position[i].z / bin);
        count[at < 0 ? 0 : at < BINS ? at : BINS - 1]++;
    }
    for (int b = 0; b < BINS; b++)
        if ((below += count[b]) * 50 >= all * 49) return (b + 1) * bin;
    return BINS * bin;
}

GrainResult meso_watch_thread(SandScene *scene, double height, double seconds, MesoThread *out)
{
    const double every = 0.01;
    double diameter = 2.0 * (double)scene->def.largest_radius, last = 0.0, sum = 0.0, squares = 0.0, intervals = 0.0;
    int side = 0;
    for (double time = every; time < seconds; time += every) {
        TRY(sand_run(scene, every));
        double x = 0.0, n = 0.0;
        for (int64_t i = 0; i < scene->now.count; i++) {
            Vec3 p = scene->now.position[i];
            if (fabs((double)p.z - height) < diameter) x += (double)p.x, n += 1.0;
        }
        if (n < 3.0) continue;
        x /= n;
        out->swing = fmax(out->swing, fabs(x));
        int now = x > 0.25 * diameter ? 1 : x < -0.25 * diameter ? -1 : side;
        if (now != side && side != 0) {
            if (out->crossings++ > 0) {
                double interval = time - last;
                sum += interval, squares += interval * interval, intervals += 1.0;
            }
            last = time;
        }
        side = now;
    }
    out->half_period = sum / fmax(intervals, 1.0);
    out->spread =
        sqrt(fmax(squares / fmax(intervals, 1.0) - out->half_period * out->half_period, 0.0)) / out->half_period;
    TRY(sand_run(scene, 1.2)); // until the last has come down
    out->height = heap_height(scene);
    TRY(sand_run(scene, 2.0));
    out->after_2 = heap_height(scene) / out->height;
    TRY(sand_run(scene, 2.0));
    out->after_4 = heap_height(scene) / out->height;
    return GRAIN_OK;
}
