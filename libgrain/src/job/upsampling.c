// SPDX-License-Identifier: GPL-3.0-or-later
// grain_upsample: the frames of a bake, one after the other, into frames of render grains.
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/run.h"
#include "base/system.h"
#include "grain/job.h"
#include "job/upsample_births.h"
#include "job/upsample_solids.h"

#include <stdio.h>
#include <string.h>

// A checkpoint takes as long to write as several frames; what is lost without it is only time.
#define FRAMES_BETWEEN_CHECKPOINTS 10
#define SECONDS_BETWEEN_CHECKPOINTS 60.0

typedef struct Upsampling {
    const GrainUpsampleDef *def;
    Job job;
    Run run;
    char *coarse_folder;
    CacheManifest coarse; ///< of the bake
    Cache cache;          ///< of the grains
    UpsampleSolids solids;
    UpsampleDef settings;
    Upsampler *upsampler;
    struct GrainFrame from, to; ///< coarse
    int32_t first, last;        ///< frames wanted
    int32_t done;               ///< the frame the grains stand at
    int32_t newest;             ///< frame in the cache
    int32_t resumed_from;
    int32_t checkpoint; ///< the frame it was written at
    double checkpoint_time;
    double began, seconds_per_frame, last_report;
    UpsampleOutput output;
    UpsampleBirths births;
} Upsampling;

// --- reporting ----------------------------------------------------------------------------------

static GrainResult report(Upsampling *u, GrainBakeEvent event, const char *stage, double fraction)
{
    TRY(cache_beat(&u->cache));
    if (!u->def->status) return GRAIN_OK;
    GrainBakeStatus status = {.struct_size = sizeof status,
                              .event = event,
                              .frame_start = u->first,
                              .frame_end = u->last,
                              .frame = event == GRAIN_BAKE_FRAME ? u->done : u->done + 1,
                              .resumed_from = u->resumed_from,
                              .particles = u->upsampler ? upsample_count(u->upsampler) : 0,
                              .bytes_written = u->cache.bytes_written,
                              .fraction = fraction,
                              .seconds = run_clock() - u->began,
                              .seconds_left = -1.0,
                              .seconds_per_frame = u->seconds_per_frame,
                              .stage = stage};
    if (u->seconds_per_frame > 0.0) status.seconds_left = u->seconds_per_frame * (u->last - u->done);
    if (u->def->status(u->def->user, &status) == GRAIN_CONTINUE) return GRAIN_OK;
    return fail(GRAIN_CANCELLED, "stopped after frame %d; run the same command again to resume", u->done);
}

static void warn(void *user, const char *text) { report(user, GRAIN_BAKE_WARNING, text, 0.0); }

static int32_t report_stage(void *user, const char *stage, float fraction)
{
    return report(user, GRAIN_BAKE_PREPARING, stage, (double)fraction) == GRAIN_OK ? GRAIN_CONTINUE : 0;
}

static double fraction_at(const Upsampling *u, double frame)
{
    double frames = (double)u->last - u->coarse.frame_start;
    return frames > 0.0 ? (frame - u->coarse.frame_start) / frames : 1.0;
}

static GrainResult watch_substep(void *user, double frame_fraction)
{
    Upsampling *u = user;
    double now = run_clock();
    if (now - u->last_report < 0.05) return GRAIN_OK;
    u->last_report = now;
    return report(u, GRAIN_BAKE_PROGRESS, "upsample", fraction_at(u, u->done + frame_fraction));
}

// --- what is there --------------------------------------------------------------------------------

static GrainResult read_bake(Upsampling *u)
{
    const char *given = u->def->cache_folder;
    TRY(given ? file_join(given, "", &u->coarse_folder) : file_join(u->def->job_folder, "cache/", &u->coarse_folder));
    GrainResult result = cache_manifest_read(u->coarse_folder, &u->coarse);
    cache_manifest_keep_run(&u->coarse);
    if (result == GRAIN_ERROR_IO || (result == GRAIN_OK && u->coarse.frame_count == 0))
        return fail(GRAIN_ERROR_IO, "nothing is baked in '%s' yet: run grain bake first, then upsample",
                    u->coarse_folder);
    TRY(result);
    if (strcmp(u->coarse.fingerprint, u->job.fingerprint) != 0)
        return fail(
            GRAIN_ERROR_OTHER_JOB,
            "'%s' contains a bake with other settings, another scene or another version of Grain: bake this job first",
            u->coarse_folder);
    int32_t start = u->coarse.frame_start, end = start + (int32_t)u->coarse.frame_count - 1;
    u->first = start, u->last = end;
    if (!u->def->limit_frames) return GRAIN_OK;
    u->first = u->def->first_frame, u->last = u->def->last_frame;
    if (u->first >= start && u->last <= end && u->first <= u->last) return GRAIN_OK;
    return fail(GRAIN_ERROR_ARGUMENT, "frames %d to %d were asked for; baked are %d to %d", u->first, u->last, start,
                end);
}

