// SPDX-License-Identifier: GPL-3.0-or-later
#include "output/cache_view.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "output/manifest.h"
#include "output/volume_file.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define MOST_FOLDERS 1024 // upsampling allows 1000 shards

// --- reading ----------------------------------------------------------------------------------------

static GrainResult path_of(const struct GrainCache *cache, const char *stream, int32_t frame, char **path)
{
    if (strcmp(stream, "volume") != 0) return cache_frame_path(cache->folder, stream, frame, path);
    return volume_file_path(cache->folder, frame + cache->manifest.number_shift, path);
}

static GrainResult list_files(const struct GrainCache *cache, const char *stream, const CacheFrame *frames,
                              int64_t count, GrainCacheFile **out)
{
    *out = ALLOC_ZEROED(GrainCacheFile, count);
    if (!*out) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        char *path;
        TRY(path_of(cache, stream, frames[i].frame, &path));
        (*out)[i] =
            (GrainCacheFile){path, frames[i].particles, frames[i].bytes, frames[i].checksum, frames[i].frame, 0};
    }
    return GRAIN_OK;
}

static GrainResult list_bodies(struct GrainCache *cache)
{
    int64_t count = 0, most = 1;
    cache->body_names = manifest_copy_text(cache->manifest.bodies);
    if (!cache->body_names) return GRAIN_ERROR_MEMORY;
    for (const char *end = cache->body_names; (end = strchr(end, '\n')); end++) most++;
    cache->bodies = ALLOC(const char *, most);
    if (!cache->bodies) return GRAIN_ERROR_MEMORY;
    for (char *name = cache->body_names; *name; count++) {
        cache->bodies[count] = name;
        name += strcspn(name, "\n");
        if (*name) *name++ = 0;
    }
    cache->info.body_count = count;
    return GRAIN_OK;
}

static GrainResult list_settings(struct GrainCache *cache)
{
    const char *key;
    json_t *value;
    cache->settings = ALLOC_ZEROED(GrainCacheSetting, (int64_t)json_object_size(cache->manifest.settings));
    if (!cache->settings) return GRAIN_ERROR_MEMORY;
    json_object_foreach((json_t *)cache->manifest.settings, key, value)
    {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9));
        GrainCacheSetting *setting = &cache->settings[cache->setting_count++];
        setting->key = manifest_copy_text(key);
        setting->value = text ? manifest_copy_text(text) : NULL;
        free(text);
        if (!text) return fail(GRAIN_ERROR_MEMORY, "not enough memory for the settings of '%s'", cache->folder);
        if (!setting->key || !setting->value) return GRAIN_ERROR_MEMORY;
    }
    return GRAIN_OK;
}

static void fill_info(struct GrainCache *cache)
{
    const CacheManifest *manifest = &cache->manifest;
    GrainCacheInfo *info = &cache->info;
    info->struct_size = sizeof *info;
    info->stream = strcmp(manifest->stream, "volume") == 0   ? GRAIN_STREAM_VOLUME
                   : strcmp(manifest->stream, "grains") == 0 ? GRAIN_STREAM_GRAINS
                                                             : GRAIN_STREAM_COARSE;
    info->job_name = manifest->job_name, info->library = manifest->library;
    info->fingerprint = manifest->fingerprint;
    info->fps = manifest->fps;
    info->frame_start = manifest->frame_start, info->frame_end = manifest->frame_end;
    info->frame_count = manifest->frame_count, info->frames = cache->frames;
    info->birth_count = manifest->birth_count, info->births = cache->births;
    info->bodies = cache->bodies;
    info->grids = manifest->grids;
    while (manifest->grids[info->grid_count]) info->grid_count++;
    info->voxel_size = manifest->voxel_size;
    info->number_shift = manifest->number_shift;
    info->setting_count = cache->setting_count, info->settings = cache->settings;
}

