// SPDX-License-Identifier: GPL-3.0-or-later
// Emitters, kill zones and animated values of a job.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

GrainResult job_read_curve(const JobNode *node, const SettingBlock *block, int role, const char *key, const Job *job,
                           const JobArrays *arrays, Curve *out)
{
    const Setting *setting = schema_find(block, role, key);
    double low = setting->low, high = setting->type == SETTING_FLAG ? 1.0 : setting->high;
    JobNode animation;
    const JobArray *array = NULL;
    out->components = setting->type == SETTING_VECTOR ? 3 : 1;
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

static GrainResult read_curve(const JobNode *node, const char *key, const Job *job, const JobArrays *arrays, Curve *out)
{
    return job_read_curve(node, &schema_object, JOB_EMITTER, key, job, arrays, out);
}

GrainResult job_read_emitter(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    JobEmitter *emitter = &object->emitter;
    object->moisture_curve.constant[0] = object->moisture;
    TRY(read_curve(node, "rate", job, arrays, &emitter->rate));
    TRY(read_curve(node, "active", job, arrays, &emitter->active));
    TRY(read_curve(node, "velocity", job, arrays, &emitter->velocity));
    return read_curve(node, "moisture", job, arrays, &object->moisture_curve);
}

int job_has_slots(const Job *job)
{
    int has = job_is_steered(job);
    for (int i = 0; i < job->object_count; i++)
        has |= job->objects[i].role == JOB_EMITTER || job->objects[i].role == JOB_KILL;
    return has;
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
