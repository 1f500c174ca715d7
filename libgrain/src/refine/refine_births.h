// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Constant attributes of render grains. A grain of an initial particle is looked up at its own place on the source, so
/// that attributes are finer than the particles; a grain of an emitted particle takes the particle's values.
#include "job/birth.h"
#include "refine/refine_output.h"

typedef struct RefineBirths {
    const char *folder;          ///< of the bake
    const CacheManifest *coarse; ///< likewise
    const UpsampleDef *settings;
    Birth parents; ///< of the coarse particles born so far
    int64_t begun; ///< number of initial particles among them
    int64_t read;  ///< of the manifest's births
} RefineBirths;

GrainResult refine_births_begin(RefineBirths *births, const Job *job, const char *folder, const CacheManifest *coarse,
                                const UpsampleDef *settings, int threads);
void refine_births_free(RefineBirths *births);
/// Skips grains up to this frame, which are in the cache.
GrainResult refine_births_skip(RefineBirths *births, int32_t frame);
/// Writes the attributes of the grains born since the previous frame, unless the cache has them. coarse: the current
/// frame. Bakes made before births were stored have none, nor do their grains.
GrainResult refine_births_write(RefineBirths *births, const RefineOutput *output, const struct GrainFrame *coarse);
