// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls of grain/scene.h.
#include "scene/scene.h"
#include "base/alloc.h"
#include "base/error.h"
#include "job/schema.h"
#include "mesh/mesh.h"

#include <math.h>
#include <string.h>

#define MOST_OBJECTS 1000000
#define MOST_SAMPLES_PER_FRAME 100
// 2^53: whole numbers up to it are what they seem to be.
#define LARGEST_WHOLE 9007199254740992.0

static GrainResult check_scene(const GrainScene *scene)
{
    return scene ? GRAIN_OK : fail(GRAIN_ERROR_ARGUMENT, "GrainScene is NULL");
}

static GrainResult find_node(const GrainScene *scene, int32_t object, const char *key, json_t **node)
{
    TRY(check_scene(scene));
    if (!key) return fail(GRAIN_ERROR_ARGUMENT, "the key is NULL");
    *node = scene_node(scene, object);
    if (*node) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "there is no object %d; the scene has %d, counted from 0", object,
                scene->node_count);
}

// --- life -----------------------------------------------------------------------------------------

static GrainResult create(json_t *document, char *geometry, int64_t geometry_bytes, GrainScene **out)
{
    GrainScene *scene = ALLOC_ZEROED(GrainScene, 1);
    if (!scene) {
        json_decref(document);
        alloc_free(geometry);
        return GRAIN_ERROR_MEMORY;
    }
    GrainResult result = scene_from_document(scene, document, geometry, geometry_bytes);
    if (result == GRAIN_OK)
        *out = scene;
    else
        grain_scene_destroy(scene);
    return result;
}

// What the interface starts with, where a job has no default.
static const SettingShown *shown(const SettingBlock *block, const char *key)
{
    return schema_find(block, 0, key)->shown;
}

GrainResult grain_scene_create(GrainScene **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_scene_create needs a pointer for its result");
    *out = NULL;
    json_t *document = json_pack("{s:i, s:s, s:i, s:i, s:i, s:{s:s}, s:[], s:[]}", "schema", JOB_SCHEMA, "writer",
                                 "libgrain", "fps", 24, "frame_start", (int)shown(&schema_job, "frame_start")->number,
                                 "frame_end", (int)shown(&schema_job, "frame_end")->number, "solver", "type",
                                 shown(&schema_solver, "type")->word, "arrays", "objects");
    return create(document, NULL, 0, out);
}

void grain_scene_destroy(GrainScene *scene)
{
    if (!scene) return;
    json_decref(scene->document);
    alloc_free(scene->nodes);
    alloc_free(scene->geometry);
    alloc_free(scene);
}

GrainResult grain_scene_read(const char *job_folder, GrainScene **out)
{
    if (!out || !job_folder)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_scene_read needs a folder and a place for its result");
    *out = NULL;
    Job job;
    TRY(job_read(job_folder, &job));
    json_t *document = json_incref(job.json);
    char *geometry = job.geometry;
    int64_t bytes = job.geometry_bytes;
    scene_end_job(&job);
    return create(document, geometry, bytes, out);
}

GrainResult grain_scene_check(const GrainScene *scene)
{
    Job job;
    TRY(check_scene(scene));
    TRY(scene_begin_job(scene, &job));
    scene_end_job(&job);
    return GRAIN_OK;
}

GrainResult grain_scene_fingerprint(const GrainScene *scene, char out[33])
{
    Job job;
    TRY(check_scene(scene));
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_scene_fingerprint needs a pointer for its result");
    TRY(scene_begin_job(scene, &job));
    memcpy(out, job.fingerprint, sizeof job.fingerprint);
    scene_end_job(&job);
    return GRAIN_OK;
}

GrainResult grain_scene_write(const GrainScene *scene, const char *job_folder)
{
    if (!job_folder) return fail(GRAIN_ERROR_ARGUMENT, "grain_scene_write needs a folder");
    TRY(grain_scene_check(scene));
    return scene_write_files(scene, job_folder);
}

// --- objects --------------------------------------------------------------------------------------

GrainResult grain_object_def_default(GrainObjectDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainObjectDef);
    def->plane_normal[2] = 1.0;
    def->samples_per_frame = 1;
    return GRAIN_OK;
}

