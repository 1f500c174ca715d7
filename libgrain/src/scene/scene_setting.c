// SPDX-License-Identifier: GPL-3.0-or-later
// Which setting a key means, and whether it may have a value: by the table that jobs are read with.
#include "base/error.h"
#include "job/schema.h"
#include "scene/scene.h"

#include <stdio.h>
#include <string.h>

typedef struct Meaning {
    const SettingBlock *block;
    int role; ///< of an object
    const char *name;
    char path[160]; ///< of the block, for messages
} Meaning;

/// Room for what any block is read into.
typedef union Scratch {
    Job job;
    JobObject object;
    Field field;
    SimMaterial material;
} Scratch;

static int role_of(const json_t *node)
{
    const char *role = json_string_value(json_object_get(node, "role"));
    const char *const *words = schema_words(schema_find(&schema_object, JOB_SOURCE, "role"));
    for (int i = 0; role && words[i]; i++)
        if (strcmp(words[i], role) == 0) return i;
    return -1;
}

// The block that a key leads into, of those that a scene, an object or a force field has.
static const SettingBlock *block_of(int32_t object, int role, const char *key, size_t length)
{
    static const SettingBlock *const of_scene[] = {&schema_solver, &schema_upsample, &schema_volume, NULL};
    static const SettingBlock *const of_object[] = {&schema_material, &schema_plane, NULL};
    static const char *const scene_names[] = {"solver", "upsample", "volume"}, *const object_names[] = {"material",
                                                                                                        "plane"};
    int is_scene = object == GRAIN_SCENE;
    const SettingBlock *const *blocks = is_scene ? of_scene : of_object;
    const char *const *names = is_scene ? scene_names : object_names;
    if (length == 0) return is_scene ? &schema_job : role < 0 ? &schema_field : &schema_object;
    for (int i = 0; blocks[i] && (is_scene || role >= 0); i++)
        if (strlen(names[i]) == length && strncmp(names[i], key, length) == 0) return blocks[i];
    return NULL;
}

static GrainResult find_meaning(const GrainScene *scene, int32_t object, const char *key, Meaning *out)
{
    const json_t *node = scene_node(scene, object);
    const char *dot = strchr(key, '.'), *name = json_string_value(json_object_get(node, "name"));
    size_t length = dot ? (size_t)(dot - key) : 0;
    *out = (Meaning){.role = object == GRAIN_SCENE ? 0 : role_of(node), .name = dot ? dot + 1 : key};
    out->block = dot && length == 0 ? NULL : block_of(object, out->role, key, length);
    if (!out->block || out->name[0] == 0 || strchr(out->name, '.'))
        return fail(GRAIN_ERROR_ARGUMENT,
                    "the key '%.120s' leads nowhere; write it like \"fps\" or \"solver.friction\"", key);
    if (object == GRAIN_SCENE)
        snprintf(out->path, sizeof out->path, "%.*s", (int)length, key);
    else
        snprintf(out->path, sizeof out->path, "object '%.60s'%s%.*s", name ? name : "", dot ? "." : "", (int)length,
                 key);
    return GRAIN_OK;
}

// Of a document that says nothing else.
static GrainResult check_alone(const Meaning *meaning, json_t *alone)
{
    Scratch scratch = {0};
    JobNode node = {alone, ""};
    memcpy(node.path, meaning->path, sizeof meaning->path);
    TRY(schema_check_keys(&node, meaning->block, meaning->role));
    if (json_object_get(alone, "animation")) return GRAIN_OK;
    const Setting *setting = schema_find(meaning->block, meaning->role, meaning->name);
    if (setting->store == STORE_NOTHING)
        return fail(GRAIN_ERROR_ARGUMENT, "%s%s%.60s is a list or an object, which cannot be set to a single value",
                    meaning->path, meaning->path[0] ? "." : "", meaning->name);
    return schema_read_one(&node, meaning->block, meaning->role, meaning->name, &scratch);
}

GrainResult scene_check_setting(const GrainScene *scene, int32_t object, const char *key, json_t *value)
{
    Meaning meaning;
    TRY(find_meaning(scene, object, key, &meaning));
    json_t *alone = json_pack("{s:O?}", meaning.name, value);
    if (!alone || !value) {
        json_decref(alone);
        return fail(GRAIN_ERROR_MEMORY, "not enough memory for the scene");
    }
    GrainResult result = check_alone(&meaning, alone);
    json_decref(alone);
    return result;
}

GrainResult scene_check_curve(const GrainScene *scene, int32_t object, const char *key, int components)
{
    Meaning meaning;
    TRY(find_meaning(scene, object, key, &meaning));
    json_t *alone = json_pack("{s:{s:i}}", "animation", meaning.name, 0);
    GrainResult result =
        alone ? check_alone(&meaning, alone) : fail(GRAIN_ERROR_MEMORY, "not enough memory for the scene");
    json_decref(alone);
    TRY(result);
    int wanted = schema_find(meaning.block, meaning.role, meaning.name)->type == SETTING_VECTOR ? 3 : 1;
    if (components == wanted) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "the curve of %.120s has %d components; it must have %d", key, components,
                wanted);
}
