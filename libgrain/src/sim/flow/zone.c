// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/flow/zone.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

// Looks along a way, at most; a zone thinner than that part of it may be missed.
#define MOST_LOOKS 64

GrainResult zone_prepare(Zone *zone, double time, const GrainRun *run)
{
    if (zone->motion.kind != MOTION_SHAPES) return GRAIN_OK;
    int64_t sample = motion_nearest(&zone->motion, time);
    if (zone->bent && sample == zone->sample) return GRAIN_OK;
    GrainMesh mesh = *zone->mesh;
    mesh.positions = &motion_shape(&zone->motion, sample)->x;
    GrainSdfDef def;
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = zone->voxel_size;
    grain_sdf_destroy(zone->bent);
    zone->bent = NULL;
    zone->sample = sample;
    return grain_sdf_create(&mesh, &def, run, &zone->bent);
}

void zone_free(Zone *zone)
{
    grain_sdf_destroy(zone->bent);
    *zone = (Zone){0};
}

int zone_has(const Zone *zone, Vec3 place, Vec3 way, double time)
{
    const GrainSdf *inside = zone->bent ? zone->bent : zone->inside;
    if (zone->motion.kind == MOTION_POSES) { // to where it was at time 0
        Pose pose = motion_pose(&zone->motion, time);
        Quatd back = quatd_conjugate(pose.facing);
        Vec3d pivot = motion_pivot(&zone->motion);
        place = vec3_from(vec3d_add(quatd_rotate(back, vec3d_sub(vec3d_from(place), pose.position)), pivot));
        way = vec3_from(quatd_rotate(back, vec3d_from(way)));
    }
    Vec3 low, high, gradient, from = vec3_sub(place, way);
    sdf_bounds(inside, &low, &high);
    const float a[3] = {place.x, place.y, place.z}, b[3] = {from.x, from.y, from.z};
    const float l[3] = {low.x, low.y, low.z}, h[3] = {high.x, high.y, high.z};
    for (int axis = 0; axis < 3; axis++)
        if (real_maxf(a[axis], b[axis]) < l[axis] || real_minf(a[axis], b[axis]) > h[axis]) return 0;
    // As far back as nothing can be missed, which the distance tells.
    float length = vec3_length(way), gone = 0.0f, least = real_maxf(length / MOST_LOOKS, 1e-12f);
    for (int look = 0; look <= MOST_LOOKS && gone <= length; look++) {
        float distance =
            sdf_sample_point(inside, vec3_add_scaled(place, way, length > 0.0f ? -gone / length : 0.0f), &gradient);
        if (distance < 0.0f) return 1;
        gone += real_maxf(distance, least);
    }
    return 0;
}
