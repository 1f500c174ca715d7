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
/// A bake resumes from a numbered checkpoint if a later frame is damaged. The newest N are kept, and every Nth older
/// one.
#define CACHE_CHECKPOINTS_KEPT 10
#define CACHE_MOST_GRIDS 4
/// Of jobs and caches: frames are at most so far from 0, as in Blender.
#define FRAME_LIMIT 1048574

/// cache.json. frames are in ascending order from frame_start on; gaps are those that cache_repair left.
typedef struct CacheManifest {
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
    char *job_name, *library; ///< from alloc_array
    void *settings;           ///< the settings the fingerprint was made from: a JSON object, or NULL
    double fps;
    int32_t frame_start, frame_end;
    const char *stream; ///< "coarse", "grains" or "volume"; a literal
    char *bodies;       ///< names, one per line, in the order of the columns; "" if there are none; from alloc_array
    const char *grids[CACHE_MOST_GRIDS + 1]; ///< of volumes: their names, NULL-ended; literals
    double voxel_size;                       ///< of volumes: m, of the first grid
    int32_t number_shift;                    ///< of volumes: number of a file minus its frame
    int has_orientation;                     ///< grains are not spheres: frames have an additional column
    CacheFrame *frames;
    int64_t frame_count, frame_capacity;
    CacheFrame *births; ///< frames in which particles were born, ascending, with their number
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
/// The entry of a frame; NULL if it is not listed.
const CacheFrame *cache_manifest_find(const CacheFrame *frames, int64_t count, int32_t frame);
/// Describes the differences between the settings of two manifests: "solver.friction was 0.6, is 0.3".
void cache_manifest_explain(const CacheManifest *was, const CacheManifest *is, char *text, size_t bytes);

typedef struct Cache {
    char *folder;
    CacheManifest manifest;
    CacheLock lock;
    int32_t checkpoint_every; ///< frames; 10 unless set
    int64_t bytes_written;    ///< since it was opened
} Cache;

/// Makes the folder if needed, takes the lock (GRAIN_ERROR_BUSY names its holder), removes remains of interrupted
/// writes, and reads the manifest. Fails with GRAIN_ERROR_OTHER_JOB if the fingerprint differs, unless the cache is to
/// be replaced. Takes stream, job name, fps and frame range from `wanted`.
typedef enum CacheOpening {
    CACHE_KEEP = 0,    ///< continue the cache
    CACHE_RESTART = 1, ///< remove the frames and checkpoints first
    CACHE_ADOPT = 3,   ///< keep frames baked with other settings; only the first frame and the frame rate must match
    CACHE_REPLACE = 2, ///< remove them if the fingerprint differs or they begin later than wanted
} CacheOpening;
GrainResult cache_open(Cache *cache, const char *folder, const CacheManifest *wanted, CacheOpening opening);
void cache_close(Cache *cache);
/// Refreshes the lock; GRAIN_ERROR_BUSY if another process has taken it over.
GrainResult cache_beat(Cache *cache);

/// Lists a frame whose file has already been written.
GrainResult cache_add_frame(Cache *cache, const ColumnFileHeader *header);
/// Writes the frame, then the manifest that lists it.
GrainResult cache_write_frame(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count);
/// Writes the attributes of the particles born in this frame, `birth_NNNNNN.grain`. Listed with the next frame.
GrainResult cache_write_birth(Cache *cache, int32_t frame, double time, int64_t particles, const Column *columns,
                              int column_count);
/// Lists a birth file that has already been written.
GrainResult cache_add_birth(Cache *cache, const ColumnFileHeader *header);
/// Whether the births of a frame are listed.
int cache_has_birth(const CacheManifest *manifest, int32_t frame);
/// Reads the births of a frame and checks that they are those the manifest lists.
GrainResult cache_read_birth(const char *folder, const CacheFrame *birth, struct GrainFrame *out);
/// Removes births after a frame from the list; they will be written again.
void cache_forget_births(CacheManifest *manifest, int32_t last);

/// Writes the latest state. At the end of a frame that is a multiple of checkpoint_every it is also kept as the
/// checkpoint of that frame, and older ones are thinned out (CACHE_CHECKPOINTS_KEPT).
GrainResult cache_write_checkpoint(Cache *cache, const ColumnFileHeader *header, const Column *columns,
                                   int column_count);

/// Removes frames after this one from the list; their files are overwritten later.
void cache_forget_frames(Cache *cache, int32_t last);

/// Finds the checkpoint to resume from: the newest one for which all earlier frames have the right checksum; *found is
/// 0 if there is none. Later frames and births (or all) are removed from the manifest, to be baked again. Reports
/// damage to `warn`.
GrainResult cache_find_checkpoint(Cache *cache, struct GrainFrame *checkpoint, int *found, GrainMessageFn *warn,
                                  void *user);

/// For frames of grains: keeps in the manifest the frames without a gap up to the newest intact one, which is read and
/// checked (*found); of the others only the size is checked. Keeps none if births are missing.
GrainResult cache_find_newest(Cache *cache, struct GrainFrame *newest, int *found, GrainMessageFn *warn, void *user);

/// "<folder>/coarse_000017.grain", from alloc_array. Volumes have names of their own (volume_file.h).
GrainResult cache_frame_path(const char *folder, const char *stream, int32_t frame, char **path);
/// Reads a frame and checks that it is the one the manifest lists.
GrainResult cache_read_frame(const char *folder, const char *stream, const CacheFrame *frame, struct GrainFrame *out);

/// The kind of a file in a cache folder, by its name; frame is set for numbered files.
typedef enum CacheFile {
    CACHE_FILE_FOREIGN, ///< not written by a cache
    CACHE_FILE_PART,    ///< left by an interrupted write
    CACHE_FILE_COARSE,
    CACHE_FILE_GRAINS,
    CACHE_FILE_BIRTH,
    CACHE_FILE_VOLUME,     ///< frame is the file's number
    CACHE_FILE_CHECKPOINT, ///< of a certain frame
    CACHE_FILE_LATEST,     ///< the latest checkpoint
    CACHE_FILE_MANIFEST,
} CacheFile;
CacheFile cache_file_kind(const char *name, int32_t *frame);

// cache_repair.c: work on a folder in any state. Each reports its findings or actions to `run` and counts them.

/// Checks the manifest, the frames it lists and the checkpoints.
GrainResult cache_verify(const char *folder, const Run *run, int64_t *damaged);
/// Checks what cache_verify does beside the manifest and its frames: the births, and the checkpoints in the folder.
GrainResult cache_check_rest(const char *folder, const CacheManifest *manifest, const Run *run, int64_t *damaged);
/// Drops damaged frames from the manifest and removes damaged checkpoints. The rest can be played; the next bake
/// replaces the dropped frames.
GrainResult cache_repair(const char *folder, const Run *run, int64_t *dropped);
/// Removes unlisted frames, checkpoints after the last frame, distance fields (sdf_store.h), which are made again when
/// needed, and remains of interrupted writes; with is_trial it only reports them. Never removes files that a cache does
/// not write.
GrainResult cache_collect_garbage(const char *folder, int is_trial, const Run *run, int64_t *removed, int64_t *bytes);
