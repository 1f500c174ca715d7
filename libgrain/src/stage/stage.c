// SPDX-License-Identifier: GPL-3.0-or-later
// The runner of all stages.
#include "stage/stage.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/real.h"

#include <string.h>

#define SECONDS_BETWEEN_REPORTS 0.05

// --- reporting ------------------------------------------------------------------------------------

static GrainResult report(Runner *runner, GrainStageEvent event, const char *text, double fraction)
{
    const GrainStageDef *def = runner->def;
    TRY(cache_beat(&runner->cache));
    if (!def->status) return GRAIN_OK;
    GrainStageStatus status = {.struct_size = sizeof status,
                               .event = event,
                               .frame_start = runner->first,
                               .frame_end = runner->last,
                               .frame = event == GRAIN_STAGE_FRAME ? runner->done : runner->done + 1,
                               .resumed_from = runner->resumed_from,
                               .bytes_written = runner->cache.bytes_written,
                               .fraction = fraction,
                               .seconds = run_clock() - runner->began,
                               .seconds_left = -1.0,
                               .seconds_per_frame = runner->seconds_per_frame,
                               .text = text};
    runner->stage->measure(runner, &status);
    // Frames of this call only, and of these the latest: sand at rest is faster than sand that falls.
    if (runner->seconds_per_frame > 0.0)
        status.seconds_left = runner->seconds_per_frame * (runner->last - runner->done);
    if (def->status(def->user, &status) != GRAIN_CONTINUE) runner->is_stopped = 1;
    if (!runner->is_stopped) return GRAIN_OK;
    return fail(GRAIN_CANCELLED, "interrupted after frame %d; run it again to resume there", runner->done);
}

static double fraction_at(const Runner *runner, double frame)
{
    double frames = (double)runner->last - runner->origin;
    return frames > 0.0 ? real_max((frame - runner->origin) / frames, 0.0) : 1.0;
}

// Whether the next report is due.
static int is_due(Runner *runner)
{
    double now = run_clock();
    if (now - runner->last_report < SECONDS_BETWEEN_REPORTS) return 0;
    runner->last_report = now;
    return 1;
}

GrainResult stage_report_step(Runner *runner, const char *step, double fraction)
{
    return report(runner, GRAIN_STAGE_PREPARING, step, fraction);
}

GrainResult stage_report_often(Runner *runner, const char *step, double fraction)
{
    return is_due(runner) ? stage_report_step(runner, step, fraction) : GRAIN_OK;
}

GrainResult stage_watch(void *user, double frame_fraction)
{
    Runner *runner = user;
    if (!is_due(runner)) return GRAIN_OK;
    return report(runner, GRAIN_STAGE_PROGRESS, runner->stage->name,
                  fraction_at(runner, runner->done + frame_fraction));
}

// A wish to stop is remembered, and heeded at the next report.
void stage_warn(void *user, const char *text) { report(user, GRAIN_STAGE_WARNING, text, 0.0); }

static int32_t on_progress(void *user, const char *step, float fraction)
{
    return stage_report_step(user, step, (double)fraction) == GRAIN_OK ? GRAIN_CONTINUE : 0;
}

GrainRun stage_run(Runner *runner)
{
    return (GrainRun){sizeof(GrainRun), runner->run.thread_count, on_progress, runner};
}

// --- what earlier stages made ---------------------------------------------------------------------

GrainResult stage_bake_folder(const Runner *runner, char **out)
{
    const GrainStageDef *def = runner->def;
    return def->cache_folder ? file_join(def->cache_folder, "", out) : file_enter(def->job_folder, "cache", out);
}

GrainResult stage_read_input(const Runner *runner, const char *folder, const char *fingerprint, const char *what,
                             const char *command, CacheManifest *out)
{
    int exists;
    *out = (CacheManifest){0};
    TRY(cache_manifest_exists(folder, &exists));
    GrainResult result = exists ? cache_manifest_read(folder, out) : GRAIN_OK;
    cache_manifest_keep_run(out);
    if (result == GRAIN_OK && out->frame_count == 0)
        return fail(GRAIN_ERROR_IO, "there are no %s in '%s' yet: run %s first, then %s", what, folder, command,
                    runner->stage->command);
    TRY(result);
    if (strcmp(out->fingerprint, fingerprint) == 0) return GRAIN_OK;
    return fail(GRAIN_ERROR_OTHER_JOB,
                "the %s in '%s' were made with other settings, another scene or another version of Grain: run %s first",
                what, folder, command);
}

GrainResult stage_choose_frames(Runner *runner, const CacheManifest *input)
{
    const GrainStageDef *def = runner->def;
    int32_t start = input->frame_start, end = start + (int32_t)input->frame_count - 1;
    runner->first = def->limit_frames ? def->first_frame : start;
    runner->last = runner->until = def->limit_frames ? def->last_frame : end;
    if (runner->first >= start && runner->last <= end && runner->first <= runner->last) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "frames %d to %d were requested; there are frames %d to %d", runner->first,
                runner->last, start, end);
}

