// SPDX-License-Identifier: GPL-3.0-or-later
// Force fields, and gravity that changes.
#include "base/alloc.h"
#include "base/error.h"
#include "job/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_FIELDS 1000
#define MAX_STRENGTH 1e6
#define MAX_LENGTH 1e6

static GrainResult read_range(const JobNode *node, const char *const keys[3], FieldRange *out)
{
    TRY(job_float(node, keys[0], 0, 100, 0, &out->power));
    TRY(job_float(node, keys[1], 0, MAX_LENGTH, -1, &out->nearest));
    return job_float(node, keys[2], 0, MAX_LENGTH, -1, &out->farthest);
}

static GrainResult read_field(JobNode *node, const Job *job, const JobArrays *arrays, Field *field)
{
    static const char *const keys[] = {
        "name",         "type",       "shape",      "falloff",  "side",      "power", "min_distance", "max_distance",
        "radial_power", "radial_min", "radial_max", "strength", "flow",      "noise", "size",         "linear_drag",
        "rest_length",  "global",     "seed",       "poses",    "animation", NULL};
    static const char *const animated[] = {"strength", NULL};
    static const char *const range[] = {"power", "min_distance", "max_distance"}, *const radial[] = {"radial_power",
                                                                                                     "radial_min",
                                                                                                     "radial_max"};
    const char *name;
    int kind, shape, falloff, side;
    int64_t seed;
    TRY(job_text(node, "name", NULL, &name));
    size_t used = strlen(node->path);
    snprintf(node->path + used, sizeof node->path - used, " '%.60s'", name);
    TRY(job_check_keys(node, keys));
    TRY(job_check_animation(node, animated));
    TRY(job_choice(node, "type", field_kind_names, NULL, &kind));
    TRY(job_choice(node, "shape", field_shape_names, "point", &shape));
    TRY(job_choice(node, "falloff", field_falloff_names, "sphere", &falloff));
    TRY(job_choice(node, "side", field_side_names, "both", &side));
    *field = (Field){.kind = (FieldKind)kind,
                     .shape = (FieldShape)shape,
                     .falloff = (FieldFalloff)falloff,
                     .side = (FieldSide)side,
                     .frame_seconds = 1.0 / job->fps,
                     .strength.components = 1};
    TRY(read_range(node, range, &field->range));
    TRY(read_range(node, radial, &field->radial));
    TRY(job_float(node, "strength", -MAX_STRENGTH, MAX_STRENGTH, 0, &field->strength.constant[0]));
    TRY(job_float(node, "flow", -MAX_STRENGTH, MAX_STRENGTH, 0, &field->flow));
    TRY(job_float(node, "noise", 0, MAX_STRENGTH, 0, &field->noise));
    TRY(job_float(node, "size", 0, MAX_LENGTH, 1, &field->size));
    TRY(job_float(node, "linear_drag", 0, MAX_STRENGTH, 0, &field->linear_drag));
    TRY(job_float(node, "rest_length", 0, MAX_LENGTH, 0, &field->rest_length));
    TRY(job_flag(node, "global", 0, &field->is_global));
    TRY(job_integer(node, "seed", 0, (int64_t)1 << 53, 0, &seed));
    field->seed = (uint64_t)seed;
    TRY(job_read_curve(node, "strength", job, arrays, -MAX_STRENGTH, MAX_STRENGTH, &field->strength));
    return job_read_poses(node, job, arrays, 1, &field->motion);
}

GrainResult job_read_fields(const JobNode *root, Job *job, const JobArrays *arrays)
{
    static const char *const animated[] = {"gravity", NULL};
    const json_t *list;
    TRY(job_check_animation(root, animated));
    TRY(job_read_curve(root, "gravity", job, arrays, -1000, 1000, &job->gravity));
    TRY(job_list(root, "fields", &list));
    int count = (int)json_array_size(list);
    if (count > MAX_FIELDS) return fail(GRAIN_ERROR_JOB, "job.json: fields has more than %d entries", MAX_FIELDS);
    job->fields = ALLOC_ZEROED(Field, count);
    if (!job->fields) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < count; i++) {
        JobNode node = {json_array_get(list, (size_t)i), ""};
        snprintf(node.path, sizeof node.path, "fields[%d]", i);
        if (!json_is_object(node.object))
            return fail(GRAIN_ERROR_JOB, "job.json: %s must be an object {...}", node.path);
        TRY(read_field(&node, job, arrays, &job->fields[i]));
        job->field_count++;
    }
    return GRAIN_OK;
}
