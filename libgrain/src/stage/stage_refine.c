// SPDX-License-Identifier: GPL-3.0-or-later
// Refining the frames of a bake, one after the other, into frames of render grains.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/system.h"
#include "job/upsample_solids.h"
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
    UpsampleSolids solids;
    UpsampleDef settings;
    Upsampler *upsampler;
    struct GrainFrame from, to; ///< coarse
    int32_t newest;             ///< frame in the cache
    int32_t checkpoint;         ///< the frame it was written at
    double checkpoint_time;
    RefineOutput output;
    RefineBirths births;
} Refine;

// --- the plan -------------------------------------------------------------------------------------

static void choose_settings(Runner *runner)
{
    Refine *refine = runner->state;
    const JobUpsample *wanted = &runner->job.upsample;
    int64_t total = 0;
    for (int64_t i = 0; i < refine->coarse.frame_count; i++)
        if (refine->coarse.frames[i].particles > total) total = refine->coarse.frames[i].particles;
    double per_particle =
        wanted->per_particle > 0.0 ? wanted->per_particle : wanted->grains / (double)(total > 0 ? total : 1);
    refine->settings = (UpsampleDef){.scheme = wanted->scheme,
                                     .coarse_radius = runner->job.particle_radius,
                                     .per_particle = per_particle,
                                     .size_spread = wanted->size_spread,
                                     .substep = wanted->substep,
                                     .seed = wanted->seed,
                                     .gravity = runner->job.gravity,
                                     .frame_seconds = 1.0 / runner->job.fps,
                                     .coarse_total = total,
                                     .shard = runner->def->shard - 1,
                                     .shard_count = runner->def->shard_count};
}

static GrainResult check_size(const Runner *runner)
{
    const UpsampleDef *settings = &((const Refine *)runner->state)->settings;
    if (settings->per_particle > UPSAMPLE_MAX_PER_PARTICLE)
        return fail(
            GRAIN_ERROR_JOB,
            "%.1f million grains would be %.0f for each of the %lld coarse particles; at most %d are allowed: ask "
            "for fewer grains, or bake with a smaller particle radius",
            1e-6 * runner->job.upsample.grains, settings->per_particle, (long long)settings->coarse_total,
            UPSAMPLE_MAX_PER_PARTICLE);
    double grains = (double)upsample_count_grains(settings, settings->coarse_total);
    double needed = grains * upsample_bytes_per_grain(), free_bytes = (double)system_memory_available();
    if (needed < free_bytes) return GRAIN_OK;
    int shards = (int)(settings->shard_count * needed / free_bytes) + 1;
    return fail(GRAIN_ERROR_MEMORY,
                "%.1f million grains need %.1f GB of memory where %.1f are free; cut them into %d shards or more "
                "(--shard 1/%d and so on), or ask for fewer",
                1e-6 * grains, 1e-9 * needed, 1e-9 * free_bytes, shards, shards);
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
    choose_settings(runner);
    TRY(check_size(runner));
    wanted->fps = refine->coarse.fps;
    snprintf(name, sizeof name, "grains_%dof%d", def->shard, def->shard_count);
    return file_join(refine->coarse_folder, def->shard_count == 1 ? "grains" : name, folder);
}

static GrainResult prepare(Runner *runner)
{
    Refine *refine = runner->state;
    const Job *job = &runner->job;
    int threads = runner->run.thread_count;
    GrainRun run = stage_run(runner);
    runner->cache.manifest.has_orientation = job->upsample.has_orientation;
    TRY(upsample_solids_make(&refine->solids, job, &run));
    refine->settings.colliders = upsample_solids_at;
    refine->settings.colliders_user = &refine->solids;
    TRY(upsample_create(&refine->settings, threads, &refine->upsampler));
    refine->output =
        (RefineOutput){.cache = &runner->cache,
                       .upsampler = refine->upsampler,
                       .has_orientation = job->upsample.has_orientation,
                       .is_born_later = refine->coarse.frames[0].particles != refine->settings.coarse_total,
                       .threads = threads};
    refine_errors(&refine->output, job->upsample.precision, (double)upsample_grain_radius(&refine->settings),
                  refine->coarse.fps);
    return refine_births_begin(&refine->births, job, refine->coarse_folder, &refine->coarse, &refine->settings,
                               threads);
}

