// SPDX-License-Identifier: GPL-3.0-or-later
// The mesoscopic model: its forces on two particles, conservation, and no blow-up.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/meso_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.01f

// --- the law --------------------------------------------------------------------------------------

// Two particles at rest, `distance` diameters apart, and the acceleration of the second after one tiny step.
static double push_apart(SimMeso law, float distance, float opening)
{
    SandScene scene;
    sand_begin(&scene, "meso", RADIUS, 30.0f);
    scene.def.gravity = vec3(0, 0, 0);
    scene.def.meso = law;
    double seconds = 1e-7, mass = 2600.0 * 4.0 / 3.0 * M_PI * 1e-6, force = NAN;
    if (particles_add(&scene.start, vec3(0, 0, 0), vec3(0, 0, 0), RADIUS) == GRAIN_OK &&
        particles_add(&scene.start, vec3(0.6f * 2.0f * RADIUS * distance, 0.8f * 2.0f * RADIUS * distance, 0),
                      vec3(0.6f * opening, 0.8f * opening, 0), RADIUS) == GRAIN_OK &&
        sand_create(&scene, 1) == GRAIN_OK && meso_solver.step(scene.sim.state, seconds) == GRAIN_OK &&
        meso_solver.read(scene.sim.state, &scene.now) == GRAIN_OK) {
        Vec3 change = scene.now.velocity[0]; // at rest before
        force = -mass * (0.6 * (double)change.x + 0.8 * (double)change.y) / seconds;
    }
    sand_end(&scene);
    return force;
}