static const char *const role_names[] = {"source", "collider", "grain", "body", "emitter", "kill", "field"};

// What each role needs, and what it cannot have.
static GrainResult check_role(const GrainObjectDef *def)
{
    int is_field = def->role == GRAIN_ROLE_FIELD, is_collider = def->role == GRAIN_ROLE_COLLIDER;
    if (!def->mesh && !is_collider && !is_field)
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s' has no mesh; only colliders and force fields can do without",
                    def->name);
    if (is_field && (def->mesh || def->shapes))
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s': a force field has poses, but no mesh and no shapes",
                    def->name);
    if (!def->mesh && is_collider && (def->poses || def->shapes))
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s': an endless plane cannot move; give it a mesh", def->name);
    for (int i = 0; i < 3; i++)
        if (!isfinite(def->plane_point[i]) || !isfinite(def->plane_normal[i]))
            return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s': plane_point or plane_normal is not finite", def->name);
    return GRAIN_OK;
}

static GrainResult check_motion(const GrainObjectDef *def)
{
    if (def->samples_per_frame < 1 || def->samples_per_frame > MOST_SAMPLES_PER_FRAME)
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s': samples_per_frame is %d; it must be from 1 to %d", def->name,
                    def->samples_per_frame, MOST_SAMPLES_PER_FRAME);
    if (def->poses && def->shapes)
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s' has both poses and shapes; give one of them", def->name);
    if (!def->poses && !def->shapes) return GRAIN_OK;
    int64_t count = def->poses ? def->pose_count : def->shape_count;
    if (count >= 1) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s': %s is %lld; it must be at least 1", def->name,
                def->poses ? "pose_count" : "shape_count", (long long)count);
}

static GrainResult check_object(const GrainScene *scene, const GrainObjectDef *def)
{
    CHECK_STRUCT(def, GrainObjectDef);
    if (def->role < GRAIN_ROLE_SOURCE || def->role > GRAIN_ROLE_FIELD)
        return fail(GRAIN_ERROR_ARGUMENT, "GrainObjectDef.role is %d; it must be from %d to %d", def->role,
                    GRAIN_ROLE_SOURCE, GRAIN_ROLE_FIELD);
    if (!def->name || !def->name[0]) return fail(GRAIN_ERROR_ARGUMENT, "GrainObjectDef.name is missing");
    if (scene->node_count >= MOST_OBJECTS)
        return fail(GRAIN_ERROR_ARGUMENT, "object '%.60s' is one too many; a scene has at most %d", def->name,
                    MOST_OBJECTS);
    TRY(check_role(def));
    TRY(check_motion(def));
    if (!def->mesh) return GRAIN_OK;
    GrainResult result = mesh_validate(def->mesh);
    return result == GRAIN_OK ? result : fail_within(result, "object '%.60s'", def->name);
}

static GrainResult set_array(GrainScene *scene, json_t *node, const char *key, int is_float, int components,
                             int64_t count, const void *data)
{
    json_t *number;
    TRY(scene_add_array(scene, is_float, components, count, data, &number));
    return scene_set(node, key, NULL, number);
}

static GrainResult set_motion(GrainScene *scene, json_t *node, const GrainObjectDef *def)
{
    static const float still[MOTION_POSE_FLOATS] = {0, 0, 0, 1, 0, 0, 0};
    if (def->role == GRAIN_ROLE_FIELD)
        return set_array(scene, node, "poses", 1, MOTION_POSE_FLOATS, def->poses ? def->pose_count : 1,
                         def->poses ? def->poses : still);
    if (!def->poses && !def->shapes) return GRAIN_OK;
    TRY(scene_set(node, "motion", NULL, json_string(def->poses ? "moving" : "deforming")));
    TRY(scene_set(node, "samples_per_frame", NULL, json_integer(def->samples_per_frame)));
    if (def->poses) return set_array(scene, node, "poses", 1, MOTION_POSE_FLOATS, def->pose_count, def->poses);
    return set_array(scene, node, "shapes", 1, 3, def->shape_count * def->mesh->vertex_count, def->shapes);
}

static json_t *vector_of(const double value[3])
{
    return json_pack("[f, f, f]", value[0], value[1], value[2]); // NULL where one is not finite
}

