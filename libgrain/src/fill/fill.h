// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles inside a mesh, none overlapping another: the state a source starts with.
#include "base/run.h"
#include "particles/particles.h"
#include "sdf/sdf.h"

typedef struct FillDef {
    const GrainSdf *inside;       ///< the volume to fill
    const GrainSdf *const *avoid; ///< nothing is put where one of these is: colliders, sources filled before
    int avoid_count;
    float radius, size_spread; ///< radii are even in radius * (1 +- size_spread)
    Vec3 velocity;
    uint64_t seed;
    float
        shake; ///< radii: so far from its place, along each axis, a particle is put at most; then they overlap a little
} FillDef;

/// Appends to particles. Finding no room for a single particle is an error that gives the radius.
GrainResult fill_volume(Particles *particles, const FillDef *def, Run *run);
/// About how many particles a mesh will hold, from its volume: for refusing what cannot fit.
double fill_estimate(const GrainMesh *mesh, float radius, float size_spread);
