#include "sim/mpm/mpm_law.h"
#include "base/error.h"

#include <math.h>
#include <string.h>

// Of a grain's density: how densely grains pack.
#define PACKING 0.6f
// Square of the tangent of the steepest friction angle that the law can tell from a steeper one.
#define STEEPEST_SAND 0.96f
// Viscosity of what does not flow, over density * sound speed * cell.
#define DAMPING 0.05f

const char *const mpm_law_names[] = {"sand", "snow_powder", "snow_chunky", "snow_wet", "mud", NULL};
static const MpmLawKind law_kinds[] = {MPM_SAND, MPM_SNOW, MPM_SNOW, MPM_SNOW, MPM_MUD}; // of these names

// Critical compression, critical stretch, hardening: Stomakhin et al. 2013, section 4.1 and figure 9. Hardening counts
// the logarithm of volume there as its difference from 1, which for small changes is the same.
static const float snow_numbers[3][3] = {
    {1.9e-2f, 5.0e-3f, 10.0f}, // powder: breaks at once, in fine pieces
    {2.5e-2f, 7.5e-3f, 10.0f}, // chunky: the paper's reference
    {3.5e-2f, 1.1e-2f, 7.0f},  // wet: gives way, sticks
};

// In-plane shear flows at the friction angle: t = sqrt(2) tan(phi) solves the equation of mpm_law_sand.h for d = 0. From 45
// degrees on nothing does: such sand holds any slope in its plane, until it is pulled.
static void set_sand(MpmMaterial *m, float friction, float tension)
{
    float squared = fminf(friction * friction, STEEPEST_SAND);
    m->number[0] = (9.0f - 3.0f * squared) / (1.0f - squared);
    m->number[1] = tension / (3.0f * m->lame + 2.0f * m->shear);
    m->number[2] = sqrtf(2.0f * squared);
    m->number[3] = 2.0f * m->shear / (m->lame + 2.0f / 3.0f * m->shear);
}

GrainResult mpm_material_choose(const char *law, const SimMaterial *from, float sound_speed, float cell, float gravity,
                                float particle_radius, MpmMaterial *out)
{
    int which = 0;
    while (mpm_law_names[which] && strcmp(mpm_law_names[which], law) != 0) which++;
    if (!mpm_law_names[which]) return fail(GRAIN_ERROR_ARGUMENT, "there is no material '%s'", law);
    *out = (MpmMaterial){.kind = law_kinds[which]};
    out->density = PACKING * from->density;
    float poisson = from->poisson_ratio > 0.0f ? from->poisson_ratio : 0.3f;
    float stiffness = out->density * sound_speed * sound_speed; // lame + 2 shear
    out->shear = stiffness * (1.0f - 2.0f * poisson) / (2.0f * (1.0f - poisson));
    out->lame = stiffness - 2.0f * out->shear;
    out->damping = DAMPING * out->density * sound_speed * cell;
    out->is_loose = out->kind == MPM_SAND && from->cohesion == 0.0f;
    // Rumpf: tensile strength of grains of diameter d that hold on to each other with a force F, (1 - e) / e * F / d^2.
    float weight = from->density * 4.18879f * powf(particle_radius, 3.0f) * gravity;
    float tension = PACKING / (1.0f - PACKING) * from->cohesion * weight / (4.0f * particle_radius * particle_radius);
    if (out->kind == MPM_SAND) {
        set_sand(out, from->friction, tension);
    } else if (out->kind == MPM_SNOW) {
        memcpy(out->number, snow_numbers[which - 1], sizeof snow_numbers[0]);
    } else {
        float yield = fmaxf(tension, 20.0f * out->density * gravity * particle_radius * from->friction);
        out->number[0] = yield * 1.41421356f / (2.0f * out->shear);
        out->number[1] = out->shear / (out->density * 0.05f * sound_speed * cell);
    }
    return GRAIN_OK;
}
