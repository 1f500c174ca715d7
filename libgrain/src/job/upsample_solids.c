// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders for upsampling: finer than the bake's, moved as the job's poses or the bake's frames say.
#include "job/upsample_solids.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"

#include <math.h>

// Finer than the bake's, in coarse radii: grains see gaps that the coarse particles cannot enter, and edges are rounded
// by less than a grain. Large colliders get by with half of that.
#define FINE_VOXEL_RADII 0.25f
#define FINE_BAND_VOXELS 12.0f
#define COARSE_VOXEL_RADII 0.5f
#define COARSE_BAND_VOXELS 8.0f
// Voxels that the surface itself may have: the band is then some 12 million.
#define MOST_SURFACE_VOXELS 500e3
// s, over which a prop's velocity is taken.
#define MOMENT 1e-3

// --- distance fields ------------------------------------------------------------------------------

static double mesh_area(const GrainMesh *mesh)
{
    double area = 0.0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        Vec3d p[3];
        for (int k = 0; k < 3; k++) {
            const float *from = mesh->positions + 3 * (int64_t)mesh->triangles[3 * t + k];
            p[k] = vec3d((double)from[0], (double)from[1], (double)from[2]);
        }
        area += 0.5 * vec3d_length(vec3d_cross(vec3d_sub(p[1], p[0]), vec3d_sub(p[2], p[0])));
    }
    return area;
}