static GrainResult describe(GrainScene *scene, json_t *node, const GrainObjectDef *def)
{
    TRY(scene_set(node, "name", NULL, json_string(def->name)));
    if (def->role != GRAIN_ROLE_FIELD) TRY(scene_set(node, "role", NULL, json_string(role_names[def->role])));
    TRY(set_motion(scene, node, def));
    if (def->role == GRAIN_ROLE_FIELD) return GRAIN_OK;
    if (!def->mesh) {
        TRY(scene_set(node, "plane.point", NULL, vector_of(def->plane_point)));
        return scene_set(node, "plane.normal", NULL, vector_of(def->plane_normal));
    }
    TRY(set_array(scene, node, "positions", 1, 3, def->mesh->vertex_count, def->mesh->positions));
    return set_array(scene, node, "triangles", 0, 3, def->mesh->triangle_count, def->mesh->triangles);
}

GrainResult grain_scene_add(GrainScene *scene, const GrainObjectDef *def, int32_t *object)
{
    TRY(check_scene(scene));
    TRY(check_object(scene, def));
    SceneMark mark = scene_mark(scene);
    json_t *node = json_object();
    GrainResult result =
        node ? describe(scene, node, def) : fail(GRAIN_ERROR_MEMORY, "not enough memory for the scene");
    if (result == GRAIN_OK)
        result = scene_append(scene, def->role == GRAIN_ROLE_FIELD ? "fields" : "objects", node);
    else
        json_decref(node);
    if (result != GRAIN_OK) scene_revert(scene, mark);
    if (result == GRAIN_OK && object) *object = scene->node_count - 1;
    return result;
}

int32_t grain_scene_object_count(const GrainScene *scene) { return scene ? scene->node_count : 0; }

int32_t grain_scene_find(const GrainScene *scene, const char *name)
{
    for (int32_t i = 0; scene && name && i < scene->node_count; i++) {
        const char *other = json_string_value(json_object_get(scene->nodes[i], "name"));
        if (other && strcmp(other, name) == 0) return i;
    }
    return GRAIN_SCENE;
}

// --- settings -------------------------------------------------------------------------------------

// Takes the value over.
static GrainResult set_setting(GrainScene *scene, int32_t object, const char *key, json_t *value)
{
    GrainResult result = scene_check_setting(scene, object, key, value);
    if (result == GRAIN_OK) return scene_set(scene_node(scene, object), key, NULL, value);
    json_decref(value);
    return result;
}

GrainResult grain_scene_set_number(GrainScene *scene, int32_t object, const char *key, double value)
{
    json_t *node;
    TRY(find_node(scene, object, key, &node));
    if (!isfinite(value)) return fail(GRAIN_ERROR_ARGUMENT, "%.120s is %g; it must be finite", key, value);
    int is_whole = floor(value) == value && fabs(value) <= LARGEST_WHOLE;
    return set_setting(scene, object, key, is_whole ? json_integer((json_int_t)value) : json_real(value));
}

GrainResult grain_scene_set_flag(GrainScene *scene, int32_t object, const char *key, int32_t value)
{
    json_t *node;
    TRY(find_node(scene, object, key, &node));
    if (value != 0 && value != 1) return fail(GRAIN_ERROR_ARGUMENT, "%.120s is %d; it must be 0 or 1", key, value);
    return set_setting(scene, object, key, json_boolean(value));
}

GrainResult grain_scene_set_text(GrainScene *scene, int32_t object, const char *key, const char *value)
{
    json_t *node, *text;
    TRY(find_node(scene, object, key, &node));
    if (!value || !(text = json_string(value)))
        return fail(GRAIN_ERROR_ARGUMENT, "%.120s is %s; it must be text in UTF-8", key,
                    value ? "no such text" : "NULL");
    return set_setting(scene, object, key, text);
}

GrainResult grain_scene_set_vector(GrainScene *scene, int32_t object, const char *key, const double value[3])
{
    json_t *node;
    TRY(find_node(scene, object, key, &node));
    if (!value) return fail(GRAIN_ERROR_ARGUMENT, "%.120s is NULL", key);
    for (int i = 0; i < 3; i++)
        if (!isfinite(value[i]))
            return fail(GRAIN_ERROR_ARGUMENT, "%.120s has the component %g; it must be finite", key, value[i]);
    return set_setting(scene, object, key, vector_of(value));
}

