// SPDX-License-Identifier: GPL-3.0-or-later
// The table of settings as JSON (docs/formats.md, "The schema"): what the add-on and the documentation are made from.
#include "base/error.h"
#include "grain/job.h"
#include "job/schema.h"
#include "shape/shape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Text that may not fit: what does not is counted all the same.
typedef struct Text {
    char *out;
    int64_t room, length;
} Text;

static void put(Text *text, const char *format, ...) LIKE_PRINTF(2, 3);
static void put(Text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int64_t left = text->room > text->length ? text->room - text->length : 0;
    text->length += vsnprintf(left > 0 ? text->out + text->length : NULL, (size_t)left, format, arguments);
    va_end(arguments);
}

static void put_quoted(Text *text, const char *value)
{
    put(text, "\"");
    for (; *value; value++) put(text, *value == '"' || *value == '\\' ? "\\%c" : "%c", *value);
    put(text, "\"");
}

static void put_text(Text *text, const char *key, const char *value)
{
    if (!value) return;
    put(text, ", \"%s\": ", key);
    put_quoted(text, value);
}

static void put_range(Text *text, const char *low_key, double low, const char *high_key, double high)
{
    put(text, ", \"%s\": %.16g, \"%s\": %.16g", low_key, low, high_key, high);
}

// Numbers that an estimate of a bake needs.
static void put_constants(Text *text)
{
    const char *between = "";
    put(text, "\"constants\": {\"heap_packing\": %.16g, \"checkpoints_kept\": %d, \"grain_layers\": %d, \"balls\": {",
        SOLVER_HEAP_PACKING, CACHE_CHECKPOINTS_KEPT, UPSAMPLE_LAYERS);
    for (int i = 0; shape_names[i]; i++) {
        BallShape shape;
        if (shape_by_name(shape_names[i], &shape) != GRAIN_OK) continue;
        put(text, "%s\"%s\": %d", between, shape_names[i], shape.ball_count);
        between = ", ";
    }
    put(text, "}},\n\"solvers\": {");
    for (int i = 0; solver_at(i); i++) {
        const SolverTraits *traits = &solver_at(i)->traits;
        put(text, "%s\n \"%s\": {\"continuum\": %s, \"memory\": %.9g, \"checkpoint\": %.9g}", i ? "," : "",
            solver_at(i)->name, traits->is_continuum ? "true" : "false", (double)traits->memory,
            (double)traits->checkpoint);
    }
    put(text, "\n},\n");
}

// A default: of the file, or of the interface.
static void put_default(Text *text, const Setting *setting, const double number[3], const char *word)
{
    switch (setting->type) {
    case SETTING_CHOICE:
    case SETTING_TEXT:
        put_quoted(text, word);
        return;
    case SETTING_FLAG:
        put(text, number[0] != 0.0 ? "true" : "false");
        return;
    case SETTING_VECTOR:
        put(text, "[%.16g, %.16g, %.16g]", number[0], number[1], number[2]);
        return;
    default:
        put(text, "%.16g", number[0]);
        return;
    }
}

static int is_single_value(const Setting *setting)
{
    return setting->type != SETTING_ARRAY && setting->type != SETTING_OBJECT;
}

static void put_absence(Text *text, const Setting *setting)
{
    if (setting->absence == SETTING_REQUIRED) put(text, ", \"required\": true");
    if (is_single_value(setting) && setting->absence != SETTING_REQUIRED) {
        put(text, ", \"default\": ");
        int is_none = setting->absence == SETTING_IS_ABSENT;
        if (is_none) put(text, "null");
        if (!is_none) put_default(text, setting, setting->number, setting->word);
    }
    put_text(text, "otherwise", setting->otherwise);
}

static void put_shown(Text *text, const Setting *setting)
{
    const SettingShown *shown = setting->shown;
    if (!shown) return;
    put(text, ", \"shown\": {\"default\": ");
    put_default(text, setting, (const double[3]){shown->number}, shown->word);
    put_text(text, "as", shown->as);
    if (shown->low != shown->high) put_range(text, "low", shown->low, "high", shown->high);
    if (shown->soft_low != shown->soft_high)
        put_range(text, "soft_low", shown->soft_low, "soft_high", shown->soft_high);
    put(text, "}");
}

