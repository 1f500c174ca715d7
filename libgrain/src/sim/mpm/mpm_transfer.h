// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// From particles to nodes and back: what the kernels share.
#include "sim/mpm/mpm.h"

/// What a kernel needs to know about the step.
typedef struct MpmStep {
    const MpmMaterials *materials;
    float seconds, inverse_cell, full_mass;
    float fall[4]; ///< gravity * seconds
    float slow;    ///< m/s: slower than this is still
    int is_damp;   ///< some particles have moisture
} MpmStep;

/// A particle of loose sand flies alone where less than the first part of the bulk's mass is around it, and is part of
/// the bulk from the second on. Alone on a node's eight cells, it makes up 0.03 of it at most.
#define MPM_ALONE 0.06f
#define MPM_NOT_ALONE 0.18f

/// How far such a particle moves with the nodes in the next step, from the mass that it sees around it; for the rest it
/// flies alone. What goes with the nodes is also all that it brings to them, so together they keep their momentum.
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

SIMD_KERNEL(void, mpm_scatter,
            (const MpmParticle *particles, int64_t count, const int32_t corner[4], float inverse_cell, float seconds,
             const MpmWall *walls, MpmNode *board))
SIMD_KERNEL(void, mpm_scatter_room,
            (const MpmParticle *particles, int64_t count, const int32_t corner[4], float inverse_cell,
             const MpmWall *walls, float *board))
/// Velocity and position of the particles of a block from its board of node velocities, then their stress. walls: of
/// the same particles; NULL when the block is not split.
SIMD_KERNEL(void, mpm_gather,
            (MpmParticle * particles, int64_t count, const int32_t corner[4], const MpmMotion *board, MpmWall *walls,
             const MpmStep *step))
/// Of particles that sleep: by how much the nodes would pull one faster than when it fell asleep, at most, m/s.
SIMD_KERNEL(float, mpm_stronger_pull,
            (const MpmParticle *particles, int64_t count, const int32_t corner[4], const MpmMotion *board,
             MpmWall *walls, const MpmStep *step))
