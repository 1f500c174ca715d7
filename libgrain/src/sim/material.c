// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/material.h"

#include <stddef.h>

float sim_grip_unit(Vec3 gravity)
{
    float weight = vec3_length(gravity);
    return weight > 0.0f ? weight : 9.81f;
}

const char *const sim_meso_interaction_names[] = {"ip1", "ip2", "ip3", "ip4", "ip5", NULL};

#define ELASTICITY 3e4f // Pa
#define VISCOSITY 30.0f // Pa s

SimMesoNumbers sim_meso_numbers(int interaction)
{
    static const SimMesoNumbers table[] = {
        {ELASTICITY, 0.0f, 1.0f, 1.0f},              // elastic alone: gas, dry grains
        {0.0f, VISCOSITY, 1.0f, 1.0f},               // viscous alone: eddies without pressure
        {ELASTICITY, VISCOSITY, 1.0f, 1.0f},         // both as far: fluid to grains, by elasticity
        {0.1f * ELASTICITY, VISCOSITY, 1.5f, 0.67f}, // elastic farther: fluid
        {ELASTICITY, VISCOSITY, 1.0f, 2.5f},         // viscous farther: paste
    };
    return table[interaction];
}

SimMeso sim_meso_of(const SimMesoNumbers *numbers)
{
    SimMeso law = {0};
    float reach = numbers->elastic_reach;
    if (numbers->elasticity > 0.0f)
        law.elastic[law.elastic_count++] = (SimMesoSegment){numbers->elasticity, reach, 0.0f, reach};
    if (numbers->viscosity > 0.0f && numbers->reach_ratio > 0.0f)
        law.viscous[law.viscous_count++] =
            (SimMesoSegment){numbers->viscosity, 0.0f, 0.0f, reach * numbers->reach_ratio};
    return law;
}
