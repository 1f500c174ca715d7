// SPDX-License-Identifier: GPL-3.0-or-later
// cache.json read back. A cache may come from a stranger, so a right checksum says nothing about what is written: the
// tables below say what every field can be, all that Grain uses of the file is read through them, and what does not fit
// is damage that names the field. Each table is walked once, so a list of a million entries takes a second.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/manifest.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Numbers above 2^53 are not the same in every program that reads JSON.
#define MOST_BYTES 9007199254740992.0
// 2^40, as of the files themselves. Sums over all frames of a cache fit into 63 bits.
#define MOST_PARTICLES 1099511627776.0
#define FINGERPRINT_DIGITS CACHE_FINGERPRINT_CHARS
#define CHECKSUM_DIGITS 16

/// An object in the document and its name in messages: "", "streams.volume", or "frames" with the number of an entry.
typedef struct Node {
    const json_t *object;
    const char *path;
    int64_t row; ///< -1: not an entry of a list
} Node;

typedef enum FieldType {
    FIELD_WHOLE, ///< a whole number in a range
    FIELD_NUMBER,
    FIELD_TEXT,
    FIELD_DIGITS, ///< `high` hexadecimal digits
    FIELD_OBJECT,
    FIELD_TEXTS, ///< a list of texts
    FIELD_LIST,
} FieldType;

/// What becomes of a value that fits.
typedef enum FieldStore {
    STORE_NOTHING, ///< it is only checked
    STORE_INT32,
    STORE_INT64,
    STORE_DOUBLE,
    STORE_TEXT,   ///< copied
    STORE_DIGITS, ///< copied into an array
    STORE_BITS,   ///< 16 digits as a number
    STORE_JSON,   ///< as it is
} FieldStore;

typedef GrainResult FieldFn(const json_t *value, CacheManifest *out);

typedef struct Field {
    const char *key;
    FieldType type;
    double low, high;
    FieldStore store;
    size_t offset;
    FieldFn *take; ///< in place of `store`: code of its own, for what is more than one value
    int is_optional;
} Field;
#define INTO(kind, Type, field) .store = STORE_##kind, .offset = offsetof(Type, field)
#define COUNT(fields) ((int)(sizeof(fields) / sizeof *(fields)))

static FieldFn take_format, take_streams, take_bodies, take_births, take_frames, take_grids;

// --- what there can be ----------------------------------------------------------------------------

// Before all others, and before the checksum: another format may have another one.
static const Field format_field[] = {
    {"format", FIELD_WHOLE, .low = -MOST_BYTES, .high = MOST_BYTES, .take = take_format},
};

static const Field root_fields[] = {
    {"library", FIELD_TEXT, INTO(TEXT, CacheManifest, library)},
    {"job", FIELD_TEXT, INTO(TEXT, CacheManifest, job_name)},
    {"fingerprint", FIELD_DIGITS, .high = FINGERPRINT_DIGITS, INTO(DIGITS, CacheManifest, fingerprint)},
    {"settings", FIELD_OBJECT, INTO(JSON, CacheManifest, settings), .is_optional = 1}, // early caches have none
    {"fps", FIELD_NUMBER, 1.0, 1000.0, INTO(DOUBLE, CacheManifest, fps)},              // as of a job
    {"frame_start", FIELD_WHOLE, -FRAME_LIMIT, FRAME_LIMIT, INTO(INT32, CacheManifest, frame_start)},
    {"frame_end", FIELD_WHOLE, -FRAME_LIMIT, FRAME_LIMIT, INTO(INT32, CacheManifest, frame_end)},
    {"streams", FIELD_OBJECT, .take = take_streams},
    {"bodies", FIELD_TEXTS, .take = take_bodies, .is_optional = 1}, // caches from before there were bodies,
    {"births", FIELD_LIST, .take = take_births, .is_optional = 1},  // or births
    {"frames", FIELD_LIST, .take = take_frames},
    {"checksum", FIELD_DIGITS, .high = CHECKSUM_DIGITS},
};

static const Field entry_fields[] = {
    // of births and frames
    {"frame", FIELD_WHOLE, -FRAME_LIMIT, FRAME_LIMIT, INTO(INT32, CacheFrame, frame)},
    {"particles", FIELD_WHOLE, 0.0, MOST_PARTICLES, INTO(INT64, CacheFrame, particles)},
    {"bytes", FIELD_WHOLE, 0.0, MOST_BYTES, INTO(INT64, CacheFrame, bytes)},
    {"checksum", FIELD_DIGITS, .high = CHECKSUM_DIGITS, INTO(BITS, CacheFrame, checksum)},
};

