// SPDX-License-Identifier: GPL-3.0-or-later
// cache.json: what a cache holds. Written last, so whatever it lists is whole on disk.
#include "output/manifest.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/cache.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

char *manifest_copy_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    char *copy = ALLOC(char, (int64_t)bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void cache_manifest_free(CacheManifest *manifest)
{
    alloc_free(manifest->job_name);
    alloc_free(manifest->library);
    alloc_free(manifest->bodies);
    alloc_free(manifest->frames);
    alloc_free(manifest->births);
    json_decref(manifest->settings);
    *manifest = (CacheManifest){0};
}

GrainResult manifest_add_frame(CacheManifest *manifest, const CacheFrame *frame)
{
    TRY(alloc_grow((void **)&manifest->frames, &manifest->frame_capacity, manifest->frame_count + 1, sizeof *frame));
    manifest->frames[manifest->frame_count++] = *frame;
    return GRAIN_OK;
}

const CacheFrame *cache_manifest_find(const CacheFrame *frames, int64_t count, int32_t frame)
{
    int64_t low = 0, high = count;
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (frames[middle].frame < frame)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && frames[low].frame == frame ? &frames[low] : NULL;
}

void cache_manifest_keep_run(CacheManifest *manifest)
{
    int64_t count = 0;
    while (count < manifest->frame_count && manifest->frames[count].frame == manifest->frame_start + count) count++;
    manifest->frame_count = count;
}

GrainResult manifest_set_job(CacheManifest *manifest, const CacheManifest *wanted)
{
    char *name = manifest_copy_text(wanted->job_name), *library = manifest_copy_text(grain_version());
    char *bodies = manifest_copy_text(wanted->bodies ? wanted->bodies : "");
    alloc_free(manifest->job_name);
    alloc_free(manifest->library);
    alloc_free(manifest->bodies);
    json_decref(manifest->settings);
    manifest->settings = json_incref(wanted->settings);
    manifest->bodies = bodies;
    manifest->job_name = name;
    manifest->library = library;
    memcpy(manifest->fingerprint, wanted->fingerprint, sizeof manifest->fingerprint);
    manifest->stream = wanted->stream;
    memcpy(manifest->grids, wanted->grids, sizeof manifest->grids);
    manifest->number_shift = wanted->number_shift;
    manifest->voxel_size = wanted->voxel_size;
    manifest->fps = wanted->fps;
    manifest->frame_start = wanted->frame_start;
    manifest->frame_end = wanted->frame_end;
    return name && library && bodies ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// --- the file's own checksum ---------------------------------------------------------------------
// The last entry, over every byte before it: any change to the text is found, whatever it would mean.

#define CHECKSUM_KEY ",\n \"checksum\": \""
#define CHECKSUM_END "\"\n}"
_Static_assert(sizeof CHECKSUM_KEY - 1 + 16 + sizeof CHECKSUM_END - 1 == MANIFEST_SEAL_BYTES, "as in manifest.h");

void manifest_seal(char out[MANIFEST_SEAL_BYTES + 1], const char *text, size_t bytes)
{
    snprintf(out, MANIFEST_SEAL_BYTES + 1, CHECKSUM_KEY "%016" PRIx64 CHECKSUM_END, (uint64_t)XXH3_64bits(text, bytes));
}

int manifest_is_sealed(const char *text, size_t bytes)
{
    char expected[MANIFEST_SEAL_BYTES + 1];
    if (bytes < MANIFEST_SEAL_BYTES) return 0;
    manifest_seal(expected, text, bytes - MANIFEST_SEAL_BYTES);
    return memcmp(text + bytes - MANIFEST_SEAL_BYTES, expected, MANIFEST_SEAL_BYTES) == 0;
}

GrainResult cache_manifest_exists(const char *folder, int *exists)
{
    char *path;
    TRY(file_join(folder, MANIFEST_NAME, &path));
    *exists = file_exists(path);
    alloc_free(path);
    return GRAIN_OK;
}

// --- what has changed -----------------------------------------------------------------------------

static void add_text(char *text, size_t bytes, const char *format, const char *key, const json_t *was, const json_t *is)
{
    size_t used = strlen(text);
    char *before = was ? json_dumps(was, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    char *now = is ? json_dumps(is, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)) : NULL;
    if (used > 0) used += (size_t)snprintf(text + used, bytes - used, ", ");
    if (used < bytes) snprintf(text + used, bytes - used, format, key, before ? before : "", now ? now : "");
    free(before);
    free(now);
}

// Hashes are not shown to users.
static int is_hash(const json_t *value)
{
    const char *text = json_string_value(value);
    return text && strlen(text) >= 16 && strspn(text, "0123456789abcdef") == strlen(text);
}

void cache_manifest_explain(const CacheManifest *was, const CacheManifest *is, char *text, size_t bytes)
{
    const char *key;
    json_t *value, *other;
    text[0] = 0;
    json_object_foreach((json_t *)is->settings, key, value)
    {
        other = json_object_get(was->settings, key);
        if (other && json_equal(other, value)) continue;
        if (strlen(text) + 64 > bytes) break;
        if (!other)
            add_text(text, bytes, is_hash(value) ? "%s is new" : "%s is now set", key, NULL, value);
        else
            add_text(text, bytes, is_hash(value) ? "%s has changed" : "%s was %.60s, is %.60s", key, other, value);
    }
    json_object_foreach((json_t *)was->settings, key, value)
    {
        if (json_object_get(is->settings, key) || strlen(text) + 64 > bytes) continue;
        add_text(text, bytes, is_hash(value) ? "%s is gone" : "%s was %.60s, is the default", key, value, NULL);
    }
    if (!text[0]) snprintf(text, bytes, "the order of the objects, or Grain itself");
}

// --- writing ------------------------------------------------------------------------------------

// The list, or NULL where memory is short: a list that lacks an entry must not be written.
static json_t *append(json_t *list, json_t *value)
{
    if (json_array_append_new(list, value) == 0) return list;
    json_decref(list);
    return NULL;
}

static json_t *pack_bodies(const char *bodies)
{
    json_t *list = json_array();
    while (*bodies && list) {
        size_t length = strcspn(bodies, "\n");
        list = append(list, json_stringn(bodies, length));
        bodies += length + (bodies[length] == '\n');
    }
    return list;
}

// As they are on disk, over all frames, in hundredths of a byte.
static double bytes_per_particle(const CacheManifest *manifest)
{
    double bytes = 0.0, particles = 0.0;
    for (int64_t i = 0; i < manifest->frame_count; i++)
        bytes += (double)manifest->frames[i].bytes, particles += (double)manifest->frames[i].particles;
    return particles > 0.0 ? floor(100.0 * bytes / particles + 0.5) / 100.0 : 0.0;
}

// What each frame of the stream holds.
static json_t *pack_stream(const CacheManifest *manifest)
{
    json_t *columns = json_array();
    static const char *const of_particles[] = {"position", "velocity", "radius", NULL};
    const char *const *names = manifest->grids[0] ? manifest->grids : of_particles;
    for (int i = 0; names[i] && columns; i++) columns = append(columns, json_string(names[i]));
    if (manifest->grids[0])
        return json_pack("{s:o, s:f, s:i}", "grids", columns, "voxel_size", manifest->voxel_size, "number_shift",
                         manifest->number_shift);
    if (manifest->has_orientation && columns) columns = append(columns, json_string("orientation"));
    return json_pack("{s:o, s:f}", "columns", columns, "bytes_per_particle", bytes_per_particle(manifest));
}

static json_t *pack_entries(const CacheFrame *entries, int64_t count)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < count && list; i++) {
        char checksum[17];
        snprintf(checksum, sizeof checksum, "%016" PRIx64, entries[i].checksum);
        list = append(list, json_pack("{s:i, s:I, s:I, s:s}", "frame", entries[i].frame, "particles",
                                      (json_int_t)entries[i].particles, "bytes", (json_int_t)entries[i].bytes,
                                      "checksum", checksum));
    }
    return list;
}

