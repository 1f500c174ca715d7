// SPDX-License-Identifier: GPL-3.0-or-later
// Two balls, one contact: restitution, conserved quantities.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Two balls of radius 5 mm and 4 mm meet head on, `gap` apart at first; the ratio of the speeds after and before.
static double restitution_of(float wanted, float speed, float gap)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.restitution = wanted;
    particles_add(&scene.start, vec3(0, 0, 0), vec3(0.5f * speed, 0, 0), 0.005f);
    particles_add(&scene.start, vec3(0.009f + gap, 0, 0), vec3(-0.5f * speed, 0, 0), 0.004f);
    double after = -1.0;
    if (scene_create(&scene, 1) == GRAIN_OK && scene_run(&scene, 0.02 / (double)speed) == GRAIN_OK)
        after = fabs((double)(scene.dem->balls[0].velocity[0] - scene.dem->balls[1].velocity[0])) / (double)speed;
    scene_end(&scene);
    return after;
}

// 1 % also for a single collision, whatever part of a substep it begins in.
TEST(restitution_is_as_asked)
{
    static const float wanted[] = {0.2f, 0.3f, 0.5f, 0.8f, 0.95f};
    for (int i = 0; i < 5; i++)
        for (float speed = 1.0f; speed > 0.01f; speed *= 0.2f)
            for (int phase = 0; phase < 4; phase++) {
                float gap = 1e-4f + speed * 8e-5f * (float)phase / 4.0f; // a substep is 7.9e-5 s
                ENSURE_NEAR(restitution_of(wanted[i], speed, gap) / (double)wanted[i], 1.0, 0.01);
            }
}

// A cloud that falls together, spins and flies apart again, without gravity.
static GrainResult start_cloud(DemScene *scene, const char *shape)
{
    scene_begin(scene, 0.005f);
    scene->def.gravity = vec3(0, 0, 0);
    scene->def.rolling_friction = 0.3f;
    GrainResult result = scene_set_shape(scene, shape);
    if (result == GRAIN_OK)
        result = scene_fill_box(scene, vec3(-0.04f, -0.04f, -0.04f), vec3(0.04f, 0.04f, 0.04f), 0.3f, 0.2f);
    for (int64_t i = 0; i < scene->start.count; i++) {
        Vec3 at = scene->start.position[i];
        Rng4 random = rng_at(5, (uint64_t)i, RNG_STREAM_TEST, 1);
        scene->start.velocity[i] = vec3_add(vec3_scale(at, -20.0f), vec3_cross(vec3(0, 3, 9), at));
        scene->start.velocity[i].x += 0.2f * rng_signed(random.word[0]);
    }
    return result == GRAIN_OK ? scene_create(scene, 1) : result;
}

// Momentum and angular momentum stay; the tolerance is float rounding: some thousand steps of 6e-8 each, most of which
// cancel.
TEST(momentum_and_spin_of_a_cloud_stay)
{
    static const char *const shapes[] = {"sphere", "tetrahedron", "rod"};
    for (int i = 0; i < 3; i++) {
        DemScene scene;
        ENSURE_OK(start_cloud(&scene, shapes[i]));
        SceneTotals before = scene_totals(&scene);
        double energy = scene_kinetic_energy(&scene);
        ENSURE_OK(scene_run(&scene, 0.1));
        SceneTotals after = scene_totals(&scene);
        ENSURE(scene_kinetic_energy(&scene) < 0.9 * energy); // it did collide
        for (int a = 0; a < 3; a++) {
            ENSURE_NEAR(after.momentum[a] / before.mass_speed, before.momentum[a] / before.mass_speed, 1e-6);
            ENSURE_NEAR(after.angular[a] / before.lever_speed, before.angular[a] / before.lever_speed, 5e-6);
        }
        scene_end(&scene);
    }
}

// A rod thrown with 35 turns a second about an odd axis tumbles for some thousand steps: its angular momentum stays
// exactly; its energy loses 3e-4 in a second, and does not grow.
TEST(a_rod_in_flight_keeps_energy_and_spin)
{
    DemScene scene;
    scene_begin(&scene, 0.01f);
    scene.def.gravity = vec3(0, 0, 0);
    ENSURE_OK(scene_set_shape(&scene, "rod"));
    ENSURE_OK(particles_add(&scene.start, vec3(0, 0, 0), vec3(0.1f, 0, 0), 0.01f));
    ENSURE_OK(scene_create(&scene, 1));
    float momentum[3] = {2e-6f, 1e-6f, 3e-6f};
    memcpy(scene.dem->grains[0].momentum, momentum, sizeof momentum);
    ENSURE_OK(scene_run(&scene, 1e-6)); // now the spin is known
    double energy = scene_kinetic_energy(&scene), least = energy, most = energy;
    ENSURE(fabs((double)scene.dem->grains[0].spin[0]) > 2.0);
    for (int i = 0; i < 50; i++) {
        ENSURE_OK(scene_run(&scene, 0.02));
        least = fmin(least, scene_kinetic_energy(&scene)), most = fmax(most, scene_kinetic_energy(&scene));
    }
    ENSURE(memcmp(scene.dem->grains[0].momentum, momentum, sizeof momentum) == 0);
    ENSURE_NEAR(least / energy, 1.0, 1e-3);
    ENSURE_NEAR(most / energy, 1.0, 1e-4);
    scene_end(&scene);
}
