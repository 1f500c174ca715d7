// SPDX-License-Identifier: GPL-3.0-or-later
// The material point method: momentum, rest, slopes, and what its materials do.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/mpm_scene.h"
#include "sim/mpm/mpm_transfer.h"
#include "unit/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define RADIUS 0.0035f
static const float sqrt_gh = 0.99f; // m/s, of a column of 0.1 m

// A column of sand on a floor, beside a wall that some of it runs against.
static GrainResult begin_column(MpmScene *scene, float friction_degrees)
{
    mpm_scene_begin(scene, RADIUS, friction_degrees);
    scene->def.expected_speed = 1.4f;
    mpm_scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    mpm_scene_add_plane(scene, vec3(0.1f, 0, 0), vec3(-1, 0, 0), 0.3f);
    return mpm_scene_fill(scene, 0.0f, 0.1f, 0.06f, 0.06f);
}

static GrainResult start_column(MpmScene *scene, float friction_degrees, int threads)
{
    GrainResult result = begin_column(scene, friction_degrees);
    return result == GRAIN_OK ? mpm_scene_create(scene, threads) : result;
}

// Two lumps of damp sand meet in free space: what one loses the other gains. Float sums of some thousand particles over
// some hundred steps: 1e-5 of what moves.
TEST(mpm_keeps_momentum)
{
    MpmScene scene;
    mpm_scene_begin(&scene, 0.004f, 30.0f);
    scene.def.cohesion = 5.0f;
    scene.def.gravity = vec3(0, 0, 0);
    ENSURE_OK(mpm_scene_fill(&scene, 0.0f, 0.05f, 0.04f, 0.04f));
    int64_t half = scene.start.count;
    ENSURE_OK(mpm_scene_fill(&scene, 0.08f, 0.05f, 0.03f, 0.03f));
    for (int64_t i = 0; i < scene.start.count; i++)
        scene.start.velocity[i] = i < half ? vec3(0.1f, 0, 1) : vec3(0, 0.3f, -1);
    ENSURE_OK(mpm_scene_create(&scene, 1));
    Vec3d before = mpm_scene_momentum(&scene);
    ENSURE_OK(mpm_scene_run(&scene, 0.08));
    double all = (double)mpm_mass_of(&scene.mpm->materials, &scene.mpm->particles[0]) * (double)scene.mpm->count;
    ENSURE_NEAR(vec3d_length(vec3d_sub(mpm_scene_momentum(&scene), before)) / all, 0.0, 1e-5);
    mpm_scene_end(&scene);
}

// Loose sand in free fall is nothing but falling particles.
MARKED_TEST(mpm_falls_freely, TEST_ADDRESS)
{
    MpmScene scene;
    mpm_scene_begin(&scene, 0.004f, 30.0f);
    ENSURE_OK(mpm_scene_fill(&scene, 0.0f, 0.04f, 0.04f, 0.04f));
    ENSURE_OK(mpm_scene_create(&scene, 1));
    ENSURE_OK(mpm_scene_run(&scene, 0.2));
    for (int64_t i = 0; i < scene.mpm->count; i++)
        ENSURE_NEAR((double)scene.mpm->particles[i].velocity[2], -9.81 * 0.2, 1e-3);
    mpm_scene_end(&scene);
}

// A column collapses and lies still: a thousandth of the speed it fell with within a second, and nothing below the
// floor.
TEST(mpm_heap_comes_to_rest)
{
    MpmScene scene;
    ENSURE_OK(start_column(&scene, 31.0f, 1));
    ENSURE_OK(mpm_scene_run(&scene, 1.2));
    ENSURE(mpm_scene_mean_speed(&scene) < 1e-3 * (double)sqrt_gh);
    for (int64_t i = 0; i < scene.mpm->count; i++) {
        double z = (double)scene.mpm->particles[i].position[2] + scene.mpm->base.origin[2];
        ENSURE(z > 0.99 * (double)RADIUS); // the floor is held to the radius, up to rounding
    }
    mpm_scene_end(&scene);
}

// As bakes do it, with sleep: two seconds after it was let go it hardly moves, and in the ten seconds after that nobody
// goes by a hundredth of a cell, which is a twentieth of a pixel in a picture of a thousand with 200 cells across.
TEST(mpm_heap_does_not_creep)
{
    MpmScene scene;
    Particles before = {0}, after = {0};
    float farthest = 0.0f;
    ENSURE_OK(begin_column(&scene, 31.0f));
    scene.def.may_sleep = 1;
    ENSURE_OK(mpm_scene_create(&scene, 1));
    ENSURE_OK(mpm_scene_run(&scene, 2.0));
    double speed = mpm_scene_mean_speed(&scene);
    ENSURE_OK(mpm_solver.read(scene.mpm, &before));
    ENSURE_OK(mpm_scene_run(&scene, 10.0));
    ENSURE_OK(mpm_solver.read(scene.mpm, &after));
    for (int64_t i = 0; i < after.count; i++)
        farthest = fmaxf(farthest, vec3_length(vec3_sub(after.position[i], before.position[i])));
    printf("# %.1e of sqrt(g h) after 2 s; the farthest goes %.4f cells in 10 s\n", speed / (double)sqrt_gh,
           (double)(farthest / scene.mpm->cell));
    ENSURE(speed < 1e-4 * (double)sqrt_gh);
    ENSURE(farthest < 0.01f * scene.mpm->cell);
    particles_free(&before);
    particles_free(&after);
    mpm_scene_end(&scene);
}

