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
    Pose pose;      ///< of a moving mesh, at the time that it was prepared for
    Vec3 low, high; ///< m: a box around it at that time
} Zone;

/// Must be called before zone_has, for each time.
GrainResult zone_prepare(Zone *zone, double time, const GrainRun *run);
void zone_free(Zone *zone);
/// Whether the segment from a place to another misses the box.
static inline int zone_box_is_missed(Vec3 low, Vec3 high, Vec3 from, Vec3 to)
{
    Vec3 least = vec3_min(from, to), most = vec3_max(from, to);
    return most.x < low.x || most.y < low.y || most.z < low.z || least.x > high.x || least.y > high.y ||
           least.z > high.z;
}
/// Whether a particle is inside, or has passed through on the way (m) to its present place. It cannot be if it has
/// missed the box.
int zone_has(const Zone *zone, Vec3 place, Vec3 way);
