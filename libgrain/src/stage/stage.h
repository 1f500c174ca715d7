// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A stage makes a sequence of frames from a job and the results of earlier stages in its cache. One runner (stage.c)
/// runs them all: status, throttling, cancelling, the lock, the fingerprint, resuming, the estimate of time.
///
///     plan      chooses the frames and the folder; refuses an impossible job before anything is changed
///     [runner]  opens the cache: takes the lock, compares fingerprints, removes outdated frames
///     prepare   makes what all frames need: colliders, particles, settings
///     resume    finds the frames in the cache and restores the state of the last one
///     frame     makes the next frame and writes it; called repeatedly
///     save      writes what resuming needs, when the stage considers it due
///     free
///
/// A new stage is a file with such a row, and a public function at the end of stage.c.
#include "base/run.h"
#include "grain/job.h"
#include "job/job.h"

typedef struct Runner Runner;

typedef enum StageMoment {
    STAGE_INSIDE_FRAME, ///< Asked to stop: the frame under way is not complete.
    STAGE_FRAME,        ///< A frame is complete, and more will follow.
    STAGE_STOPPED,      ///< A frame is complete, and it is the last for now.
    STAGE_ALL_FRAMES,   ///< All frames wanted are in the cache, if only because they were there already.
} StageMoment;

typedef struct Stage {
    const char *name;     ///< "simulate": in status lines
    const char *command;  ///< "grain bake": in messages
    const char *stream;   ///< CacheManifest.stream
    int64_t state_bytes;  ///< of Runner.state, which starts zeroed
    CacheOpening opening; ///< of a cache that is not to be restarted
    int keeps_frames;     ///< knows GRAIN_RESTART_AFTER_FRAME
    int has_shards;
    JobStage settings;
    void (*fingerprint)(const Job *job, char out[CACHE_FINGERPRINT_CHARS + 1]);

    /// Sets the runner's first, last and until, in the manifest what only this stage knows (fps at least), and *folder
    /// (from alloc_array; left NULL: the cache folder as given).
    GrainResult (*plan)(Runner *runner, CacheManifest *wanted, char **folder);
    GrainResult (*prepare)(Runner *runner);
    /// Sets the runner's origin, done and resumed_from.
    GrainResult (*resume)(Runner *runner);
    /// After STARTED has been reported: what comes before frames are counted. NULL: nothing.
    GrainResult (*start)(Runner *runner);
    /// Makes frame `done` + 1.
    GrainResult (*frame)(Runner *runner);
    /// NULL: frames are all that resuming needs.
    GrainResult (*save)(Runner *runner, StageMoment moment);
    void (*measure)(const Runner *runner, GrainStageStatus *status);
    void (*free)(Runner *runner);
} Stage;

struct Runner {
    const Stage *stage;
    const GrainStageDef *def;
    void *state; ///< the stage's own
    Run run;     ///< of what is prepared before the first frame
    Job job;
    Cache cache;
    int32_t first, last; ///< frames wanted, as reported
    int32_t until;       ///< the last to be made by this call
    int32_t origin;      ///< the frame at which nothing is done yet
    int32_t done;        ///< the last complete frame
    int32_t resumed_from;
    int is_stopped; ///< the callback asked for it
    double began, seconds_per_frame, last_report;
};

extern const Stage stage_simulate, stage_refine, stage_voxelise;

/// A GrainRun for calls that report their progress as steps of preparation.
GrainRun stage_run(Runner *runner);
/// PREPARING; GRAIN_CANCELLED where the callback asks to stop, as from all that report.
GrainResult stage_report_step(Runner *runner, const char *step, double fraction);
/// The same, at most 20 times a second.
GrainResult stage_report_often(Runner *runner, const char *step, double fraction);
/// PROGRESS with the part of the frame that is done, at most 20 times a second; user is the Runner.
GrainResult stage_watch(void *user, double frame_fraction);
/// WARNING; a GrainMessageFn, user is the Runner.
void stage_warn(void *user, const char *text);

/// The folder of the bake.
GrainResult stage_bake_folder(const Runner *runner, char **out);
/// The manifest of frames that an earlier stage made of this job, up to the first gap. `what` they are ("baked frames")
/// and the command that makes them, for messages.
GrainResult stage_read_input(const Runner *runner, const char *folder, const char *fingerprint, const char *what,
                             const char *command, CacheManifest *out);
/// first, last and until: all frames of the input, unless the def limits them.
GrainResult stage_choose_frames(Runner *runner, const CacheManifest *input);