static void choose_settings(Upsampling *u)
{
    const JobUpsample *wanted = &u->job.upsample;
    int64_t total = 0;
    for (int64_t i = 0; i < u->coarse.frame_count; i++)
        if (u->coarse.frames[i].particles > total) total = u->coarse.frames[i].particles;
    double per_particle =
        wanted->per_particle > 0.0 ? wanted->per_particle : wanted->grains / (double)(total > 0 ? total : 1);
    u->settings = (UpsampleDef){.scheme = wanted->scheme,
                                .coarse_radius = u->job.particle_radius,
                                .per_particle = per_particle,
                                .size_spread = wanted->size_spread,
                                .substep = wanted->substep,
                                .seed = wanted->seed,
                                .gravity = u->job.gravity,
                                .frame_seconds = 1.0 / u->job.fps,
                                .coarse_total = total,
                                .shard = u->def->shard - 1,
                                .shard_count = u->def->shard_count};
}

static GrainResult check_size(const Upsampling *u)
{
    if (u->settings.per_particle > UPSAMPLE_MAX_PER_PARTICLE)
        return fail(
            GRAIN_ERROR_JOB,
            "%.1f million grains would be %.0f for each of the %lld coarse particles; at most %d are allowed: ask "
            "for fewer grains, or bake with a smaller particle radius",
            1e-6 * u->job.upsample.grains, u->settings.per_particle, (long long)u->settings.coarse_total,
            UPSAMPLE_MAX_PER_PARTICLE);
    double grains = (double)upsample_count_grains(&u->settings, u->settings.coarse_total);
    double needed = grains * upsample_bytes_per_grain(), free_bytes = (double)system_memory_available();
    if (needed < free_bytes) return GRAIN_OK;
    return fail(GRAIN_ERROR_MEMORY,
                "%.1f million grains need %.1f GB of memory where %.1f are free; cut them into %d shards or more "
                "(--shard 1/%d and so on), or ask for fewer",
                1e-6 * grains, 1e-9 * needed, 1e-9 * free_bytes,
                (int)(u->settings.shard_count * needed / free_bytes) + 1,
                (int)(u->settings.shard_count * needed / free_bytes) + 1);
}

// A folder of its own for each way to cut the grains, so that its manifest has one writer.
static GrainResult open_cache(Upsampling *u)
{
    CacheManifest wanted = {.stream = "grains",
                            .job_name = (char *)u->job.name,
                            .fps = u->coarse.fps,
                            .frame_start = u->first,
                            .frame_end = u->last};
    job_upsample_fingerprint(&u->job, wanted.fingerprint);
    char name[64], *folder = NULL;
    TRY(job_settings(&u->job, JOB_UPSAMPLE, &wanted.settings));
    snprintf(name, sizeof name, "grains_%dof%d", u->def->shard, u->def->shard_count);
    GrainResult result = file_join(u->coarse_folder, u->def->shard_count == 1 ? "grains" : name, &folder);
    if (result == GRAIN_OK)
        result = cache_open(&u->cache, folder, &wanted, u->def->force ? CACHE_RESTART : CACHE_REPLACE);
    alloc_free(folder);
    json_decref(wanted.settings);
    u->cache.manifest.has_orientation = u->job.upsample.has_orientation;
    return result;
}

// --- frames ---------------------------------------------------------------------------------------

