// SPDX-License-Identifier: GPL-3.0-or-later
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
    } table[] = {ENTRY(GrainAllocator),      ENTRY(GrainRun),       ENTRY(GrainMesh),        ENTRY(GrainMeshReport),
                 ENTRY(GrainMassProperties), ENTRY(GrainSdfDef),    ENTRY(GrainCoverDef),    ENTRY(GrainCoverQuality),
                 ENTRY(GrainView),           ENTRY(GrainFrameInfo), ENTRY(GrainStageStatus), ENTRY(GrainStageDef),
                 ENTRY(GrainShape),          ENTRY(GrainDots),      ENTRY(GrainDotsLook),    ENTRY(GrainDotsView),
                 ENTRY(GrainAheadDef),       ENTRY(GrainAheadDots)};
    if (!type_name) return 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, type_name) == 0) return table[i].size;
    return 0;
}
