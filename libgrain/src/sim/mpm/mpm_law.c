// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/mpm/mpm_law.h"
#include "base/error.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

// Loosened sand on the grid bears as if it held together: cones that were built too steep come to rest 2 to 4 degrees
// too steep at 20 cells of height. So little as the weight of this part of a cell does that; the tip of its surface of
// yield is lowered by it. Above 45 degrees by less: that costs the tangent of the angle times as much of what it bears,
// and small piles of 60 would slump.
#define HOLDS_TOGETHER 0.08f
// Sine of the steepest friction angle that the law can tell from a steeper one.
#define STEEPEST 0.98f
// Viscosity of what does not flow, over density * sound speed * cell.
#define DAMPING 0.05f

const char *const mpm_law_names[] = {"sand", "snow_powder", "snow_chunky", "snow_wet", "mud", NULL};
const char *const mpm_snow_names[] = {"snow_powder", "snow_chunky", "snow_wet", NULL};
static const MpmLawKind law_kinds[] = {MPM_SAND, MPM_SNOW, MPM_SNOW, MPM_SNOW, MPM_MUD}; // of these names

// Snow as in Stomakhin et al. 2013, section 4.1 and figure 9: small limits make powder, large ones chunks, and snow
// that is softer and hardens less is wet. Theirs are lower for chunks (2.5e-2, 7.5e-3), of a snow that is softer than
// ours against what hits it. Snow is not the same everywhere: it breaks where it is weak. Without, balls burst in rays
// along the grid.
typedef struct Snow {
    float compression, stretch; // critical ones
    float hardening; // counts the logarithm of volume as its difference from 1, which for small changes is the same
    float stiffness; // over that of sand
    float uneven, patch_cells;
} Snow;
static const Snow snows[3] = {
    {1.9e-2f, 5.0e-3f, 10.0f, 1.0f, 0.15f, 1.5f}, // powder: breaks at once, in fine pieces
    {3.5e-2f, 1.1e-2f, 10.0f, 1.0f, 0.15f, 3.0f}, // chunky: breaks in clumps
    {3.5e-2f, 1.1e-2f, 7.0f, 0.3f, 0.05f, 3.0f},  // wet: gives way, sticks together
};

static void set_snow(MpmMaterial *m, const Snow *snow)
{
    m->number[0] = snow->compression, m->number[1] = snow->stretch, m->number[2] = snow->hardening;
    m->shear *= snow->stiffness, m->lame *= snow->stiffness;
    m->uneven = snow->uneven, m->patch_cells = snow->patch_cells;
}

static void set_sand(MpmMaterial *m, float friction, float tension, float cell_weight)
{
    float pressed = 3.0f * m->lame + 2.0f * m->shear;
    m->number[0] = real_minf(friction / sqrtf(1.0f + friction * friction), STEEPEST);
    m->number[1] = tension / pressed;
    m->number[2] = HOLDS_TOGETHER * cell_weight / (pressed * real_maxf(friction, 1.0f));
    m->number[3] = 2.0f * m->shear / (m->lame + 2.0f / 3.0f * m->shear);
}

GrainResult mpm_material_choose(const char *law, const SimMaterial *from, float sound_speed, float cell, float gravity,
                                float particle_radius, MpmMaterial *out)
{
    int which = 0;
    while (mpm_law_names[which] && strcmp(mpm_law_names[which], law) != 0) which++;
    if (!mpm_law_names[which]) return fail(GRAIN_ERROR_ARGUMENT, "there is no material '%s'", law);
    *out = (MpmMaterial){.kind = law_kinds[which]};
    out->density = MPM_PACKING * from->density;
    float poisson = from->poisson_ratio > 0.0f ? from->poisson_ratio : 0.3f;
    float stiffness = out->density * sound_speed * sound_speed; // lame + 2 shear
    out->shear = stiffness * (1.0f - 2.0f * poisson) / (2.0f * (1.0f - poisson));
    out->lame = stiffness - 2.0f * out->shear;
    out->damping = DAMPING * out->density * sound_speed * cell;
    out->is_loose = out->kind == MPM_SAND && from->cohesion == 0.0f;
    // Rumpf: tensile strength of grains of diameter d that hold on to each other with a force F, (1 - e) / e * F / d^2.
    float weight = from->density * 4.18879f * real_powf(particle_radius, 3.0f) * gravity;
    float tension =
        MPM_PACKING / (1.0f - MPM_PACKING) * from->cohesion * weight / (4.0f * particle_radius * particle_radius);
    if (out->kind == MPM_SAND) {
        set_sand(out, from->friction, tension, out->density * gravity * cell);
        out->wet_tip = SIM_WET_TENSION / (3.0f * out->lame + 2.0f * out->shear);
    } else if (out->kind == MPM_SNOW) {
        set_snow(out, &snows[which - 1]);
    } else {
        float yield = real_maxf(tension, 20.0f * out->density * gravity * particle_radius * from->friction);
        out->number[0] = yield * 1.41421356f / (2.0f * out->shear);
        out->number[1] = out->shear / (out->density * 0.05f * sound_speed * cell);
    }
    return GRAIN_OK;
}