static const Field particle_fields[] = {
    // for other programs: the frames themselves say what they have
    {"columns", FIELD_TEXTS, .is_optional = 1},
    {"bytes_per_particle", FIELD_NUMBER, 0.0, MOST_BYTES, .is_optional = 1},
};

static const Field volume_fields[] = {
    {"grids", FIELD_TEXTS, .take = take_grids},
    // From half the radius of the smallest grain of the smallest particle to a hundred of the largest.
    {"voxel_size", FIELD_NUMBER, 1e-12, 1e6, INTO(DOUBLE, CacheManifest, voxel_size)},
    {"number_shift", FIELD_WHOLE, 0.0, FRAME_LIMIT, INTO(INT32, CacheManifest, number_shift)},
};

static const struct Stream {
    const char *name, *path;
    const Field *fields;
    int field_count;
} streams[] = {
    {"coarse", "streams.coarse", particle_fields, COUNT(particle_fields)},
    {"grains", "streams.grains", particle_fields, COUNT(particle_fields)},
    {"volume", "streams.volume", volume_fields, COUNT(volume_fields)},
};

static const char *const known_grids[] = {"density", "velocity", "dust", "surface"};
_Static_assert(COUNT(known_grids) == CACHE_MOST_GRIDS, "one of each");

// --- messages -------------------------------------------------------------------------------------

// "frames[2].bytes is -1; it must be a whole number from 0 to 9007199254740992: bake anew"
static GrainResult fail_value(const Node *node, const char *key, const json_t *value, const char *wanted)
{
    char path[160];
    const char *dot = node->path[0] && key[0] ? "." : "";
    if (node->row < 0)
        snprintf(path, sizeof path, "%s%s%s", node->path, dot, key);
    else
        snprintf(path, sizeof path, "%s[%lld]%s%s", node->path, (long long)node->row, dot, key);
    if (!value) return fail(GRAIN_ERROR_DAMAGED, "%s is missing; it must be %s: bake anew", path, wanted);
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
    GrainResult result = fail(GRAIN_ERROR_DAMAGED, "%s is %.60s; it must be %s: bake anew", path,
                              text ? text : "too large to show", wanted);
    free(text);
    return result;
}

static GrainResult fail_field(const Node *node, const Field *field, const json_t *value)
{
    static const char *const words[] = {[FIELD_TEXT] = "text",
                                        [FIELD_OBJECT] = "an object {...}",
                                        [FIELD_TEXTS] = "a list of texts [...]",
                                        [FIELD_LIST] = "a list [...]"};
    char wanted[96];
    if (field->type == FIELD_WHOLE)
        snprintf(wanted, sizeof wanted, "a whole number from %.0f to %.0f", field->low, field->high);
    else if (field->type == FIELD_NUMBER)
        snprintf(wanted, sizeof wanted, "a number from %g to %g", field->low, field->high);
    else if (field->type == FIELD_DIGITS)
        snprintf(wanted, sizeof wanted, "text of %.0f hexadecimal digits", field->high);
    else
        snprintf(wanted, sizeof wanted, "%s", words[field->type]);
    return fail_value(node, field->key, value, wanted);
}

// --- walking a table ------------------------------------------------------------------------------

// Small letters only, as Grain writes them: two texts of one number would be two fingerprints.
static int is_hexadecimal(const char *text, size_t digits)
{
    return text && strlen(text) == digits && strspn(text, "0123456789abcdef") == digits;
}

static GrainResult check_texts(const Node *node, const Field *field, const json_t *list)
{
    const json_t *text;
    size_t number;
    if (!json_is_array(list)) return fail_field(node, field, list);
    json_array_foreach(list, number, text)
    {
        char key[64];
        if (json_is_string(text)) continue;
        snprintf(key, sizeof key, "%s[%zu]", field->key, number);
        return fail_value(node, key, text, "text");
    }
    return GRAIN_OK;
}

static GrainResult check_field(const Node *node, const Field *field, const json_t *value)
{
    double number = json_number_value(value);
    int fits = 0;
    switch (field->type) {
    case FIELD_WHOLE:
        fits = json_is_integer(value) && json_integer_value(value) >= (json_int_t)field->low &&
               json_integer_value(value) <= (json_int_t)field->high;
        break;
    case FIELD_NUMBER:
        fits = json_is_number(value) && number >= field->low && number <= field->high;
        break;
    case FIELD_TEXT:
        fits = json_is_string(value);
        break;
    case FIELD_DIGITS:
        fits = is_hexadecimal(json_string_value(value), (size_t)field->high);
        break;
    case FIELD_OBJECT:
        fits = json_is_object(value);
        break;
    case FIELD_TEXTS:
        return check_texts(node, field, value);
    case FIELD_LIST:
        fits = json_is_array(value);
        break;
    }
    return fits ? GRAIN_OK : fail_field(node, field, value);
}

