// SPDX-License-Identifier: GPL-3.0-or-later
// Maintenance of cache folders: finding damaged files and files no longer needed.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/cache.h"
#include "output/manifest.h"
#include "output/packed_file.h"
#include "output/sdf_store.h"
#include "output/volume_file.h"

#include <string.h>

typedef struct Care {
    CacheManifest manifest;
    CacheLock lock; ///< of repair and gc
    const Run *run;
    int is_trial, removes_damaged;
    int64_t count, bytes;
} Care;

static void tell_error(const Care *care) { run_message(care->run, error_text()); }

static GrainResult check_checkpoint(void *user, const FileEntry *entry)
{
    Care *care = user;
    struct GrainFrame file;
    int32_t frame;
    CacheFile kind = cache_file_kind(entry->name, &frame);
    if (kind != CACHE_FILE_CHECKPOINT && kind != CACHE_FILE_LATEST) return GRAIN_OK;
    GrainResult result = column_file_read(entry->path, &file);
    if (result == GRAIN_OK && kind == CACHE_FILE_CHECKPOINT && file.header.frame != frame)
        result = fail(GRAIN_ERROR_DAMAGED, "'%s' is the checkpoint of frame %d", entry->path, file.header.frame);
    column_file_free(&file);
    if (result == GRAIN_OK || result == GRAIN_ERROR_MEMORY) return result;
    tell_error(care);
    care->count++;
    return care->removes_damaged ? file_entry_remove(entry) : GRAIN_OK;
}

static GrainResult check_frame(const char *folder, const CacheManifest *manifest, const CacheFrame *frame)
{
    struct GrainFrame file;
    if (strcmp(manifest->stream, "volume") == 0) return volume_file_check(folder, manifest, frame);
    TRY(cache_read_frame(folder, manifest->stream, frame, &file));
    column_file_free(&file);
    return GRAIN_OK;
}

// A frame of grains is worth nothing without its key frames: those must be listed, or they would be collected as
// garbage.
static GrainResult check_keys(const char *folder, const CacheManifest *manifest, const CacheFrame *frame, int64_t whole)
{
    PackedFile file;
    char *path;
    int32_t keys[PACKED_MOST_FRAMES_TO_KEY];
    if (strcmp(manifest->stream, "grains") != 0) return GRAIN_OK;
    TRY(cache_frame_path(folder, manifest->stream, frame->frame, &path));
    GrainResult result = packed_open(path, &file);
    alloc_free(path);
    if (result != GRAIN_OK) return result;
    int count = packed_list_keys(&file, keys);
    for (int i = 0; i < count && result == GRAIN_OK; i++)
        if (!cache_manifest_find(manifest->frames, whole, keys[i]))
            result = fail(GRAIN_ERROR_DAMAGED, "frame %d of the grains needs frame %d, which is damaged", frame->frame,
                          keys[i]);
    packed_close(&file);
    return result;
}

// Leaves the whole ones in the manifest.
static GrainResult check_frames(Care *care, const char *folder)
{
    CacheManifest *manifest = &care->manifest;
    int64_t whole = 0;
    for (int64_t i = 0; i < manifest->frame_count; i++) {
        TRY(cache_lock_beat(&care->lock));
        GrainResult result = check_frame(folder, manifest, &manifest->frames[i]);
        if (result == GRAIN_OK) result = check_keys(folder, manifest, &manifest->frames[i], whole);
        if (result == GRAIN_ERROR_MEMORY) return result;
        if (result == GRAIN_OK) {
            manifest->frames[whole++] = manifest->frames[i];
            continue;
        }
        tell_error(care);
        care->count++;
    }
    manifest->frame_count = whole;
    return GRAIN_OK;
}

static GrainResult check_birth(const char *folder, const CacheFrame *birth)
{
    struct GrainFrame file;
    TRY(cache_read_birth(folder, birth, &file));
    column_file_free(&file);
    return GRAIN_OK;
}

// Those that are damaged leave the list together with their frame, so that the next bake makes both again.
static GrainResult check_births(Care *care, const char *folder)
{
    CacheManifest *manifest = &care->manifest;
    CacheFrame *frames = manifest->frames;
    int64_t whole = 0, kept = 0, next = 0, count = manifest->frame_count;
    for (int64_t i = 0; i < manifest->birth_count; i++) {
        TRY(cache_lock_beat(&care->lock));
        CacheFrame birth = manifest->births[i];
        GrainResult result = check_birth(folder, &birth);
        if (result == GRAIN_ERROR_MEMORY) return result;
        if (result == GRAIN_OK) {
            manifest->births[whole++] = birth;
            continue;
        }
        tell_error(care);
        care->count++;
        while (next < count && frames[next].frame < birth.frame) frames[kept++] = frames[next++];
        if (next < count && frames[next].frame == birth.frame) next++;
    }
    while (next < count) frames[kept++] = frames[next++];
    manifest->frame_count = kept;
    manifest->birth_count = whole;
    return GRAIN_OK;
}

