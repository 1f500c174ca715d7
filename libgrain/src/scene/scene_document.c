// SPDX-License-Identifier: GPL-3.0-or-later
// The document and the arrays of a scene, and their way into a job folder.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "scene/scene.h"

#include <stdlib.h>
#include <string.h>

// Arrays begin at multiples of it.
#define ARRAY_ALIGNMENT 64
#define GEOMETRY_FILE "geometry.bin"
#define LONGEST_PART 60

static GrainResult fail_memory(void) { return fail(GRAIN_ERROR_MEMORY, "not enough memory for the scene"); }

// --- nodes ----------------------------------------------------------------------------------------

json_t *scene_node(const GrainScene *scene, int32_t object)
{
    if (object == GRAIN_SCENE) return scene->document;
    return object >= 0 && object < scene->node_count ? scene->nodes[object] : NULL;
}

static GrainResult add_node(GrainScene *scene, json_t *node)
{
    TRY(alloc_grow((void **)&scene->nodes, &scene->node_capacity, scene->node_count + 1, sizeof(json_t *)));
    scene->nodes[scene->node_count++] = node;
    return GRAIN_OK;
}

GrainResult scene_from_document(GrainScene *scene, json_t *document, char *geometry, int64_t geometry_bytes)
{
    static const char *const lists[] = {"objects", "fields"};
    size_t number;
    json_t *node;
    *scene = (GrainScene){.document = document,
                          .geometry = geometry,
                          .geometry_bytes = geometry_bytes,
                          .geometry_capacity = geometry_bytes};
    if (!document) return fail_memory();
    for (int i = 0; i < 2; i++)
        json_array_foreach(json_object_get(document, lists[i]), number, node) TRY(add_node(scene, node));
    return GRAIN_OK;
}

GrainResult scene_append(GrainScene *scene, const char *list, json_t *node)
{
    json_t *nodes = json_object_get(scene->document, list);
    if (!nodes && json_object_set_new(scene->document, list, nodes = json_array()) != 0) nodes = NULL;
    if (!nodes || json_array_append(nodes, node) != 0) {
        json_decref(node);
        return fail_memory();
    }
    GrainResult result = add_node(scene, node);
    if (result != GRAIN_OK) json_array_remove(nodes, json_array_size(nodes) - 1);
    json_decref(node);
    return result;
}

// The block of that name below a node, made where it is missing; NULL where something else has the name.
static json_t *block_of(json_t *node, const char *name, size_t length)
{
    char part[LONGEST_PART + 1] = "";
    if (length == 0 || length > LONGEST_PART) return NULL;
    memcpy(part, name, length);
    json_t *block = json_object_get(node, part);
    if (!block && json_object_set_new(node, part, block = json_object()) != 0) return NULL;
    return json_is_object(block) ? block : NULL;
}

GrainResult scene_set(json_t *node, const char *key, const char *block, json_t *value)
{
    const char *part = key, *dot;
    if (!value) return fail_memory();
    for (; node && (dot = strchr(part, '.')); part = dot + 1) node = block_of(node, part, (size_t)(dot - part));
    if (node && block) node = block_of(node, block, strlen(block));
    if (node && part[0] && strlen(part) <= LONGEST_PART)
        return json_object_set_new(node, part, value) == 0 ? GRAIN_OK : fail_memory();
    json_decref(value);
    return fail(GRAIN_ERROR_ARGUMENT, "the key '%.120s' leads nowhere; write it like \"fps\" or \"solver.friction\"",
                key);
}

// --- arrays ---------------------------------------------------------------------------------------

GrainResult scene_add_array(GrainScene *scene, int is_float, int components, int64_t count, const void *data,
                            json_t **number)
{
    json_t *arrays = json_object_get(scene->document, "arrays");
    if (!arrays && json_object_set_new(scene->document, "arrays", arrays = json_array()) != 0) return fail_memory();
    int64_t offset = (scene->geometry_bytes + ARRAY_ALIGNMENT - 1) / ARRAY_ALIGNMENT * ARRAY_ALIGNMENT;
    int64_t bytes = 4 * components * count;
    TRY(alloc_grow((void **)&scene->geometry, &scene->geometry_capacity, offset + bytes, 1));
    json_t *entry = json_pack("{s:s, s:i, s:I, s:I}", "type", is_float ? "f32" : "i32", "components", components,
                              "count", (json_int_t)count, "offset", (json_int_t)offset);
    if (!entry || json_array_append_new(arrays, entry) != 0) return fail_memory();
    memset(scene->geometry + scene->geometry_bytes, 0, (size_t)(offset - scene->geometry_bytes));
    if (bytes > 0) memcpy(scene->geometry + offset, data, (size_t)bytes);
    scene->geometry_bytes = offset + bytes;
    *number = json_integer((json_int_t)json_array_size(arrays) - 1);
    return *number ? GRAIN_OK : fail_memory();
}

SceneMark scene_mark(const GrainScene *scene)
{
    return (SceneMark){json_array_size(json_object_get(scene->document, "arrays")), scene->geometry_bytes};
}

void scene_revert(GrainScene *scene, SceneMark mark)
{
    json_t *arrays = json_object_get(scene->document, "arrays");
    while (json_array_size(arrays) > mark.array_count) json_array_remove(arrays, json_array_size(arrays) - 1);
    scene->geometry_bytes = mark.geometry_bytes;
}

// --- jobs -----------------------------------------------------------------------------------------

GrainResult scene_begin_job(const GrainScene *scene, Job *out)
{
    GrainResult result = job_of_document(scene->document, scene->geometry, scene->geometry_bytes, out);
    if (result != GRAIN_OK) scene_end_job(out);
    return result;
}

void scene_end_job(Job *job)
{
    job->geometry = NULL; // the scene's
    job_free(job);
}

static GrainResult write_file(const char *folder, const char *name, const void *data, int64_t bytes)
{
    char *path;
    FileWriter file;
    TRY(file_join(folder, name, &path));
    GrainResult result = file_create(&file, path);
    alloc_free(path);
    TRY(result);
    if (bytes > 0) result = file_write(&file, data, (size_t)bytes);
    if (result == GRAIN_OK) result = file_commit(&file);
    file_abandon(&file);
    return result;
}

// The geometry first: a job.json always finds its own, or one whose size differs.
GrainResult scene_write_files(const GrainScene *scene, const char *folder)
{
    json_t *document = json_copy(scene->document);
    json_t *geometry = json_pack("{s:s, s:I}", "file", GEOMETRY_FILE, "bytes", (json_int_t)scene->geometry_bytes);
    char *text = NULL;
    if (document && geometry && json_object_set_new(document, "geometry", geometry) == 0)
        text = json_dumps(document, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    json_decref(document);
    if (!text) return fail_memory();
    GrainResult result = file_make_folder(folder);
    if (result == GRAIN_OK) result = write_file(folder, GEOMETRY_FILE, scene->geometry, scene->geometry_bytes);
    if (result == GRAIN_OK) result = write_file(folder, "job.json", text, (int64_t)strlen(text));
    free(text);
    return result;
}