static GrainResult make_sdf(const UpsampleSolids *solids, const JobObject *object, const GrainMesh *mesh,
                            GrainSdf **out)
{
    GrainSdfDef def;
    float radius = solids->job->particle_radius;
    TRY(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = FINE_VOXEL_RADII * radius, def.band_voxels = FINE_BAND_VOXELS;
    if (mesh_area(mesh) / ((double)def.voxel_size * (double)def.voxel_size) > MOST_SURFACE_VOXELS)
        def.voxel_size = COARSE_VOXEL_RADII * radius, def.band_voxels = COARSE_BAND_VOXELS;
    // The shell of a sheet is as thick as the bake's, two of whose voxels it is unless the job says otherwise.
    def.thickness = object->thickness > 0.0f ? object->thickness : 2.0f * radius;
    while (def.thickness > 60.0f * def.voxel_size) def.voxel_size *= 2.0f; // a field reaches no farther
    GrainResult result = grain_sdf_create(mesh, &def, &solids->run, out);
    return result == GRAIN_OK || result == GRAIN_CANCELLED ? result : fail_within(result, "object '%s'", object->name);
}

// What is painted on the surface, as it is in that distance field.
static GrainResult make_paint(UpsampleSolids *solids, int i, const GrainMesh *mesh)
{
    const JobObject *object = &solids->job->objects[solids->object[i]];
    const MeshAttribute *painted[2] = {&object->friction_paint, &object->stickiness_paint};
    UpsampleCollider *collider = &solids->colliders[i];
    for (int k = 0; k < 2; k++) {
        RigidPaint *paint = &solids->paint[2 * i + k];
        rigid_paint_free(paint);
        TRY(rigid_paint_create(paint, painted[k]->numbers, mesh, collider->sdf, solids->run.thread_count));
        *(k == 0 ? &collider->friction_paint : &collider->pull_paint) = paint->numbers ? paint : NULL;
    }
    return GRAIN_OK;
}

static GrainResult add_solid(UpsampleSolids *solids, int number, int *body_count)
{
    const Job *job = solids->job;
    const JobObject *object = &job->objects[number];
    int i = solids->count++;
    solids->object[i] = number;
    solids->body[i] = object->role == JOB_BODY ? (*body_count)++ : -1;
    solids->colliders[i] = (UpsampleCollider){
        .plane_point = object->plane_point, .plane_normal = object->plane_normal, .rotation = quat_identity()};
    solids->rest[i] = motion_pivot(&object->motion);
    if (object->is_plane || object->motion.kind == MOTION_SHAPES) return GRAIN_OK;
    GrainSdf *sdf;
    TRY(make_sdf(solids, object, &object->mesh, &sdf));
    solids->colliders[i].sdf = sdf;
    return make_paint(solids, i, &object->mesh);
}

GrainResult upsample_solids_make(UpsampleSolids *solids, const Job *job, const GrainRun *run)
{
    *solids = (UpsampleSolids){.job = job, .run = *run, .weight = vec3_length(curve_constant(&job->gravity))};
    solids->colliders = ALLOC_ZEROED(UpsampleCollider, job->object_count);
    solids->object = ALLOC_ZEROED(int, job->object_count);
    solids->body = ALLOC_ZEROED(int, job->object_count);
    solids->rest = ALLOC_ZEROED(Vec3d, job->object_count);
    solids->paint = ALLOC_ZEROED(RigidPaint, 2 * job->object_count);
    solids->from = ALLOC_ZEROED(Pose, job->object_count);
    solids->to = ALLOC_ZEROED(Pose, job->object_count);
    if (!solids->colliders || !solids->object || !solids->body || !solids->rest || !solids->paint || !solids->from ||
        !solids->to)
        return GRAIN_ERROR_MEMORY;
    int body_count = 0;
    for (int i = 0; i < job->object_count; i++)
        if (job->objects[i].role == JOB_COLLIDER || job->objects[i].role == JOB_BODY)
            TRY(add_solid(solids, i, &body_count));
    return GRAIN_OK;
}

void upsample_solids_free(UpsampleSolids *solids)
{
    for (int i = 0; i < 2 * solids->count; i++) rigid_paint_free(&solids->paint[i]);
    for (int i = 0; i < solids->count; i++) grain_sdf_destroy((GrainSdf *)solids->colliders[i].sdf);
    alloc_free(solids->colliders), alloc_free(solids->object), alloc_free(solids->body);
    alloc_free(solids->rest), alloc_free(solids->paint), alloc_free(solids->from), alloc_free(solids->to);
    *solids = (UpsampleSolids){0};
}

// --- motion ---------------------------------------------------------------------------------------

static GrainResult read_body(const struct GrainFrame *frame, int body, Pose *out)
{
    const Column *position = column_find(frame->columns, frame->column_count, "body.position"),
                 *facing = column_find(frame->columns, frame->column_count, "body.orientation");
    if (!position || !facing || position->count <= body || facing->count <= body || position->components != 3 ||
        facing->components != 4 || position->type != GRAIN_F32 || facing->type != GRAIN_F32)
        return fail(GRAIN_ERROR_DAMAGED, "coarse frame %d does not say where its bodies are; bake again",
                    frame->header.frame);
    const float *p = (const float *)position->data + 3 * body, *q = (const float *)facing->data + 4 * body;
    out->position = vec3d((double)p[0], (double)p[1], (double)p[2]);
    out->facing = quatd_normalize((Quatd){(double)q[0], (double)q[1], (double)q[2], (double)q[3]});
    return GRAIN_OK;
}

static const Motion *motion_of(const UpsampleSolids *solids, int i)
{
    return &solids->job->objects[solids->object[i]].motion;
}

// A mesh that bends, as it is at the sample nearest to this time.
static GrainResult bend(UpsampleSolids *solids, int i, double time)
{
    const JobObject *object = &solids->job->objects[solids->object[i]];
    GrainMesh mesh = object->mesh;
    mesh.positions = &motion_shape(&object->motion, motion_nearest(&object->motion, time))->x;
    grain_sdf_destroy((GrainSdf *)solids->colliders[i].sdf);
    solids->colliders[i].sdf = NULL;
    GrainSdf *sdf;
    TRY(make_sdf(solids, object, &mesh, &sdf));
    solids->colliders[i].sdf = sdf;
    return make_paint(solids, i, &mesh);
}

GrainResult upsample_solids_begin(UpsampleSolids *solids, const struct GrainFrame *first)
{
    for (int i = 0; i < solids->count; i++) {
        Pose pose;
        if (solids->body[i] < 0) continue;
        TRY(read_body(first, solids->body[i], &pose));
        solids->rest[i] = pose.position;
    }
    return GRAIN_OK;
}

GrainResult upsample_solids_frame(UpsampleSolids *solids, const struct GrainFrame *from, const struct GrainFrame *to,
                                  double from_time)
{
    solids->from_time = from_time;
    for (int i = 0; i < solids->count; i++) {
        if (motion_of(solids, i)->kind == MOTION_SHAPES)
            TRY(bend(solids, i, from == to ? from_time : from_time + 1.0 / solids->job->fps));
        if (solids->body[i] < 0) continue;
        TRY(read_body(from, solids->body[i], &solids->from[i]));
        TRY(read_body(to, solids->body[i], &solids->to[i]));
    }
    return GRAIN_OK;
}

// Bodies between two frames: along a line, turning evenly.
static Pose pose_at(const UpsampleSolids *solids, int i, double time)
{
    if (solids->body[i] < 0) return motion_pose(motion_of(solids, i), time);
    double t = (time - solids->from_time) * solids->job->fps;
    const Pose *from = &solids->from[i], *to = &solids->to[i];
    Vec3d turn = quatd_to_rotation(quatd_multiply(to->facing, quatd_conjugate(from->facing)));
    return (Pose){vec3d_add(from->position, vec3d_scale(vec3d_sub(to->position, from->position), t)),
                  quatd_multiply(quatd_from_rotation(vec3d_scale(turn, t)), from->facing)};
}

static void place(UpsampleSolids *solids, int i, double time)
{
    UpsampleCollider *c = &solids->colliders[i];
    Pose now = pose_at(solids, i, time), before = pose_at(solids, i, time - MOMENT);
    Vec3d way = vec3d_scale(vec3d_sub(now.position, before.position), 1.0 / MOMENT);
    Vec3d spin =
        vec3d_scale(quatd_to_rotation(quatd_multiply(now.facing, quatd_conjugate(before.facing))), 1.0 / MOMENT);
    // Own space is the world at time 0: its origin goes with the pivot.
    Vec3d arm = vec3d_scale(quatd_rotate(now.facing, solids->rest[i]), -1.0);
    c->is_moving = 1;
    c->rotation = (Quat){(float)now.facing.w, (float)now.facing.x, (float)now.facing.y, (float)now.facing.z};
    c->position = vec3_from(vec3d_add(now.position, arm));
    c->spin = vec3_from(spin);
    c->velocity = vec3_from(vec3d_add(way, vec3d_cross(spin, arm)));
}

const UpsampleCollider *upsample_solids_at(void *user, double time, int *count)
{
    UpsampleSolids *solids = user;
    for (int i = 0; i < solids->count; i++) {
        const JobObject *object = &solids->job->objects[solids->object[i]];
        UpsampleCollider *collider = &solids->colliders[i];
        collider->friction = curve_number(&object->friction_curve, time * solids->job->fps);
        collider->pull = solids->weight * curve_number(&object->stickiness_curve, time * solids->job->fps);
        if (object->motion.kind == MOTION_POSES || solids->body[i] >= 0) place(solids, i, time);
    }
    *count = solids->count;
    return solids->colliders;
}
