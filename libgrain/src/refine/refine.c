// SPDX-License-Identifier: GPL-3.0-or-later
#include "refine/refine.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"
#include "grain/upsample.h"
#include "refine/refine_output.h"
#include "scene/scene.h"
#include "simulate/emission.h"

#include <math.h>
#include <string.h>

GrainResult refine_plan(Refinement *refinement, const Job *job, int64_t total, int32_t shard, int32_t shard_count)
{
    const JobUpsample *wanted = &job->upsample;
    UpsampleDef *settings = &refinement->settings;
    refinement->job = job;
    *settings =
        (UpsampleDef){.scheme = wanted->scheme,
                      .coarse_radius = job->particle_radius,
                      .per_particle = wanted->per_particle > 0.0 ? wanted->per_particle
                                                                 : wanted->grains / (double)(total > 0 ? total : 1),
                      .size_spread = wanted->size_spread,
                      .substep = wanted->substep,
                      .seed = wanted->seed,
                      .gravity = job->gravity,
                      .frame_seconds = 1.0 / job->fps,
                      .coarse_total = total,
                      .shard = shard - 1,
                      .shard_count = shard_count};
    if (settings->per_particle > UPSAMPLE_MAX_PER_PARTICLE)
        return fail(
            GRAIN_ERROR_JOB,
            "%.1f million grains would be %.0f for each of the %lld coarse particles; at most %d are allowed: ask "
            "for fewer grains, or bake with a smaller particle radius",
            1e-6 * wanted->grains, settings->per_particle, (long long)total, UPSAMPLE_MAX_PER_PARTICLE);
    double grains = (double)upsample_count_grains(settings, total);
    double needed = grains * upsample_bytes_per_grain(), free_bytes = (double)system_memory_available();
    if (needed < free_bytes) return GRAIN_OK;
    int shards = (int)(shard_count * needed / free_bytes) + 1;
    return fail(GRAIN_ERROR_MEMORY,
                "%.1f million grains need %.1f GB of memory where %.1f are free; cut them into %d shards or more "
                "(--shard 1/%d and so on), or ask for fewer",
                1e-6 * grains, 1e-9 * needed, 1e-9 * free_bytes, shards, shards);
}

GrainResult refine_prepare(Refinement *refinement, const char *cache_folder, const GrainRun *run)
{
    Run checked;
    TRY(run_begin(&checked, run));
    GrainRun options = {sizeof options, checked.thread_count, checked.progress, checked.user};
    refinement->threads = checked.thread_count;
    TRY(scene_walls_make(&refinement->walls, refinement->job, cache_folder, &options));
    refinement->settings.walls = scene_walls_at;
    refinement->settings.walls_user = &refinement->walls;
    return upsample_create(&refinement->settings, refinement->threads, &refinement->upsampler);
}

