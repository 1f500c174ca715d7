// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "job/job.h"
#include "job/job_value.h"
#include "mesh/mesh.h"
#include "sim/solver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#define JOB_SCHEMA 1
#define FRAME_LIMIT 1048574 // Blender's own
#define MAX_ARRAYS 1000000
#define MAX_SPEED 1000.0
#define MAX_COORDINATE 1e9

// --- geometry -----------------------------------------------------------------------------------

static GrainResult read_geometry(const JobNode *root, const char *folder, Job *job)
{
    static const char *const keys[] = {"file", "bytes", NULL};
    JobNode node;
    const char *name;
    int64_t bytes;
    TRY(job_child(root, "geometry", &node));
    TRY(job_check_keys(&node, keys));
    TRY(job_text(&node, "file", NULL, &name));
    TRY(job_integer(&node, "bytes", 0, INT64_MAX / 2, JOB_REQUIRED, &bytes));
    if (name[0] == 0 || strchr(name, '/') || strchr(name, '\\') || strcmp(name, "..") == 0)
        return fail(GRAIN_ERROR_JOB, "job.json: geometry.file is '%.60s'; it must be a file name without folders",
                    name);
    char *path;
    TRY(file_join(folder, name, &path));
    GrainResult result = file_read(path, (void **)&job->geometry, &job->geometry_bytes);
    if (result == GRAIN_OK && job->geometry_bytes != bytes)
        result = fail(GRAIN_ERROR_JOB,
                      "'%s' has %lld bytes where job.json says %lld: the job was not written or copied completely",
                      path, (long long)job->geometry_bytes, (long long)bytes);
    alloc_free(path);
    return result;
}

static GrainResult read_array(const JobNode *node, const Job *job, JobArray *out)
{
    static const char *const keys[] = {"type", "components", "count", "offset", NULL};
    static const char *const types[] = {"f32", "i32", NULL};
    int type;
    int64_t components;
    TRY(job_check_keys(node, keys));
    TRY(job_choice(node, "type", types, NULL, &type));
    TRY(job_integer(node, "components", 1, 16, JOB_REQUIRED, &components));
    TRY(job_integer(node, "count", 0, INT32_MAX, JOB_REQUIRED, &out->count));
    TRY(job_integer(node, "offset", 0, INT64_MAX / 2, JOB_REQUIRED, &out->offset));
    out->is_float = type == 0;
    out->components = (int)components;
    if (out->offset % 4 != 0)
        return fail(GRAIN_ERROR_JOB, "job.json: %s.offset is %lld; it must be a multiple of 4", node->path,
                    (long long)out->offset);
    if (out->offset > job->geometry_bytes || out->count * components * 4 > job->geometry_bytes - out->offset)
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
    TRY(read_geometry(root, folder, job));
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
    static const char *const keys[] = {"point", "normal", NULL};
    JobNode plane;
    TRY(job_child(node, "plane", &plane));
    TRY(job_check_keys(&plane, keys));
    TRY(job_vector(&plane, "point", MAX_COORDINATE, NULL, &object->plane_point));
    TRY(job_vector(&plane, "normal", MAX_COORDINATE, NULL, &object->plane_normal));
    if (!(vec3_length(object->plane_normal) > 0.0f))
        return fail(GRAIN_ERROR_JOB, "job.json: %s.normal is [0, 0, 0]; it must point somewhere", plane.path);
    object->plane_normal = vec3_normalize(object->plane_normal, vec3(0, 0, 1));
    object->is_plane = 1;
    return GRAIN_OK;
}

static GrainResult check_object_keys(const JobNode *node, JobRole role)
{
    static const char *const source_keys[] = {"name",       "role",           "motion",   "positions",
                                              "triangles",  "velocity",       "material", "moisture",
                                              "attributes", "moisture_paint", "settle",   NULL};
    static const char *const grain_keys[] = {"name", "role", "motion", "positions", "triangles", NULL};
    static const char *const collider_keys[] = {
        "name",      "role",  "motion", "positions",         "triangles",  "friction",       "thickness",
        "plane",     "poses", "shapes", "samples_per_frame", "stickiness", "friction_paint", "stickiness_paint",
        "animation", NULL};
    static const char *const body_keys[] = {
        "name",     "role",          "motion",     "positions",         "triangles",        "poses",
        "friction", "density",       "mass",       "samples_per_frame", "velocity",         "spin",
        "pivot",    "release_frame", "stickiness", "friction_paint",    "stickiness_paint", "animation",
        NULL};
    static const char *const emitter_keys[] = {"name",           "role",
                                               "motion",         "positions",
                                               "triangles",      "poses",
                                               "shapes",         "samples_per_frame",
                                               "from",           "active",
                                               "rate",           "rate_unit",
                                               "velocity",       "normal_speed",
                                               "jitter",         "inherit_velocity",
                                               "material",       "moisture",
                                               "moisture_paint", "attributes",
                                               "animation",      NULL};
    static const char *const kill_keys[] = {
        "name", "role", "motion", "positions", "triangles", "poses", "shapes", "samples_per_frame", NULL};
    const char *const *const keys[] = {source_keys, collider_keys, grain_keys, body_keys, emitter_keys, kill_keys};
    return job_check_keys(node, keys[role]);
}

