// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What grains are born with. A grain of a particle that a source began with looks up its own place on the source, so
/// that what is painted there is finer than the coarse particles; a grain of any other takes its particle's values.
#include "job/birth.h"
#include "refine/refine_output.h"

typedef struct RefineBirths {
    const char *folder;          ///< of the bake
    const CacheManifest *coarse; ///< likewise
    const UpsampleDef *settings;
    Birth parents; ///< coarse particles, as far as they were born
    int64_t begun; ///< of these, how many the sources began with
    int64_t read;  ///< of the manifest's births
} RefineBirths;

GrainResult refine_births_begin(RefineBirths *births, const Job *job, const char *folder, const CacheManifest *coarse,
                                const UpsampleDef *settings, int threads);
void refine_births_free(RefineBirths *births);
/// Grains up to this frame are there already.
GrainResult refine_births_skip(RefineBirths *births, int32_t frame);
/// Writes what the grains born since the frame before bring with them, unless the cache has it. coarse: the frame the
/// grains stand at. Bakes from before there were births have none, and neither have their grains.
GrainResult refine_births_write(RefineBirths *births, const RefineOutput *output, const struct GrainFrame *coarse);
