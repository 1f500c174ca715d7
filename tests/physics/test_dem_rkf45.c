// SPDX-License-Identifier: GPL-3.0-or-later
// The adaptive integrator: what it promises, and that it finds the same as the default one.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

static void use_rkf45(DemScene *scene, float tolerance)
{
    scene->def.integrator = "rkf45";
    scene->def.tolerance = tolerance;
}

// Restitution of two balls of one size that meet head on.
static GrainResult bounce(const char *law, float tolerance, float speed, double *restitution, SimStats *stats)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    use_rkf45(&scene, tolerance);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.normal_law = law;
    scene.def.restitution = 0.6f;
    scene.def.poisson_ratio = 0.3f;
    scene.def.expected_speed = speed;
    GrainResult result = particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f * speed, 0, 0), 0.005f);
    if (result == GRAIN_OK)
        result = particles_add(&scene.start, vec3(0.0101f, 0, 0), vec3(-0.5f * speed, 0, 0), 0.005f);
    if (result == GRAIN_OK) result = scene_create(&scene, 1);
    if (result == GRAIN_OK) result = scene_run(&scene, 0.01 / (double)speed);
    if (result == GRAIN_OK) {
        *restitution =
            fabs((double)(scene.dem->balls[1].velocity[0] - scene.dem->balls[0].velocity[0])) / (double)speed;
        dem_solver.measure(scene.dem, stats);
    }
    scene_end(&scene);
    return result;
}

// Every law within 1 % at the default tolerance; a tighter one comes nearer, with more steps.
TEST(every_law_bounces_as_asked)
{
    for (int normal = 0; dem_normal_names[normal]; normal++) {
        double rough, fine;
        SimStats few, many;
        ENSURE_OK(bounce(dem_normal_names[normal], 1e-5f, 1.0f, &rough, &few));
        ENSURE_OK(bounce(dem_normal_names[normal], 1e-6f, 1.0f, &fine, &many));
        ENSURE_NEAR(rough, 0.6, 0.006);
        ENSURE_NEAR(fine, 0.6, 0.0015);
        ENSURE(many.steps > few.steps);
    }
}

// Steps grow in flight and shrink in a collision, and what is too long is done again.
TEST(steps_follow_the_tolerance)
{
    double restitution;
    SimStats stats;
    ENSURE_OK(bounce("hertz", 1e-5f, 1.0f, &restitution, &stats));
    ENSURE(stats.rejected > 0);
    ENSURE(stats.rejected < stats.steps);
}

// A block of grains falls on the floor, by both integrators: both come to rest, equally high. 5 %, as grains that were
// a close call lie otherwise.
TEST(settles_as_the_default_does)
{
    static const char *const shapes[] = {"sphere", "tetrahedron"};
    for (int shape = 0; shape < 2; shape++) {
        double height[2], kinetic[2];
        for (int adaptive = 0; adaptive < 2; adaptive++) {
            DemScene scene;
            SimStats stats;
            scene_begin(&scene, 0.005f);
            ENSURE_OK(scene_set_shape(&scene, shapes[shape]));
            if (adaptive) use_rkf45(&scene, 1e-4f);
            scene.def.rolling_friction = 0.3f;
            scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
            ENSURE_OK(scene_fill_box(&scene, vec3(-0.02f, -0.02f, 0), vec3(0.02f, 0.02f, 0.02f), 0.3f, 0.0f));
            ENSURE_OK(scene_create(&scene, 1));
            ENSURE_OK(scene_run(&scene, 0.4));
            dem_solver.measure(scene.dem, &stats);
            height[adaptive] = stats.potential, kinetic[adaptive] = stats.kinetic;
            scene_end(&scene);
        }
        ENSURE(kinetic[0] < 1e-9 && kinetic[1] < 1e-8);
        ENSURE_NEAR(height[1] / height[0], 1.0, 0.05);
    }
}

// Threads, and loading what was saved, move no bit; the length of the next step is a part of the state.
TEST(same_bits_for_any_threads_and_after_loading)
{
    DemScene scenes[3];
    for (int i = 0; i < 3; i++) {
        scene_begin(&scenes[i], 0.005f);
        ENSURE_OK(scene_set_shape(&scenes[i], "bean"));
        use_rkf45(&scenes[i], 1e-4f);
        scenes[i].def.rolling_friction = 0.2f;
        scene_add_plane(&scenes[i], vec3(0, 0, 0), vec3(0, 0.2f, 1), 0.4f);
        ENSURE_OK(scene_fill_box(&scenes[i], vec3(0, 0, 0.01f), vec3(0.15f, 0.15f, 0.09f), 0.2f, 0.2f));
        ENSURE_OK(scene_create(&scenes[i], i == 1 ? 2 : 1));
    }
    ENSURE(scenes[1].dem->base.threads == 2);
    for (int i = 0; i < 2; i++) ENSURE_OK(scene_run(&scenes[i], 0.03));
    Column columns[SOLVER_MAX_COLUMNS];
    ENSURE_OK(dem_solver.load(scenes[2].dem, columns, dem_solver.save(scenes[0].dem, columns)));
    for (int i = 0; i < 3; i++) ENSURE_OK(scene_run(&scenes[i], 0.01));
    const Dem *first = scenes[0].dem;
    for (int i = 1; i < 3; i++) {
        const Dem *other = scenes[i].dem;
        ENSURE(memcmp(first->balls, other->balls, (size_t)first->count * sizeof *first->balls) == 0);
        ENSURE(memcmp(first->grains, other->grains, (size_t)first->grain_count * sizeof *first->grains) == 0);
        ENSURE(memcmp(first->pairs.shear.x, other->pairs.shear.x, (size_t)first->pairs.count * sizeof(float)) == 0);
    }
    for (int i = 0; i < 3; i++) scene_end(&scenes[i]);
}

TEST(wrong_settings_are_named)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    ENSURE_OK(particles_add(&scene.start, vec3(0, 0, 0), vec3(0, 0, 0), 0.005f));
    scene.def.integrator = "euler";
    ENSURE_FAILS(scene_create(&scene, 1), GRAIN_ERROR_ARGUMENT, "rkf45");
    use_rkf45(&scene, 0.0f);
    ENSURE_FAILS(scene_create(&scene, 1), GRAIN_ERROR_ARGUMENT, "tolerance");
    scene_end(&scene);
}
