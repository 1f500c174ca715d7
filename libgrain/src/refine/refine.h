// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The grains of a scene, moved from one simulated frame to the next, in memory. Nothing here knows files;
/// stage/stage_refine.c reads frames of a bake and writes frames of grains.
#include "output/column_file.h"
#include "scene/scene_solids.h"

typedef struct Refinement {
    const Job *job;
    int threads;
    SceneWalls walls;
    UpsampleDef settings;
    Upsampler *upsampler;
} Refinement;

/// Fails early if there are too many grains. total: simulated particles by the last frame;
/// shard: counted from 1. Start with a zeroed Refinement, which may be freed at any point.
GrainResult refine_plan(Refinement *refinement, const Job *job, int64_t total, int32_t shard, int32_t shard_count);
/// Makes the colliders and allocates memory for all grains. cache_folder: where distance fields are kept, or NULL.
GrainResult refine_prepare(Refinement *refinement, const char *cache_folder, const GrainRun *run);
void refine_free(Refinement *refinement);

/// Makes the grains of the first frame.
GrainResult refine_begin(Refinement *refinement, const struct GrainFrame *first);
/// From one frame, `time` seconds after the first, to the next; watch: UpsampleWatchFn.
GrainResult refine_advance(Refinement *refinement, const struct GrainFrame *from, const struct GrainFrame *to,
                           double time, UpsampleWatchFn *watch, void *user);
