// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Kill zones: closed meshes, possibly moving or deforming, that remove the particles inside.
#include "sdf/sdf.h"
#include "sim/solver.h"

typedef struct Zone {
    const GrainMesh *mesh;  ///< at time 0
    const GrainSdf *inside; ///< its inside at time 0
    Motion motion;
    float voxel_size; ///< m, of `bent`
    GrainSdf *bent;   ///< of a deforming mesh: its inside at `sample`
    int64_t sample;
} Zone;

/// Must be called before zone_has at this time.
GrainResult zone_prepare(Zone *zone, double time, const GrainRun *run);
void zone_free(Zone *zone);
/// Whether a particle is inside, or has passed through on the way (m) to its present place.
int zone_has(const Zone *zone, Vec3 place, Vec3 way, double time);