// Particles that have come to be pressed far more than sand ever is, as they did under a heavy body that trembled, must
// not burst: what they may store, 0.15 of strain at 6 times the expected speed of sound, throws nothing faster than 0.9
// of the expected speed. Unbounded they threw the whole bed.
TEST(mpm_pressed_particles_do_not_burst)
{
    MpmScene scene;
    ENSURE_OK(start_column(&scene, 31.0f, 1));
    ENSURE_OK(mpm_scene_run(&scene, 0.3));
    for (int64_t i = 0; i < scene.mpm->count; i += 50) {
        MpmParticle *p = &scene.mpm->particles[i];
        for (int axis = 0; axis < 3; axis++) p->stretch[axis] = 0.1f, p->stretch[3 + axis] = 0.0f;
        p->still = 0.0f;
    }
    float fastest = 0.0f;
    for (int k = 0; k < 20; k++) {
        ENSURE_OK(mpm_scene_run(&scene, 0.005));
        for (int64_t i = 0; i < scene.mpm->count; i++) {
            const float *v = scene.mpm->particles[i].velocity;
            fastest = fmaxf(fastest, vec3_length(vec3(v[0], v[1], v[2])));
        }
    }
    printf("# fastest %.2f m/s\n", (double)fastest);
    ENSURE(fastest < 0.9f * scene.def.expected_speed);
    mpm_scene_end(&scene);
}

// A cone that is flatter than the friction angle settles a little; one that is much steeper comes down.
static double cone_angles(float friction_degrees, float cone_degrees, double angle[3])
{
    MpmScene scene;
    GrainResult result;
    mpm_scene_begin(&scene, 0.0025f, friction_degrees);
    scene.def.expected_speed = 1.2f;
    mpm_scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 1.0f);
    float foot = 0.11f, height = foot * tanf(cone_degrees * 0.01745329f);
    result = mpm_scene_fill(&scene, 0.0f, height, foot, 0.0f);
    if (result == GRAIN_OK) result = mpm_scene_create(&scene, 1);
    for (int i = 0; i < 3 && result == GRAIN_OK; i++) {
        angle[i] = mpm_scene_heap_angle(&scene);
        result = mpm_scene_run(&scene, 0.4);
    }
    double speed = result == GRAIN_OK ? mpm_scene_mean_speed(&scene) : HUGE_VAL;
    mpm_scene_end(&scene);
    printf("# friction %.0f degrees, cone of %.1f: after 0.4 s %.1f, after 0.8 s %.1f\n", (double)friction_degrees,
           angle[0], angle[1], angle[2]);
    return speed;
}

TEST(mpm_gentle_cones_stand_and_steep_ones_come_down)
{
    double angle[3];
    ENSURE(cone_angles(35.0f, 28.0f, angle) < 2e-3);
    ENSURE(angle[2] > angle[0] - 1.0); // it settles as it takes up its weight
    ENSURE(cone_angles(25.0f, 45.0f, angle) < 0.1);
    ENSURE(angle[2] < angle[0] - 8.0);
}

// Wet snow stays in one piece where sand splashes: reach of all but the outermost after a drop of 5 cm.
static double reach_after_drop(const char *law)
{
    MpmScene scene;
    double reach = NAN;
    mpm_scene_begin(&scene, 0.005f, 31.0f);
    scene.def.law = law;
    mpm_scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    if (mpm_scene_fill(&scene, 0.05f, 0.08f, 0.04f, 0.04f) == GRAIN_OK && mpm_scene_create(&scene, 1) == GRAIN_OK &&
        mpm_scene_run(&scene, 0.4) == GRAIN_OK)
        reach = mpm_scene_reach(&scene, 0.95);
    mpm_scene_end(&scene);
    return reach;
}

MARKED_TEST(mpm_snow_holds_together_where_sand_runs_out, TEST_ADDRESS)
{
    double sand = reach_after_drop("sand"), snow = reach_after_drop("snow_wet");
    ENSURE(sand > 1.5 * 0.04);
    ENSURE(snow < 1.25 * 0.04);
}
