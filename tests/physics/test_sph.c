// SPDX-License-Identifier: GPL-3.0-or-later
// Smoothed particles: the kernel, density at rest and beside walls, momentum.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/sand_scene.h"
#include "sim/sph/sph.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.01f

static Sph *sph_of(const SandScene *scene) { return scene->sim.state; }

// --- kernel ---------------------------------------------------------------------------------------

// Midpoint rule on shells and planes: its error is some 1e-5 for 2000 of them.
TEST(sph_kernel_integrates_to_one)
{
    enum { STEPS = 2000 };
    const float h = 0.3f;
    double whole = 0.0, behind[5] = {0};
    const double plane[5] = {0.0, 0.05, 0.12, 0.2, 0.28};
    for (int i = 0; i < STEPS; i++) {
        double r = (i + 0.5) * (double)h / STEPS, shell = 4.0 * M_PI * r * r * (double)h / STEPS;
        double weight = shell * (double)sph_spline((float)r, h);
        whole += weight;
        for (int k = 0; k < 5; k++) // of a shell of radius r, (1 - d / r) / 2 lies behind a plane at d
            if (r > plane[k]) behind[k] += 0.5 * weight * (1.0 - plane[k] / r);
    }
    ENSURE_NEAR(whole, 1.0, 1e-5);
    for (int k = 0; k < 5; k++) {
        float slope, next, part = sph_spline_behind((float)plane[k], h, &slope);
        ENSURE_NEAR(part, behind[k], 2e-5);
        ENSURE_NEAR(1.0f - part, sph_spline_behind(-(float)plane[k], h, &next), 1e-6);
        double difference = (double)(sph_spline_behind((float)plane[k] - 1e-3f, h, &next) -
                                     sph_spline_behind((float)plane[k] + 1e-3f, h, &next)) /
                            2e-3;
        ENSURE_NEAR(slope, difference, 2e-3); // of up to 4.7 1/m
    }
}

TEST(sph_kernel_slope_is_its_derivative_and_gradients_sum_to_zero)
{
    const float h = 0.2f, pitch = 0.1f;
    for (int i = 1; i < 100; i++) {
        double r = 0.002 * i, e = 2e-5;
        double difference = (double)sph_spline((float)(r + e), h) - (double)sph_spline((float)(r - e), h);
        // Two floats of up to 318, each right to some 2e-5 of its own rounding and that of what it is made of, 4e-5
        // apart: 2 of slopes up to 3183. Measured: 2.1.
        ENSURE_NEAR((double)sph_spline_slope((float)r, h) * r, difference / (2.0 * e), 4.0);
    }
    double sum[3] = {0};
    for (int x = -2; x <= 2; x++)
        for (int y = -2; y <= 2; y++)
            for (int z = -2; z <= 2; z++) {
                float r = pitch * sqrtf((float)(x * x + y * y + z * z));
                double slope = r > 0.0f && r < h ? (double)sph_spline_slope(r, h) : 0.0;
                sum[0] += slope * x, sum[1] += slope * y, sum[2] += slope * z;
            }
    for (int a = 0; a < 3; a++) ENSURE_NEAR(sum[a], 0.0, 1e-9);
}

// --- density --------------------------------------------------------------------------------------

// A block as sources are filled, on a floor. Deep inside the lattice has the density at rest within 0.5 %; beside the
// floor, where the wall's part is added, within 2 %.
TEST(sph_density_at_rest_and_at_a_flat_wall)
{
    SandScene scene;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    sand_expect_fall(&scene, 0.2f);
    sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.1f, -0.1f, 0), vec3(0.1f, 0.1f, 0.2f), NULL, NULL));
    ENSURE_OK(sand_create(&scene, 1));
    Sph *sph = sph_of(&scene);
    ENSURE_OK(sph_solver.step(sph, 1e-6));
    double inside = 0.0, wall = 0.0;
    int inside_count = 0, wall_count = 0;
    for (int64_t i = 0; i < sph->neighbours.count; i++) {
        Vec3 p = scene.start.position[sph->neighbours.id[i]];
        if (fabsf(p.x) > 0.05f || fabsf(p.y) > 0.05f || p.z > 0.15f) continue;
        double filled = (double)sph->field[SPH_FILLED][i];
        if (p.z < 2.0f * RADIUS)
            wall += filled, wall_count++;
        else if (p.z > 5.0f * RADIUS)
            inside += filled, inside_count++;
    }
    ENSURE(inside_count > 100 && wall_count > 20);
    ENSURE_NEAR(inside / inside_count, 1.0, 0.005);
    ENSURE_NEAR(wall / wall_count, 1.0, 0.02);
    sand_end(&scene);
}

// --- mechanics ------------------------------------------------------------------------------------

