// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/cache.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/column_gate.h"
#include "output/manifest.h"

#include <stdio.h>
#include <string.h>

#define CHECKPOINT_LATEST "checkpoint.grain"
#define CHECKPOINT_EVERY 10 // frames

// --- names --------------------------------------------------------------------------------------

GrainResult cache_frame_path(const char *folder, const char *stream, int32_t frame, char **path)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%06d.grain", stream, frame);
    return file_join(folder, name, path);
}

// Whether it is the file that is listed, and the list says of it what is true.
static GrainResult check_listed(const char *path, const struct GrainFrame *file, const char *stream,
                                const CacheFrame *listed)
{
    const ColumnFileHeader *header = &file->header;
    ColumnFileKind kind = strcmp(stream, "birth") == 0 ? COLUMN_FILE_BIRTH : COLUMN_FILE_FRAME;
    if (header->checksum != listed->checksum || header->frame != listed->frame || column_gate_kind(file) != kind)
        return fail(GRAIN_ERROR_DAMAGED, "'%s' is not the file the cache lists; bake again to redo it", path);
    if (header->particles != listed->particles)
        return fail(GRAIN_ERROR_DAMAGED, "'%s' has %lld particles where the cache lists %lld; bake again to redo it",
                    path, (long long)header->particles, (long long)listed->particles);
    if (header->bytes != listed->bytes)
        return fail(GRAIN_ERROR_DAMAGED, "'%s' has %lld bytes where the cache lists %lld; bake again to redo it", path,
                    (long long)header->bytes, (long long)listed->bytes);
    return GRAIN_OK;
}

GrainResult cache_read_frame(const char *folder, const char *stream, const CacheFrame *frame, struct GrainFrame *out)
{
    char *path;
    TRY(cache_frame_path(folder, stream, frame->frame, &path));
    GrainResult result = column_file_read(path, out);
    if (result == GRAIN_OK) {
        result = check_listed(path, out, stream, frame);
        if (result != GRAIN_OK) column_file_free(out);
    }
    alloc_free(path);
    return result;
}

// Exactly the names a cache itself gives: nothing else is ever removed.
static int is_numbered(const char *name, const char *prefix, int32_t *frame)
{
    char expected[64];
    int number;
    size_t length = strlen(prefix);
    if (strncmp(name, prefix, length) != 0 || sscanf(name + length, "_%d", &number) != 1) return 0;
    snprintf(expected, sizeof expected, "%s_%06d.grain", prefix, number);
    *frame = number;
    return strcmp(name, expected) == 0;
}

CacheFile cache_file_kind(const char *name, int32_t *frame)
{
    char whole[64];
    size_t length = strlen(name), suffix = strlen(FILE_PART_SUFFIX);
    if (length >= sizeof whole) return CACHE_FILE_FOREIGN;
    if (length > suffix && strcmp(name + length - suffix, FILE_PART_SUFFIX) == 0) {
        snprintf(whole, sizeof whole, "%.*s", (int)(length - suffix), name);
        CacheFile kind = cache_file_kind(whole, frame);
        return kind == CACHE_FILE_FOREIGN || kind == CACHE_FILE_PART ? CACHE_FILE_FOREIGN : CACHE_FILE_PART;
    }
    if (is_numbered(name, "coarse", frame)) return CACHE_FILE_COARSE;
    if (is_numbered(name, "grains", frame)) return CACHE_FILE_GRAINS;
    if (is_numbered(name, "birth", frame)) return CACHE_FILE_BIRTH;
    if (is_numbered(name, "checkpoint", frame)) return CACHE_FILE_CHECKPOINT;
    if (sscanf(name, "volume_%d", frame) == 1) {
        snprintf(whole, sizeof whole, "volume_%04d.vdb", *frame);
        return strcmp(name, whole) == 0 ? CACHE_FILE_VOLUME : CACHE_FILE_FOREIGN;
    }
    if (strcmp(name, CHECKPOINT_LATEST) == 0) return CACHE_FILE_LATEST;
    return strcmp(name, "cache.json") == 0 ? CACHE_FILE_MANIFEST : CACHE_FILE_FOREIGN;
}

// One of the cache's own files, or only what an unfinished write left behind.
static GrainResult remove_own(void *user, const FileEntry *entry)
{
    const int *only_unfinished = user;
    int32_t frame;
    CacheFile kind = cache_file_kind(entry->name, &frame);
    int is_meant = *only_unfinished ? kind == CACHE_FILE_PART : kind != CACHE_FILE_FOREIGN;
    return is_meant ? file_entry_remove(entry) : GRAIN_OK;
}

// --- opening ------------------------------------------------------------------------------------

