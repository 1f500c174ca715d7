// cache.json: what a cache holds. Written last, so whatever it lists is whole on disk.
#include "output/manifest.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/cache.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define MANIFEST_FORMAT 1
#define MANIFEST_NAME "cache.json"

static char *copy_text(const char *text)
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
    *manifest = (CacheManifest){0};
}

GrainResult manifest_add_frame(CacheManifest *manifest, const CacheFrame *frame)
{
    TRY(alloc_grow((void **)&manifest->frames, &manifest->frame_capacity, manifest->frame_count + 1, sizeof *frame));
    manifest->frames[manifest->frame_count++] = *frame;
    return GRAIN_OK;
}

GrainResult manifest_set_job(CacheManifest *manifest, const CacheManifest *wanted)
{
    char *name = copy_text(wanted->job_name), *library = copy_text(grain_version());
    char *bodies = copy_text(wanted->bodies ? wanted->bodies : "");
    alloc_free(manifest->job_name);
    alloc_free(manifest->library);
    alloc_free(manifest->bodies);
    manifest->bodies = bodies;
    manifest->job_name = name;
    manifest->library = library;
    memcpy(manifest->fingerprint, wanted->fingerprint, sizeof manifest->fingerprint);
    manifest->stream = wanted->stream;
    manifest->fps = wanted->fps;
    manifest->frame_start = wanted->frame_start;
    manifest->frame_end = wanted->frame_end;
    return name && library && bodies ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

// --- reading ------------------------------------------------------------------------------------

static GrainResult read_frame(const json_t *entry, const CacheManifest *manifest, CacheFrame *out)
{
    json_int_t frame, particles, bytes;
    const char *checksum;
    if (json_unpack((json_t *)entry, "{s:I, s:I, s:I, s:s}", "frame", &frame, "particles", &particles, "bytes", &bytes,
                    "checksum", &checksum) != 0 ||
        frame != manifest->frame_start + manifest->frame_count || particles < 0 || bytes < 0)
        return fail(GRAIN_ERROR_DAMAGED, "frame entry %lld makes no sense", (long long)manifest->frame_count);
    *out = (CacheFrame){(int32_t)frame, particles, bytes, 0};
    if (strlen(checksum) != 16 || sscanf(checksum, "%16" SCNx64, &out->checksum) != 1)
        return fail(GRAIN_ERROR_DAMAGED, "the checksum of frame %d makes no sense", out->frame);
    return GRAIN_OK;
}

// A list of names as lines. Caches from before there were bodies have none.
static GrainResult read_bodies(const json_t *root, char **out)
{
    const json_t *list = json_object_get(root, "bodies"), *name;
    size_t number, bytes = 1;
    json_array_foreach(list, number, name)
    {
        if (!json_is_string(name)) return fail(GRAIN_ERROR_DAMAGED, "the list of bodies makes no sense");
        bytes += json_string_length(name) + 1;
    }
    *out = ALLOC_ZEROED(char, (int64_t)bytes);
    if (!*out) return GRAIN_ERROR_MEMORY;
    json_array_foreach(list, number, name)
    {
        if (number > 0) strcat(*out, "\n");
        strcat(*out, json_string_value(name));
    }
    return GRAIN_OK;
}

static json_t *pack_bodies(const char *bodies)
{
    json_t *list = json_array();
    while (*bodies) {
        size_t length = strcspn(bodies, "\n");
        json_array_append_new(list, json_stringn(bodies, length));
        bodies += length + (bodies[length] == '\n');
    }
    return list;
}

static GrainResult read_manifest(const json_t *root, CacheManifest *out)
{
    int format, frame_start, frame_end;
    const char *library, *job, *fingerprint;
    const json_t *frames;
    if (json_unpack((json_t *)root, "{s:i}", "format", &format) != 0)
        return fail(GRAIN_ERROR_DAMAGED, "it has no format");
    if (format > MANIFEST_FORMAT)
        return fail(GRAIN_ERROR_DAMAGED, "it was written by a newer Grain (format %d); update Grain", format);
    if (json_unpack((json_t *)root, "{s:s, s:s, s:s, s:F, s:i, s:i, s:o}", "library", &library, "job", &job,
                    "fingerprint", &fingerprint, "fps", &out->fps, "frame_start", &frame_start, "frame_end", &frame_end,
                    "frames", &frames) != 0 ||
        strlen(fingerprint) != CACHE_FINGERPRINT_CHARS || !json_is_array(frames))
        return fail(GRAIN_ERROR_DAMAGED, "an entry is missing or of the wrong kind");
    memcpy(out->fingerprint, fingerprint, sizeof out->fingerprint);
    out->stream = json_object_get(json_object_get(root, "streams"), "grains") ? "grains" : "coarse";
    out->frame_start = frame_start;
    out->frame_end = frame_end;
    out->library = copy_text(library);
    out->job_name = copy_text(job);
    if (!out->library || !out->job_name) return GRAIN_ERROR_MEMORY;
    TRY(read_bodies(root, &out->bodies));
    for (size_t i = 0; i < json_array_size(frames); i++) {
        CacheFrame frame;
        TRY(read_frame(json_array_get(frames, i), out, &frame));
        TRY(manifest_add_frame(out, &frame));
    }
    return GRAIN_OK;
}

GrainResult cache_manifest_read(const char *folder, CacheManifest *out)
{
    *out = (CacheManifest){0};
    char *path;
    void *text;
    int64_t bytes;
    TRY(file_join(folder, MANIFEST_NAME, &path));
    GrainResult result = file_read(path, &text, &bytes);
    if (result == GRAIN_OK) {
        json_error_t error;
        json_t *root = json_loadb(text, (size_t)bytes, JSON_REJECT_DUPLICATES, &error);
        if (root)
            result = read_manifest(root, out);
        else
            result = fail(GRAIN_ERROR_DAMAGED, "line %d: %s", error.line, error.text);
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

// --- writing ------------------------------------------------------------------------------------

static json_t *pack_manifest(const CacheManifest *manifest)
{
    json_t *frames = json_array();
    for (int64_t i = 0; i < manifest->frame_count; i++) {
        const CacheFrame *frame = &manifest->frames[i];
        char checksum[17];
        snprintf(checksum, sizeof checksum, "%016" PRIx64, frame->checksum);
        json_array_append_new(frames, json_pack("{s:i, s:I, s:I, s:s}", "frame", frame->frame, "particles",
                                                (json_int_t)frame->particles, "bytes", (json_int_t)frame->bytes,
                                                "checksum", checksum));
    }
    json_t *columns = json_pack("[s, s, s]", "position", "velocity", "radius");
    if (manifest->has_orientation) json_array_append_new(columns, json_string("orientation"));
    return json_pack("{s:i, s:s, s:s, s:s, s:f, s:i, s:i, s:{s:{s:o, s:i}}, s:o, s:o}", "format", MANIFEST_FORMAT,
                     "library", manifest->library, "job", manifest->job_name, "fingerprint", manifest->fingerprint,
                     "fps", manifest->fps, "frame_start", manifest->frame_start, "frame_end", manifest->frame_end,
                     "streams", manifest->stream, "columns", columns, "bytes_per_particle", manifest->has_orientation ? 44 : 28,
                     "bodies", pack_bodies(manifest->bodies ? manifest->bodies : ""), "frames", frames);
}

GrainResult manifest_write(const char *folder, const CacheManifest *manifest, int64_t *bytes_written)
{
    json_t *root = pack_manifest(manifest);
    char *text = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    if (!text) return fail(GRAIN_ERROR_MEMORY, "not enough memory for the cache's list of frames");
    char *path = NULL;
    FileWriter file;
    GrainResult result = file_join(folder, MANIFEST_NAME, &path);
    if (result == GRAIN_OK) result = file_create(&file, path);
    if (result == GRAIN_OK) {
        result = file_write(&file, text, strlen(text));
        *bytes_written += file.bytes;
        if (result == GRAIN_OK)
            result = file_commit(&file);
        else
            file_abandon(&file);
    }
    alloc_free(path);
    free(text);
    return result;
}