// An array, and the key of it; without the key no array stays behind.
static GrainResult set_new_array(GrainScene *scene, json_t *node, const char *key, const char *block, int components,
                                 int64_t count, const float *values)
{
    SceneMark mark = scene_mark(scene);
    json_t *number;
    GrainResult result = scene_add_array(scene, 1, components, count, values, &number);
    if (result == GRAIN_OK) result = scene_set(node, key, block, number);
    if (result != GRAIN_OK) scene_revert(scene, mark);
    return result;
}

GrainResult grain_scene_set_curve(GrainScene *scene, int32_t object, const char *key, const float *samples,
                                  int32_t components, int64_t count)
{
    json_t *node;
    TRY(find_node(scene, object, key, &node));
    if (!samples || count < 1 || count > INT32_MAX || (components != 1 && components != 3))
        return fail(GRAIN_ERROR_ARGUMENT,
                    "the curve of %.120s has %lld samples of %d components; at least 1 of 1 or 3 are needed", key,
                    (long long)(samples ? count : 0), components);
    TRY(scene_check_curve(scene, object, key, components));
    return set_new_array(scene, node, key, "animation", components, count, samples);
}

GrainResult grain_attribute_def_default(GrainAttributeDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainAttributeDef);
    def->components = 1;
    return GRAIN_OK;
}

static int is_factor(const char *name)
{
    return strcmp(name, "friction_paint") == 0 || strcmp(name, "stickiness_paint") == 0 ||
           strcmp(name, "moisture_paint") == 0;
}

static GrainResult check_attribute(const GrainAttributeDef *def)
{
    CHECK_STRUCT(def, GrainAttributeDef);
    if (!def->name || !def->name[0]) return fail(GRAIN_ERROR_ARGUMENT, "GrainAttributeDef.name is missing");
    if (def->components < 1 || def->components > 4)
        return fail(GRAIN_ERROR_ARGUMENT, "attribute '%.60s': components is %d; it must be from 1 to 4", def->name,
                    def->components);
    if (!def->values || def->count < 1 || def->count > INT32_MAX)
        return fail(GRAIN_ERROR_ARGUMENT,
                    "attribute '%.60s' has %lld values; there must be one for each vertex or corner", def->name,
                    (long long)(def->values ? def->count : 0));
    if (is_factor(def->name) && (def->components != 1 || def->by_corner))
        return fail(GRAIN_ERROR_ARGUMENT, "attribute '%.60s' must have one number for each vertex", def->name);
    return GRAIN_OK;
}

// An attribute of the same name is replaced.
static GrainResult set_attribute(json_t *node, const GrainAttributeDef *def, json_t *number)
{
    json_t *list = json_object_get(node, "attributes"), *entry;
    json_t *made = json_pack("{s:s, s:o, s:s}", "name", def->name, "values", number, "domain",
                             def->by_corner ? "corner" : "vertex");
    if (!list && json_object_set_new(node, "attributes", list = json_array()) != 0) list = NULL;
    size_t place = 0;
    json_array_foreach(list, place, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        if (name && strcmp(name, def->name) == 0) break;
    }
    int is_set =
        list && made &&
        (place < json_array_size(list) ? json_array_set(list, place, made) : json_array_append(list, made)) == 0;
    json_decref(made);
    return is_set ? GRAIN_OK : fail(GRAIN_ERROR_MEMORY, "not enough memory for the scene");
}

GrainResult grain_scene_set_attribute(GrainScene *scene, int32_t object, const GrainAttributeDef *def)
{
    json_t *node, *number;
    TRY(check_attribute(def));
    TRY(find_node(scene, object, def->name, &node));
    if (object == GRAIN_SCENE) return fail(GRAIN_ERROR_ARGUMENT, "attribute '%.60s' needs an object", def->name);
    if (is_factor(def->name)) return set_new_array(scene, node, def->name, NULL, 1, def->count, def->values);
    SceneMark mark = scene_mark(scene);
    GrainResult result = scene_add_array(scene, 1, def->components, def->count, def->values, &number);
    if (result == GRAIN_OK) result = set_attribute(node, def, number);
    if (result != GRAIN_OK) scene_revert(scene, mark);
    return result;
}