static GrainResult read_coarse(Upsampling *u, int32_t frame, struct GrainFrame *out)
{
    grain_file_free(out);
    return cache_read_frame(u->coarse_folder, "coarse", &u->coarse.frames[frame - u->coarse.frame_start], out);
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

// --- stages ---------------------------------------------------------------------------------------

static double seconds_at(const Upsampling *u, int32_t frame) { return (frame - u->coarse.frame_start) / u->coarse.fps; }

// Frames that are in the cache are worked out again from the checkpoint on, but not written.
static GrainResult write_frame(Upsampling *u)
{
    TRY(upsample_births_write(&u->births, &u->output, &u->to));
    if (u->done < u->first || u->done <= u->newest) return GRAIN_OK;
    return upsample_write_frame(&u->output, &u->to);
}

static GrainResult write_checkpoint(Upsampling *u)
{
    u->checkpoint = u->done, u->checkpoint_time = run_clock();
    return upsample_write_checkpoint(&u->output, u->done, seconds_at(u, u->done));
}

// Nothing is left to go on to after the last frame of the shot, and the checkpoint would be the largest file of all.
static GrainResult end_checkpoints(Upsampling *u)
{
    if (u->done >= u->coarse.frame_end) return upsample_remove_checkpoint(&u->output);
    return u->checkpoint != u->done ? write_checkpoint(u) : GRAIN_OK;
}

// From the last checkpoint, or from birth. What is in the cache already is not written again.
static GrainResult start_or_resume(Upsampling *u)
{
    struct GrainFrame newest = {0};
    int found;
    u->newest = u->done = u->checkpoint = u->coarse.frame_start - 1;
    u->checkpoint_time = run_clock();
    TRY(cache_find_newest(&u->cache, &newest, &found, warn, u));
    if (found) u->newest = newest.header.frame;
    grain_file_free(&newest);
    u->resumed_from = u->newest;
    if (u->newest >= u->last) {
        u->done = u->newest;
        return report(u, GRAIN_BAKE_STARTED, u->cache.folder, 0.0);
    }
    TRY(read_coarse(u, u->coarse.frame_start, &u->to));
    TRY(upsample_solids_begin(&u->solids, &u->to));
    TRY(upsample_read_checkpoint(&u->output, &u->coarse, u->newest, &u->checkpoint));
    TRY(report(u, GRAIN_BAKE_STARTED, u->cache.folder, 0.0));
    u->done = u->checkpoint;
    if (u->done >= u->coarse.frame_start) {
        TRY(upsample_births_skip(&u->births, u->done));
        return read_coarse(u, u->done, &u->to);
    }
    UpsampleCoarse first;
    TRY(view_coarse(&u->to, &first));
    TRY(upsample_solids_frame(&u->solids, &u->to, &u->to, 0.0));
    TRY(upsample_begin(u->upsampler, &first, 0.0));
    u->done = u->coarse.frame_start;
    TRY(write_frame(u));
    return report(u, GRAIN_BAKE_FRAME, "upsample", fraction_at(u, u->done));
}

static GrainResult upsample_frames(Upsampling *u)
{
    while (u->done < u->last) {
        double frame_began = run_clock();
        UpsampleCoarse from, to;
        struct GrainFrame spare = u->from;
        u->from = u->to, u->to = spare;
        TRY(read_coarse(u, u->done + 1, &u->to));
        TRY(view_coarse(&u->from, &from));
        TRY(view_coarse(&u->to, &to));
        TRY(upsample_solids_frame(&u->solids, &u->from, &u->to, seconds_at(u, u->done)));
        TRY(upsample_advance(u->upsampler, &from, &to, seconds_at(u, u->done), 1.0 / u->coarse.fps, watch_substep, u));
        u->done++;
        TRY(write_frame(u));
        u->seconds_per_frame = run_clock() - frame_began;
        GrainResult result = report(u, GRAIN_BAKE_FRAME, "upsample", fraction_at(u, u->done));
        int is_due = u->done - u->checkpoint >= FRAMES_BETWEEN_CHECKPOINTS ||
                     run_clock() - u->checkpoint_time > SECONDS_BETWEEN_CHECKPOINTS;
        if (u->done < u->last && (is_due || result == GRAIN_CANCELLED)) TRY(write_checkpoint(u));
        TRY(result);
    }
    return end_checkpoints(u);
}

static GrainResult upsample_all(Upsampling *u)
{
    TRY(job_read(u->def->job_folder, &u->job));
    TRY(read_bake(u));
    choose_settings(u);
    TRY(check_size(u));
    TRY(open_cache(u));
    GrainRun options = {sizeof options, u->run.thread_count, report_stage, u};
    TRY(upsample_solids_make(&u->solids, &u->job, &options));
    u->settings.colliders = upsample_solids_at;
    u->settings.colliders_user = &u->solids;
    TRY(upsample_create(&u->settings, u->run.thread_count, &u->upsampler));
    u->output = (UpsampleOutput){.cache = &u->cache,
                                 .upsampler = u->upsampler,
                                 .has_orientation = u->job.upsample.has_orientation,
                                 .is_born_later = u->coarse.frames[0].particles != u->settings.coarse_total,
                                 .threads = u->run.thread_count};
    upsample_output_errors(&u->output, u->job.upsample.precision, (double)upsample_grain_radius(&u->settings),
                           u->coarse.fps);
    TRY(upsample_births_begin(&u->births, &u->job, u->coarse_folder, &u->coarse, &u->settings, u->run.thread_count));
    TRY(start_or_resume(u));
    return upsample_frames(u);
}

GrainResult grain_upsample_def_default(GrainUpsampleDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainUpsampleDef);
    def->shard = def->shard_count = 1;
    return GRAIN_OK;
}

GrainResult grain_upsample(const GrainUpsampleDef *def)
{
    CHECK_STRUCT(def, GrainUpsampleDef);
    if (!def->job_folder) return fail(GRAIN_ERROR_ARGUMENT, "GrainUpsampleDef.job_folder is NULL");
    if (def->shard_count < 1 || def->shard_count > 1000 || def->shard < 1 || def->shard > def->shard_count)
        return fail(GRAIN_ERROR_ARGUMENT, "shard %d of %d; allowed are 1/1 to 1000/1000", def->shard, def->shard_count);
    Upsampling u = {.def = def, .began = run_clock(), .cache.lock = CACHE_LOCK_NONE};
    GrainRun options = {sizeof options, def->thread_count, report_stage, &u};
    TRY(run_begin(&u.run, &options));
    GrainResult result = upsample_all(&u);

    upsample_births_free(&u.births);
    upsample_destroy(u.upsampler);
    upsample_solids_free(&u.solids);
    grain_file_free(&u.from), grain_file_free(&u.to);
    cache_manifest_free(&u.coarse);
    cache_close(&u.cache);
    alloc_free(u.coarse_folder);
    job_free(&u.job);
    return result;
}
