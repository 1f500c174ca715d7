// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A cache folder that one process writes: its manifest, its frames, its checkpoints (docs/formats.md).
#include "base/run.h"
#include "output/cache_lock.h"
#include "output/column_file.h"

typedef struct CacheFrame {
    int32_t frame;
    int64_t particles, bytes;
    uint64_t checksum;
} CacheFrame;

#define CACHE_FINGERPRINT_CHARS 32
/// Of the numbered checkpoints, from which a bake resumes when a later frame turns out to be damaged, the newest N are
/// kept, and every Nth of the older ones.
#define CACHE_CHECKPOINTS_KEPT 10
#define CACHE_MOST_GRIDS 4

/// cache.json. frames are in ascending order from frame_start on; gaps are those that cache_repair left.
typedef struct CacheManifest {
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
    char *job_name, *library; ///< from alloc_array
    void *settings;           ///< what the fingerprint is over, key by key: a JSON object, or NULL
    double fps;
    int32_t frame_start, frame_end;
    const char *stream; ///< "coarse", "grains" or "volume"; a literal
    char *bodies; ///< their names, one a line, in the order of the columns; "" where there are none; from alloc_array
    const char *grids[CACHE_MOST_GRIDS + 1]; ///< of volumes: their names, NULL-ended; literals
    double voxel_size;                       ///< of volumes: m, of the first grid
    int32_t number_shift;                    ///< of volumes: what a file's number is above its frame
    int has_orientation;                     ///< grains that are not spheres: frames have a column more
    CacheFrame *frames;
    int64_t frame_count, frame_capacity;
    CacheFrame *births; ///< of the frames in which particles were born, ascending; particles: how many
    int64_t birth_count, birth_capacity;
} CacheManifest;

/// GRAIN_ERROR_IO if there is no manifest, GRAIN_ERROR_DAMAGED if it is not valid.
GrainResult cache_manifest_read(const char *folder, CacheManifest *out);
/// Whether there is anything of its name.
GrainResult cache_manifest_exists(const char *folder, int *exists);
void cache_manifest_free(CacheManifest *manifest);
/// Removes the frames after the first gap. Bakes resume from the frames that remain, and upsampling reads them in
/// order.
void cache_manifest_keep_run(CacheManifest *manifest);
/// The entry of a frame among those of a manifest; NULL where it is not listed.
const CacheFrame *cache_manifest_find(const CacheFrame *frames, int64_t count, int32_t frame);
/// What is different between the settings of two manifests, in words: "solver.friction was 0.6, is 0.3".
void cache_manifest_explain(const CacheManifest *was, const CacheManifest *is, char *text, size_t bytes);

typedef struct Cache {
    char *folder;
    CacheManifest manifest;
    CacheLock lock;
    int32_t checkpoint_every; ///< frames; 10 unless set
    int64_t bytes_written;    ///< since it was opened
} Cache;

/// Makes the folder if need be, takes the lock (GRAIN_ERROR_BUSY names its holder), removes what an interrupted write
/// left behind, and reads the manifest. A cache of another fingerprint is refused (GRAIN_ERROR_OTHER_JOB) unless it is
/// to be replaced. wanted is taken over: stream, job name, fps, frame range.
typedef enum CacheOpening {
    CACHE_KEEP = 0,    ///< go on with what is there
    CACHE_RESTART = 1, ///< remove the frames and checkpoints first
    CACHE_ADOPT =
        3, ///< keep what is there, whatever settings it is of; only its first frame and frame rate must be the same
    CACHE_REPLACE = 2, ///< remove them when they are of another fingerprint, or begin later than wanted
} CacheOpening;
GrainResult cache_open(Cache *cache, const char *folder, const CacheManifest *wanted, CacheOpening opening);
void cache_close(Cache *cache);
/// Tells others that this process is still at work; GRAIN_ERROR_BUSY where somebody else took the cache over.
GrainResult cache_beat(Cache *cache);