static GrainResult store_field(const Field *field, json_t *value, void *out)
{
    char *to = (char *)out + field->offset;
    const char *text = json_string_value(value);
    switch (field->store) {
    case STORE_NOTHING:
        break;
    case STORE_INT32:
        *(int32_t *)to = (int32_t)json_integer_value(value);
        break;
    case STORE_INT64:
        *(int64_t *)to = json_integer_value(value);
        break;
    case STORE_DOUBLE:
        *(double *)to = json_number_value(value);
        break;
    case STORE_TEXT:
        *(char **)to = manifest_copy_text(text);
        return *(char **)to ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    case STORE_DIGITS:
        memcpy(to, text, (size_t)field->high + 1);
        break;
    case STORE_BITS:
        *(uint64_t *)to = strtoull(text, NULL, 16);
        break;
    case STORE_JSON:
        *(void **)to = json_incref(value);
        break;
    }
    return GRAIN_OK;
}

// *out is what the offsets are of; code of their own gets the manifest.
static GrainResult read_fields(const Node *node, const Field *fields, int count, void *out, CacheManifest *manifest)
{
    for (int i = 0; i < count; i++) {
        const Field *field = &fields[i];
        json_t *value = json_object_get(node->object, field->key);
        if (!value && field->is_optional) continue;
        TRY(check_field(node, field, value));
        TRY(field->take ? field->take(value, manifest) : store_field(field, value, out));
    }
    return GRAIN_OK;
}

// --- what is more than one value ------------------------------------------------------------------

static GrainResult take_format(const json_t *value, CacheManifest *out)
{
    json_int_t format = json_integer_value(value);
    (void)out;
    if (format < MANIFEST_FORMAT)
        return fail(GRAIN_ERROR_DAMAGED, "it was written by an older Grain (format %lld); bake anew",
                    (long long)format);
    if (format > MANIFEST_FORMAT)
        return fail(GRAIN_ERROR_DAMAGED, "it was written by a newer Grain (format %lld); update Grain",
                    (long long)format);
    return GRAIN_OK;
}

static GrainResult take_streams(const json_t *value, CacheManifest *out)
{
    const Node root = {NULL, "", -1};
    for (int i = 0; i < COUNT(streams) && json_object_size(value) == 1; i++) {
        const Node node = {json_object_get(value, streams[i].name), streams[i].path, -1};
        if (!node.object) continue;
        if (!json_is_object(node.object)) return fail_value(&node, "", node.object, "an object {...}");
        out->stream = streams[i].name;
        return read_fields(&node, streams[i].fields, streams[i].field_count, out, out);
    }
    return fail_value(&root, "streams", value, "an object with one of \"coarse\", \"grains\" and \"volume\"");
}

static GrainResult take_grids(const json_t *list, CacheManifest *out)
{
    static const Node node = {NULL, "streams.volume", -1};
    const json_t *name;
    size_t number, count = json_array_size(list);
    int is_listed[CACHE_MOST_GRIDS] = {0}, good = count >= 1 && count <= CACHE_MOST_GRIDS;
    for (number = 0; good && (name = json_array_get(list, number)); number++) {
        int grid = 0;
        while (grid < CACHE_MOST_GRIDS && strcmp(json_string_value(name), known_grids[grid]) != 0) grid++;
        good = grid < CACHE_MOST_GRIDS && !is_listed[grid];
        if (good) is_listed[grid] = 1, out->grids[number] = known_grids[grid];
    }
    return good ? GRAIN_OK
                : fail_value(&node, "grids", list,
                             "a list with some of \"density\", \"velocity\", \"dust\" and \"surface\", each once");
}

// As lines.
static GrainResult take_bodies(const json_t *list, CacheManifest *out)
{
    static const Node root = {NULL, "", -1};
    const json_t *name;
    size_t number, bytes = 1;
    json_array_foreach(list, number, name)
    {
        if (strchr(json_string_value(name), '\n')) return fail_value(&root, "bodies", name, "names of one line each");
        bytes += json_string_length(name) + 1;
    }
    out->bodies = ALLOC(char, (int64_t)bytes);
    if (!out->bodies) return GRAIN_ERROR_MEMORY;
    char *end = out->bodies;
    json_array_foreach(list, number, name)
    {
        if (number > 0) *end++ = '\n';
        memcpy(end, json_string_value(name), json_string_length(name));
        end += json_string_length(name);
    }
    *end = 0;
    return GRAIN_OK;
}

