#pragma once
/// A cache folder that one process writes: its manifest, its frames, its checkpoints (docs/formats.md).
#include "output/grain_file.h"

typedef struct CacheFrame {
    int32_t frame;
    int64_t particles, bytes;
    uint64_t checksum;
} CacheFrame;

#define CACHE_FINGERPRINT_CHARS 32

/// cache.json. frames are in ascending order without gaps, from frame_start on.
typedef struct CacheManifest {
    char fingerprint[CACHE_FINGERPRINT_CHARS + 1];
    char *job_name, *library; ///< from alloc_array
    double fps;
    int32_t frame_start, frame_end;
    const char *stream;  ///< "coarse" or "grains"; a literal
    char *bodies; ///< their names, one a line, in the order of the columns; "" where there are none; from alloc_array
    int has_orientation; ///< grains that are not spheres: frames have a column more
    CacheFrame *frames;
    int64_t frame_count, frame_capacity;
} CacheManifest;

/// GRAIN_ERROR_IO where there is none, GRAIN_ERROR_DAMAGED where it makes no sense.
GrainResult cache_manifest_read(const char *folder, CacheManifest *out);
void cache_manifest_free(CacheManifest *manifest);

typedef struct Cache {
    char *folder;
    CacheManifest manifest;
    int lock;              ///< file descriptor
    int64_t bytes_written; ///< since it was opened
} Cache;

/// Makes the folder if need be, takes the lock (GRAIN_ERROR_BUSY names its holder), removes what an interrupted write
/// left behind, and reads the manifest. A cache of another fingerprint is refused (GRAIN_ERROR_OTHER_JOB) unless it is to
/// be replaced. wanted is taken over: stream, job name, fps, frame range.
typedef enum CacheOpening {
    CACHE_KEEP = 0,    ///< go on with what is there
    CACHE_RESTART = 1, ///< remove the frames and checkpoints first
    CACHE_REPLACE = 2, ///< remove them when they are of another fingerprint, or begin later than wanted
} CacheOpening;
GrainResult cache_open(Cache *cache, const char *folder, const CacheManifest *wanted, CacheOpening opening);
void cache_close(Cache *cache);

/// Lists a frame that was written apart; its file is whole on disk.
GrainResult cache_add_frame(Cache *cache, const GrainFileHeader *header);
/// Writes the frame, then the manifest that lists it.
/// more: columns beside the particles' own.
GrainResult cache_write_frame(Cache *cache, int32_t frame, double time, const Particles *particles, const Column *more,
                              int more_count);
/// The latest state; as the one of frame `frame` when it stands at that frame's end and the frame is a multiple of ten.
GrainResult cache_write_checkpoint(Cache *cache, const GrainFileHeader *header, const Column *columns,
                                   int column_count);

typedef void CacheWarnFn(void *user, const char *text);
/// The checkpoint to go on from, if *found: the newest before which every frame is whole, checked by checksum. Frames
/// after it leave the manifest, to be baked again (all of them, where there is none). Damage is told to `warn`.
GrainResult cache_find_checkpoint(Cache *cache, struct GrainFrame *checkpoint, int *found, CacheWarnFn *warn,
                                  void *user);

/// For frames that are their own checkpoint: leaves in the manifest those that go on without a gap to the newest whole
/// one, which is read (*found) and checked; of the others the size is.
GrainResult cache_find_newest(Cache *cache, struct GrainFrame *newest, int *found, CacheWarnFn *warn, void *user);

/// "<folder>/coarse_000017.grain", from alloc_array.
GrainResult cache_frame_path(const char *folder, const char *stream, int32_t frame, char **path);
/// Reads a frame and checks that it is the one the manifest lists.
GrainResult cache_read_frame(const char *folder, const char *stream, const CacheFrame *frame, struct GrainFrame *out);
