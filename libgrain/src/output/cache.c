#include "output/cache.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHECKPOINT_LATEST "checkpoint.grain"
// Where a bake can go on when a later frame turns out damaged.
#define FRAMES_BETWEEN_KEPT_CHECKPOINTS 10

// --- names --------------------------------------------------------------------------------------

GrainResult cache_frame_path(const char *folder, const char *stream, int32_t frame, char **path)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%06d.grain", stream, frame);
    return file_join(folder, name, path);
}

GrainResult cache_read_frame(const char *folder, const char *stream, const CacheFrame *frame, struct GrainFrame *out)
{
    char *path;
    TRY(cache_frame_path(folder, stream, frame->frame, &path));
    GrainResult result = grain_file_read(path, out);
    if (result == GRAIN_OK && (out->header.checksum != frame->checksum || out->header.frame != frame->frame)) {
        result = fail(GRAIN_ERROR_DAMAGED, "'%s' is not the file the cache lists; bake again to redo it", path);
        grain_file_free(out);
    }
    alloc_free(path);
    return result;
}

// Only names that a cache itself gives are ever removed.
static int is_own_data(const char *name)
{
    static const char *const patterns[] = {"coarse_%d.grain%n", "checkpoint_%d.grain%n", "grains_%d.grain%n"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        int number, length = 0;
        if (sscanf(name, patterns[i], &number, &length) == 1 && length > 0 &&
            (name[length] == 0 || strcmp(name + length, FILE_PART_SUFFIX) == 0))
            return 1;
    }
    return strcmp(name, CHECKPOINT_LATEST) == 0 || strcmp(name, CHECKPOINT_LATEST FILE_PART_SUFFIX) == 0 ||
           strcmp(name, "cache.json") == 0 || strcmp(name, "cache.json" FILE_PART_SUFFIX) == 0;
}

static int is_unfinished(const char *name)
{
    size_t length = strlen(name), suffix = strlen(FILE_PART_SUFFIX);
    return is_own_data(name) && length > suffix && strcmp(name + length - suffix, FILE_PART_SUFFIX) == 0;
}

static GrainResult remove_matching(const char *folder, int (*matches)(const char *name))
{
    DIR *directory = opendir(folder);
    if (!directory) return fail(GRAIN_ERROR_IO, "could not list '%s': %s", folder, strerror(errno));
    GrainResult result = GRAIN_OK;
    const struct dirent *entry;
    while (result == GRAIN_OK && (entry = readdir(directory))) {
        if (!matches(entry->d_name)) continue;
        char *path;
        result = file_join(folder, entry->d_name, &path);
        if (result == GRAIN_OK) result = file_remove(path);
        alloc_free(path);
    }
    closedir(directory);
    return result;
}

// --- opening ------------------------------------------------------------------------------------

// flock is released by the system when its holder dies, so no stale lock can be left behind.
static GrainResult take_lock(Cache *cache)
{
    char *path;
    TRY(file_join(cache->folder, "lock", &path));
    cache->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    GrainResult result = GRAIN_OK;
    if (cache->lock < 0) {
        result = fail(errno == ENOSPC ? GRAIN_ERROR_DISK_FULL : GRAIN_ERROR_IO,
                      "could not write into the cache folder '%s': %s; choose a folder you may write to", cache->folder,
                      strerror(errno));
    } else if (flock(cache->lock, LOCK_EX | LOCK_NB) != 0) {
        char owner[128] = "";
        ssize_t length = read(cache->lock, owner, sizeof owner - 1);
        result = fail(GRAIN_ERROR_BUSY, "'%s' is being baked into by %s; wait for it or stop it", cache->folder,
                      length > 0 ? owner : "another process");
        close(cache->lock);
        cache->lock = -1;
    } else {
        char host[64] = "this machine", owner[128];
        gethostname(host, sizeof host - 1);
        int length = snprintf(owner, sizeof owner, "process %d on %s", (int)getpid(), host);
        // Only a courtesy to whoever is refused; a full disk is reported by the first write that matters.
        if (ftruncate(cache->lock, 0) != 0 || write(cache->lock, owner, (size_t)length) != length) errno = 0;
    }
    alloc_free(path);
    return result;
}

