// SPDX-License-Identifier: GPL-3.0-or-later
// Force fields, and gravity that changes.
#include "base/alloc.h"
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

#include <stdio.h>
#include <string.h>

#define MAX_FIELDS 1000

static GrainResult read_field(JobNode *node, const Job *job, const JobArrays *arrays, Field *field)
{
    const char *name;
    TRY(job_text(node, "name", &name));
    size_t used = strlen(node->path);
    snprintf(node->path + used, sizeof node->path - used, " '%.60s'", name);
    TRY(schema_check_keys(node, &schema_field, 0));
    TRY(schema_read(node, &schema_field, 0, field));
    field->frame_seconds = 1.0 / job->fps;
    TRY(job_read_curve(node, &schema_field, 0, "strength", job, arrays, &field->strength));
    return job_read_poses(node, job, arrays, 1, &field->motion);
}

GrainResult job_read_fields(const JobNode *root, Job *job, const JobArrays *arrays)
{
    const json_t *list;
    TRY(job_read_curve(root, &schema_job, 0, "gravity", job, arrays, &job->gravity));
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