/// Lists a frame that was written apart; its file is whole on disk.
GrainResult cache_add_frame(Cache *cache, const ColumnFileHeader *header);
/// Writes the frame, then the manifest that lists it.
GrainResult cache_write_frame(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count);
/// What particles born in this frame bring with them: `birth_NNNNNN.grain`. Listed with the next frame.
GrainResult cache_write_birth(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count);
/// Lists a birth that was written apart.
GrainResult cache_add_birth(Cache *cache, const ColumnFileHeader *header);
/// Whether the births of a frame are listed.
int cache_has_birth(const CacheManifest *manifest, int32_t frame);
/// Reads the births of a frame and checks that they are those the manifest lists.
GrainResult cache_read_birth(const char *folder, const CacheFrame *birth, struct GrainFrame *out);
/// Forgets births after a frame; they will be written again.
void cache_forget_births(CacheManifest *manifest, int32_t last);

/// The latest state; kept, as that of its frame, when it stands at the frame's end and the frame is a multiple of
/// checkpoint_every. Of those kept, the last ten stay, and of the older ones every tenth.
GrainResult cache_write_checkpoint(Cache *cache, const ColumnFileHeader *header, const Column *columns,
                                   int column_count);

/// Frames after this one are no longer listed; their files are written over as the bake comes to them.
void cache_forget_frames(Cache *cache, int32_t last);

/// Finds the checkpoint to resume from, the newest one before which every frame is intact by its checksum; *found is 0
/// if there is none. Frames and births after it (or all of them) leave the manifest, to be baked again. Reports damage
/// to `warn`.
GrainResult cache_find_checkpoint(Cache *cache, struct GrainFrame *checkpoint, int *found, GrainMessageFn *warn,
                                  void *user);

/// For frames of grains: leaves in the manifest those that go on without a gap to the newest whole
/// one, which is read (*found) and checked; of the others the size is. None, where births are missing.
GrainResult cache_find_newest(Cache *cache, struct GrainFrame *newest, int *found, GrainMessageFn *warn, void *user);

/// "<folder>/coarse_000017.grain", from alloc_array. Volumes have names of their own (volume_file.h).
GrainResult cache_frame_path(const char *folder, const char *stream, int32_t frame, char **path);
/// Reads a frame and checks that it is the one the manifest lists.
GrainResult cache_read_frame(const char *folder, const char *stream, const CacheFrame *frame, struct GrainFrame *out);

/// What a name in a cache folder stands for; frame is set for the numbered ones.
typedef enum CacheFile {
    CACHE_FILE_FOREIGN, ///< not one that a cache writes
    CACHE_FILE_PART,    ///< left by a write that did not end
    CACHE_FILE_COARSE,
    CACHE_FILE_GRAINS,
    CACHE_FILE_BIRTH,
    CACHE_FILE_VOLUME,     ///< frame is the file's number
    CACHE_FILE_CHECKPOINT, ///< of a certain frame
    CACHE_FILE_LATEST,     ///< the latest checkpoint
    CACHE_FILE_MANIFEST,
} CacheFile;
CacheFile cache_file_kind(const char *name, int32_t *frame);

// cache_repair.c: a folder as it is found. Each says in words what it finds or does, and counts that.

/// Checks the manifest, the frames it lists and the checkpoints.
GrainResult cache_verify(const char *folder, const Run *run, int64_t *damaged);
/// Drops damaged frames from the manifest and removes damaged checkpoints. What is left can be played; the next bake
/// redoes the rest.
GrainResult cache_repair(const char *folder, const Run *run, int64_t *dropped);
/// Removes frames that the manifest does not list, checkpoints behind its last frame, distance fields (sdf_store.h),
/// which are made again when they are needed, and what unfinished writes left behind; with is_trial only tells of them.
/// Never a file of a name that is not the cache's own.
GrainResult cache_collect_garbage(const char *folder, int is_trial, const Run *run, int64_t *removed, int64_t *bytes);
