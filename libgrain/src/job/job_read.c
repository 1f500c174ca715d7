// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "job/job.h"
#include "job/job_parts.h"
#include "job/job_value.h"
#include "job/schema.h"
#include "mesh/mesh.h"
#include "sim/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define MAX_ARRAYS 1000000
#define MOST_BYTES ((int64_t)1 << 30) // of job.json: a hundred times as many as the largest scenes need

// --- geometry -----------------------------------------------------------------------------------

static GrainResult read_geometry(const JobNode *root, const char *folder, Job *job)
{
    JobNode node;
    GeometryEntry entry;
    TRY(job_child(root, "geometry", &node));
    TRY(schema_check_keys(&node, &schema_geometry, 0));
    TRY(schema_read(&node, &schema_geometry, 0, &entry));
    const char *name = entry.file;
    if (name[0] == 0 || strchr(name, '/') || strchr(name, '\\') || strcmp(name, "..") == 0)
        return fail(GRAIN_ERROR_JOB, "job.json: geometry.file is '%.60s'; it must be a file name without folders",
                    name);
    char *path;
    TRY(file_join(folder, name, &path));
    GrainResult result = file_read(path, entry.bytes, (void **)&job->geometry, &job->geometry_bytes);
    if (result == GRAIN_OK && job->geometry_bytes != entry.bytes)
        result = fail(GRAIN_ERROR_JOB,
                      "'%s' has %lld bytes where job.json says %lld: the job was not written or copied completely",
                      path, (long long)job->geometry_bytes, (long long)entry.bytes);
    alloc_free(path);
    return result;
}

static GrainResult read_array(const JobNode *node, const Job *job, JobArray *out)
{
    TRY(schema_check_keys(node, &schema_array, 0));
    TRY(schema_read(node, &schema_array, 0, out));
    if (out->offset % 4 != 0)
        return fail(GRAIN_ERROR_JOB, "job.json: %s.offset is %lld; it must be a multiple of 4", node->path,
                    (long long)out->offset);
    if (out->offset > job->geometry_bytes || out->count * out->components * 4 > job->geometry_bytes - out->offset)
        return fail(GRAIN_ERROR_JOB, "job.json: %s reaches past the end of the geometry file (%lld bytes)", node->path,
                    (long long)job->geometry_bytes);
    return GRAIN_OK;
}

static GrainResult read_arrays(const JobNode *root, const char *folder, Job *job, JobArrays *arrays)
{
    const json_t *list;
    TRY(job_list(root, "arrays", &list));
    int64_t count = (int64_t)json_array_size(list);
    if (count == 0) return GRAIN_OK;
    if (count > MAX_ARRAYS) return fail(GRAIN_ERROR_JOB, "job.json: arrays has more than %d entries", MAX_ARRAYS);
    if (folder) TRY(read_geometry(root, folder, job));
    arrays->array = ALLOC(JobArray, count);
    if (!arrays->array) return GRAIN_ERROR_MEMORY;
    arrays->count = count;
    for (int64_t i = 0; i < count; i++) {
        JobNode node = {json_array_get(list, (size_t)i), ""};
        snprintf(node.path, sizeof node.path, "arrays[%lld]", (long long)i);
        if (!json_is_object(node.object))
            return fail(GRAIN_ERROR_JOB, "job.json: %s must be an object {...}", node.path);
        TRY(read_array(&node, job, &arrays->array[i]));
    }
    return GRAIN_OK;
}

// --- objects ------------------------------------------------------------------------------------

static GrainResult read_mesh(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object)
{
    const JobArray *positions = NULL, *triangles = NULL;
    TRY(job_find_array(node, "positions", arrays, 1, 3, &positions));
    TRY(job_find_array(node, "triangles", arrays, 0, 3, &triangles));
    object->mesh =
        (GrainMesh){(const float *)(job->geometry + positions->offset),
                    (const int32_t *)(job->geometry + triangles->offset), positions->count, triangles->count};
    GrainResult result = mesh_validate(&object->mesh);
    return result == GRAIN_OK ? result : fail_within(result, "object '%s'", object->name);
}