GrainResult cache_view_read(struct GrainCache *cache, const char *folder)
{
    CacheManifest *manifest = &cache->manifest;
    TRY(cache_manifest_read(folder, manifest));
    TRY(file_join(folder, "", &cache->folder));
    TRY(list_files(cache, manifest->stream, manifest->frames, manifest->frame_count, &cache->frames));
    TRY(list_files(cache, "birth", manifest->births, manifest->birth_count, &cache->births));
    TRY(list_bodies(cache));
    TRY(list_settings(cache));
    fill_info(cache);
    return GRAIN_OK;
}

static void free_files(GrainCacheFile *files, int64_t count)
{
    for (int64_t i = 0; files && i < count; i++) alloc_free((void *)files[i].path);
    alloc_free(files);
}

void cache_view_free(struct GrainCache *cache)
{
    free_files(cache->frames, cache->manifest.frame_count);
    free_files(cache->births, cache->manifest.birth_count);
    for (int64_t i = 0; i < cache->setting_count; i++) {
        alloc_free((void *)cache->settings[i].key);
        alloc_free((void *)cache->settings[i].value);
    }
    alloc_free(cache->settings);
    alloc_free(cache->bodies);
    alloc_free(cache->body_names);
    alloc_free(cache->folder);
    cache_manifest_free(&cache->manifest);
}

GrainResult cache_view_find(const struct GrainCache *cache, int32_t frame, const CacheFrame **out)
{
    const CacheManifest *manifest = &cache->manifest;
    *out = cache_manifest_find(manifest->frames, manifest->frame_count, frame);
    if (*out) return GRAIN_OK;
    if (manifest->frame_count == 0)
        return fail(GRAIN_ERROR_ARGUMENT, "frame %d was asked for; '%s' has no frames", frame, cache->folder);
    return fail(GRAIN_ERROR_ARGUMENT, "frame %d was asked for; there are %d to %d", frame, manifest->frames[0].frame,
                manifest->frames[manifest->frame_count - 1].frame);
}

// --- caches inside ----------------------------------------------------------------------------------

static int is_stage_folder(const char *name)
{
    int shard, count, length = 0;
    return strcmp(name, "grains") == 0 || strcmp(name, "volume") == 0 ||
           (sscanf(name, "grains_%dof%d%n", &shard, &count, &length) == 2 && name[length] == 0);
}

// Puts the path in among those there are, sorted; takes it over.
static void insert(char **paths, int *count, char *path)
{
    int at = (*count)++;
    for (; at > 0 && strcmp(paths[at - 1], path) > 0; at--) paths[at] = paths[at - 1];
    paths[at] = path;
}

typedef struct Inside {
    const char *folder;
    char **paths;
    int count;
} Inside;

static GrainResult list_stage(void *user, const FileEntry *entry)
{
    Inside *inside = user;
    char *path;
    int has = 0;
    if (!is_stage_folder(entry->name) || inside->count == MOST_FOLDERS) return GRAIN_OK;
    TRY(file_enter(inside->folder, entry->name, &path));
    GrainResult result = cache_manifest_exists(path, &has);
    if (result == GRAIN_OK && has)
        insert(inside->paths, &inside->count, path);
    else
        alloc_free(path);
    return result;
}

GrainResult cache_view_folder(const char *folder, int32_t index, char *path, int64_t size)
{
    Inside inside = {.folder = folder};
    path[0] = 0;
    if (index == 0) {
        snprintf(path, (size_t)size, "%s", folder);
        return GRAIN_OK;
    }
    if (!file_exists(folder)) return GRAIN_OK;
    inside.paths = ALLOC(char *, MOST_FOLDERS);
    if (!inside.paths) return GRAIN_ERROR_MEMORY;
    GrainResult result = file_visit(folder, list_stage, &inside);
    if (result == GRAIN_OK && index <= inside.count) {
        const char *found = inside.paths[index - 1];
        if ((int64_t)strlen(found) < size)
            snprintf(path, (size_t)size, "%s", found);
        else
            result = fail(GRAIN_ERROR_ARGUMENT, "the path '%s' does not fit into %lld bytes", found, (long long)size);
    }
    for (int i = 0; i < inside.count; i++) alloc_free(inside.paths[i]);
    alloc_free(inside.paths);
    return result;
}