static GrainResult read_object(JobNode *node, Job *job, const JobArrays *arrays, JobObject *object)
{
    static const char *const roles[] = {"source", "collider", "grain", "body", "emitter", "kill", NULL};
    int role;
    TRY(job_text(node, "name", NULL, &object->name));
    size_t used = strlen(node->path);
    snprintf(node->path + used, sizeof node->path - used, " '%.60s'", object->name);
    TRY(job_choice(node, "role", roles, NULL, &role));
    object->role = (JobRole)role;
    TRY(check_object_keys(node, object->role));
    if (role == JOB_SOURCE) {
        TRY(job_vector(node, "velocity", MAX_SPEED, &(Vec3){0, 0, 0}, &object->velocity));
        TRY(job_float(node, "settle", 0, 1000, 0, &object->settle));
        if (object->settle > 0.0f && vec3_length(object->velocity) > 0.0f)
            return fail(GRAIN_ERROR_JOB, "job.json: %s: sand that settles starts at rest; set velocity or settle to 0",
                        node->path);
        TRY(job_float(node, "moisture", 0, 1, 0, &object->moisture));
        TRY(job_read_material(node, job, arrays, &object->material));
    } else if (role == JOB_EMITTER) {
        TRY(job_float(node, "moisture", 0, 1, 0, &object->moisture));
        TRY(job_read_material(node, job, arrays, &object->material));
    } else if (role == JOB_COLLIDER || role == JOB_BODY) {
        TRY(job_float(node, "friction", 0, 2, 0.6, &object->friction));
        if (role == JOB_COLLIDER) TRY(job_float(node, "thickness", 0, 1000, 0, &object->thickness));
        if (json_object_get(node->object, "plane")) {
            TRY(read_plane(node, object));
            return job_read_grip(node, job, arrays, object);
        }
    }
    TRY(read_mesh(node, job, arrays, object));
    if (role == JOB_COLLIDER || role == JOB_BODY) TRY(job_read_grip(node, job, arrays, object));
    if (job_is_source(object)) {
        TRY(job_read_paint(node, "moisture_paint", job, arrays, &object->mesh, 1.0, &object->moisture_paint));
        TRY(job_read_attributes(node, job, arrays, object));
    }
    TRY(job_read_motion(node, job, arrays, object));
    if (role == JOB_EMITTER) return job_read_emitter(node, job, arrays, object);
    return role == JOB_BODY ? job_read_body(node, job, object) : GRAIN_OK;
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
    static const char *const keys[] = {"type", "particle_radius", "size_spread", "density", "friction",
                                       "rolling_friction", "restitution", "softness",
                                       // job_dem.c
                                       "normal_law", "shear_law", "grain_shape", "grain_balls", "cohesion",
                                       "young_modulus", "poisson_ratio", "integrator", "tolerance", "sleep",
                                       // of mpm, of sph
                                       "law", "model", "moisture_diffusion",
                                       // job_meso.c
                                       "interaction", "elasticity", "viscosity", "elastic_reach", "reach_ratio",
                                       "ambient_viscosity", "elastic_pieces", "viscous_pieces",
                                       // job_steering.c
                                       "animation", NULL};
    JobNode node;
    TRY(job_child(root, "solver", &node));
    TRY(job_check_keys(&node, keys));
    TRY(job_text(&node, "type", NULL, &job->solver));
    if (!solver_find(job->solver))
        return fail(GRAIN_ERROR_JOB, "job.json: solver.type is \"%.60s\"; it must be one of %s", job->solver,
                    solver_names());
    const char *const *laws = solver_choices("law"), *const *models = solver_choices("model");
    int law, model;
    TRY(job_choice(&node, "law", laws, laws[0], &law));
    job->law = laws[law];
    TRY(job_choice(&node, "model", models, models[0], &model));
    job->model = models[model];
    TRY(job_float(&node, "moisture_diffusion", 0, 1, 0, &job->moisture_diffusion));
    TRY(job_float(&node, "particle_radius", 1e-6, 100, JOB_REQUIRED, &job->particle_radius));
    TRY(job_float(&node, "size_spread", 0, 0.5, 0.2, &job->size_spread));
    TRY(job_float(&node, "density", 1, 30000, 2600, &job->density));
    TRY(job_float(&node, "friction", 0, 2, 0.6, &job->friction));
    TRY(job_float(&node, "rolling_friction", 0, 2, 0.3, &job->rolling_friction));
    TRY(job_float(&node, "restitution", 0.05, 1, 0.3, &job->restitution));
    TRY(job_float(&node, "softness", 0.01, 0.5, 0.1, &job->softness));
    TRY(job_read_meso(&node, job));
    return job_read_dem(&node, job);
}