void refine_free(Refinement *refinement)
{
    upsample_destroy(refinement->upsampler);
    scene_walls_free(&refinement->walls);
    *refinement = (Refinement){0};
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

GrainResult refine_begin(Refinement *refinement, const struct GrainFrame *first)
{
    UpsampleCoarse coarse;
    TRY(view_coarse(first, &coarse));
    TRY(scene_walls_frame(&refinement->walls, first, first, 0.0));
    return upsample_begin(refinement->upsampler, &coarse, 0.0);
}

GrainResult refine_advance(Refinement *refinement, const struct GrainFrame *from, const struct GrainFrame *to,
                           double time, UpsampleWatchFn *watch, void *user)
{
    UpsampleCoarse before, after;
    TRY(view_coarse(from, &before));
    TRY(view_coarse(to, &after));
    TRY(scene_walls_frame(&refinement->walls, from, to, time));
    return upsample_advance(refinement->upsampler, &before, &after, time, 1.0 / refinement->job->fps, watch, user);
}

// --- the public calls -----------------------------------------------------------------------------

struct GrainUpsampler {
    Job job; ///< borrows from the scene
    Refinement refinement;
    RefineOutput output;
    struct GrainFrame coarse, previous; ///< copies of the frame that the grains stand at, and of the one before
    struct GrainFrame frame;            ///< the grains
    GrainResult failed;                 ///< GRAIN_OK unless it can only be destroyed
};

// Column after column, each on a cache line of its own, then their names.
static GrainResult copy_frame(const struct GrainFrame *frame, struct GrainFrame *out)
{
    const int64_t name_bytes = 32;
    int64_t bytes = name_bytes * frame->column_count, at = 0;
    for (int c = 0; c < frame->column_count; c++) {
        if (frame->columns[c].count > 0 && !frame->columns[c].data)
            return fail(GRAIN_ERROR_ARGUMENT, "frame %d has been opened but not loaded; read it with grain_frame_read",
                        frame->header.frame);
        bytes += (column_bytes(&frame->columns[c]) + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
    }
    char *memory = ALLOC_ZEROED(char, bytes), *names = memory + bytes - name_bytes * frame->column_count;
    if (!memory) return GRAIN_ERROR_MEMORY;
    column_file_free(out);
    *out = (struct GrainFrame){.header = frame->header, .column_count = frame->column_count, .memory = memory};
    for (int c = 0; c < frame->column_count; c++) {
        const Column *column = &frame->columns[c];
        int64_t size = column_bytes(column);
        char *name = names + name_bytes * c;
        memcpy(name, column->name, strlen(column->name));
        out->columns[c] = (Column){name, column->type, column->components, column->count, memory + at};
        if (size > 0) memcpy(memory + at, column->data, (size_t)size);
        at += (size + ALLOC_ALIGNMENT - 1) / ALLOC_ALIGNMENT * ALLOC_ALIGNMENT;
    }
    return GRAIN_OK;
}

// By the last frame, those that emitters still have to give birth to included.
static int64_t most_particles(const Job *job, int64_t first)
{
    int64_t most = first + (int64_t)ceil(emission_most(job, -1));
    for (int i = 0; i < job->object_count; i++) most += job->objects[i].role == JOB_EMITTER; // each rounds once
    return most;
}

static GrainResult create_inside(GrainUpsampler *upsampler, const GrainFrame *first, const GrainRun *run)
{
    Refinement *refinement = &upsampler->refinement;
    const Job *job = &upsampler->job;
    if (first->header.frame != job->frame_start)
        return fail(GRAIN_ERROR_ARGUMENT, "the grains begin at frame %d, not at frame %d", job->frame_start,
                    first->header.frame);
    TRY(refine_plan(refinement, job, most_particles(job, first->header.particles), 1, 1));
    TRY(refine_prepare(refinement, NULL, run));
    refinement->walls.sdfs.run.progress = NULL; // that of the call that has made them
    upsampler->output = (RefineOutput){.upsampler = refinement->upsampler,
                                       .has_orientation = job->upsample.has_orientation,
                                       .is_born_later = 1,
                                       .threads = refinement->threads};
    TRY(copy_frame(first, &upsampler->coarse));
    TRY(scene_walls_begin(&refinement->walls, &upsampler->coarse));
    TRY(refine_begin(refinement, &upsampler->coarse));
    return refine_take_frame(&upsampler->output, &upsampler->coarse, &upsampler->frame);
}

GrainResult grain_upsampler_create(const GrainScene *scene, const GrainFrame *first, const GrainRun *run,
                                   GrainUpsampler **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_upsampler_create needs a pointer for its result");
    *out = NULL;
    if (!scene || !first) return fail(GRAIN_ERROR_ARGUMENT, "grain_upsampler_create needs a scene and a frame");
    GrainUpsampler *upsampler = ALLOC_ZEROED(GrainUpsampler, 1);
    if (!upsampler) return GRAIN_ERROR_MEMORY;
    GrainResult result = scene_begin_job(scene, &upsampler->job);
    if (result == GRAIN_OK) result = create_inside(upsampler, first, run);
    if (result == GRAIN_OK)
        *out = upsampler;
    else
        grain_upsampler_destroy(upsampler);
    return result;
}

void grain_upsampler_destroy(GrainUpsampler *upsampler)
{
    if (!upsampler) return;
    refine_free(&upsampler->refinement);
    column_file_free(&upsampler->coarse);
    column_file_free(&upsampler->previous);
    refine_drop_frame(&upsampler->frame);
    scene_end_job(&upsampler->job);
    alloc_free(upsampler);
}

static GrainResult watch_frame(void *user, double fraction) { return run_progress(user, "upsample", fraction); }

static GrainResult advance(GrainUpsampler *upsampler, const GrainFrame *next, Run *watch)
{
    struct GrainFrame spare = upsampler->previous;
    upsampler->previous = upsampler->coarse, upsampler->coarse = spare;
    TRY(copy_frame(next, &upsampler->coarse));
    double time = (upsampler->previous.header.frame - upsampler->job.frame_start) / upsampler->job.fps;
    TRY(refine_advance(&upsampler->refinement, &upsampler->previous, &upsampler->coarse, time, watch_frame, watch));
    return refine_take_frame(&upsampler->output, &upsampler->coarse, &upsampler->frame);
}

GrainResult grain_upsampler_advance(GrainUpsampler *upsampler, const GrainFrame *next, const GrainRun *run)
{
    Run watch;
    if (!upsampler || !next)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_upsampler_advance needs an upsampler and a frame");
    if (upsampler->failed != GRAIN_OK)
        return fail(upsampler->failed, "the upsampler has failed or was cancelled before; destroy it");
    if (next->header.frame != upsampler->coarse.header.frame + 1)
        return fail(GRAIN_ERROR_ARGUMENT, "the grains stand at frame %d; frame %d does not follow it",
                    upsampler->coarse.header.frame, next->header.frame);
    TRY(run_begin(&watch, run));
    upsampler->failed = advance(upsampler, next, &watch);
    return upsampler->failed;
}

const GrainFrame *grain_upsampler_frame(const GrainUpsampler *upsampler)
{
    return upsampler ? &upsampler->frame : NULL;
}
