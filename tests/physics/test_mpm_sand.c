// SPDX-License-Identifier: GPL-3.0-or-later
// What sand of the material point method must do beyond test_sand.c: slide and rest.
#include "shared/mpm_scene.h"
#include "shared/processor_clock.h"
#include "sim/mpm/mpm_transfer.h"
#include "unit/test.h"

#include <math.h>

// A thin slab that slides on a floor is slowed by Coulomb's friction and nothing else: v0 - mu g t. A hundredth of v0
// for what its rim spreads meanwhile.
TEST(mpm_slab_slides_as_coulomb_says)
{
    MpmScene scene;
    const float friction = 0.6f;
    mpm_scene_begin(&scene, 0.0025f, 31.0f);
    mpm_scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), friction);
    ENSURE_OK(mpm_scene_fill(&scene, 0.0f, 0.009f, 0.1f, 0.1f));
    for (int64_t i = 0; i < scene.start.count; i++) scene.start.velocity[i] = vec3(1, 0, 0);
    ENSURE_OK(mpm_scene_create(&scene, 2));
    ENSURE_OK(mpm_scene_run(&scene, 0.1));
    double mass = (double)mpm_mass_of(&scene.mpm->materials, &scene.mpm->particles[0]) * (double)scene.mpm->count;
    ENSURE_NEAR(mpm_scene_momentum(&scene).x / mass, 1.0 - (double)friction * 9.81 * 0.1, 0.01);
    mpm_scene_end(&scene);
}

// Sand in a box that it fills but for the corners; it sleeps after a second.
static GrainResult start_box(MpmScene *scene)
{
    mpm_scene_begin(scene, 0.0035f, 31.0f);
    scene->def.may_sleep = 1;
    scene->def.expected_speed = 0.7f;
    mpm_scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    for (int i = 0; i < 4; i++) {
        Vec3 side = {i == 0 ? 1.0f : i == 1 ? -1.0f : 0.0f, i == 2 ? 1.0f : i == 3 ? -1.0f : 0.0f, 0.0f};
        mpm_scene_add_plane(scene, vec3_scale(side, -0.06f), side, 0.3f);
    }
    return mpm_scene_fill(scene, 0.0f, 0.05f, 0.06f, 0.06f);
}

// All sand in a box sleeps once it has settled, and a lump that falls on it wakes it.
TEST(mpm_sand_sleeps_and_wakes)
{
    MpmScene scene;
    ENSURE_OK(start_box(&scene));
    int64_t bed = scene.start.count;
    ENSURE_OK(mpm_scene_fill(&scene, 0.3f, 0.02f, 0.02f, 0.02f));
    for (int64_t i = bed; i < scene.start.count; i++)
        scene.start.velocity[i] = vec3(0, 0, 6); // up, and back after 1.26 s
    ENSURE_OK(mpm_scene_create(&scene, 2));
    ENSURE_OK(mpm_scene_run(&scene, 1.2));
    SimStats stats;
    mpm_solver.measure(scene.mpm, &stats);
    printf("# %lld of %lld sleep\n", (long long)stats.asleep, (long long)bed);
    ENSURE(stats.asleep > 0.99 * (double)bed && stats.asleep <= bed); // what falls is awake
    ENSURE_OK(mpm_scene_run(&scene, 0.1));
    mpm_solver.measure(scene.mpm, &stats);
    ENSURE(stats.asleep < 0.5 * (double)bed);
    mpm_scene_end(&scene);
}

static int64_t fullest_block(const Mpm *mpm)
{
    int64_t fullest = 0;
    for (int64_t i = 1; i < mpm->filled_count; i++) {
        const MpmBlock *block = &mpm->blocks[mpm->filled[i]], *before = &mpm->blocks[mpm->filled[fullest]];
        if (block->end - block->begin > before->end - before->begin) fullest = i;
    }
    return fullest;
}

// One block jumps up, by less than would bring its particles into others: those beside it wake all the same.
TEST(mpm_sleepers_wake_beside_what_moves)
{
    MpmScene scene;
    ENSURE_OK(start_box(&scene));
    ENSURE_OK(mpm_scene_create(&scene, 2));
    ENSURE_OK(mpm_scene_run(&scene, 1.2));
    Mpm *mpm = scene.mpm;
    SimStats before, after;
    mpm_solver.measure(mpm, &before);
    ENSURE(before.asleep > 0.99 * (double)mpm->count);
    int64_t number = fullest_block(mpm);
    const MpmBlock block = mpm->blocks[mpm->filled[number]];
    for (int32_t i = block.begin; i < block.end; i++)
        mpm->particles[i].still = 0.0f, mpm->particles[i].velocity[2] = 0.5f;
    mpm->rest[number] = (MpmRest){0};
    ENSURE_OK(mpm_scene_run(&scene, 0.007)); // some steps: sleepers watch in every fourth
    ENSURE(!mpm->must_sort);                 // nobody has come in
    mpm_solver.measure(mpm, &after);
    ENSURE(before.asleep - after.asleep > 2 * (block.end - block.begin));
    mpm_scene_end(&scene);
}

// s of processor time for a step: the best of some, as others use the machine too.
static double step_cost(MpmScene *scene)
{
    enum { PIECES = 10, STEPS = 10 };
    double best = HUGE_VAL, seconds = mpm_solver.largest_step(scene->mpm);
    for (int i = 0; i < PIECES; i++) {
        double start = processor_seconds();
        for (int k = 0; k < STEPS; k++)
            if (mpm_solver.step(scene->mpm, seconds) != GRAIN_OK) return NAN;
        best = fmin(best, (processor_seconds() - start) / STEPS);
    }
    return best;
}

// A column has collapsed, and its heap sleeps, but for a block or two of the rim: a step costs next to nothing. Those
// that fall asleep last wake others beside them now and then: in eight runs all slept after 1.2 to 2.9 s.
TEST(mpm_heap_asleep_costs_next_to_nothing)
{
    MpmScene scene;
    mpm_scene_begin(&scene, 0.004f, 31.0f);
    scene.def.may_sleep = 1;
    scene.def.expected_speed = 2.0f;
    mpm_scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    ENSURE_OK(mpm_scene_fill(&scene, 0.0f, 0.15f, 0.12f, 0.12f));
    ENSURE_OK(mpm_scene_create(&scene, 1));
    ENSURE_OK(mpm_scene_run(&scene, 0.1));
    double moving = step_cost(&scene);
    ENSURE_OK(mpm_scene_run(&scene, 2.9));
    double asleep = step_cost(&scene);
    SimStats stats;
    mpm_solver.measure(scene.mpm, &stats);
    printf("# %lld particles, %.2f %% asleep: a step costs %.1f %% of one in motion\n", (long long)scene.mpm->count,
           100.0 * (double)stats.asleep / (double)scene.mpm->count, 100.0 * asleep / moving);
    ENSURE(asleep < 0.03 * moving);
    mpm_scene_end(&scene);
}
