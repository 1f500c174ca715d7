// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Fills meshes with particles that do not overlap: the initial state of sources.
#include "base/run.h"
#include "particles/particles.h"
#include "sdf/sdf.h"

typedef struct FillDef {
    const GrainSdf *inside;       ///< the volume to fill
    const GrainSdf *const *avoid; ///< places to leave empty: colliders, sources filled before
    int avoid_count;
    float radius, size_spread; ///< radii are even in radius * (1 +- size_spread)
    Vec3 velocity;
    uint64_t seed;
    float shake; ///< radii: largest random displacement along each axis; causes small overlaps
} FillDef;

/// Appends to particles. Fails, with the radius, if not even one particle fits inside.
GrainResult fill_volume(Particles *particles, const FillDef *def, Run *run);
/// Estimates from its volume how many particles a mesh will hold, so that jobs too large for memory can be refused.
double fill_estimate(const GrainMesh *mesh, float radius, float size_spread);
