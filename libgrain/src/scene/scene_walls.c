// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders for render grains: finer than the simulation's, moved by the job's poses or the bodies of the bake's
// frames.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "scene/scene_solids.h"

#include <math.h>

// s, interval for the velocity of a collider.
#define MOMENT 1e-3

// --- what there is --------------------------------------------------------------------------------

// The painted factors on the voxels of the collider's distance field.
static GrainResult make_paint(SceneWalls *walls, int i, const GrainMesh *mesh)
{
    const JobObject *object = &walls->job->objects[walls->object[i]];
    const MeshAttribute *painted[2] = {&object->friction_paint, &object->stickiness_paint};
    const GrainSdf *sdf = walls->colliders[i].sdf;
    for (int k = 0; k < 2; k++) {
        RigidPaint *paint = &walls->paint[2 * i + k];
        rigid_paint_free(paint);
        TRY(rigid_paint_create(paint, painted[k]->numbers, mesh, sdf, walls->sdfs.run.thread_count));
    }
    return GRAIN_OK;
}

static GrainResult add_solid(SceneWalls *walls, int number, int *body_count)
{
    const Job *job = walls->job;
    const JobObject *object = &job->objects[number];
    int i = walls->now.count++;
    walls->object[i] = number;
    walls->body[i] = object->role == JOB_BODY ? (*body_count)++ : -1;
    walls->colliders[i] = scene_collider(object, NULL);
    walls->frames[i] = (MotionFrame){.rotation = quat_identity()};
    walls->rest[i] = motion_pivot(&object->motion);
    if (object->is_plane || object->motion.kind == MOTION_SHAPES) return GRAIN_OK;
    GrainSdf *sdf;
    TRY(scene_sdf_make(&walls->sdfs, object, NULL, &sdf));
    walls->colliders[i].sdf = sdf;
    return make_paint(walls, i, &object->mesh);
}

GrainResult scene_walls_make(SceneWalls *walls, const Job *job, const char *cache_folder, const GrainRun *run)
{
    *walls = (SceneWalls){.job = job};
    walls->colliders = ALLOC_ZEROED(SimCollider, job->object_count);
    walls->frames = ALLOC_ZEROED(MotionFrame, job->object_count);
    walls->object = ALLOC_ZEROED(int, job->object_count);
    walls->body = ALLOC_ZEROED(int, job->object_count);
    walls->rest = ALLOC_ZEROED(Vec3d, job->object_count);
    walls->paint = ALLOC_ZEROED(RigidPaint, 2 * job->object_count);
    walls->from = ALLOC_ZEROED(Pose, job->object_count);
    walls->to = ALLOC_ZEROED(Pose, job->object_count);
    if (!walls->colliders || !walls->frames || !walls->object || !walls->body || !walls->rest || !walls->paint ||
        !walls->from || !walls->to)
        return GRAIN_ERROR_MEMORY;
    walls->now = (UpsampleWalls){.collider = walls->colliders,
                                 .frame = walls->frames,
                                 .paint = walls->paint,
                                 .weight = sim_grip_unit(curve_constant(&job->gravity))};
    TRY(scene_sdfs_begin(&walls->sdfs, job, SCENE_FOR_GRAINS, 1.0f, cache_folder, run));
    int body_count = 0;
    for (int i = 0; i < job->object_count; i++)
        if (job->objects[i].role == JOB_COLLIDER || job->objects[i].role == JOB_BODY)
            TRY(add_solid(walls, i, &body_count));
    sdf_store_drop_unused(&walls->sdfs.store);
    return GRAIN_OK;
}

