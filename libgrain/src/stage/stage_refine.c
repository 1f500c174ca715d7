// SPDX-License-Identifier: GPL-3.0-or-later
// Refining the frames of a bake, one after the other, into frames of render grains.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "refine/refine.h"
#include "refine/refine_births.h"
#include "stage/stage.h"

#include <stdio.h>
#include <string.h>

// A checkpoint takes as long to write as several frames; what is lost without it is only time.
#define FRAMES_BETWEEN_CHECKPOINTS 10
#define SECONDS_BETWEEN_CHECKPOINTS 60.0

typedef struct Refine {
    char *coarse_folder;
    CacheManifest coarse; ///< of the bake
    Refinement refinement;
    struct GrainFrame from, to; ///< coarse
    int32_t newest;             ///< frame in the cache
    int32_t checkpoint;         ///< the frame it was written at
    double checkpoint_time;
    RefineOutput output;
    RefineBirths births;
} Refine;

// --- the plan -------------------------------------------------------------------------------------

// Particles that were ever born.
static int64_t count_particles(const CacheManifest *coarse)
{
    int64_t total = 0;
    for (int64_t i = 0; i < coarse->frame_count; i++)
        if (coarse->frames[i].particles > total) total = coarse->frames[i].particles;
    return total;
}

// A folder of its own for each way to cut the grains, so that its manifest has one writer.
static GrainResult plan(Runner *runner, CacheManifest *wanted, char **folder)
{
    Refine *refine = runner->state;
    const GrainStageDef *def = runner->def;
    char name[64];
    TRY(stage_bake_folder(runner, &refine->coarse_folder));
    TRY(stage_read_input(runner, refine->coarse_folder, runner->job.fingerprint, "baked frames", "grain bake",
                         &refine->coarse));
    TRY(stage_choose_frames(runner, &refine->coarse));
    TRY(refine_plan(&refine->refinement, &runner->job, count_particles(&refine->coarse), def->shard, def->shard_count));
    wanted->fps = refine->coarse.fps;
    snprintf(name, sizeof name, "grains_%dof%d", def->shard, def->shard_count);
    return file_enter(refine->coarse_folder, def->shard_count == 1 ? "grains" : name, folder);
}

static GrainResult prepare(Runner *runner)
{
    Refine *refine = runner->state;
    const Job *job = &runner->job;
    int threads = runner->run.thread_count;
    GrainRun run = stage_run(runner);
    runner->cache.manifest.has_orientation = job->upsample.has_orientation;
    TRY(refine_prepare(&refine->refinement, refine->coarse_folder, &run));
    const UpsampleDef *settings = &refine->refinement.settings;
    refine->output = (RefineOutput){.cache = &runner->cache,
                                    .upsampler = refine->refinement.upsampler,
                                    .has_orientation = job->upsample.has_orientation,
                                    .is_born_later = refine->coarse.frames[0].particles != settings->coarse_total,
                                    .threads = threads};
    refine_errors(&refine->output, job->upsample.precision, (double)upsample_grain_radius(settings),
                  refine->coarse.fps);
    return refine_births_begin(&refine->births, job, refine->coarse_folder, &refine->coarse, settings, threads);
}

// --- frames ---------------------------------------------------------------------------------------

static GrainResult read_coarse(Refine *refine, int32_t frame, struct GrainFrame *out)
{
    column_file_free(out);
    return cache_read_frame(refine->coarse_folder, "coarse", &refine->coarse.frames[frame - refine->coarse.frame_start],
                            out);
}

static double seconds_at(const Refine *refine, int32_t frame)
{
    return (frame - refine->coarse.frame_start) / refine->coarse.fps;
}

static GrainResult advance_grains(Runner *runner)
{
    Refine *refine = runner->state;
    struct GrainFrame spare = refine->from;
    refine->from = refine->to, refine->to = spare;
    TRY(read_coarse(refine, runner->done + 1, &refine->to));
    return refine_advance(&refine->refinement, &refine->from, &refine->to, seconds_at(refine, runner->done),
                          stage_watch, runner);
}