// Straight pieces: K (rest - D) within its window, -Z dD/dt within its own; 1e-4 is what floats give.
MARKED_TEST(meso_force_is_the_sum_of_its_pieces, TEST_ADDRESS)
{
    const double diameter = 0.02;
    SimMeso law = {.elastic = {{5000, 1.0f, 0, 1.0f}, {1000, 1.0f, 1.0f, 1.3f}},
                   .viscous = {{40, 0, 0, 1.5f}, {10, 0, 2.0f, 3.0f}},
                   .elastic_count = 2,
                   .viscous_count = 2};
    const struct {
        float distance, opening;
        double force;
    } cases[] = {
        {0.8f, 0, 5000 * diameter * 0.2 * diameter},
        {1.2f, 0, -1000 * diameter * 0.2 * diameter},
        {1.4f, 0, 0},
        {1.4f, 2, -40 * diameter * 2},
        {0.9f, 1, 5000 * diameter * 0.1 * diameter - 40 * diameter},
        {1.8f, 1, 0},
        {2.5f, 1, -10 * diameter},
        {3.1f, 1, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ENSURE_NEAR(push_apart(law, cases[i].distance, cases[i].opening), cases[i].force, 2e-4 * 0.4);
}

TEST(meso_refuses_a_force_that_is_none)
{
    SandScene scene;
    sand_begin(&scene, "meso", RADIUS, 30.0f);
    scene.def.meso = (SimMeso){.elastic = {{-5, 1, 0, 1}}, .elastic_count = 1};
    ENSURE_OK(sand_fill_box(&scene, vec3(0, 0, 0), vec3(0.1f, 0.1f, 0.1f), NULL, NULL));
    ENSURE_FAILS(sand_create(&scene, 1), GRAIN_ERROR_ARGUMENT, "elastic piece 0");
    sand_end(&scene);
}

// --- mechanics ------------------------------------------------------------------------------------

// Two lumps meet in free space: what one loses the other gains, however far the implicit solution went. Float sums of
// some thousand particles over some hundred steps: 1e-5 of what moves. Central forces turn nothing either: the moment
// of momentum about the origin is 1e-4 of what it would be if all went round at 1 m/s.
TEST(meso_keeps_momentum)
{
    for (int is_paste = 0; is_paste < 2; is_paste++) {
        SandScene scene;
        meso_begin(&scene, RADIUS,
                   is_paste ? (SimMesoNumbers){2e4f, 200, 1.0f, 2.0f} : (SimMesoNumbers){2e4f, 10, 1.0f, 1.0f});
        scene.def.gravity = vec3(0, 0, 0);
        ENSURE_OK(meso_fill(&scene, vec3(-0.1f, -0.1f, 0), vec3(0.1f, 0.1f, 0.12f), NULL, NULL));
        int64_t half = scene.start.count;
        ENSURE_OK(meso_fill(&scene, vec3(-0.06f, -0.02f, 0.14f), vec3(0.06f, 0.1f, 0.24f), NULL, NULL));
        for (int64_t i = 0; i < scene.start.count; i++)
            scene.start.velocity[i] = i < half ? vec3(0.1f, 0, 1) : vec3(0, 0.3f, -1);
        ENSURE_OK(sand_create(&scene, 1));
        ENSURE_OK(sand_run(&scene, 0.08));
        Vec3d before = {0}, after = {0}, spin_before = {0}, spin_after = {0};
        double mass = 0.0;
        for (int64_t i = 0; i < scene.start.count; i++) {
            double m = pow((double)scene.start.radius[i], 3.0);
            mass += m;
            Vec3d p = vec3d_scale(vec3d_from(scene.start.velocity[i]), m);
            Vec3d q = vec3d_scale(vec3d_from(scene.now.velocity[i]), m);
            before = vec3d_add(before, p), after = vec3d_add(after, q);
            spin_before = vec3d_add(spin_before, vec3d_cross(vec3d_from(scene.start.position[i]), p));
            spin_after = vec3d_add(spin_after, vec3d_cross(vec3d_from(scene.now.position[i]), q));
        }
        ENSURE_NEAR(vec3d_length(vec3d_sub(after, before)) / mass, 0.0, 1e-5);
        ENSURE_NEAR(vec3d_length(vec3d_sub(spin_after, spin_before)) / (0.1 * mass), 0.0, 1e-4);
        double fastest;
        ENSURE(sand_mean_speed(&scene, &fastest) < 0.8); // they did meet
        ENSURE((meso_of(&scene)->solved > 0) == is_paste);
        sand_end(&scene);
    }
}

// Nothing but falling particles, and with ambient viscosity c the speed g (1 - exp(-c t)) / c; steps of 1/1000 of that
// time constant.
MARKED_TEST(meso_falls_freely_and_through_what_surrounds_it, TEST_ADDRESS)
{
    for (int is_slowed = 0; is_slowed < 2; is_slowed++) {
        SandScene scene;
        meso_begin(&scene, RADIUS, (SimMesoNumbers){2e4f, 10, 1.0f, 1.0f});
        scene.def.meso.ambient = is_slowed ? 5.0f : 0.0f;
        ENSURE_OK(meso_fill(&scene, vec3(-0.08f, -0.08f, 0), vec3(0.08f, 0.08f, 0.1f), NULL, NULL));
        ENSURE_OK(sand_create(&scene, 1));
        ENSURE_OK(sand_run(&scene, 0.2));
        double expected = is_slowed ? 9.81 * (1.0 - exp(-1.0)) / 5.0 : 9.81 * 0.2;
        for (int64_t i = 0; i < scene.now.count; i++)
            ENSURE_NEAR((double)scene.now.velocity[i].z, -expected, is_slowed ? 0.005 : 1e-3);
        sand_end(&scene);
    }
}

// The implicit solution is the explicit one of ever shorter steps: a shear flow decays as fast either way. 3 %: the
// implicit one is of first order, and its steps are a tenth of the decay.
TEST(meso_implicit_viscosity_is_the_explicit_one)
{
    double left[2];
    for (int is_explicit = 0; is_explicit < 2; is_explicit++) {
        SandScene scene;
        meso_begin(&scene, RADIUS, (SimMesoNumbers){0, 120, 1.0f, 2.0f});
        scene.def.gravity = vec3(0, 0, 0);
        ENSURE_OK(meso_fill(&scene, vec3(-0.1f, -0.1f, -0.1f), vec3(0.1f, 0.1f, 0.1f), NULL, NULL));
        for (int64_t i = 0; i < scene.start.count; i++)
            scene.start.velocity[i] = vec3(0.01f * sinf(31.4159f * scene.start.position[i].z), 0, 0);
        ENSURE_OK(sand_create(&scene, 1));
        SimStats before, after;
        meso_solver.measure(scene.sim.state, &before);
        int steps = is_explicit ? 2400 : 24;
        for (int i = 0; i < steps; i++) ENSURE_OK(meso_solver.step(scene.sim.state, 1.2e-2 / steps));
        meso_solver.measure(scene.sim.state, &after);
        ENSURE((meso_of(&scene)->solved > 0) == !is_explicit);
        left[is_explicit] = sqrt(after.kinetic / before.kinetic);
        sand_end(&scene);
    }
    printf("# of the shear is left %.3f, with short steps %.3f\n", left[0], left[1]);
    ENSURE(left[1] < 0.7 && left[1] > 0.05);
    ENSURE_NEAR(left[0], left[1], 0.03);
}

// --- no blow-up -----------------------------------------------------------------------------------

// Any material from the box of all numbers, softest to hardest, falls on a floor: 200 of its own steps, all finite, and
// no more energy than it had, what is overlapped at first included: 1 % is what a step of finite length may add. Where
// a pulling piece ends the force jumps, and whoever passes that within a step gains what the force does on part of the
// way: 5 % of what such pieces hold.
TEST(meso_never_blows_up)
{
    for (uint64_t n = 0; n < 60; n++) {
        Rng4 a = rng_at(77, n, RNG_STREAM_TEST, 0), b = rng_at(77, n, RNG_STREAM_TEST, 1);
        SandScene scene;
        SimMesoNumbers numbers = {powf(10.0f, 1.0f + 7.0f * rng_unit(a.word[0])),
                                  powf(10.0f, 6.0f * rng_unit(a.word[1]) - 1.0f), 0.3f + 1.7f * rng_unit(a.word[2]),
                                  3.0f * rng_unit(a.word[3])};
        meso_begin(&scene, powf(10.0f, -3.0f + 2.0f * rng_unit(b.word[0])), numbers);
        if (n % 3 == 0) // pulling pieces that begin and end with a jump
            scene.def.meso.elastic[scene.def.meso.elastic_count++] = (SimMesoSegment){
                0.3f * numbers.elasticity, numbers.elastic_reach, numbers.elastic_reach, 1.4f * numbers.elastic_reach};
        float d = 2.0f * scene.def.largest_radius;
        sand_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
        ENSURE_OK(meso_fill(&scene, vec3(-4 * d, -4 * d, 0), vec3(4 * d, 4 * d, 8 * d), NULL, NULL));
        for (int64_t i = 0; i < scene.start.count; i++) {
            Rng4 c = rng_at(78, n, RNG_STREAM_TEST, (uint32_t)i);
            scene.start.velocity[i] =
                vec3(2 * rng_signed(c.word[0]), 2 * rng_signed(c.word[1]), 2 * rng_signed(c.word[2]));
        }
        ENSURE_OK(sand_create(&scene, 1));
        SimStats first = {0}, last = {0};
        for (int i = 0; i < 200; i++) {
            ENSURE_OK(meso_solver.step(scene.sim.state, meso_solver.largest_step(scene.sim.state)));
            if (i == 0) meso_solver.measure(scene.sim.state, &first);
        }
        ENSURE_OK(meso_solver.read(scene.sim.state, &scene.now)); // refuses what is not finite
        meso_solver.measure(scene.sim.state, &last);
        double before = first.kinetic + first.elastic + first.potential,
               after = last.kinetic + last.elastic + last.potential;
        double more = n % 3 == 0 ? 0.05 * (fabs(first.elastic) + fabs(last.elastic)) : 0.01 * before;
        if (!(after <= before + more))
            printf("# %llu: K %g Z %g De %g Rs %g: %g + %g + %g J became %g + %g + %g\n", (unsigned long long)n,
                   (double)numbers.elasticity, (double)numbers.viscosity, (double)numbers.elastic_reach,
                   (double)numbers.reach_ratio, first.kinetic, first.elastic, first.potential, last.kinetic,
                   last.elastic, last.potential);
        ENSURE(after <= before + more);
        sand_end(&scene);
    }
}
