// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/real.h"
#include "sim/solver.h"

#include <math.h>

// Half a degree of friction; a fiftieth of cohesion or stickiness, counted from that of hardly damp sand at least.
#define NOTICED_FRICTION 0.01f
#define NOTICED_COHESION 0.02f
#define LEAST_COHESION 0.5f

SimSteering steering_of(const SimDef *def)
{
    SimSteering start = {.gravity = def->gravity, .friction[0] = def->friction, .cohesion[0] = def->cohesion};
    for (int i = 0; i < def->more_material_count && i + 1 < SIM_MAX_MATERIALS; i++) {
        start.friction[i + 1] = def->more_materials[i].friction;
        start.cohesion[i + 1] = def->more_materials[i].cohesion;
    }
    if (def->meso.viscous_count > 0) start.viscosity = def->meso.viscous[0].strength;
    return start;
}

static int is_noticed(float friction, float friction_before, float hold, float hold_before)
{
    return fabsf(friction - friction_before) > NOTICED_FRICTION ||
           fabsf(hold - hold_before) > NOTICED_COHESION * real_maxf(hold_before, LEAST_COHESION) ||
           (hold == 0.0f) != (hold_before == 0.0f); // the last of it
}

int grips_are_noticed(const SimGrip *now, const SimGrip *before, int count)
{
    int noticed = 0;
    for (int i = 0; i < count; i++)
        noticed |= is_noticed(now[i].friction, before[i].friction, now[i].stickiness, before[i].stickiness);
    return noticed;
}

int steering_is_noticed(const SimSteering *now, const SimSteering *before)
{
    int noticed = vec3_length(vec3_sub(now->gravity, before->gravity)) > STEERING_NOTICED;
    for (int i = 0; i < SIM_MAX_MATERIALS; i++)
        noticed |= is_noticed(now->friction[i], before->friction[i], now->cohesion[i], before->cohesion[i]);
    return noticed;
}