static GrainResult fail_other_job(const Cache *cache, const CacheManifest *wanted)
{
    char changes[512];
    cache_manifest_explain(&cache->manifest, wanted, changes, sizeof changes);
    return fail(GRAIN_ERROR_OTHER_JOB,
                "'%s' contains a bake with other settings or of another scene (%lld frames; %s); bake anew (--restart) "
                "or choose "
                "another cache folder",
                cache->folder, (long long)cache->manifest.frame_count, changes);
}

// What an opening makes of a list of frames that is there.
typedef struct OpeningRule {
    int ignores;          // it is as if there were none
    int replaces_damaged; // one that cannot be read is of no use, and no reason to fail
    int refuses_others;   // frames of another job are an error; otherwise they go
    int adopts;           // frames of other settings at the same times are taken for those of the job
    int may_begin_before; // frames before the wanted ones stay in the list
} OpeningRule;
static const OpeningRule opening_rules[] = {
    [CACHE_KEEP] = {.refuses_others = 1},
    [CACHE_RESTART] = {.ignores = 1},
    [CACHE_REPLACE] = {.replaces_damaged = 1, .may_begin_before = 1},
    [CACHE_ADOPT] = {.refuses_others = 1, .adopts = 1},
};

static GrainResult read_frames(Cache *cache, const OpeningRule *rule, int *exists)
{
    TRY(cache_manifest_exists(cache->folder, exists));
    *exists = *exists && !rule->ignores;
    if (!*exists) return GRAIN_OK;
    GrainResult result = cache_manifest_read(cache->folder, &cache->manifest);
    if (result != GRAIN_ERROR_DAMAGED || !rule->replaces_damaged) return result;
    *exists = 0;
    return GRAIN_OK;
}

static GrainResult adopt_manifest(Cache *cache, const CacheManifest *wanted, CacheOpening opening)
{
    const OpeningRule *rule = &opening_rules[opening];
    const CacheManifest *old = &cache->manifest;
    int exists;
    TRY(read_frames(cache, rule, &exists));
    cache_manifest_keep_run(&cache->manifest);
    int is_same = exists && strcmp(old->fingerprint, wanted->fingerprint) == 0;
    int has_its_times = rule->adopts && old->frame_start == wanted->frame_start && old->fps == wanted->fps;
    if (exists && rule->refuses_others && !is_same && !has_its_times) return fail_other_job(cache, wanted);
    int keeps = rule->refuses_others || (is_same && old->frame_start <= wanted->frame_start);
    TRY(file_visit(cache->folder, remove_own, &keeps));
    int32_t frame_start = keeps && exists ? old->frame_start : wanted->frame_start;
    if (!keeps) cache_manifest_free(&cache->manifest);
    TRY(manifest_set_job(&cache->manifest, wanted));
    if (rule->may_begin_before) cache->manifest.frame_start = frame_start;
    return GRAIN_OK;
}

GrainResult cache_open(Cache *cache, const char *folder, const CacheManifest *wanted, CacheOpening opening)
{
    *cache = (Cache){.lock = CACHE_LOCK_NONE, .checkpoint_every = CHECKPOINT_EVERY};
    GrainResult result = file_make_folder(folder);
    if (result == GRAIN_OK) result = file_join(folder, "", &cache->folder);
    if (result == GRAIN_OK) result = cache_lock_take(&cache->lock, cache->folder);
    if (result == GRAIN_OK) result = adopt_manifest(cache, wanted, opening);
    if (result != GRAIN_OK) cache_close(cache);
    return result;
}

void cache_close(Cache *cache)
{
    cache_lock_release(&cache->lock);
    alloc_free(cache->folder);
    cache->folder = NULL;
    cache_manifest_free(&cache->manifest);
}

GrainResult cache_beat(Cache *cache) { return cache_lock_beat(&cache->lock); }

// --- writing ------------------------------------------------------------------------------------

GrainResult cache_add_frame(Cache *cache, const ColumnFileHeader *header)
{
    cache->bytes_written += header->bytes;
    TRY(cache_lock_check(&cache->lock));
    TRY(manifest_add_frame(&cache->manifest,
                           &(CacheFrame){header->frame, header->particles, header->bytes, header->checksum}));
    return manifest_write(cache->folder, &cache->manifest, &cache->bytes_written);
}

GrainResult cache_write_frame(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count)
{
    ColumnFileHeader header = {.frame = frame, .time = time, .particles = particles};
    char *path;
    TRY(cache_frame_path(cache->folder, cache->manifest.stream, frame, &path));
    GrainResult result = column_file_write(path, &header, columns, column_count);
    alloc_free(path);
    if (result != GRAIN_OK) return result;
    cache->manifest.has_orientation = column_find(columns, column_count, "orientation") != NULL;
    return cache_add_frame(cache, &header);
}

