#include "sim/solver.h"

#include <math.h>

// Half a degree of friction; a fiftieth of the cohesion, counted from that of hardly damp sand at least.
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

int steering_is_noticed(const SimSteering *now, const SimSteering *before)
{
    int is_noticed = vec3_length(vec3_sub(now->gravity, before->gravity)) > STEERING_NOTICED;
    for (int i = 0; i < SIM_MAX_MATERIALS; i++) {
        float was = before->cohesion[i], is = now->cohesion[i];
        is_noticed |= fabsf(now->friction[i] - before->friction[i]) > NOTICED_FRICTION;
        is_noticed |= fabsf(is - was) > NOTICED_COHESION * fmaxf(was, LEAST_COHESION);
        is_noticed |= (is == 0.0f) != (was == 0.0f); // the last of it
    }
    return is_noticed;
}
