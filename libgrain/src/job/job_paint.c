// SPDX-License-Identifier: GPL-3.0-or-later
// What a job says is painted on meshes: attributes that sources hand to their particles, and single numbers by vertex.
#include "base/error.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/schema.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Columns of frames that are the solver's own, and those that every particle is born with.
static int is_taken(const char *name)
{
    static const char *const taken[] = {"position", "velocity", "radius",    "orientation", "id", "birth_time",
                                        "spin",     "rest",     "source_id", "moisture",    NULL};
    for (int i = 0; taken[i]; i++)
        if (strcmp(taken[i], name) == 0) return 1;
    return strncmp(name, "body.", 5) == 0;
}

static GrainResult check_numbers(const char *path, const char *key, const float *numbers, int64_t count, double low,
                                 double high)
{
    for (int64_t i = 0; i < count; i++)
        if (!((double)numbers[i] >= low && (double)numbers[i] <= high))
            return fail(GRAIN_ERROR_JOB, "job.json: %s.%s: number %lld is %g; it must be from %g to %g", path, key,
                        (long long)i, (double)numbers[i], low, high);
    return GRAIN_OK;
}

GrainResult job_read_paint(const JobNode *node, const char *key, const Job *job, const JobArrays *arrays,
                           const GrainMesh *mesh, double most, MeshAttribute *out)
{
    const JobArray *array = NULL;
    if (!json_object_get(node->object, key)) return GRAIN_OK;
    TRY(job_find_array(node, key, arrays, 1, 1, &array));
    if (array->count != mesh->vertex_count)
        return fail(GRAIN_ERROR_JOB, "job.json: %s.%s has %lld numbers where the mesh has %lld vertices", node->path,
                    key, (long long)array->count, (long long)mesh->vertex_count);
    *out = (MeshAttribute){(const float *)(job->geometry + array->offset), 1, 0};
    return check_numbers(node->path, key, out->numbers, array->count, 0.0, most);
}

// The attribute's place in the job's own list, where it is put when it is new.
static GrainResult find_attribute(const JobNode *node, Job *job, const char *name, int components, int *number)
{
    for (*number = 0; *number < job->attribute_count; ++*number) {
        const JobAttribute *known = &job->attributes[*number];
        if (strcmp(known->name, name) != 0) continue;
        if (known->components == components) return GRAIN_OK;
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s: attribute '%s' has %d components here and %d on another source; rename one of them",
                    node->path, name, components, known->components);
    }
    if (job->attribute_count == JOB_MAX_ATTRIBUTES)
        return fail(GRAIN_ERROR_JOB, "job.json: %s: attribute '%s' is one too many; all sources together can have %d",
                    node->path, name, JOB_MAX_ATTRIBUTES);
    job->attributes[job->attribute_count++] = (JobAttribute){name, components};
    return GRAIN_OK;
}

static GrainResult read_attribute(const JobNode *node, Job *job, const JobArrays *arrays, JobObject *object)
{
    AttributeEntry entry;
    int number;
    int64_t at;
    TRY(schema_check_keys(node, &schema_attribute, 0));
    TRY(schema_read(node, &schema_attribute, 0, &entry));
    TRY(job_integer(node, "values", 0, arrays->count - 1, &at));
    const char *name = entry.name;
    int is_of_corners = entry.is_of_corners;
    if (name[0] == 0 || strlen(name) > JOB_ATTRIBUTE_CHARS || is_taken(name))
        return fail(GRAIN_ERROR_JOB,
                    "job.json: %s.name is '%.60s'; it must be 1 to %d bytes long and none of Grain's own (position, "
                    "velocity, radius, orientation, id, birth_time, spin, rest, source_id, moisture, body.*)",
                    node->path, name, JOB_ATTRIBUTE_CHARS);
    const JobArray *array = &arrays->array[at];
    int64_t wanted = is_of_corners ? 3 * object->mesh.triangle_count : object->mesh.vertex_count;
    if (!array->is_float || array->components > 4 || array->count != wanted)
        return fail(
            GRAIN_ERROR_JOB,
            "job.json: %s.values is %lld; that array must be of type f32 with 1 to 4 components and %lld elements, one "
            "for each %s",
            node->path, (long long)at, (long long)wanted, is_of_corners ? "corner of each triangle" : "vertex");
    TRY(find_attribute(node, job, name, array->components, &number));
    if (object->paint[number].numbers)
        return fail(GRAIN_ERROR_JOB, "job.json: %s.name is '%s' a second time; names must differ", node->path, name);
    object->paint[number] =
        (MeshAttribute){(const float *)(job->geometry + array->offset), array->components, is_of_corners};
    return check_numbers(node->path, "values", object->paint[number].numbers, array->count * array->components, -1e30,
                         1e30);
}

GrainResult job_read_attributes(const JobNode *source, Job *job, const JobArrays *arrays, JobObject *object)
{
    const json_t *list;
    TRY(job_list(source, "attributes", &list));
    for (size_t i = 0; i < json_array_size(list); i++) {
        JobNode node = {json_array_get(list, i), ""};
        snprintf(node.path, sizeof node.path, "%.120s.attributes[%zu]", source->path, i);
        if (!json_is_object(node.object))
            return fail(GRAIN_ERROR_JOB, "job.json: %s must be an object {...}", node.path);
        TRY(read_attribute(&node, job, arrays, object));
    }
    return GRAIN_OK;
}