GrainResult cache_add_birth(Cache *cache, const ColumnFileHeader *header)
{
    CacheManifest *manifest = &cache->manifest;
    cache->bytes_written += header->bytes;
    TRY(alloc_grow((void **)&manifest->births, &manifest->birth_capacity, manifest->birth_count + 1,
                   sizeof(CacheFrame)));
    // In their order, too, when those of an early frame are made again.
    int64_t place = manifest->birth_count++;
    for (; place > 0 && manifest->births[place - 1].frame > header->frame; place--)
        manifest->births[place] = manifest->births[place - 1];
    manifest->births[place] = (CacheFrame){header->frame, header->particles, header->bytes, header->checksum};
    return GRAIN_OK;
}

GrainResult cache_write_birth(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count)
{
    ColumnFileHeader header = {.frame = frame, .time = time, .particles = particles};
    char *path;
    TRY(cache_frame_path(cache->folder, "birth", frame, &path));
    GrainResult result = column_file_write(path, &header, columns, column_count);
    alloc_free(path);
    return result == GRAIN_OK ? cache_add_birth(cache, &header) : result;
}

int cache_has_birth(const CacheManifest *manifest, int32_t frame)
{
    return cache_manifest_find(manifest->births, manifest->birth_count, frame) != NULL;
}

GrainResult cache_read_birth(const char *folder, const CacheFrame *birth, struct GrainFrame *out)
{
    return cache_read_frame(folder, "birth", birth, out);
}

void cache_forget_births(CacheManifest *manifest, int32_t last)
{
    while (manifest->birth_count > 0 && manifest->births[manifest->birth_count - 1].frame > last)
        manifest->birth_count--;
}

void cache_forget_frames(Cache *cache, int32_t last)
{
    CacheManifest *manifest = &cache->manifest;
    while (manifest->frame_count > 0 && manifest->frames[manifest->frame_count - 1].frame > last)
        manifest->frame_count--;
    cache_forget_births(manifest, last);
}

static GrainResult write_checkpoint_as(Cache *cache, const char *name, const ColumnFileHeader *header,
                                       const Column *columns, int column_count)
{
    char *path;
    TRY(cache_lock_check(&cache->lock));
    TRY(file_join(cache->folder, name, &path));
    ColumnFileHeader written = *header;
    GrainResult result = column_file_write(path, &written, columns, column_count);
    if (result == GRAIN_OK) cache->bytes_written += written.bytes;
    alloc_free(path);
    return result;
}

static GrainResult remove_checkpoint(const Cache *cache, int32_t frame)
{
    char name[64], *path;
    snprintf(name, sizeof name, "checkpoint_%06d.grain", frame);
    TRY(file_join(cache->folder, name, &path));
    GrainResult result = file_remove(path);
    alloc_free(path);
    return result;
}

// Removes checkpoints that have become too old, from frame `first` on. When a bake resumes, all are checked, as it may
// have been interrupted before it came to this; later one each time.
static GrainResult thin_checkpoints(const Cache *cache, int64_t first, int32_t newest)
{
    int64_t every = cache->checkpoint_every, oldest = newest / every * every - every * (CACHE_CHECKPOINTS_KEPT - 1);
    for (int64_t frame = first / every * every; frame < oldest; frame += every)
        if (frame % (every * CACHE_CHECKPOINTS_KEPT) != 0) TRY(remove_checkpoint(cache, (int32_t)frame));
    return GRAIN_OK;
}

GrainResult cache_write_checkpoint(Cache *cache, const ColumnFileHeader *header, const Column *columns,
                                   int column_count)
{
    if (header->substep == 0 && header->frame % cache->checkpoint_every == 0) {
        char name[64];
        snprintf(name, sizeof name, "checkpoint_%06d.grain", header->frame);
        TRY(write_checkpoint_as(cache, name, header, columns, column_count));
        TRY(thin_checkpoints(cache, header->frame - (int64_t)cache->checkpoint_every * CACHE_CHECKPOINTS_KEPT,
                             header->frame));
    }
    return write_checkpoint_as(cache, CHECKPOINT_LATEST, header, columns, column_count);
}

// --- going on -----------------------------------------------------------------------------------

// A frame together with what those born in it brought.
static GrainResult check_frame(const Cache *cache, const CacheFrame *frame)
{
    const CacheManifest *manifest = &cache->manifest;
    const CacheFrame *birth = cache_manifest_find(manifest->births, manifest->birth_count, frame->frame);
    struct GrainFrame file;
    if (birth) {
        TRY(cache_read_birth(cache->folder, birth, &file));
        column_file_free(&file);
    }
    TRY(cache_read_frame(cache->folder, manifest->stream, frame, &file));
    column_file_free(&file);
    return GRAIN_OK;
}