static json_t *pack_manifest(const CacheManifest *manifest)
{
    json_t *frames = pack_entries(manifest->frames, manifest->frame_count);
    json_t *births = pack_entries(manifest->births, manifest->birth_count);
    json_t *settings = manifest->settings ? json_incref(manifest->settings) : json_object();
    return json_pack("{s:i, s:s, s:s, s:s, s:o, s:f, s:i, s:i, s:{s:o}, s:o, s:o, s:o}", "format", MANIFEST_FORMAT,
                     "library", manifest->library, "job", manifest->job_name, "fingerprint", manifest->fingerprint,
                     "settings", settings, "fps", manifest->fps, "frame_start", manifest->frame_start, "frame_end",
                     manifest->frame_end, "streams", manifest->stream, pack_stream(manifest), "bodies",
                     pack_bodies(manifest->bodies ? manifest->bodies : ""), "births", births, "frames", frames);
}

typedef struct Text {
    char *bytes;
    int64_t count, capacity;
    int is_short; ///< something is missing, for want of memory
} Text;

static int add_piece(const char *piece, size_t bytes, void *user)
{
    Text *text = user;
    if (alloc_grow((void **)&text->bytes, &text->capacity, text->count + (int64_t)bytes, 1) != GRAIN_OK)
        text->is_short = 1;
    if (text->is_short) return -1;
    memcpy(text->bytes + text->count, piece, bytes);
    text->count += (int64_t)bytes;
    return 0;
}

// All but the end of the object. Not by json_dumps, which leaves out a key when memory is short.
static GrainResult print_manifest(const CacheManifest *manifest, Text *text)
{
    json_t *root = pack_manifest(manifest);
    int is_whole = root && json_dump_callback(root, add_piece, text, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) == 0;
    json_decref(root);
    text->count -= (int64_t)strlen("\n}");
    if (is_whole && !text->is_short) return GRAIN_OK;
    return fail(GRAIN_ERROR_MEMORY, "not enough memory for the cache's list of frames");
}

static GrainResult write_text(const char *folder, const Text *text, int64_t *bytes_written)
{
    char *path = NULL, seal[MANIFEST_SEAL_BYTES + 1];
    FileWriter file;
    manifest_seal(seal, text->bytes, (size_t)text->count);
    TRY(file_join(folder, MANIFEST_NAME, &path));
    GrainResult result = file_create(&file, path);
    alloc_free(path);
    if (result != GRAIN_OK) return result;
    result = file_write(&file, text->bytes, (size_t)text->count);
    if (result == GRAIN_OK) result = file_write(&file, seal, MANIFEST_SEAL_BYTES);
    *bytes_written += file.bytes;
    if (result == GRAIN_OK) return file_commit(&file);
    file_abandon(&file);
    return result;
}

GrainResult manifest_write(const char *folder, const CacheManifest *manifest, int64_t *bytes_written)
{
    Text text = {0};
    GrainResult result = print_manifest(manifest, &text);
    if (result == GRAIN_OK) result = write_text(folder, &text, bytes_written);
    alloc_free(text.bytes);
    return result;
}
