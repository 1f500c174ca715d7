// SPDX-License-Identifier: GPL-3.0-or-later
// Balls at rest sleep, wake in time, and it makes no visible difference.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>
#include <time.h>

// Grains in a box of planes.
static GrainResult start(DemScene *scene, const char *shape, int threads)
{
    scene_begin(scene, 0.005f);
    if (scene_set_shape(scene, shape) != GRAIN_OK) return GRAIN_ERROR_ARGUMENT;
    scene->def.may_sleep = 1;
    scene->def.rolling_friction = 0.2f;
    scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    scene_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.5f);
    scene_add_plane(scene, vec3(0.15f, 0, 0), vec3(-1, 0, 0), 0.5f);
    scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 1, 0), 0.5f);
    scene_add_plane(scene, vec3(0, 0.15f, 0), vec3(0, -1, 0), 0.5f);
    float height = scene->shape.ball_count > 1 ? 0.06f : 0.14f; // as many balls
    GrainResult result = scene_fill_box(scene, vec3(0, 0, 0), vec3(0.15f, 0.15f, height), 0.1f, 0.1f);
    // Thrown up, it comes back when the others sleep.
    if (result == GRAIN_OK) result = particles_add(&scene->start, vec3(0.07f, 0.08f, 0.3f), vec3(0, 0, 4.5f), 0.005f);
    return result == GRAIN_OK ? scene_create(scene, threads) : result;
}

static int64_t asleep(const DemScene *scene)
{
    SimStats stats;
    dem_solver.measure(scene->dem, &stats);
    return stats.asleep;
}

static Vec3 place_of(const DemScene *scene, int32_t id)
{
    for (int64_t i = 0; i < scene->dem->count; i++)
        if (scene->dem->id[i] == id) return scene_position(scene, i);
    return vec3(NAN, NAN, NAN);
}

// None moves by more than a hundredth of a radius as the heap falls asleep, where without sleep they would settle on by
// no more than that; the one that lands wakes those it hits, ends near the top, and all sleep again.
static void heap_sleeps(const char *shape, int balls)
{
    DemScene scene;
    ENSURE_OK(start(&scene, shape, 1));
    int64_t count = scene.dem->count;
    int32_t thrown = (int32_t)(count - balls); // the first of its balls
    ENSURE_OK(scene_run(&scene, 0.8));
    Vec3 *before = ALLOC(Vec3, count);
    for (int64_t i = 0; i < count; i++) before[scene.dem->id[i]] = scene_position(&scene, i);
    ENSURE_OK(scene_run(&scene, 0.1)); // it lands after 0.94 s
    int64_t asleep_before = asleep(&scene);
    float most = 0.0f;
    for (int64_t i = 0; i < count; i++)
        if (scene.dem->id[i] < thrown)
            most = fmaxf(most, vec3_length(vec3_sub(scene_position(&scene, i), before[scene.dem->id[i]])));
    alloc_free(before);
    int64_t least = count;
    for (int i = 0; i < 50; i++) {
        ENSURE_OK(scene_run(&scene, 0.004));
        int64_t now = asleep(&scene);
        least = now < least ? now : least;
    }
    ENSURE_OK(scene_run(&scene, 0.4));
    Vec3 landed = place_of(&scene, thrown);
    float top = 0.0f;
    for (int64_t i = 0; i < count; i++) top = fmaxf(top, scene_position(&scene, i).z);
    ENSURE(asleep_before > count * 8 / 10);
    ENSURE(most < 0.01f * 0.005f);
    ENSURE(least < asleep_before - 20);
    ENSURE(asleep(&scene) > count * 8 / 10);
    ENSURE(landed.z > 0.7f * top); // it broke into the top
    // Sleep costs less than half of being awake.
    clock_t sleeping = clock();
    ENSURE_OK(scene_run(&scene, 0.1));
    sleeping = clock() - sleeping;
    scene.dem->sleep.is_allowed = 0, scene.dem->sleep.asleep = 0;
    clock_t awake = clock();
    ENSURE_OK(scene_run(&scene, 0.1));
    awake = clock() - awake;
    ENSURE(awake > 2 * sleeping);
    scene_end(&scene);
}

TEST(a_heap_falls_asleep_and_wakes_where_it_is_hit) { heap_sleeps("sphere", 1); }

TEST(grains_of_several_balls_sleep_as_one) { heap_sleeps("tetrahedron", 4); }

// Threads move no bit, nor does loading what was saved while some slept and the thrown one landed.
static void same_bits(const char *shape)
{
    DemScene scenes[3];
    Column columns[SOLVER_MAX_COLUMNS];
    for (int i = 0; i < 3; i++) ENSURE_OK(start(&scenes[i], shape, i == 1 ? 2 : 1));
    for (int i = 0; i < 2; i++) ENSURE_OK(scene_run(&scenes[i], 0.945));
    ENSURE(scenes[1].dem->base.threads == 2 && asleep(&scenes[0]) > 500);
    ENSURE_OK(dem_solver.load(scenes[2].dem, columns, dem_solver.save(scenes[0].dem, columns)));
    for (int i = 0; i < 3; i++) ENSURE_OK(scene_run(&scenes[i], 0.02));
    for (int i = 1; i < 3; i++) {
        const Dem *a = scenes[0].dem, *b = scenes[i].dem;
        ENSURE(memcmp(a->balls, b->balls, (size_t)a->count * sizeof *a->balls) == 0);
        ENSURE(memcmp(a->sleep.quiet, b->sleep.quiet, (size_t)a->count * sizeof *a->sleep.quiet) == 0);
        ENSURE(memcmp(a->pairs.shear.x, b->pairs.shear.x, (size_t)a->pairs.count * sizeof(float)) == 0);
    }
    for (int i = 0; i < 3; i++) scene_end(&scenes[i]);
}

TEST(the_same_bits_for_any_threads_and_after_loading) { same_bits("sphere"); }

TEST(the_same_bits_with_grains_of_several_balls) { same_bits("tetrahedron"); }
