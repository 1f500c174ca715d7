// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says about sand that comes and goes, and about values that change over the shot.
#include "base/error.h"
#include "job/job.h"

#include <math.h>
#include <string.h>

#define MAX_SPEED 1000.0
#define MAX_RATE 1e9

GrainResult job_check_animation(const JobNode *node, const char *const *allowed)
{
    JobNode animation;
    if (!json_object_get(node->object, "animation")) return GRAIN_OK;
    TRY(job_child(node, "animation", &animation));
    return job_check_keys(&animation, allowed);
}

GrainResult job_read_curve(const JobNode *node, const char *key, const Job *job, const JobArrays *arrays, double low,
                           double high, Curve *out)
{
    JobNode animation;
    const JobArray *array = NULL;
    if (!json_object_get(json_object_get(node->object, "animation"), key)) return GRAIN_OK;
    TRY(job_child(node, "animation", &animation));
    TRY(job_find_array(&animation, key, arrays, 1, out->components, &array));
    if (array->count < 1) return fail(GRAIN_ERROR_JOB, "job.json: %s.%s has no samples", animation.path, key);
    out->samples = (const float *)(job->geometry + array->offset);
    out->count = array->count;
    for (int64_t i = 0; i < array->count * out->components; i++)
        if (!((double)out->samples[i] >= low && (double)out->samples[i] <= high))
            return fail(GRAIN_ERROR_JOB, "job.json: %s.%s: number %lld is %g; it must be from %g to %g", animation.path,
                        key, (long long)i, (double)out->samples[i], low, high);
    return GRAIN_OK;
}

GrainResult job_read_emitter(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    static const char *const animated[] = {"rate", "active", "velocity", "moisture", NULL};
    static const char *const places[] = {"volume", "surface", NULL};
    static const char *const units[] = {"particles", "litres", NULL};
    JobEmitter *emitter = &object->emitter;
    Vec3 velocity;
    TRY(job_check_animation(node, animated));
    TRY(job_choice(node, "from", places, "volume", &emitter->from_surface));
    TRY(job_choice(node, "rate_unit", units, "particles", &emitter->in_litres));
    emitter->rate.components = emitter->active.components = object->moisture_curve.components = 1;
    emitter->velocity.components = 3;
    TRY(job_float(node, "rate", 0, MAX_RATE, JOB_REQUIRED, &emitter->rate.constant[0]));
    TRY(job_vector(node, "velocity", MAX_SPEED, &(Vec3){0, 0, 0}, &velocity));
    memcpy(emitter->velocity.constant, &velocity, sizeof velocity);
    TRY(job_float(node, "normal_speed", -MAX_SPEED, MAX_SPEED, 0, &emitter->normal_speed));
    TRY(job_float(node, "jitter", 0, MAX_SPEED, 0, &emitter->jitter));
    TRY(job_float(node, "inherit_velocity", -10, 10, 0, &emitter->inherit));
    int is_active;
    TRY(job_flag(node, "active", 1, &is_active));
    emitter->active.constant[0] = (float)is_active;
    object->moisture_curve.constant[0] = object->moisture;
    TRY(job_read_curve(node, "rate", job, arrays, 0, MAX_RATE, &emitter->rate));
    TRY(job_read_curve(node, "active", job, arrays, 0, 1, &emitter->active));
    TRY(job_read_curve(node, "velocity", job, arrays, -MAX_SPEED, MAX_SPEED, &emitter->velocity));
    return job_read_curve(node, "moisture", job, arrays, 0, 1, &object->moisture_curve);
}

int job_is_wet(const Job *job)
{
    for (int i = 0; i < job->object_count; i++) {
        const JobObject *object = &job->objects[i];
        if (object->role == JOB_SOURCE && object->moisture > 0.0f) return 1;
        if (object->role == JOB_EMITTER && curve_largest(&object->moisture_curve) > 0.0f) return 1;
    }
    return 0;
}