void scene_walls_free(SceneWalls *walls)
{
    for (int i = 0; i < 2 * walls->now.count; i++) rigid_paint_free(&walls->paint[i]);
    for (int i = 0; i < walls->now.count; i++) grain_sdf_destroy((GrainSdf *)walls->colliders[i].sdf);
    alloc_free(walls->colliders), alloc_free(walls->frames), alloc_free(walls->object), alloc_free(walls->body);
    alloc_free(walls->rest), alloc_free(walls->paint), alloc_free(walls->from), alloc_free(walls->to);
    scene_sdfs_free(&walls->sdfs);
    *walls = (SceneWalls){0};
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

static const Motion *motion_of(const SceneWalls *walls, int i) { return &walls->job->objects[walls->object[i]].motion; }

// The distance field of a deforming mesh at the sample nearest to this time.
static GrainResult bend(SceneWalls *walls, int i, double time)
{
    const JobObject *object = &walls->job->objects[walls->object[i]];
    GrainMesh mesh = object->mesh;
    mesh.positions = &motion_shape(&object->motion, motion_nearest(&object->motion, time))->x;
    grain_sdf_destroy((GrainSdf *)walls->colliders[i].sdf);
    walls->colliders[i].sdf = NULL;
    GrainSdf *sdf;
    TRY(scene_sdf_make(&walls->sdfs, object, &mesh, &sdf));
    walls->colliders[i].sdf = sdf;
    return make_paint(walls, i, &mesh);
}

GrainResult scene_walls_begin(SceneWalls *walls, const struct GrainFrame *first)
{
    for (int i = 0; i < walls->now.count; i++) {
        Pose pose;
        if (walls->body[i] < 0) continue;
        TRY(read_body(first, walls->body[i], &pose));
        walls->rest[i] = pose.position;
    }
    return GRAIN_OK;
}

GrainResult scene_walls_frame(SceneWalls *walls, const struct GrainFrame *from, const struct GrainFrame *to,
                              double from_time)
{
    walls->from_time = from_time;
    for (int i = 0; i < walls->now.count; i++) {
        if (motion_of(walls, i)->kind == MOTION_SHAPES)
            TRY(bend(walls, i, from == to ? from_time : from_time + 1.0 / walls->job->fps));
        if (walls->body[i] < 0) continue;
        TRY(read_body(from, walls->body[i], &walls->from[i]));
        TRY(read_body(to, walls->body[i], &walls->to[i]));
    }
    return GRAIN_OK;
}

// Bodies between two frames: straight motion, uniform rotation.
static Pose pose_at(const SceneWalls *walls, int i, double time)
{
    if (walls->body[i] < 0) return motion_pose(motion_of(walls, i), time);
    double t = (time - walls->from_time) * walls->job->fps;
    const Pose *from = &walls->from[i], *to = &walls->to[i];
    Vec3d turn = quatd_to_rotation(quatd_multiply(to->facing, quatd_conjugate(from->facing)));
    return (Pose){vec3d_add(from->position, vec3d_scale(vec3d_sub(to->position, from->position), t)),
                  quatd_multiply(quatd_from_rotation(vec3d_scale(turn, t)), from->facing)};
}

static void place(SceneWalls *walls, int i, double time)
{
    MotionFrame *frame = &walls->frames[i];
    Pose now = pose_at(walls, i, time), before = pose_at(walls, i, time - MOMENT);
    Vec3d way = vec3d_scale(vec3d_sub(now.position, before.position), 1.0 / MOMENT);
    Vec3d spin =
        vec3d_scale(quatd_to_rotation(quatd_multiply(now.facing, quatd_conjugate(before.facing))), 1.0 / MOMENT);
    // Own space is the world at time 0: its origin moves with the pivot.
    Vec3d arm = vec3d_scale(quatd_rotate(now.facing, walls->rest[i]), -1.0);
    frame->is_moving = 1;
    frame->rotation = (Quat){(float)now.facing.w, (float)now.facing.x, (float)now.facing.y, (float)now.facing.z};
    frame->position = vec3_from(vec3d_add(now.position, arm));
    frame->spin = vec3_from(spin);
    frame->velocity = vec3_from(vec3d_add(way, vec3d_cross(spin, arm)));
}

const UpsampleWalls *scene_walls_at(void *user, double time)
{
    SceneWalls *walls = user;
    for (int i = 0; i < walls->now.count; i++) {
        const JobObject *object = &walls->job->objects[walls->object[i]];
        walls->colliders[i].friction = curve_number(&object->friction_curve, time * walls->job->fps);
        walls->colliders[i].stickiness = curve_number(&object->stickiness_curve, time * walls->job->fps);
        if (object->motion.kind == MOTION_POSES || walls->body[i] >= 0) place(walls, i, time);
    }
    return &walls->now;
}