// --- the run --------------------------------------------------------------------------------------

static GrainResult open_cache(Runner *runner)
{
    const Stage *stage = runner->stage;
    const CacheOpening openings[] = {[GRAIN_RESTART_NONE] = stage->opening,
                                     [GRAIN_RESTART_ALL] = CACHE_RESTART,
                                     [GRAIN_RESTART_AFTER_FRAME] = CACHE_ADOPT};
    CacheManifest wanted = {.stream = stage->stream, .job_name = (char *)runner->job.name};
    char *folder = NULL;
    GrainResult result = stage->plan(runner, &wanted, &folder);
    wanted.frame_start = runner->first, wanted.frame_end = runner->last;
    stage->fingerprint(&runner->job, wanted.fingerprint);
    if (result == GRAIN_OK) result = job_settings(&runner->job, stage->settings, &wanted.settings);
    if (result == GRAIN_OK)
        result = cache_open(&runner->cache, folder ? folder : runner->def->cache_folder, &wanted,
                            openings[runner->def->restart]);
    if (result == GRAIN_OK && runner->def->restart == GRAIN_RESTART_AFTER_FRAME)
        cache_forget_frames(&runner->cache, runner->def->keep_frame);
    alloc_free(folder);
    alloc_free(wanted.bodies);
    json_decref(wanted.settings);
    return result;
}

static GrainResult save(Runner *runner, StageMoment moment)
{
    return runner->stage->save ? runner->stage->save(runner, moment) : GRAIN_OK;
}

static GrainResult make_frame(Runner *runner)
{
    double began = run_clock();
    GrainResult result = runner->stage->frame(runner);
    if (result == GRAIN_CANCELLED) TRY(save(runner, STAGE_INSIDE_FRAME));
    TRY(result);
    runner->done++;
    runner->seconds_per_frame = run_clock() - began;
    result = report(runner, GRAIN_STAGE_FRAME, runner->stage->name, fraction_at(runner, runner->done));
    if (runner->done < runner->until) TRY(save(runner, result == GRAIN_OK ? STAGE_FRAME : STAGE_STOPPED));
    return result;
}

static GrainResult run_all(Runner *runner)
{
    const Stage *stage = runner->stage;
    TRY(job_read(runner->def->job_folder, &runner->job));
    TRY(open_cache(runner));
    TRY(stage->prepare(runner));
    TRY(stage->resume(runner));
    TRY(report(runner, GRAIN_STAGE_STARTED, runner->cache.folder, 0.0));
    if (stage->start) TRY(stage->start(runner));
    while (runner->done < runner->until) TRY(make_frame(runner));
    return save(runner, STAGE_ALL_FRAMES);
}

static GrainResult check(const Stage *stage, const GrainStageDef *def)
{
    CHECK_STRUCT(def, GrainStageDef);
    if (!def->job_folder) return fail(GRAIN_ERROR_ARGUMENT, "GrainStageDef.job_folder is NULL");
    int last_restart = stage->keeps_frames ? GRAIN_RESTART_AFTER_FRAME : GRAIN_RESTART_ALL;
    if (def->restart < 0 || def->restart > last_restart)
        return fail(GRAIN_ERROR_ARGUMENT, "GrainStageDef.restart is %d; %s allows 0 to %d", def->restart,
                    stage->command, last_restart);
    int most_shards = stage->has_shards ? 1000 : 1;
    if (def->shard >= 1 && def->shard <= def->shard_count && def->shard_count <= most_shards) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "shard %d of %d was requested; %s allows 1/1 to %d/%d", def->shard,
                def->shard_count, stage->command, most_shards, most_shards);
}

static GrainResult run_stage(const Stage *stage, const GrainStageDef *def)
{
    TRY(check(stage, def));
    Runner runner = {.stage = stage, .def = def, .began = run_clock(), .cache.lock = CACHE_LOCK_NONE};
    TRY(run_begin(&runner.run, &(GrainRun){sizeof(GrainRun), def->thread_count, on_progress, &runner}));
    runner.state = ALLOC_ZEROED(char, stage->state_bytes);
    if (!runner.state) return GRAIN_ERROR_MEMORY;
    GrainResult result = run_all(&runner);
    stage->free(&runner);
    alloc_free(runner.state);
    cache_close(&runner.cache);
    job_free(&runner.job);
    return result;
}

// --- the stages -----------------------------------------------------------------------------------

GrainResult grain_stage_def_default(GrainStageDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainStageDef);
    def->shard = def->shard_count = 1;
    return GRAIN_OK;
}

GrainResult grain_bake(const GrainStageDef *def) { return run_stage(&stage_simulate, def); }
GrainResult grain_upsample(const GrainStageDef *def) { return run_stage(&stage_refine, def); }
GrainResult grain_volume(const GrainStageDef *def) { return run_stage(&stage_voxelise, def); }