// Two lumps of damp sand meet in free space: what one loses the other gains. Float sums of some thousand particles over
// some hundred steps: 1e-5 of what moves.
static void check_momentum(const char *model)
{
    SandScene scene;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    scene.def.model = model;
    scene.def.cohesion = 3.0f;
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.expected_speed = 2.0f;
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.1f, -0.1f, 0), vec3(0.1f, 0.1f, 0.12f), NULL, NULL));
    int64_t half = scene.start.count;
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.06f, -0.06f, 0.14f), vec3(0.06f, 0.06f, 0.24f), NULL, NULL));
    for (int64_t i = 0; i < scene.start.count; i++)
        scene.start.velocity[i] = i < half ? vec3(0.1f, 0, 1) : vec3(0, 0.3f, -1);
    ENSURE_OK(sand_create(&scene, 1));
    ENSURE_OK(sand_run(&scene, 0.08));
    Vec3d before = {0}, after = {0};
    for (int64_t i = 0; i < scene.start.count; i++) {
        before = vec3d_add(before, vec3d_from(scene.start.velocity[i]));
        after = vec3d_add(after, vec3d_from(scene.now.velocity[i]));
    }
    ENSURE_NEAR(vec3d_length(vec3d_sub(after, before)) / (double)scene.start.count, 0.0, 1e-5);
    double fastest;
    ENSURE(sand_mean_speed(&scene, &fastest) < 0.8); // they did meet
    sand_end(&scene);
}

TEST(sph_keeps_momentum) { check_momentum("elastoplastic"); }
TEST(sph_ihmsen2013_keeps_momentum) { check_momentum("ihmsen2013"); }

// Sand in free fall is nothing but falling particles.
MARKED_TEST(sph_falls_freely, TEST_ADDRESS)
{
    SandScene scene;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    sand_expect_fall(&scene, 0.2f);
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.08f, -0.08f, 0), vec3(0.08f, 0.08f, 0.1f), NULL, NULL));
    ENSURE_OK(sand_create(&scene, 1));
    ENSURE_OK(sand_run(&scene, 0.2));
    for (int64_t i = 0; i < scene.now.count; i++) ENSURE_NEAR((double)scene.now.velocity[i].z, -9.81 * 0.2, 1e-3);
    sand_end(&scene);
}

// Moisture spreads from the wet half of a bar into the dry one as heat would: after t the profile is the error function
// of x / sqrt(4 D t), and none is lost.
MARKED_TEST(sph_moisture_spreads_as_heat_does, TEST_ADDRESS)
{
    SandScene scene;
    const double diffusion = 1e-3, seconds = 0.4;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.expected_speed = 0.5f;
    scene.def.moisture_diffusion = (float)diffusion;
    ENSURE_OK(sand_fill_box(&scene, vec3(-0.3f, -0.06f, -0.06f), vec3(0.3f, 0.06f, 0.06f), NULL, NULL));
    scene.moisture = ALLOC(float, scene.start.count);
    double before = 0.0, after = 0.0, worst = 0.0;
    float wettest = -1.0f, driest = 1.0f; // x of the last wet and the first dry layer
    for (int64_t i = 0; i < scene.start.count; i++) {
        float x = scene.start.position[i].x;
        before += (double)(scene.moisture[i] = x < 0.0f ? 0.9f : 0.1f);
        if (x < 0.0f) wettest = fmaxf(wettest, x);
        if (x >= 0.0f) driest = fminf(driest, x);
    }
    ENSURE_OK(sand_create(&scene, 1));
    ENSURE_OK(sand_run(&scene, seconds));
    for (int64_t i = 0; i < scene.now.count; i++) {
        double x = (double)(scene.now.position[i].x - 0.5f * (wettest + driest)), wet = (double)scene.now.moisture[i];
        after += wet;
        if (fabs(x) < 0.2) worst = fmax(worst, fabs(wet - 0.5 + 0.4 * erf(x / sqrt(4.0 * diffusion * seconds))));
    }
    ENSURE_NEAR(after / before, 1.0, 1e-5);
    // It spreads over two spacings, and the block's sides have half a neighbourhood: some percent of the step of 0.8.
    printf("# moisture is off by %.3f at most\n", worst);
    ENSURE(worst < 0.06);
    sand_end(&scene);
}

TEST(sph_refuses_an_unknown_model)
{
    SandScene scene;
    sand_begin(&scene, "sph", RADIUS, 30.0f);
    sand_expect_fall(&scene, 0.2f);
    scene.def.model = "water";
    ENSURE_OK(sand_fill_box(&scene, vec3(0, 0, 0), vec3(0.1f, 0.1f, 0.1f), NULL, NULL));
    ENSURE_FAILS(sand_create(&scene, 1), GRAIN_ERROR_ARGUMENT, "water");
    sand_end(&scene);
}
