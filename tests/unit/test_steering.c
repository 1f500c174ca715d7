// SPDX-License-Identifier: GPL-3.0-or-later
// Which changes of settings wake sand that sleeps.
#include "grain/grain.h"
#include "sim/solver.h"
#include "unit/test.h"

static const SimMaterial other = {.density = 1000.0f, .friction = 0.3f, .cohesion = 2.0f};

static SimDef damp(void)
{
    return (SimDef){.gravity = {0, 0, -9.81f},
                    .friction = 0.6f,
                    .cohesion = 5.0f,
                    .more_materials = &other,
                    .more_material_count = 1};
}

TEST(steering_starts_as_the_simulation_does)
{
    SimDef def = damp();
    def.meso.viscous_count = 1, def.meso.viscous[0].strength = 30.0f;
    SimSteering start = steering_of(&def);
    ENSURE(start.gravity.z == -9.81f && start.friction[0] == 0.6f && start.cohesion[0] == 5.0f &&
           start.viscosity == 30.0f);
    ENSURE(start.friction[1] == 0.3f && start.cohesion[1] == 2.0f && start.friction[2] == 0.0f);
    ENSURE(!steering_is_noticed(&start, &start));
}

TEST(small_changes_let_sand_sleep_and_large_ones_wake_it)
{
    SimDef def = damp();
    SimSteering before = steering_of(&def), now = before;
    now.friction[0] += 0.005f, now.cohesion[0] += 0.05f, now.gravity.x = 0.1f;
    ENSURE(!steering_is_noticed(&now, &before));
    now = before, now.friction[1] += 0.02f;
    ENSURE(steering_is_noticed(&now, &before));
    now = before, now.cohesion[0] += 0.2f;
    ENSURE(steering_is_noticed(&now, &before));
    now = before, now.gravity.x = 0.3f;
    ENSURE(steering_is_noticed(&now, &before));
    // The last of it, however little.
    before.cohesion[0] = 0.001f, now = before, now.cohesion[0] = 0.0f;
    ENSURE(steering_is_noticed(&now, &before));
}

TEST(grips_wake_likewise)
{
    SimGrip before[2] = {{0.5f, 0.0f}, {0.5f, 4.0f}}, now[2] = {{0.505f, 0.0f}, {0.5f, 4.05f}};
    ENSURE(!grips_are_noticed(now, before, 2));
    now[1].stickiness = 4.2f;
    ENSURE(!grips_are_noticed(now, before, 1) && grips_are_noticed(now, before, 2));
    now[0].stickiness = 0.001f;
    ENSURE(grips_are_noticed(now, before, 1));
}