static GrainResult read_plane(const JobNode *node, JobObject *object)
{
    JobNode plane;
    TRY(job_child(node, "plane", &plane));
    TRY(schema_check_keys(&plane, &schema_plane, 0));
    TRY(schema_read(&plane, &schema_plane, 0, object));
    if (!(vec3_length(object->plane_normal) > 0.0f))
        return fail(GRAIN_ERROR_JOB, "job.json: %s.normal is [0, 0, 0]; it must point somewhere", plane.path);
    object->plane_normal = vec3_normalize(object->plane_normal, vec3(0, 0, 1));
    object->is_plane = 1;
    object->motion.kind = MOTION_STILL; // whatever it says: it has no samples
    return GRAIN_OK;
}

// What every object has, whatever its role.
static GrainResult read_object_settings(JobNode *node, const Job *job, JobObject *object)
{
    TRY(schema_read_one(node, &schema_object, JOB_SOURCE, "name", object));
    size_t used = strlen(node->path);
    snprintf(node->path + used, sizeof node->path - used, " '%.60s'", object->name);
    TRY(schema_read_one(node, &schema_object, JOB_SOURCE, "role", object));
    TRY(schema_check_keys(node, &schema_object, (int)object->role));
    object->body.release_frame = job->frame_start;
    object->body.has_pivot = json_object_get(node->object, "pivot") != NULL;
    TRY(schema_read(node, &schema_object, (int)object->role, object));
    if (object->settle > 0.0f && vec3_length(object->velocity) > 0.0f)
        return fail(GRAIN_ERROR_JOB, "job.json: %s: sand that settles starts at rest; set velocity or settle to 0",
                    node->path);
    return GRAIN_OK;
}

static GrainResult read_object(JobNode *node, Job *job, const JobArrays *arrays, JobObject *object)
{
    TRY(read_object_settings(node, job, object));
    int is_solid = object->role == JOB_COLLIDER || object->role == JOB_BODY;
    if (job_is_source(object)) TRY(job_read_material(node, job, arrays, &object->material));
    if (json_object_get(node->object, "plane")) {
        TRY(read_plane(node, object));
        return job_read_grip(node, job, arrays, object);
    }
    TRY(read_mesh(node, job, arrays, object));
    if (is_solid) TRY(job_read_grip(node, job, arrays, object));
    if (job_is_source(object)) {
        TRY(job_read_paint(node, "moisture_paint", job, arrays, &object->mesh, 1.0, &object->moisture_paint));
        TRY(job_read_attributes(node, job, arrays, object));
    }
    TRY(job_read_motion(node, job, arrays, object));
    return object->role == JOB_EMITTER ? job_read_emitter(node, job, arrays, object) : GRAIN_OK;
}

static GrainResult read_objects(const JobNode *root, const char *folder, Job *job, JobArrays *arrays)
{
    const json_t *list;
    TRY(read_arrays(root, folder, job, arrays));
    TRY(job_list(root, "objects", &list));
    int object_count = (int)json_array_size(list), source_count = 0;
    job->objects = ALLOC_ZEROED(JobObject, object_count);
    if (!job->objects) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < object_count; i++) {
        JobNode node = {json_array_get(list, (size_t)i), ""};
        snprintf(node.path, sizeof node.path, "objects[%d]", i);
        if (!json_is_object(node.object))
            return fail(GRAIN_ERROR_JOB, "job.json: %s must be an object {...}", node.path);
        TRY(read_object(&node, job, arrays, &job->objects[i]));
        source_count += job_is_source(&job->objects[i]) || job->objects[i].role == JOB_BODY;
    }
    job->object_count = object_count;
    if (source_count > 0) return GRAIN_OK;
    return fail(
        GRAIN_ERROR_JOB,
        "job.json: objects has no source, so there is no sand; give one object the role \"source\" or \"emitter\"");
}

// --- settings -----------------------------------------------------------------------------------

static GrainResult read_solver(const JobNode *root, Job *job)
{
    JobNode node;
    TRY(job_child(root, "solver", &node));
    TRY(schema_check_keys(&node, &schema_solver, 0));
    TRY(schema_read_one(&node, &schema_solver, 0, "interaction", job));
    job->meso_given.numbers = sim_meso_numbers(job->meso_given.interaction);
    TRY(schema_read(&node, &schema_solver, 0, job));
    return job_read_meso(&node, job);
}

