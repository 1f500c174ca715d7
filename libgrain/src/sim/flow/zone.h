// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Kill zones: closed meshes, moving or not, in which particles vanish.
#include "sdf/sdf.h"
#include "sim/solver.h"

typedef struct Zone {
    const GrainMesh *mesh;  ///< at time 0
    const GrainSdf *inside; ///< of it then
    Motion motion;
    float voxel_size; ///< m, of `bent`
    GrainSdf *bent;   ///< of a mesh that bends, as it was at `sample`
    int64_t sample;
} Zone;

/// Before places are asked about at this time.
GrainResult zone_prepare(Zone *zone, double time, const GrainRun *run);
void zone_free(Zone *zone);
/// Whether a particle that came along this way (m, from where it was) is inside, or has been on its way.
int zone_has(const Zone *zone, Vec3 place, Vec3 way, double time);
