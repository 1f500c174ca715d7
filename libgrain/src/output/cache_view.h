// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A cache folder as grain/output.h shows it: the manifest with paths, names and settings as plain arrays.
#include "grain/output.h"
#include "output/cache.h"

struct GrainCache {
    CacheManifest manifest;
    char *folder;
    GrainCacheInfo info;
    GrainCacheFile *frames, *births;
    GrainCacheSetting *settings;
    const char **bodies;
    char *body_names; ///< the manifest's list, cut into names
    int64_t setting_count;
};

/// cache_view_free also after a failure.
GrainResult cache_view_read(struct GrainCache *cache, const char *folder);
void cache_view_free(struct GrainCache *cache);
/// GRAIN_ERROR_ARGUMENT where the frame is not listed.
GrainResult cache_view_find(const struct GrainCache *cache, int32_t frame, const CacheFrame **out);
/// The cache folders in and below a folder, as grain_cache_folder says.
GrainResult cache_view_folder(const char *folder, int32_t index, char *path, int64_t size);