GrainResult cache_check_rest(const char *folder, const CacheManifest *manifest, const Run *run, int64_t *damaged)
{
    Care care = {.run = run, .lock = CACHE_LOCK_NONE};
    GrainResult result = GRAIN_OK;
    for (int64_t i = 0; i < manifest->birth_count && result != GRAIN_ERROR_MEMORY; i++) {
        result = check_birth(folder, &manifest->births[i]);
        if (result == GRAIN_OK || result == GRAIN_ERROR_MEMORY) continue;
        tell_error(&care);
        care.count++;
    }
    if (result != GRAIN_ERROR_MEMORY) result = file_visit(folder, check_checkpoint, &care);
    *damaged = care.count;
    return result;
}

// --- the whole ----------------------------------------------------------------------------------------

GrainResult cache_verify(const char *folder, const Run *run, int64_t *damaged)
{
    Care care = {.run = run, .lock = CACHE_LOCK_NONE};
    *damaged = 0;
    GrainResult result = cache_manifest_read(folder, &care.manifest);
    if (result == GRAIN_ERROR_DAMAGED) {
        tell_error(&care);
        *damaged = 1;
        return GRAIN_OK;
    }
    if (result == GRAIN_OK) result = check_frames(&care, folder);
    if (result == GRAIN_OK) result = check_births(&care, folder);
    if (result == GRAIN_OK) result = file_visit(folder, check_checkpoint, &care);
    *damaged = care.count;
    cache_manifest_free(&care.manifest);
    return result;
}

GrainResult cache_repair(const char *folder, const Run *run, int64_t *dropped)
{
    Care care = {.run = run, .removes_damaged = 1, .lock = CACHE_LOCK_NONE};
    *dropped = 0;
    TRY(cache_manifest_read(folder, &care.manifest));
    GrainResult result = cache_lock_take(&care.lock, folder);
    if (result == GRAIN_OK) result = check_frames(&care, folder);
    if (result == GRAIN_OK) result = check_births(&care, folder);
    if (result == GRAIN_OK) result = cache_lock_check(&care.lock);
    if (result == GRAIN_OK && care.count > 0) result = manifest_write(folder, &care.manifest, &care.bytes);
    if (result == GRAIN_OK) result = file_visit(folder, check_checkpoint, &care);
    *dropped = care.count;
    cache_lock_release(&care.lock);
    cache_manifest_free(&care.manifest);
    return result;
}

// Of a file's number, which may be any.
static int is_listed_volume(const CacheManifest *manifest, int32_t number)
{
    int64_t frame = (int64_t)number - manifest->number_shift;
    return frame >= -FRAME_LIMIT && cache_manifest_find(manifest->frames, manifest->frame_count, (int32_t)frame);
}

static int is_garbage(const CacheManifest *manifest, CacheFile kind, int32_t frame)
{
    int32_t last =
        manifest->frame_count ? manifest->frames[manifest->frame_count - 1].frame : manifest->frame_start - 1;
    int is_coarse = strcmp(manifest->stream, "coarse") == 0, is_volume = strcmp(manifest->stream, "volume") == 0;
    switch (kind) {
    case CACHE_FILE_PART:
        return 1;
    case CACHE_FILE_COARSE:
        return is_coarse && !cache_manifest_find(manifest->frames, manifest->frame_count, frame);
    case CACHE_FILE_GRAINS:
        return !is_coarse && !is_volume && !cache_manifest_find(manifest->frames, manifest->frame_count, frame);
    case CACHE_FILE_BIRTH:
        return !is_volume && !cache_manifest_find(manifest->births, manifest->birth_count, frame);
    case CACHE_FILE_VOLUME:
        return is_volume && !is_listed_volume(manifest, frame);
    case CACHE_FILE_CHECKPOINT:
        return frame > last;
    default:
        return 0;
    }
}

static GrainResult collect(Care *care, const FileEntry *entry)
{
    int64_t bytes;
    // Only plain files: a folder or a link of such a name is not the cache's.
    if (!file_entry_is_file(entry, &bytes)) return GRAIN_OK;
    run_message(care->run, entry->path);
    care->count++;
    care->bytes += bytes;
    return care->is_trial ? GRAIN_OK : file_entry_remove(entry);
}

static GrainResult collect_file(void *user, const FileEntry *entry)
{
    Care *care = user;
    int32_t frame;
    CacheFile kind = cache_file_kind(entry->name, &frame);
    TRY(cache_lock_beat(&care->lock));
    return is_garbage(&care->manifest, kind, frame) ? collect(care, entry) : GRAIN_OK;
}

static GrainResult collect_field(void *user, const FileEntry *entry) { return collect(user, entry); }

GrainResult cache_collect_garbage(const char *folder, int is_trial, const Run *run, int64_t *removed, int64_t *bytes)
{
    Care care = {.run = run, .is_trial = is_trial, .lock = CACHE_LOCK_NONE};
    *removed = *bytes = 0;
    TRY(cache_lock_take(&care.lock, folder)); // before the list is read: a bake may be writing it
    GrainResult result = cache_manifest_read(folder, &care.manifest);
    if (result == GRAIN_OK) result = file_visit(folder, collect_file, &care);
    if (result == GRAIN_OK) result = sdf_store_each_file(folder, collect_field, &care);
    *removed = care.count, *bytes = care.bytes;
    cache_manifest_free(&care.manifest);
    cache_lock_release(&care.lock);
    return result;
}