// In ascending order, so that a list has at most as many entries as there are numbers for frames.
static GrainResult read_entries(const json_t *list, const char *key, CacheFrame **entries, int64_t *capacity,
                                int64_t *count)
{
    const json_t *entry;
    size_t number;
    TRY(alloc_grow((void **)entries, capacity, (int64_t)json_array_size(list), sizeof **entries));
    json_array_foreach(list, number, entry)
    {
        const Node node = {entry, key, (int64_t)number};
        CacheFrame *to = &(*entries)[number];
        if (!json_is_object(entry)) return fail_value(&node, "", entry, "an object {...}");
        *to = (CacheFrame){0};
        TRY(read_fields(&node, entry_fields, COUNT(entry_fields), to, NULL));
        if (number > 0 && to->frame <= to[-1].frame)
            return fail_value(&node, "frame", json_object_get(entry, "frame"), "above that of the entry before it");
        *count = (int64_t)number + 1;
    }
    return GRAIN_OK;
}

static GrainResult take_births(const json_t *list, CacheManifest *out)
{
    return read_entries(list, "births", &out->births, &out->birth_capacity, &out->birth_count);
}

static GrainResult take_frames(const json_t *list, CacheManifest *out)
{
    static const Node first = {NULL, "frames", 0};
    TRY(read_entries(list, "frames", &out->frames, &out->frame_capacity, &out->frame_count));
    if (out->frame_count == 0 || out->frames[0].frame >= out->frame_start) return GRAIN_OK;
    return fail_value(&first, "frame", json_object_get(json_array_get(list, 0), "frame"), "frame_start or above");
}

// --- the whole ------------------------------------------------------------------------------------

static GrainResult read_manifest(const json_t *object, const char *text, size_t bytes, CacheManifest *out)
{
    const Node root = {object, "", -1};
    if (!json_is_object(object)) return fail(GRAIN_ERROR_DAMAGED, "it is not an object {...}: bake anew");
    TRY(read_fields(&root, format_field, COUNT(format_field), out, out));
    if (!manifest_is_sealed(text, bytes)) return fail(GRAIN_ERROR_DAMAGED, "its checksum is wrong: bake anew");
    TRY(read_fields(&root, root_fields, COUNT(root_fields), out, out));
    if (out->frame_end < out->frame_start)
        return fail_value(&root, "frame_end", json_object_get(object, "frame_end"), "frame_start or above");
    if (!out->bodies) out->bodies = manifest_copy_text("");
    return out->bodies ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// Where memory is short, Jansson finds fault with the syntax. A list with its checksum is whole unless somebody forged
// it, and what is called damaged may be replaced: better told to free memory.
static int is_surely_damaged(const char *text, size_t bytes, const json_error_t *error)
{
    switch (json_error_code(error)) {
    case json_error_stack_overflow:
    case json_error_invalid_utf8:
    case json_error_null_character:
    case json_error_null_byte_in_key:
    case json_error_duplicate_key:
    case json_error_numeric_overflow:
        return 1;
    default:
        return !manifest_is_sealed(text, bytes);
    }
}

static GrainResult fail_syntax(const char *text, size_t bytes, const json_error_t *error)
{
    if (is_surely_damaged(text, bytes, error))
        return fail(GRAIN_ERROR_DAMAGED, "line %d: %s: bake anew", error->line, error->text);
    return fail(GRAIN_ERROR_MEMORY, "line %d cannot be read although its checksum is right: free memory, or bake anew",
                error->line);
}

GrainResult cache_manifest_read(const char *folder, CacheManifest *out)
{
    *out = (CacheManifest){0};
    char *path;
    void *text;
    int64_t bytes;
    TRY(file_join(folder, MANIFEST_NAME, &path));
    GrainResult result = file_read(path, MANIFEST_MOST_BYTES, &text, &bytes);
    if (result == GRAIN_OK) {
        json_error_t error;
        json_t *root = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES, &error);
        result = root ? read_manifest(root, text, (size_t)bytes, out) : fail_syntax(text, (size_t)bytes, &error);
        json_decref(root);
        alloc_free(text);
        if (result != GRAIN_OK) {
            result = fail_within(result, "the cache's list of frames '%s' cannot be used", path);
            cache_manifest_free(out);
        }
    }
    alloc_free(path);
    return result;
}
