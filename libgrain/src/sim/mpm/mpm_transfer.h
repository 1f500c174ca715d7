// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Transfers between particles and nodes: what the kernels share.
#include "sim/mpm/mpm.h"

/// Parameters of a step for the kernels.
typedef struct MpmStep {
    const MpmMaterials *materials;
    float seconds, inverse_cell, full_mass;
    float fall[4]; ///< gravity * seconds
    float slow;    ///< m/s: slower than this is still
    int is_damp;   ///< some particles have moisture
} MpmStep;

/// A particle of loose sand flies freely if the mass around it is below the first fraction of the bulk's, and belongs
/// to the bulk from the second fraction on. A single particle in a node's eight cells makes up 0.03 of it at most.
#define MPM_ALONE 0.06f
#define MPM_NOT_ALONE 0.18f

/// The share of such a particle's mass that is coupled to the nodes in the next step, from the mass around it; the rest
/// flies freely. The coupled share is also all that it adds to the nodes, so that momentum is conserved.
static inline float mpm_share_of(float mass, float full_mass)
{
    if (mass >= MPM_NOT_ALONE * full_mass) return 1.0f;
    float t = mass / full_mass * (1.0f / (MPM_NOT_ALONE - MPM_ALONE)) - MPM_ALONE / (MPM_NOT_ALONE - MPM_ALONE);
    t = t > 0.0f ? t : 0.0f;
    return t * t * (3.0f - 2.0f * t);
}

/// All of a particle's mass, kg.
static inline float mpm_mass_of(const MpmMaterials *materials, const MpmParticle *p)
{
    return p->volume * materials->of[p->material].density;
}

/// What force fields add to the velocity of a particle that is awake. a: acceleration, m/s2.
static inline void mpm_pull(MpmParticle *p, Vec3 a, float seconds)
{
    if (isinf(p->still)) return;
    p->velocity[0] += a.x * seconds, p->velocity[1] += a.y * seconds, p->velocity[2] += a.z * seconds;
}

/// acceleration: of each particle, by force fields, which act first; NULL: there are none. walls: as for mpm_gather.
SIMD_KERNEL(void, mpm_scatter,
            (MpmParticle * particles, int64_t count, const int32_t corner[4], float inverse_cell, float seconds,
             const Vec3 *acceleration, const MpmWall *walls, MpmNode *tile))
SIMD_KERNEL(void, mpm_scatter_room,
            (const MpmParticle *particles, int64_t count, const int32_t corner[4], float inverse_cell,
             const MpmWall *walls, float *tile))
/// Velocity and position of the particles of a block from its tile of node velocities, then their stress. walls: of
/// the same particles; NULL if the block is not split.
SIMD_KERNEL(void, mpm_gather,
            (MpmParticle * particles, int64_t count, const int32_t corner[4], const MpmMotion *tile, MpmWall *walls,
             const MpmStep *step))
/// m/s: the largest increase over sleeping particles of the speed a step would give, since they fell asleep.
SIMD_KERNEL(float, mpm_stronger_pull,
            (const MpmParticle *particles, int64_t count, const int32_t corner[4], const MpmMotion *tile,
             MpmWall *walls, const MpmStep *step))