// Frames that are in the cache are worked out again from the checkpoint on, but not written.
static GrainResult next_frame(Runner *runner)
{
    Refine *refine = runner->state;
    int32_t frame = runner->done + 1;
    TRY(frame == refine->coarse.frame_start ? refine_begin(&refine->refinement, &refine->to) : advance_grains(runner));
    TRY(refine_births_write(&refine->births, &refine->output, &refine->to));
    if (frame < runner->first || frame <= refine->newest) return GRAIN_OK;
    return refine_write_frame(&refine->output, &refine->to);
}

static GrainResult write_checkpoint(Runner *runner)
{
    Refine *refine = runner->state;
    refine->checkpoint = runner->done, refine->checkpoint_time = run_clock();
    return refine_write_checkpoint(&refine->output, runner->done, seconds_at(refine, runner->done));
}

static GrainResult save(Runner *runner, StageMoment moment)
{
    Refine *refine = runner->state;
    int is_due = runner->done - refine->checkpoint >= FRAMES_BETWEEN_CHECKPOINTS ||
                 run_clock() - refine->checkpoint_time > SECONDS_BETWEEN_CHECKPOINTS;
    switch (moment) {
    case STAGE_INSIDE_FRAME: // the grains stand between frames
        return GRAIN_OK;
    case STAGE_FRAME:
        return is_due ? write_checkpoint(runner) : GRAIN_OK;
    case STAGE_STOPPED:
        return write_checkpoint(runner);
    case STAGE_ALL_FRAMES:
    default:
        break;
    }
    // Nothing is left to resume after the last frame of the shot, and the checkpoint would be the largest file of all.
    if (runner->done >= refine->coarse.frame_end) return refine_remove_checkpoint(&refine->output);
    int has_grains = refine->to.column_count > 0; // there was something to do
    return has_grains && refine->checkpoint != runner->done ? write_checkpoint(runner) : GRAIN_OK;
}

// From the last checkpoint, or from birth.
static GrainResult resume(Runner *runner)
{
    Refine *refine = runner->state;
    struct GrainFrame newest = {0};
    int found;
    int32_t start = runner->origin = refine->coarse.frame_start;
    refine->newest = refine->checkpoint = start - 1;
    refine->checkpoint_time = run_clock();
    TRY(cache_find_newest(&runner->cache, &newest, &found, stage_warn, runner));
    if (found) refine->newest = newest.header.frame;
    column_file_free(&newest);
    runner->done = runner->resumed_from = refine->newest;
    if (refine->newest >= runner->last) return GRAIN_OK;
    TRY(read_coarse(refine, start, &refine->to));
    TRY(scene_walls_begin(&refine->refinement.walls, &refine->to));
    TRY(refine_read_checkpoint(&refine->output, &refine->coarse, refine->newest, &refine->checkpoint));
    runner->done = refine->checkpoint;
    if (runner->done < start) return GRAIN_OK;
    TRY(refine_births_skip(&refine->births, runner->done));
    return read_coarse(refine, runner->done, &refine->to);
}

// --- the row --------------------------------------------------------------------------------------

static void measure(const Runner *runner, GrainStageStatus *status)
{
    const Refine *refine = runner->state;
    const Upsampler *upsampler = refine->refinement.upsampler;
    status->particles = upsampler ? upsample_count(upsampler) : 0;
}

static void free_state(Runner *runner)
{
    Refine *refine = runner->state;
    refine_births_free(&refine->births);
    refine_free(&refine->refinement);
    column_file_free(&refine->from), column_file_free(&refine->to);
    cache_manifest_free(&refine->coarse);
    alloc_free(refine->coarse_folder);
}

const Stage stage_refine = {.name = "upsample",
                            .command = "grain upsample",
                            .stream = "grains",
                            .state_bytes = sizeof(Refine),
                            .opening = CACHE_REPLACE,
                            .has_shards = 1,
                            .settings = JOB_UPSAMPLE,
                            .fingerprint = job_upsample_fingerprint,
                            .plan = plan,
                            .prepare = prepare,
                            .resume = resume,
                            .frame = next_frame,
                            .save = save,
                            .measure = measure,
                            .free = free_state};