static GrainResult read_settings(const JobNode *root, Job *job)
{
    int64_t schema;
    TRY(job_integer(root, "schema", 1, INT32_MAX, &schema));
    if (schema > JOB_SCHEMA)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: schema is %lld, this Grain (%s) reads up to %d: the job was made by a newer Grain; "
                    "update it here",
                    (long long)schema, grain_version(), JOB_SCHEMA);
    TRY(schema_check_keys(root, &schema_job, 0));
    TRY(schema_read(root, &schema_job, 0, job));
    if (job->frame_end < job->frame_start)
        return fail(GRAIN_ERROR_JOB, "job.json: frame_end is %d; it must not be before frame_start (%d)",
                    job->frame_end, job->frame_start);
    TRY(read_solver(root, job));
    TRY(job_read_upsample(root, job));
    return job_read_volume(root, job);
}

// XXH3-128 over what changes the result: the settings in a canonical form, the geometry, the solver and its version.
static GrainResult make_fingerprint(Job *job)
{
    json_t *settings = json_deep_copy(job->json), *object;
    size_t number;
    for (int i = 0; settings && i < schema_job.count; i++)
        if (schema_job.settings[i].is_no_result) json_object_del(settings, schema_job.settings[i].key);
    json_array_foreach(json_object_get(settings, "objects"), number, object) json_object_del(object, "name");
    char *text = settings ? json_dumps(settings, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(settings);
    XXH3_state_t *hash = XXH3_createState();
    if (text && hash) {
        int version = solver_find(job->solver)->version;
        XXH3_128bits_reset(hash);
        XXH3_128bits_update(hash, text, strlen(text));
        XXH3_128bits_update(hash, &version, sizeof version);
        XXH3_128bits_update(hash, job->geometry, (size_t)job->geometry_bytes);
        // Version 0.1.0 cut steps where slots end, and expected other speeds of fields; other caches of it can be
        // resumed.
        if (job_has_slots(job)) XXH3_128bits_update(hash, "slots", strlen("slots"));
        XXH128_hash_t digest = XXH3_128bits_digest(hash);
        snprintf(job->fingerprint, sizeof job->fingerprint, "%016llx%016llx", (unsigned long long)digest.high64,
                 (unsigned long long)digest.low64);
    }
    int made = text && hash;
    XXH3_freeState(hash);
    free(text);
    return made ? GRAIN_OK : fail(GRAIN_ERROR_MEMORY, "not enough memory for the job's fingerprint");
}

static GrainResult parse(const char *path, const char *text, int64_t bytes, Job *job)
{
    json_error_t error;
    job->json = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES, &error);
    if (!job->json)
        return fail(GRAIN_ERROR_JOB, "'%s' line %d, column %d: %s; was it written and copied completely?", path,
                    error.line, error.column, error.text);
    if (!json_is_object((json_t *)job->json)) return fail(GRAIN_ERROR_JOB, "'%s' must hold one object {...}", path);
    return GRAIN_OK;
}

// folder: where the geometry is still to be read from, or NULL.
static GrainResult read_document(const char *folder, Job *job)
{
    JobNode root = {job->json, ""};
    JobArrays arrays = {0};
    GrainResult result = read_settings(&root, job);
    if (result == GRAIN_OK) result = read_objects(&root, folder, job, &arrays);
    if (result == GRAIN_OK) result = job_read_fields(&root, job, &arrays);
    if (result == GRAIN_OK) result = job_read_steering(&root, job, &arrays);
    if (result == GRAIN_OK) result = make_fingerprint(job);
    alloc_free(arrays.array);
    return result;
}

GrainResult job_of_document(void *document, char *geometry, int64_t geometry_bytes, Job *out)
{
    *out = (Job){.json = json_incref(document), .geometry = geometry, .geometry_bytes = geometry_bytes};
    return read_document(NULL, out);
}

GrainResult job_read(const char *folder, Job *out)
{
    *out = (Job){0};
    char *path;
    void *text = NULL;
    int64_t bytes;
    TRY(file_join(folder, "job.json", &path));
    GrainResult result = file_read(path, MOST_BYTES, &text, &bytes);
    if (result == GRAIN_OK) result = parse(path, text, bytes, out);
    alloc_free(text);
    alloc_free(path);
    if (result == GRAIN_OK) result = read_document(folder, out);
    if (result != GRAIN_OK) job_free(out);
    return result;
}

void job_free(Job *job)
{
    alloc_free(job->objects);
    alloc_free(job->fields);
    alloc_free(job->geometry);
    json_decref(job->json);
    *job = (Job){0};
}
