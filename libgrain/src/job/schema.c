// SPDX-License-Identifier: GPL-3.0-or-later
#include "job/schema.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

const SettingBlock *const schema_blocks[] = {&schema_job,    &schema_geometry, &schema_array,    &schema_solver,
                                             &schema_object, &schema_plane,    &schema_material, &schema_attribute,
                                             &schema_field,  &schema_upsample, &schema_volume,   NULL};

static const Setting *find(const SettingBlock *block, int role, const char *key)
{
    for (int i = 0; i < block->count; i++) {
        const Setting *setting = &block->settings[i];
        if (schema_has_role(setting, role) && strcmp(setting->key, key) == 0) return setting;
    }
    return NULL;
}

const Setting *schema_find(const SettingBlock *block, int role, const char *key) { return find(block, role, key); }

const char *const *schema_words(const Setting *setting)
{
    return setting->words ? setting->words : solver_choices(setting->key);
}

SettingWord schema_label(const Setting *setting, int word)
{
    if (setting->words == solver_name_list) return (SettingWord){solver_at(word)->label, solver_at(word)->tip};
    return setting->word_labels ? setting->word_labels[word] : (SettingWord){NULL, NULL};
}

// Fails with the list of keys that would do: all, or those that can be animated.
static GrainResult refuse_key(const JobNode *node, const SettingBlock *block, int role, int animated, const char *key)
{
    char list[512] = "";
    for (int i = 0; i < block->count; i++) {
        const Setting *setting = &block->settings[i];
        if (!schema_has_role(setting, role) || (animated && !setting->is_animated)) continue;
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", used ? ", " : "", setting->key);
    }
    return fail(GRAIN_ERROR_JOB, "job.json: %s%s%.60s is not a key Grain knows; allowed there are %s", node->path,
                node->path[0] ? "." : "", key, list);
}

static GrainResult check_animation(const JobNode *node, const SettingBlock *block, int role)
{
    JobNode animation;
    const char *key;
    json_t *value;
    if (!json_object_get(node->object, "animation")) return GRAIN_OK;
    TRY(job_child(node, "animation", &animation));
    json_object_foreach((json_t *)animation.object, key, value)
    {
        const Setting *setting = find(block, role, key);
        if (!setting || !setting->is_animated) return refuse_key(&animation, block, role, 1, key);
    }
    return GRAIN_OK;
}

GrainResult schema_check_keys(const JobNode *node, const SettingBlock *block, int role)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)node->object, key,
                        value) if (!find(block, role, key)) return refuse_key(node, block, role, 0, key);
    return check_animation(node, block, role);
}

static void store_number(const Setting *setting, void *field, double number)
{
    switch (setting->store) {
    case STORE_FLOAT:
        *(float *)field = (float)number;
        return;
    case STORE_DOUBLE:
        *(double *)field = number;
        return;
    case STORE_INT:
        *(int *)field = (int)number;
        return;
    case STORE_INT64:
        *(int64_t *)field = (int64_t)number;
        return;
    default:
        return;
    }
}

static void store_vector(float *field, const double number[3])
{
    for (int i = 0; i < 3; i++) field[i] = (float)number[i];
}

// A field for a text holds the word itself, any other its place in the list.
static void store_choice(const Setting *setting, void *field, int place)
{
    if (setting->store == STORE_TEXT)
        *(const char **)field = schema_words(setting)[place];
    else
        store_number(setting, field, place);
}

static void store_default(const Setting *setting, void *field)
{
    if (setting->type == SETTING_TEXT) {
        *(const char **)field = setting->word;
    } else if (setting->type == SETTING_CHOICE) {
        int place = 0;
        while (strcmp(schema_words(setting)[place], setting->word) != 0) place++;
        store_choice(setting, field, place);
    } else if (setting->type == SETTING_VECTOR) {
        store_vector(field, setting->number);
    } else {
        store_number(setting, field, setting->number[0]);
    }
}

static GrainResult read_present(const JobNode *node, const Setting *setting, void *field)
{
    double number[3];
    int64_t integer;
    int place;
    switch (setting->type) {
    case SETTING_NUMBER:
        TRY(job_number(node, setting->key, setting->low, setting->high, number));
        store_number(setting, field, number[0]);
        return GRAIN_OK;
    case SETTING_INTEGER:
        TRY(job_integer(node, setting->key, (int64_t)setting->low, (int64_t)setting->high, &integer));
        store_number(setting, field, (double)integer);
        return GRAIN_OK;
    case SETTING_FLAG:
        TRY(job_flag(node, setting->key, &place));
        store_number(setting, field, place);
        return GRAIN_OK;
    case SETTING_CHOICE:
        TRY(job_choice(node, setting->key, schema_words(setting), &place));
        store_choice(setting, field, place);
        return GRAIN_OK;
    case SETTING_VECTOR:
        TRY(job_vector(node, setting->key, setting->low, setting->high, number));
        store_vector(field, number);
        return GRAIN_OK;
    default:
        return job_text(node, setting->key, (const char **)field);
    }
}

static GrainResult read_setting(const JobNode *node, const Setting *setting, void *out)
{
    void *field = (char *)out + setting->offset;
    if (json_object_get(node->object, setting->key) || setting->absence == SETTING_REQUIRED)
        return read_present(node, setting, field);
    if (setting->absence != SETTING_INHERITS) store_default(setting, field);
    return GRAIN_OK;
}

GrainResult schema_read(const JobNode *node, const SettingBlock *block, int role, void *out)
{
    for (int i = 0; i < block->count; i++) {
        const Setting *setting = &block->settings[i];
        if (setting->store != STORE_NOTHING && schema_has_role(setting, role)) TRY(read_setting(node, setting, out));
    }
    return GRAIN_OK;
}

GrainResult schema_read_one(const JobNode *node, const SettingBlock *block, int role, const char *key, void *out)
{
    return read_setting(node, schema_find(block, role, key), out);
}