static GrainResult adopt_manifest(Cache *cache, const CacheManifest *wanted, CacheOpening opening)
{
    char *path;
    TRY(file_join(cache->folder, "cache.json", &path));
    int exists = opening != CACHE_RESTART && file_exists(path);
    alloc_free(path);
    if (exists) {
        GrainResult result = cache_manifest_read(cache->folder, &cache->manifest);
        // A list that cannot be read is of no use to anybody who only wants to replace what it lists.
        if (opening == CACHE_REPLACE && result == GRAIN_ERROR_DAMAGED) exists = 0;
        else TRY(result);
    }
    int is_same = exists && strcmp(cache->manifest.fingerprint, wanted->fingerprint) == 0;
    if (exists && !is_same && opening == CACHE_KEEP)
        return fail(
            GRAIN_ERROR_OTHER_JOB,
            "'%s' holds a bake of other settings or another scene (%lld frames); bake anew (--restart) or choose "
            "another cache folder",
            cache->folder, (long long)cache->manifest.frame_count);
    int keeps = opening == CACHE_KEEP || (is_same && cache->manifest.frame_start <= wanted->frame_start);
    TRY(remove_matching(cache->folder, keeps ? is_unfinished : is_own_data));
    int32_t frame_start = keeps && exists ? cache->manifest.frame_start : wanted->frame_start;
    if (!keeps) cache_manifest_free(&cache->manifest);
    TRY(manifest_set_job(&cache->manifest, wanted));
    if (opening == CACHE_REPLACE) cache->manifest.frame_start = frame_start;
    return GRAIN_OK;
}

GrainResult cache_open(Cache *cache, const char *folder, const CacheManifest *wanted, CacheOpening opening)
{
    *cache = (Cache){.lock = -1};
    GrainResult result = file_make_folder(folder);
    if (result == GRAIN_OK) result = file_join(folder, "", &cache->folder);
    if (result == GRAIN_OK) result = take_lock(cache);
    if (result == GRAIN_OK) result = adopt_manifest(cache, wanted, opening);
    if (result != GRAIN_OK) cache_close(cache);
    return result;
}

void cache_close(Cache *cache)
{
    if (cache->lock >= 0) {
        if (ftruncate(cache->lock, 0) != 0) errno = 0;
        close(cache->lock);
    }
    cache->lock = -1;
    alloc_free(cache->folder);
    cache->folder = NULL;
    cache_manifest_free(&cache->manifest);
}

// --- writing ------------------------------------------------------------------------------------

GrainResult cache_add_frame(Cache *cache, const GrainFileHeader *header)
{
    cache->bytes_written += header->bytes;
    TRY(manifest_add_frame(&cache->manifest,
                           &(CacheFrame){header->frame, header->particles, header->bytes, header->checksum}));
    return manifest_write(cache->folder, &cache->manifest, &cache->bytes_written);
}

GrainResult cache_write_frame(Cache *cache, int32_t frame, double time, const Particles *particles, const Column *more,
                              int more_count)
{
    Column columns[GRAIN_FILE_MAX_COLUMNS] = {{"position", GRAIN_F32, 3, particles->count, particles->position},
                                              {"velocity", GRAIN_F32, 3, particles->count, particles->velocity},
                                              {"radius", GRAIN_F32, 1, particles->count, particles->radius},
                                              {"orientation", GRAIN_F32, 4, particles->count, particles->orientation}};
    int column_count = particles->orientation ? 4 : 3;
    for (int i = 0; i < more_count && column_count < GRAIN_FILE_MAX_COLUMNS; i++) columns[column_count++] = more[i];
    GrainFileHeader header = {.frame = frame, .time = time, .particles = particles->count};
    char *path;
    TRY(cache_frame_path(cache->folder, cache->manifest.stream, frame, &path));
    GrainResult result = grain_file_write(path, &header, columns, column_count);
    alloc_free(path);
    if (result != GRAIN_OK) return result;
    cache->manifest.has_orientation = particles->orientation != NULL;
    return cache_add_frame(cache, &header);
}

