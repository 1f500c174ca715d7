// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Stores distance fields in a cache folder, so that they are computed once: `sdf/NAME_HASH.grain`, with a hash of the
/// mesh and the settings of its field. Nothing depends on the files: a field that is missing, damaged or cannot be
/// written is computed again, with the same bits.
#include "output/cache.h"
#include "sdf/sdf.h"

#define SDF_STORE_NAME_CHARS 63

typedef struct SdfStore {
    char *folder;                           ///< NULL: nothing is stored
    const char *name;                       ///< prefix of the files: letters
    char (*used)[SDF_STORE_NAME_CHARS + 1]; ///< files requested since sdf_store_begin
    int64_t used_count, used_capacity;
} SdfStore;

/// cache_folder: NULL to store nothing. The name is borrowed.
GrainResult sdf_store_begin(SdfStore *store, const char *cache_folder, const char *name);
/// grain_sdf_create, or the stored result of an earlier call.
GrainResult sdf_store_make(SdfStore *store, const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                           GrainSdf **out);
/// Removes fields of this name that were not requested: they belong to a former scene.
void sdf_store_drop_unused(const SdfStore *store);
void sdf_store_free(SdfStore *store);

/// Calls with the name of each file that a store of any name has in a cache folder, including remains of interrupted
/// writes.
GrainResult sdf_store_each_file(const char *cache_folder, FileVisitFn *call, void *user);