static void put_words(Text *text, const Setting *setting)
{
    if (setting->type != SETTING_CHOICE) return;
    const char *const *words = schema_words(setting);
    put(text, ", \"words\": [");
    for (int i = 0; words[i]; i++) {
        put(text, "%s{\"word\": \"%s\"", i ? ", " : "", words[i]);
        SettingWord label = schema_label(setting, i);
        put_text(text, "label", label.label);
        put_text(text, "tip", label.tip);
        put(text, "}");
    }
    put(text, "]");
}

static void put_roles(Text *text, const Setting *setting)
{
    const char *const *roles = schema_find(&schema_object, JOB_SOURCE, "role")->words;
    if (setting->roles == 0) return;
    const char *between = ", \"roles\": [";
    for (int i = 0; roles[i]; i++) {
        if (!schema_has_role(setting, i)) continue;
        put(text, "%s\"%s\"", between, roles[i]);
        between = ", ";
    }
    put(text, "]");
}

static int is_painted(const SettingBlock *block, const Setting *setting)
{
    char key[64];
    snprintf(key, sizeof key, "%s_paint", setting->key);
    for (int i = 0; i < block->count; i++)
        if (strcmp(block->settings[i].key, key) == 0) return 1;
    return 0;
}

// Whether the setting is of the sand itself, which is what solvers differ in.
static int is_of_sand(const SettingBlock *block, const Setting *setting)
{
    if (block == &schema_object) return setting->roles != 0 && (setting->roles & ~(ROLE(SOURCE) | ROLE(EMITTER))) == 0;
    return block == &schema_solver || block == &schema_material;
}

// Those that say they use the setting; nothing where none does, as then all do.
static void put_solvers(Text *text, const SettingBlock *block, const Setting *setting)
{
    int count = 0;
    for (int i = 0; is_of_sand(block, setting) && solver_at(i); i++)
        if (solver_uses(solver_at(i), setting->key))
            put(text, "%s\"%s\"", count++ ? ", " : ", \"solvers\": [", solver_at(i)->name);
    if (count > 0) put(text, "]");
}

static void put_setting(Text *text, const SettingBlock *block, const Setting *setting)
{
    static const char *const types[] = {"number", "integer", "flag", "choice", "text", "vector", "array", "object"};
    put(text, "{\"key\": \"%s\", \"type\": \"%s\"", setting->key, types[setting->type]);
    put_roles(text, setting);
    put_text(text, "unit", setting->unit);
    if (setting->low != setting->high) put_range(text, "low", setting->low, "high", setting->high);
    if (setting->soft_low != setting->soft_high)
        put_range(text, "soft_low", setting->soft_low > setting->low ? setting->soft_low : setting->low, "soft_high",
                  setting->soft_high);
    put_absence(text, setting);
    put_shown(text, setting);
    put_words(text, setting);
    if (setting->is_animated) put(text, ", \"animated\": true");
    if (is_painted(block, setting)) put(text, ", \"painted\": true");
    if (setting->is_no_result) put(text, ", \"fingerprint\": false");
    put_solvers(text, block, setting);
    put_text(text, "label", setting->label);
    put_text(text, "tip", setting->tip);
    put_text(text, "allowed", setting->allowed);
    put_text(text, "meaning", setting->meaning);
    put(text, "}");
}

int64_t schema_print(char *out, int64_t room)
{
    Text text = {out, room, 0};
    put(&text, "{\n\"schema\": %d,\n", JOB_SCHEMA);
    put_constants(&text);
    put(&text, "\"blocks\": {");
    for (int i = 0; schema_blocks[i]; i++) {
        const SettingBlock *block = schema_blocks[i];
        put(&text, "%s\n \"%s\": [", i ? "," : "", block->name);
        for (int k = 0; k < block->count; k++) {
            put(&text, k ? ",\n  " : "\n  ");
            put_setting(&text, block, &block->settings[k]);
        }
        put(&text, "]");
    }
    put(&text, "\n}\n}\n");
    return text.length;
}
