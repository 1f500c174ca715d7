// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The job's colliders and bodies as grains meet them at any moment of the bake.
#include "job/job.h"

typedef struct UpsampleSolids {
    const Job *job;
    GrainRun run; ///< of making distance fields
    int count;
    UpsampleCollider *colliders;
    int *object;       ///< collider -> the job's object
    int *body;         ///< its number among the bodies, or -1
    Vec3d *rest;       ///< m, pivots at time 0
    RigidPaint *paint; ///< two for each collider: friction and stickiness
    float weight;      ///< m/s2: what stickiness is a multiple of
    // The frame under way, of bodies.
    double from_time;
    Pose *from, *to;
} UpsampleSolids;

/// Distance fields of all that does not bend. A zeroed UpsampleSolids may be freed.
GrainResult upsample_solids_make(UpsampleSolids *solids, const Job *job, const GrainRun *run);
/// Where bodies start from: the first coarse frame.
GrainResult upsample_solids_begin(UpsampleSolids *solids, const struct GrainFrame *first);
/// Before the grains go from one coarse frame to the next: bodies move as these frames say, what bends is as it will be
/// at the end.
GrainResult upsample_solids_frame(UpsampleSolids *solids, const struct GrainFrame *from, const struct GrainFrame *to,
                                  double from_time);
/// An UpsampleCollidersFn; user is the UpsampleSolids.
const UpsampleCollider *upsample_solids_at(void *user, double time, int *count);
void upsample_solids_free(UpsampleSolids *solids);