// How many of the manifest's frames, from the first on, are whole on disk.
static GrainResult count_whole_frames(const Cache *cache, GrainMessageFn *warn, void *user, int64_t *count)
{
    for (*count = 0; *count < cache->manifest.frame_count; ++*count) {
        const CacheFrame *frame = &cache->manifest.frames[*count];
        GrainResult result = check_frame(cache, frame);
        if (result == GRAIN_ERROR_MEMORY) return result;
        if (result == GRAIN_OK) continue;
        char text[1024];
        snprintf(text, sizeof text, "frame %d is baked again: %s", frame->frame, error_text());
        warn(user, text);
        return GRAIN_OK;
    }
    return GRAIN_OK;
}

// A checkpoint that is missing, damaged or too late is not found; that is no error, but damage is told.
static GrainResult read_checkpoint(const Cache *cache, const char *name, int32_t last_whole, GrainMessageFn *warn,
                                   void *user, struct GrainFrame *out, int *found)
{
    char *path;
    *found = 0;
    TRY(file_join(cache->folder, name, &path));
    int exists = file_exists(path);
    GrainResult result = exists ? column_file_read(path, out) : GRAIN_ERROR_IO;
    if (result == GRAIN_OK && column_gate_kind(out) != COLUMN_FILE_CHECKPOINT) {
        result = fail(GRAIN_ERROR_DAMAGED, "'%s' is not a checkpoint", path);
        column_file_free(out);
    }
    alloc_free(path);
    if (result == GRAIN_ERROR_MEMORY) return result;
    if (exists && result != GRAIN_OK) {
        char text[1024];
        snprintf(text, sizeof text, "the bake resumes from an earlier checkpoint: %s", error_text());
        warn(user, text);
    }
    if (result != GRAIN_OK) return GRAIN_OK;
    *found = out->header.frame >= cache->manifest.frame_start && out->header.frame <= last_whole;
    if (!*found) column_file_free(out);
    return GRAIN_OK;
}

GrainResult cache_find_checkpoint(Cache *cache, struct GrainFrame *checkpoint, int *found, GrainMessageFn *warn,
                                  void *user)
{
    CacheManifest *manifest = &cache->manifest;
    int64_t whole;
    TRY(count_whole_frames(cache, warn, user, &whole));
    int32_t last_whole = manifest->frame_start + (int32_t)whole - 1;
    TRY(read_checkpoint(cache, CHECKPOINT_LATEST, last_whole, warn, user, checkpoint, found));
    for (int32_t frame = last_whole; !*found && frame >= manifest->frame_start; frame--) {
        char name[64];
        snprintf(name, sizeof name, "checkpoint_%06d.grain", frame);
        TRY(read_checkpoint(cache, name, last_whole, warn, user, checkpoint, found));
    }
    manifest->frame_count = *found ? checkpoint->header.frame - manifest->frame_start + 1 : 0;
    cache_forget_births(manifest, manifest->frame_start + (int32_t)manifest->frame_count - 1);
    return *found ? thin_checkpoints(cache, manifest->frame_start, checkpoint->header.frame) : GRAIN_OK;
}

static GrainResult is_birth_missing(const Cache *cache, int *missing)
{
    const CacheManifest *manifest = &cache->manifest;
    for (int64_t i = 0; i < manifest->birth_count && !*missing; i++) {
        char *path;
        TRY(cache_frame_path(cache->folder, "birth", manifest->births[i].frame, &path));
        *missing = !file_has_size(path, manifest->births[i].bytes);
        alloc_free(path);
    }
    return GRAIN_OK;
}

GrainResult cache_find_newest(Cache *cache, struct GrainFrame *newest, int *found, GrainMessageFn *warn, void *user)
{
    CacheManifest *manifest = &cache->manifest;
    int64_t count = 0;
    int misses_birth = 0;
    TRY(is_birth_missing(cache, &misses_birth));
    if (misses_birth) manifest->frame_count = manifest->birth_count = 0;
    for (; count < manifest->frame_count; count++) {
        char *path;
        TRY(cache_frame_path(cache->folder, manifest->stream, manifest->frames[count].frame, &path));
        int is_there = file_has_size(path, manifest->frames[count].bytes);
        alloc_free(path);
        if (!is_there) break;
    }
    *found = 0;
    manifest->frame_count = count;
    while (!*found && manifest->frame_count > 0) {
        const CacheFrame *frame = &manifest->frames[manifest->frame_count - 1];
        GrainResult result = cache_read_frame(cache->folder, manifest->stream, frame, newest);
        if (result == GRAIN_ERROR_MEMORY) return result;
        if (result == GRAIN_OK) {
            *found = 1;
            continue;
        }
        char text[1024];
        snprintf(text, sizeof text, "frame %d is made again: %s", frame->frame, error_text());
        warn(user, text);
        manifest->frame_count--;
    }
    return GRAIN_OK;
}
