// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// From a job folder to a cache folder: what `grain bake` runs (formats: libgrain/docs/formats.md).
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum GrainBakeEvent {
    GRAIN_BAKE_PREPARING = 0, ///< Reading the job, making colliders, filling sources.
    GRAIN_BAKE_STARTED = 1,   ///< particles and resumed_from are known.
    GRAIN_BAKE_PROGRESS = 2,  ///< Some substeps on.
    GRAIN_BAKE_FRAME = 3,     ///< frame is whole on disk.
    GRAIN_BAKE_WARNING = 4,   ///< text says what.
} GrainBakeEvent;

typedef struct GrainBakeStatus {
    uint32_t struct_size;
    int32_t event; ///< GrainBakeEvent
    int32_t frame_start, frame_end;
    int32_t frame;        ///< being worked on, or just written
    int32_t resumed_from; ///< last whole frame found in the cache; frame_start - 1 for none
    int64_t particles;
    int64_t bytes_written;    ///< by this bake
    double fraction;          ///< of the whole bake, 0 to 1
    double seconds;           ///< since this bake began
    double seconds_left;      ///< estimate; negative while unknown
    double seconds_per_frame; ///< of the last whole frame; 0 before it
    // The simulation's books at the frame just written; all 0 before the first.
    double kinetic_energy;     ///< J, of motion and spin
    double potential_energy;   ///< J, in gravity, against the origin
    double elastic_energy;     ///< J, stored in contacts
    double deepest_overlap;    ///< of two grains, over the smaller one's radius
    int64_t contacts;          ///< that touch
    int64_t substeps;          ///< done by this bake
    int64_t rejected_substeps; ///< of these, repeated by an adaptive integrator with a shorter step
    const char *stage;         ///< "colliders", "fill", "simulate"; or a warning's text. Valid during the call.
} GrainBakeStatus;

/// Return exactly GRAIN_CONTINUE to go on; any other value finishes the substep, writes a checkpoint and returns
/// GRAIN_CANCELLED. On the caller's thread, at most 20 times a second apart from FRAME and WARNING.
typedef int32_t GrainBakeStatusFn(void *user, const GrainBakeStatus *status);

typedef struct GrainBakeDef {
    uint32_t struct_size;
    int32_t thread_count;     ///< 0 uses all cores. The files do not depend on it.
    const char *job_folder;   ///< holds job.json
    const char *cache_folder; ///< NULL: "cache" inside the job folder. Made if missing.
    int32_t restart;    ///< 0: go on where the cache ends. 1: throw this cache's frames away first. 2: those after
                        ///< keep_frame; frames up to there stay, whatever settings they were baked with.
    int32_t last_frame; ///< used when limit_frames is 1: stop (whole, resumable) after this frame
    int32_t limit_frames;
    int32_t keep_frame;        ///< used when restart is 2: the bake goes on from the newest checkpoint up to here
    GrainBakeStatusFn *status; ///< may be NULL
    void *user;
} GrainBakeDef;
GRAIN_API GrainResult grain_bake_def_default(GrainBakeDef *def, uint32_t size);

/// Bakes what is missing. Returns GRAIN_OK when every frame of the job is in the cache.
GRAIN_API GrainResult grain_bake(const GrainBakeDef *def);

/// Refines the bake in the job's cache into render grains, by the job's "upsample" settings. The bake is not touched.
typedef struct GrainUpsampleDef {
    uint32_t struct_size;
    int32_t thread_count;     ///< 0 uses all cores. The files do not depend on it.
    const char *job_folder;   ///< holds job.json
    const char *cache_folder; ///< of the bake; NULL: "cache" inside the job folder. Grains go to a folder inside it.
    int32_t shard;            ///< 1 to shard_count: which part of the grains
    int32_t shard_count;      ///< 1 to 1000. Default 1. The parts, one behind the other, are the same for any number.
    int32_t force;            ///< 1: make all frames again, even existing ones
    int32_t limit_frames;     ///< 1: only frames first_frame to last_frame; those before are worked out, not written
    int32_t first_frame, last_frame;
    GrainBakeStatusFn *status; ///< may be NULL; as for a bake
    void *user;
} GrainUpsampleDef;
GRAIN_API GrainResult grain_upsample_def_default(GrainUpsampleDef *def, uint32_t size);
/// Makes what is missing. Grains of other settings or of another bake are replaced.
GRAIN_API GrainResult grain_upsample(const GrainUpsampleDef *def);

/// Turns the bake in the job's cache, or its grains, into a sequence of OpenVDB files for fog, dust, motion blur and
/// meshes, by the job's "volume" settings. Neither is touched.
typedef struct GrainVolumeDef {
    uint32_t struct_size;
    int32_t thread_count;     ///< 0 uses all cores. The files do not depend on it.
    const char *job_folder;   ///< holds job.json
    const char *cache_folder; ///< of the bake; NULL: "cache" inside the job folder. Volumes go to "volume" inside it.
    int32_t force;            ///< 1: make all frames again, even existing ones
    int32_t limit_frames;     ///< 1: only frames first_frame to last_frame, and those between them and what is there
    int32_t first_frame, last_frame;
    GrainBakeStatusFn *status; ///< may be NULL; as for a bake
    void *user;
} GrainVolumeDef;
GRAIN_API GrainResult grain_volume_def_default(GrainVolumeDef *def, uint32_t size);
/// Makes what is missing. Volumes of other settings, of another bake or of other grains are replaced.
GRAIN_API GrainResult grain_volume(const GrainVolumeDef *def);

#ifdef __cplusplus
}
#endif
