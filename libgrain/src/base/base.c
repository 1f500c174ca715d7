// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls of grain/base.h.
#include "base/alloc.h"
#include "base/error.h"
#include "base/simd.h"
#include "grain/grain.h"

#include <string.h>

uint32_t grain_abi_version(void) { return GRAIN_ABI_VERSION; }

const char *grain_version(void) { return GRAIN_VERSION; }

#define ENTRY(Type)                                                                                                    \
    {                                                                                                                  \
#Type, sizeof(Type)                                                                                            \
    }

uint32_t grain_struct_size(const char *type_name)
{
    // Every public struct stands here; tests/cli/test_abi.py reads the headers and says which one is missing.
    static const struct {
        const char *name;
        uint32_t size;
    } table[] = {
        ENTRY(GrainAllocator),      ENTRY(GrainRun),        ENTRY(GrainMesh),          ENTRY(GrainMeshReport),
        ENTRY(GrainMassProperties), ENTRY(GrainSdfDef),     ENTRY(GrainCoverDef),      ENTRY(GrainCoverQuality),
        ENTRY(GrainView),           ENTRY(GrainFrameInfo),  ENTRY(GrainExportDef),     ENTRY(GrainCacheFile),
        ENTRY(GrainCacheSetting),   ENTRY(GrainCacheInfo),  ENTRY(GrainCacheFindings), ENTRY(GrainStageStatus),
        ENTRY(GrainStageDef),       ENTRY(GrainObjectDef),  ENTRY(GrainAttributeDef),  ENTRY(GrainShape),
        ENTRY(GrainPoints),         ENTRY(GrainPointsLook), ENTRY(GrainPointsView),    ENTRY(GrainPrefetchDef),
        ENTRY(GrainPrefetchPoints)};
    if (!type_name) return 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, type_name) == 0) return table[i].size;
    return 0;
}

const char *grain_instruction_set(void) { return simd_name(); }

const char *grain_last_error(void) { return error_text(); }

GrainResult grain_set_allocator(const GrainAllocator *allocator)
{
    if (alloc_bytes() != 0)
        return fail(GRAIN_ERROR_ARGUMENT, "the allocator cannot be changed while %lld bytes are in use",
                    (long long)alloc_bytes());
    if (allocator && (!allocator->allocate || !allocator->release))
        return fail(GRAIN_ERROR_ARGUMENT, "GrainAllocator needs both allocate and release");
    alloc_replace(allocator);
    return GRAIN_OK;
}

int64_t grain_allocated_bytes(void) { return alloc_bytes(); }

int64_t grain_allocated_peak(void) { return alloc_peak(); }
