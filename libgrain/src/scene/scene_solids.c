// SPDX-License-Identifier: GPL-3.0-or-later
// Makes the colliders and bodies of a simulation from the objects of a scene.
#include "scene/scene_solids.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "grain/cover.h"

#include <math.h>
#include <string.h>

// Bodies touch others with the points of their cover: somewhat finer than grains, so that a ball does not sink in
// between two of them by more than a twentieth of a grain, and never fewer than a small box needs for its edges.
#define POINT_RADII 0.7
#define LEAST_POINTS 64.0

static GrainResult weigh(const JobObject *object, SimBody *body)
{
    GrainMassProperties mass = {.struct_size = sizeof mass};
    TRY(grain_mesh_mass(&object->mesh, object->body.density, &mass));
    double scale = object->body.mass > 0.0 ? object->body.mass / mass.mass : 1.0;
    body->mass = scale * mass.mass;
    body->centre = (Vec3d){mass.centre[0], mass.centre[1], mass.centre[2]};
    for (int i = 0; i < 9; i++) body->inertia[i] = scale * mass.inertia[i];
    return GRAIN_OK;
}

static GrainResult cover_body(const Job *job, const JobObject *object, int threads, SimBody *body, GrainCover **cover)
{
    GrainCoverDef def;
    GrainRun run = {sizeof run, threads, NULL, NULL};
    GrainMeshReport report = {.struct_size = sizeof report};
    GrainView points;
    TRY(grain_mesh_check(&object->mesh, &run, &report));
    TRY(grain_cover_def_default(&def, sizeof def));
    def.radius = (float)real_min(POINT_RADII * (double)job->particle_radius, sqrt(report.area / (M_PI * LEAST_POINTS)));
    TRY(grain_cover_mesh(&object->mesh, &def, &run, cover));
    TRY(grain_cover_view(*cover, GRAIN_COVER_POSITION, &points));
    body->points = points.data;
    body->point_count = points.count;
    body->point_radius = def.radius;
    return GRAIN_OK;
}

static GrainResult make_body(const Job *job, const JobObject *object, int threads, SimBody *body, GrainCover **cover)
{
    TRY(weigh(object, body));
    TRY(cover_body(job, object, threads, body, cover));
    body->velocity = object->body.velocity;
    body->spin = object->body.spin;
    body->pivot = body->centre;
    if (object->body.has_pivot) body->pivot = vec3d_from(object->body.pivot);
    if (object->motion.kind == MOTION_POSES) body->pivot = motion_pivot(&object->motion);
    body->release = (object->body.release_frame - job->frame_start) / job->fps;
    return GRAIN_OK;
}

SimCollider scene_collider(const JobObject *object, const GrainSdf *sdf)
{
    return (SimCollider){.sdf = sdf,
                         .plane_point = object->plane_point,
                         .plane_normal = object->plane_normal,
                         .friction = object->friction,
                         .stickiness = curve_largest(&object->stickiness_curve),
                         .friction_paint = object->friction_paint.numbers,
                         .stickiness_paint = object->stickiness_paint.numbers,
                         .mesh = object->is_plane ? NULL : &object->mesh,
                         .motion = object->motion,
                         .name = object->name};
}

GrainResult scene_solids_make(SceneSolids *out, const Job *job, GrainSdf *const *sdf, int threads)
{
    *out = (SceneSolids){0};
    out->colliders = ALLOC_ZEROED(SimCollider, job->object_count);
    out->bodies = ALLOC_ZEROED(SimBody, job->object_count);
    out->covers = ALLOC_ZEROED(GrainCover *, job->object_count);
    out->object = ALLOC_ZEROED(int, job->object_count);
    if (!out->colliders || !out->bodies || !out->covers || !out->object) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role != JOB_COLLIDER && object->role != JOB_BODY) continue;
        int number = out->collider_count++;
        out->object[number] = i;
        SimCollider *collider = &out->colliders[number];
        *collider = scene_collider(object, object->motion.kind == MOTION_SHAPES ? NULL : sdf[i]);
        if (object->role != JOB_BODY) continue;
        GrainResult result = make_body(job, object, threads, &out->bodies[number], &out->covers[number]);
        if (result != GRAIN_OK) return fail_within(result, "object '%s'", object->name);
        collider->body = &out->bodies[number];
        out->body_count++;
    }
    return GRAIN_OK;
}

void scene_solids_free(SceneSolids *solids)
{
    for (int i = 0; solids->covers && i < solids->collider_count; i++) grain_cover_destroy(solids->covers[i]);
    alloc_free(solids->colliders);
    alloc_free(solids->bodies);
    alloc_free(solids->covers);
    alloc_free(solids->object);
    *solids = (SceneSolids){0};
}