// --- frames ---------------------------------------------------------------------------------------

static GrainResult read_coarse(Refine *refine, int32_t frame, struct GrainFrame *out)
{
    grain_file_free(out);
    return cache_read_frame(refine->coarse_folder, "coarse", &refine->coarse.frames[frame - refine->coarse.frame_start],
                            out);
}

static GrainResult view_coarse(const struct GrainFrame *frame, UpsampleCoarse *out)
{
    const Column *position = column_find(frame->columns, frame->column_count, "position"),
                 *velocity = column_find(frame->columns, frame->column_count, "velocity"),
                 *birth = column_find(frame->columns, frame->column_count, "birth_time"),
                 *radius = column_find(frame->columns, frame->column_count, "radius");
    int64_t count = frame->header.particles;
    if (!position || !velocity || position->type != GRAIN_F32 || velocity->type != GRAIN_F32 ||
        position->components != 3 || velocity->components != 3 || position->count != count || velocity->count != count)
        return fail(GRAIN_ERROR_DAMAGED, "coarse frame %d has no positions or velocities; bake again",
                    frame->header.frame);
    int has_birth = birth && birth->type == GRAIN_F32 && birth->components == 1 && birth->count == count;
    int has_radius = radius && radius->type == GRAIN_F32 && radius->components == 1 && radius->count == count;
    *out = (UpsampleCoarse){count, position->data, velocity->data, has_birth ? birth->data : NULL,
                            has_radius ? radius->data : NULL};
    return GRAIN_OK;
}

static double seconds_at(const Refine *refine, int32_t frame)
{
    return (frame - refine->coarse.frame_start) / refine->coarse.fps;
}

// The grains of the bake's first frame, which `to` holds.
static GrainResult begin_grains(Refine *refine)
{
    UpsampleCoarse first;
    TRY(view_coarse(&refine->to, &first));
    TRY(upsample_solids_frame(&refine->solids, &refine->to, &refine->to, 0.0));
    return upsample_begin(refine->upsampler, &first, 0.0);
}

static GrainResult advance_grains(Runner *runner)
{
    Refine *refine = runner->state;
    UpsampleCoarse from, to;
    struct GrainFrame spare = refine->from;
    double time = seconds_at(refine, runner->done);
    refine->from = refine->to, refine->to = spare;
    TRY(read_coarse(refine, runner->done + 1, &refine->to));
    TRY(view_coarse(&refine->from, &from));
    TRY(view_coarse(&refine->to, &to));
    TRY(upsample_solids_frame(&refine->solids, &refine->from, &refine->to, time));
    return upsample_advance(refine->upsampler, &from, &to, time, 1.0 / refine->coarse.fps, stage_watch, runner);
}

// Frames that are in the cache are worked out again from the checkpoint on, but not written.
static GrainResult next_frame(Runner *runner)
{
    Refine *refine = runner->state;
    int32_t frame = runner->done + 1;
    TRY(frame == refine->coarse.frame_start ? begin_grains(refine) : advance_grains(runner));
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
    grain_file_free(&newest);
    runner->done = runner->resumed_from = refine->newest;
    if (refine->newest >= runner->last) return GRAIN_OK;
    TRY(read_coarse(refine, start, &refine->to));
    TRY(upsample_solids_begin(&refine->solids, &refine->to));
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
    status->particles = refine->upsampler ? upsample_count(refine->upsampler) : 0;
}

static void free_state(Runner *runner)
{
    Refine *refine = runner->state;
    refine_births_free(&refine->births);
    upsample_destroy(refine->upsampler);
    upsample_solids_free(&refine->solids);
    grain_file_free(&refine->from), grain_file_free(&refine->to);
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
