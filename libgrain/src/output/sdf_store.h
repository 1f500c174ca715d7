// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Distance fields that a cache folder keeps, so that they are made once: `sdf/NAME_HASH.grain`, where the hash is over
/// the mesh and how its field is made. Nothing depends on them: what is missing, damaged or cannot be written is made
/// again, to the same bits.
#include "output/cache.h"
#include "sdf/sdf.h"

#define SDF_STORE_NAME_CHARS 63

typedef struct SdfStore {
    char *folder;                           ///< NULL: nothing is kept
    const char *name;                       ///< who keeps them: letters
    char (*used)[SDF_STORE_NAME_CHARS + 1]; ///< files asked for since it began
    int64_t used_count, used_capacity;
} SdfStore;

/// cache_folder NULL: nothing is kept. The name is borrowed.
GrainResult sdf_store_begin(SdfStore *store, const char *cache_folder, const char *name);
/// grain_sdf_create, or the field it made before.
GrainResult sdf_store_make(SdfStore *store, const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                           GrainSdf **out);
/// Removes fields of this name that were not asked for: the scene they were of is no more.
void sdf_store_drop_unused(const SdfStore *store);
void sdf_store_free(SdfStore *store);

/// Calls with each name that a store of any name gives its files in a cache folder, and with what unfinished writes
/// left behind.
GrainResult sdf_store_each_file(const char *cache_folder, FileVisitFn *call, void *user);
