// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/flow/zone.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

// Looks along a way, at most; a zone thinner than that part of it may be missed.
#define MOST_LOOKS 64

static GrainResult bend(Zone *zone, double time, const GrainRun *run)
{
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

// Wider than rounding, so that what zone_has asks afterwards decides.
static void enclose(Zone *zone)
{
    Vec3 low, high, corner[8];
    sdf_bounds(zone->bent ? zone->bent : zone->inside, &low, &high);
    for (int i = 0; i < 8; i++)
        corner[i] = vec3(i & 1 ? high.x : low.x, i & 2 ? high.y : low.y, i & 4 ? high.z : low.z);
    Vec3d pivot = zone->motion.kind == MOTION_POSES ? motion_pivot(&zone->motion) : vec3d_from(vec3(0, 0, 0));
    for (int i = 0; i < 8 && zone->motion.kind == MOTION_POSES; i++) {
        Vec3d arm = quatd_rotate(zone->pose.facing, vec3d_sub(vec3d_from(corner[i]), pivot));
        corner[i] = vec3_from(vec3d_add(zone->pose.position, arm));
    }
    zone->low = zone->high = corner[0];
    for (int i = 1; i < 8; i++)
        zone->low = vec3_min(zone->low, corner[i]), zone->high = vec3_max(zone->high, corner[i]);
    float margin = zone->voxel_size + 1e-5f * (vec3_length(zone->low) + vec3_length(zone->high));
    zone->low = vec3_sub(zone->low, vec3(margin, margin, margin));
    zone->high = vec3_add(zone->high, vec3(margin, margin, margin));
}

GrainResult zone_prepare(Zone *zone, double time, const GrainRun *run)
{
    if (zone->motion.kind == MOTION_SHAPES) TRY(bend(zone, time, run));
    if (zone->motion.kind == MOTION_POSES) zone->pose = motion_pose(&zone->motion, time);
    enclose(zone);
    return GRAIN_OK;
}

void zone_free(Zone *zone)
{
    grain_sdf_destroy(zone->bent);
    *zone = (Zone){0};
}

int zone_has(const Zone *zone, Vec3 place, Vec3 way)
{
    const GrainSdf *inside = zone->bent ? zone->bent : zone->inside;
    if (zone->motion.kind == MOTION_POSES) { // to where it was at time 0
        Quatd back = quatd_conjugate(zone->pose.facing);
        Vec3d pivot = motion_pivot(&zone->motion);
        place = vec3_from(vec3d_add(quatd_rotate(back, vec3d_sub(vec3d_from(place), zone->pose.position)), pivot));
        way = vec3_from(quatd_rotate(back, vec3d_from(way)));
    }
    Vec3 low, high, gradient;
    sdf_bounds(inside, &low, &high);
    if (zone_box_is_missed(low, high, vec3_sub(place, way), place)) return 0;
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