static GrainResult read_settings(const JobNode *root, Job *job)
{
    static const char *const keys[] = {
        "schema",   "name",   "writer",  "fps",      "frame_start",      "frame_end", "gravity", "seed",      "solver",
        "geometry", "arrays", "objects", "upsample", "checkpoint_every", "volume",    "fields",  "animation", NULL};
    int64_t schema, frame_start, frame_end, seed, checkpoint_every;
    const char *writer;
    TRY(job_integer(root, "schema", 1, INT32_MAX, JOB_REQUIRED, &schema));
    if (schema > JOB_SCHEMA)
        return fail(GRAIN_ERROR_JOB,
                    "job.json: schema is %lld, this Grain (%s) reads up to %d: the job was made by a newer Grain; "
                    "update it here",
                    (long long)schema, grain_version(), JOB_SCHEMA);
    TRY(job_check_keys(root, keys));
    TRY(job_text(root, "name", "grain", &job->name));
    TRY(job_text(root, "writer", "", &writer));
    TRY(job_number(root, "fps", 1, 1000, JOB_REQUIRED, &job->fps));
    TRY(job_integer(root, "frame_start", -FRAME_LIMIT, FRAME_LIMIT, JOB_REQUIRED, &frame_start));
    TRY(job_integer(root, "frame_end", frame_start, FRAME_LIMIT, JOB_REQUIRED, &frame_end));
    Vec3 gravity;
    TRY(job_vector(root, "gravity", 1000, &(Vec3){0, 0, -9.81f}, &gravity));
    job->gravity = (Curve){.constant = {gravity.x, gravity.y, gravity.z}, .components = 3};
    TRY(job_integer(root, "seed", 0, (int64_t)1 << 53, 0, &seed));
    TRY(job_integer(root, "checkpoint_every", 1, FRAME_LIMIT, 10, &checkpoint_every));
    job->checkpoint_every = (int32_t)checkpoint_every;
    job->frame_start = (int32_t)frame_start;
    job->frame_end = (int32_t)frame_end;
    job->seed = (uint64_t)seed;
    TRY(read_solver(root, job));
    TRY(job_read_upsample(root, job));
    return job_read_volume(root, job);
}

// XXH3-128 over what changes the result: the settings in a canonical form, the geometry, the solver and its version.
static GrainResult make_fingerprint(Job *job)
{
    static const char *const left_out[] = {"name",     "writer",           "frame_end", "geometry",
                                           "upsample", "checkpoint_every", "volume",    NULL};
    json_t *settings = json_deep_copy(job->json), *object;
    size_t number;
    for (int i = 0; settings && left_out[i]; i++) json_object_del(settings, left_out[i]);
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

GrainResult job_read(const char *folder, Job *out)
{
    *out = (Job){0};
    char *path;
    void *text = NULL;
    int64_t bytes;
    TRY(file_join(folder, "job.json", &path));
    GrainResult result = file_read(path, &text, &bytes);
    if (result == GRAIN_OK) result = parse(path, text, bytes, out);
    alloc_free(text);
    alloc_free(path);

    JobNode root = {out->json, ""};
    JobArrays arrays = {0};
    if (result == GRAIN_OK) result = read_settings(&root, out);
    if (result == GRAIN_OK) result = read_objects(&root, folder, out, &arrays);
    if (result == GRAIN_OK) result = job_read_fields(&root, out, &arrays);
    if (result == GRAIN_OK) result = job_read_steering(&root, out, &arrays);
    if (result == GRAIN_OK) result = make_fingerprint(out);
    alloc_free(arrays.array);
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