static GrainResult write_checkpoint_as(Cache *cache, const char *name, const GrainFileHeader *header,
                                       const Column *columns, int column_count)
{
    char *path;
    TRY(file_join(cache->folder, name, &path));
    GrainFileHeader written = *header;
    GrainResult result = grain_file_write(path, &written, columns, column_count);
    if (result == GRAIN_OK) cache->bytes_written += written.bytes;
    alloc_free(path);
    return result;
}

GrainResult cache_write_checkpoint(Cache *cache, const GrainFileHeader *header, const Column *columns, int column_count)
{
    if (header->substep == 0 && header->frame % FRAMES_BETWEEN_KEPT_CHECKPOINTS == 0) {
        char name[64];
        snprintf(name, sizeof name, "checkpoint_%06d.grain", header->frame);
        TRY(write_checkpoint_as(cache, name, header, columns, column_count));
    }
    return write_checkpoint_as(cache, CHECKPOINT_LATEST, header, columns, column_count);
}

// --- going on -----------------------------------------------------------------------------------

// How many of the manifest's frames, from the first on, are whole on disk.
static GrainResult count_whole_frames(const Cache *cache, CacheWarnFn *warn, void *user, int64_t *count)
{
    for (*count = 0; *count < cache->manifest.frame_count; ++*count) {
        const CacheFrame *frame = &cache->manifest.frames[*count];
        struct GrainFrame file;
        GrainResult result = cache_read_frame(cache->folder, cache->manifest.stream, frame, &file);
        if (result == GRAIN_ERROR_MEMORY) return result;
        if (result == GRAIN_OK) {
            grain_file_free(&file);
            continue;
        }
        char text[1024];
        snprintf(text, sizeof text, "frame %d is baked again: %s", frame->frame, grain_last_error());
        warn(user, text);
        return GRAIN_OK;
    }
    return GRAIN_OK;
}

// A checkpoint that is missing, damaged or too late is not found; that is no error.
static GrainResult read_checkpoint(const Cache *cache, const char *name, int32_t last_whole, struct GrainFrame *out,
                                   int *found)
{
    char *path;
    *found = 0;
    TRY(file_join(cache->folder, name, &path));
    GrainResult result = file_exists(path) ? grain_file_read(path, out) : GRAIN_ERROR_IO;
    alloc_free(path);
    if (result != GRAIN_OK) return result == GRAIN_ERROR_MEMORY ? result : GRAIN_OK;
    *found = out->header.frame >= cache->manifest.frame_start && out->header.frame <= last_whole;
    if (!*found) grain_file_free(out);
    return GRAIN_OK;
}

GrainResult cache_find_checkpoint(Cache *cache, struct GrainFrame *checkpoint, int *found, CacheWarnFn *warn,
                                  void *user)
{
    CacheManifest *manifest = &cache->manifest;
    int64_t whole;
    TRY(count_whole_frames(cache, warn, user, &whole));
    int32_t last_whole = manifest->frame_start + (int32_t)whole - 1;
    TRY(read_checkpoint(cache, CHECKPOINT_LATEST, last_whole, checkpoint, found));
    for (int32_t frame = last_whole; !*found && frame >= manifest->frame_start; frame--) {
        char name[64];
        snprintf(name, sizeof name, "checkpoint_%06d.grain", frame);
        TRY(read_checkpoint(cache, name, last_whole, checkpoint, found));
    }
    manifest->frame_count = *found ? checkpoint->header.frame - manifest->frame_start + 1 : 0;
    return GRAIN_OK;
}

static int has_size(const char *path, int64_t bytes)
{
    struct stat status;
    return stat(path, &status) == 0 && status.st_size == bytes;
}

GrainResult cache_find_newest(Cache *cache, struct GrainFrame *newest, int *found, CacheWarnFn *warn, void *user)
{
    CacheManifest *manifest = &cache->manifest;
    int64_t count = 0;
    for (; count < manifest->frame_count; count++) {
        char *path;
        TRY(cache_frame_path(cache->folder, manifest->stream, manifest->frames[count].frame, &path));
        int is_there = has_size(path, manifest->frames[count].bytes);
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
        snprintf(text, sizeof text, "frame %d is made again: %s", frame->frame, grain_last_error());
        warn(user, text);
        manifest->frame_count--;
    }
    return GRAIN_OK;
}
