// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about how objects move: poses, shapes.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "mesh/mesh.h"

#include <math.h>

GrainResult job_find_array(const JobNode *node, const char *key, const JobArrays *arrays, int is_float, int components,
                           const JobArray **out)
{
    int64_t number;
    if (arrays->count == 0)
        return fail(GRAIN_ERROR_JOB, "job.json: %s has a mesh, but the list 'arrays' is empty", node->path);
    TRY(job_integer(node, key, 0, arrays->count - 1, &number));
    *out = &arrays->array[number];
    if ((*out)->is_float == is_float && (*out)->components == components) return GRAIN_OK;
    return fail(GRAIN_ERROR_JOB, "job.json: %s.%s is %lld; that array must be of type %s with %d components",
                node->path, key, (long long)number, is_float ? "f32" : "i32", components);
}

static GrainResult check_finite(const JobNode *node, const char *key, const float *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(fabsf(numbers[i]) <= MESH_FARTHEST)) // NaN too
            return fail(GRAIN_ERROR_JOB,
                        "job.json: %s.%s: number %lld is %g, which is not finite or too far away; check the object's "
                        "animation",
                        node->path, key, (long long)i, (double)numbers[i]);
    return GRAIN_OK;
}

GrainResult job_read_poses(const JobNode *node, const Job *job, const JobArrays *arrays, int samples_per_frame,
                           Motion *out)
{
    const JobArray *poses = NULL;
    TRY(job_find_array(node, "poses", arrays, 1, MOTION_POSE_FLOATS, &poses));
    if (poses->count < 1) return fail(GRAIN_ERROR_JOB, "job.json: %s.poses is empty", node->path);
    *out = motion_of_poses((const float *)(job->geometry + poses->offset), poses->count,
                           motion_period(job->fps, samples_per_frame));
    return check_finite(node, "poses", out->samples, MOTION_POSE_FLOATS * poses->count);
}

// Objects, unlike force fields, have a mesh that their poses turn.
static GrainResult check_rotations(const JobNode *node, const Motion *motion)
{
    for (int64_t k = 0; k < motion->sample_count; k++) {
        const float *q = motion->samples + MOTION_POSE_FLOATS * k + 3;
        float squared = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        if (fabsf(squared - 1.0f) > 1e-3f)
            return fail(GRAIN_ERROR_JOB,
                        "job.json: %s.poses: sample %lld is no rotation; its quaternion must have length 1", node->path,
                        (long long)k);
    }
    if (fabsf(motion->samples[3]) < 0.999999f)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.poses: the first sample must not be turned; positions are those of the first frame",
                    node->path);
    return GRAIN_OK;
}

static GrainResult read_shapes(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    const JobArray *shapes = NULL;
    int64_t vertices = object->mesh.vertex_count;
    TRY(job_find_array(node, "shapes", arrays, 1, 3, &shapes));
    if (shapes->count < vertices || shapes->count % vertices != 0)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.shapes has %lld positions, which is not a multiple of the mesh's %lld", node->path,
                    (long long)shapes->count, (long long)vertices);
    object->motion = motion_of_shapes((const float *)(job->geometry + shapes->offset), vertices,
                                      shapes->count / vertices, motion_period(job->fps, object->samples_per_frame));
    return check_finite(node, "shapes", object->motion.samples, 3 * shapes->count);
}

GrainResult job_read_motion(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    if (object->motion.kind == MOTION_STILL) return GRAIN_OK;
    int is_moving = object->motion.kind == MOTION_POSES;
    int may_bend = object->role == JOB_COLLIDER || object->role == JOB_EMITTER || object->role == JOB_KILL;
    if (!may_bend && !(object->role == JOB_BODY && is_moving))
        return fail(
            GRAIN_ERROR_JOB,
            "job.json: %s.motion is \"%s\"; only colliders, emitters and kill zones can, and bodies can be moving",
            node->path, is_moving ? "moving" : "deforming");
    if (!is_moving) return read_shapes(node, job, arrays, object);
    TRY(job_read_poses(node, job, arrays, object->samples_per_frame, &object->motion));
    return check_rotations(node, &object->motion);
}
