// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// From a job folder to a cache folder: what `grain bake`, `grain upsample` and `grain volume` run (formats:
/// libgrain/docs/formats.md).
///
///     GrainStageDef def;
///     grain_stage_def_default(&def, sizeof def);
///     def.job_folder = "pour";
///     if (grain_bake(&def) == GRAIN_OK) grain_upsample(&def);
#include "grain/output.h"
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum GrainStageEvent {
    GRAIN_STAGE_PREPARING = 0, ///< Reading the job, making colliders, filling sources.
    GRAIN_STAGE_STARTED = 1,   ///< particles and resumed_from are known.
    GRAIN_STAGE_PROGRESS = 2,  ///< Some way into a frame.
    GRAIN_STAGE_FRAME = 3,     ///< frame is complete on disk.
    GRAIN_STAGE_WARNING = 4,   ///< text says what.
} GrainStageEvent;

typedef struct GrainStageStatus {
    uint32_t struct_size;
    int32_t event;                  ///< GrainStageEvent
    int32_t frame_start, frame_end; ///< The range of frames wanted; of the whole job for grain_bake.
    int32_t frame;                  ///< The frame being worked on, or the one just written.
    int32_t resumed_from;           ///< The last complete frame found in the cache; the one before the first if none.
    int64_t particles;              ///< Simulated particles, or grains.
    int64_t bytes_written;          ///< Since this call began.
    double fraction;                ///< Of all frames wanted, 0 to 1; in PREPARING events, of the step named by text.
    double seconds;                 ///< Since this call began.
    double seconds_left;            ///< An estimate; negative while unknown.
    double seconds_per_frame;       ///< Of the last complete frame; 0 before the first.
    // Statistics of the simulation at the frame just written; all 0 before the first and in other stages.
    double kinetic_energy;     ///< J, of motion and spin
    double potential_energy;   ///< J, in gravity, relative to the origin
    double elastic_energy;     ///< J, stored in contacts
    double deepest_overlap;    ///< Of two grains, relative to the smaller one's radius.
    int64_t contacts;          ///< Pairs of grains that touch.
    int64_t substeps;          ///< Taken since this call began.
    int64_t rejected_substeps; ///< Substeps that an adaptive integrator rejected and repeated with a shorter step.
    const char *text; ///< The step under way ("colliders", "fill", "simulate"), the cache's folder in a STARTED
                      ///< event, the message of a WARNING. Valid during the call.
} GrainStageStatus;

/// Return exactly GRAIN_CONTINUE to continue. Any other value ends the current substep, saves what is needed to resume
/// there and makes the call return GRAIN_CANCELLED. Called on the caller's thread, at most 20 times a second apart from
/// FRAME and WARNING events.
typedef int32_t GrainStageStatusFn(void *user, const GrainStageStatus *status);

/// What becomes of the frames that are in the cache already.
typedef enum GrainRestart {
    /// Resume after the last of them. Frames of other settings are never mixed with new ones: grain_bake refuses the
    /// cache (GRAIN_ERROR_OTHER_JOB), the other stages replace it.
    GRAIN_RESTART_NONE = 0,
    /// Remove all of them first.
    GRAIN_RESTART_ALL = 1,
    /// grain_bake only: remove those after keep_frame and resume from the newest checkpoint up to it. Earlier frames
    /// stay, whatever settings they were baked with.
    GRAIN_RESTART_AFTER_FRAME = 2,
} GrainRestart;

/// Options of a stage.
typedef struct GrainStageDef {
    uint32_t struct_size;
    int32_t thread_count;       ///< 0 uses all cores. The files do not depend on it.
    const char *job_folder;     ///< Holds job.json.
    const char *cache_folder;   ///< NULL: "cache" inside the job folder. grain_bake makes it if it is missing.
    int32_t restart;            ///< GrainRestart
    int32_t keep_frame;         ///< Used with GRAIN_RESTART_AFTER_FRAME.
    int32_t limit_frames;       ///< 1: only frames first_frame to last_frame.
    int32_t first_frame;        ///< Ignored by grain_bake, which has to begin at the beginning.
    int32_t last_frame;         ///< The stage stops, resumable, after this frame.
    int32_t shard, shard_count; ///< grain_upsample only: which part of the grains, 1 to shard_count (at most 1000), all
                                ///< in one part by default. The parts joined together are the same for any number.
    uint32_t reserved;          ///< 0
    GrainStageStatusFn *status; ///< May be NULL.
    void *user;
} GrainStageDef;
GRAIN_API GrainResult grain_stage_def_default(GrainStageDef *def, uint32_t size);

/// Simulates the job. Returns GRAIN_OK when every frame wanted is in the cache.
GRAIN_API GrainResult grain_bake(const GrainStageDef *def);
/// Refines the bake into render grains, by the job's "upsample" settings; they go to a folder inside the cache. With
/// limited frames, those before first_frame are computed but not written. The bake is not touched.
GRAIN_API GrainResult grain_upsample(const GrainStageDef *def);
/// Turns the bake, or its grains, into a sequence of OpenVDB files for fog, dust, motion blur and meshes, by the job's
/// "volume" settings; they go to "volume" inside the cache. Neither is touched.
GRAIN_API GrainResult grain_volume(const GrainStageDef *def);

/// Every key of job.json as JSON: type, unit, range, default, choices, label and tooltip (docs/formats.md, "The
/// schema"). Writes at most room bytes, the 0 at the end included, and returns the length of the whole text; out may be
/// NULL when room is 0.
GRAIN_API int64_t grain_job_schema(char *out, int64_t room);

// --- is a cache up to date? -------------------------------------------------------------------------

/// A job folder, read and checked.
typedef struct GrainJob GrainJob;
/// GRAIN_ERROR_JOB names the key, the value and what is allowed.
GRAIN_API GrainResult grain_job_read(const char *folder, GrainJob **out);
GRAIN_API void grain_job_destroy(GrainJob *job);
/// Compares a cache with the job: *is_current is 1 if a run of the same stage would use the settings the cache was made
/// with. Otherwise `changes` lists the differences, such as "solver.friction was 0.6, is 0.3"; it is cut to fit and
/// always ends with a zero byte.
GRAIN_API GrainResult grain_job_compare(const GrainJob *job, const GrainCache *cache, int32_t *is_current,
                                        char *changes, int64_t size);

#ifdef __cplusplus
}
#endif
