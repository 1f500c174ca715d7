// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Files on disk: frames, cache folders, exports for other programs. Formats: libgrain/docs/formats.md.
///
/// Every file is written under a temporary name, flushed and then renamed: no reader ever sees half a file.
#include "grain/cover.h"
#include "grain/run.h"
#include "grain/sdf.h"

#ifdef __cplusplus
extern "C" {
#endif

// --- frames -----------------------------------------------------------------------------------------

/// One `.grain` file: named columns, each with one element per particle unless stated otherwise.
///
/// | column           | type    | unit | meaning                                                                  |
/// |------------------|---------|------|--------------------------------------------------------------------------|
/// | position         | f32 x 3 | m    | centre of mass                                                           |
/// | velocity         | f32 x 3 | m/s  |                                                                          |
/// | radius           | f32     | m    | of the sphere around the grain; 0 if it has been removed: do not show it |
/// | orientation      | f32 x 4 |      | unit quaternion w, x, y, z; only if grains are not spheres               |
/// | moisture         | f32     |      | 0 (dry) to 1 (saturated); only if anything is moist                      |
/// | birth_time       | f32     | s    | since the first frame; only if there are emitters                        |
/// | id               | i64     |      | render grains, if there are emitters: 1024 * parent particle + layer     |
/// | body.position    | f32 x 3 | m    | of its pivot; the body.* columns have one element per rigid body         |
/// | body.orientation | f32 x 4 |      | unit quaternion w, x, y, z: the rotation since the first frame           |
/// | body.velocity    | f32 x 3 | m/s  | of its pivot                                                             |
/// | body.spin        | f32 x 3 | 1/s  | angular velocity                                                         |
///
/// Without a column `id`, an element's index is its id: particle 17 is the same in every frame. Files of births
/// (GrainCacheInfo.births) have one element per particle added in the frame, and hold what it was created with:
///
/// | rest             | f32 x 3 | m    | position at creation                                                     |
/// | source_id        | i32     |      | index of the source or emitter in the job                                |
/// | id               | i64     |      | of render grains, as above                                               |
/// | (any other name) | f32 x n |      | an attribute painted on the sources; n is 1 to 4                         |
typedef struct GrainFrame GrainFrame;

typedef struct GrainFrameInfo {
    uint32_t struct_size;
    int32_t frame;
    double time; ///< s since the first frame
    int64_t particles;
    int64_t bytes; ///< size of the file
} GrainFrameInfo;

/// Reads a whole file and verifies it: GRAIN_ERROR_DAMAGED if the checksum or the layout is wrong.
GRAIN_API GrainResult grain_frame_read(const char *path, GrainFrame **out);
/// Like grain_frame_read, except that for packed render grains only the head of the file is read and verified. Their
/// columns have no data (GrainView.data is NULL) until grain_frame_load. Fast, when only some grains are needed.
GRAIN_API GrainResult grain_frame_open(const char *path, GrainFrame **out);
GRAIN_API void grain_frame_destroy(GrainFrame *frame);
GRAIN_API GrainResult grain_frame_info(const GrainFrame *frame, GrainFrameInfo *out);

/// The number of columns, and the name of each (NULL for an index out of range). Names live as long as the frame.
GRAIN_API int32_t grain_frame_column_count(const GrainFrame *frame);
GRAIN_API const char *grain_frame_column_name(const GrainFrame *frame, int32_t index);
/// The column with this name. GRAIN_ERROR_ARGUMENT if the frame has none. Valid until grain_frame_destroy.
GRAIN_API GrainResult grain_frame_column(const GrainFrame *frame, const char *name, GrainView *out);
/// Copies the first `count` elements of a column to `out`. For a frame from grain_frame_open only the part of the file
/// that holds them is read, unpacked and verified. Render grains are ordered so that any first part of them is an even
/// sample of all. One call at a time per frame.
GRAIN_API GrainResult grain_frame_load(GrainFrame *frame, const char *name, int64_t count, void *out,
                                       const GrainRun *run);

// --- exports ----------------------------------------------------------------------------------------

typedef enum GrainExportFormat {
    GRAIN_EXPORT_PLY = 0,        ///< Binary PLY: x y z vx vy vz radius, orientation, id, all further columns.
    GRAIN_EXPORT_VDB_POINTS = 1, ///< OpenVDB points: P, v, pscale, orient, id.
    GRAIN_EXPORT_VDB_GRIDS = 2,  ///< OpenVDB grids: density and velocity.
} GrainExportFormat;

typedef struct GrainExportDef {
    uint32_t struct_size;
    int32_t format;    ///< GrainExportFormat. Default GRAIN_EXPORT_PLY.
    const char *path;  ///< The file to write.
    double fps;        ///< Grids only: frames per second. Default 24.
    float voxel_size;  ///< Grids only: edge of a voxel in radii of the mean particle, 0.5 to 100. Default 2.
    uint32_t reserved; ///< 0
} GrainExportDef;
/// `size` is the caller's sizeof(GrainExportDef).
GRAIN_API GrainResult grain_export_def_default(GrainExportDef *def, uint32_t size);
/// Writes a frame for other programs. The frame must come from grain_frame_read or grain_cache_read. OpenVDB formats
/// need the library libgrain_vdb; GRAIN_ERROR_IO says why it cannot be loaded.
GRAIN_API GrainResult grain_frame_export(const GrainFrame *frame, const GrainExportDef *def, const GrainRun *run);

/// Writes the particles of a cover as binary PLY: x y z nx ny nz radius weight.
GRAIN_API GrainResult grain_cover_write_ply(const GrainCover *cover, const char *path);

/// Writes a distance field as an OpenVDB level set: active in the band, with the correct sign everywhere. grid_name
/// NULL: "surface". Needs libgrain_vdb.
GRAIN_API GrainResult grain_sdf_write_vdb(const GrainSdf *sdf, const char *path, const char *grid_name);
/// Reads a level set with cubic, axis-aligned voxels. grid_name NULL: the first grid in the file. Needs libgrain_vdb.
GRAIN_API GrainResult grain_sdf_read_vdb(const char *path, const char *grid_name, GrainSdf **out);

// --- cache folders ----------------------------------------------------------------------------------

/// The contents of a cache folder as its manifest (cache.json) lists them: a snapshot, taken when it was opened.
///
///     GrainCache *cache;
///     GrainCacheInfo info = {.struct_size = sizeof info};
///     if (grain_cache_open("pour/cache", &cache) != GRAIN_OK) { puts(grain_last_error()); return; }
///     grain_cache_info(cache, &info);
///     for (int64_t i = 0; i < info.frame_count; i++) {
///         GrainFrame *frame;
///         if (grain_cache_read(cache, info.frames[i].frame, &frame) == GRAIN_OK) ...
///     }
typedef struct GrainCache GrainCache;

/// What the frames of a cache hold.
typedef enum GrainStream {
    GRAIN_STREAM_COARSE = 0, ///< The simulated particles.
    GRAIN_STREAM_GRAINS = 1, ///< Render grains, in a folder inside the cache of the bake.
    GRAIN_STREAM_VOLUME = 2, ///< OpenVDB volumes, likewise.
} GrainStream;

/// A complete file on disk.
typedef struct GrainCacheFile {
    const char *path;
    int64_t particles; ///< in the frame; of a birth: added in the frame
    int64_t bytes;     ///< size of the file
    uint64_t checksum;
    int32_t frame;
    uint32_t reserved; ///< 0
} GrainCacheFile;

/// A setting the stage was run with. The value is JSON text.
typedef struct GrainCacheSetting {
    const char *key, *value;
} GrainCacheSetting;

typedef struct GrainCacheInfo {
    uint32_t struct_size;
    int32_t stream;          ///< GrainStream
    const char *job_name;    ///< name of the job
    const char *library;     ///< version of Grain that wrote the cache
    const char *fingerprint; ///< identifies the settings and the scene; 32 hexadecimal digits
    double fps;
    int32_t frame_start, frame_end;    ///< the range of the job; not all of it needs to be there yet
    int64_t frame_count;               ///< complete frames
    const GrainCacheFile *frames;      ///< ascending; after a repair there may be gaps
    int64_t birth_count;               ///< frames in which particles were added
    const GrainCacheFile *births;      ///< ascending
    int64_t body_count;                ///< rigid bodies
    const char *const *bodies;         ///< their names, in the order of the body.* columns
    int64_t grid_count;                ///< volumes only
    const char *const *grids;          ///< names of the grids in each file
    double voxel_size;                 ///< m, of the first grid; volumes only
    int64_t number_shift;              ///< file number minus frame; volumes only
    int64_t setting_count;             ///< 0 for caches of early versions
    const GrainCacheSetting *settings; ///< in the order of the manifest
} GrainCacheInfo;

/// GRAIN_ERROR_IO if there is no cache, GRAIN_ERROR_DAMAGED if its manifest cannot be used. A bake may be writing to
/// the folder meanwhile: every frame listed is complete.
GRAIN_API GrainResult grain_cache_open(const char *folder, GrainCache **out);
GRAIN_API void grain_cache_destroy(GrainCache *cache);
/// All pointers in *out are valid until grain_cache_destroy. The caller sets out->struct_size.
GRAIN_API GrainResult grain_cache_info(const GrainCache *cache, GrainCacheInfo *out);
/// Reads a frame and verifies that it is the file the manifest lists. GRAIN_ERROR_ARGUMENT if it is not listed, or if
/// the cache holds volumes.
GRAIN_API GrainResult grain_cache_read(const GrainCache *cache, int32_t frame, GrainFrame **out);
/// Verifies a frame without returning it. Works for volumes, too.
GRAIN_API GrainResult grain_cache_check(const GrainCache *cache, int32_t frame);

/// The cache folders in and below a folder: index 0 is the folder itself, 1 and above are the folders of render grains
/// and volumes inside it, sorted by name. *path becomes an empty text if there is no such index.
GRAIN_API GrainResult grain_cache_folder(const char *folder, int32_t index, char *path, int64_t size);

/// What a maintenance call found. The caller sets struct_size.
typedef struct GrainCacheFindings {
    uint32_t struct_size;
    uint32_t reserved; ///< 0
    int64_t files;     ///< damaged or removed
    int64_t bytes;     ///< size of the files removed (grain_cache_clean)
} GrainCacheFindings;

/// Verifies the manifest, every frame and birth it lists, and all checkpoints. Reports damage through run->message and
/// counts it; GRAIN_OK also if there is some. Changes nothing.
GRAIN_API GrainResult grain_cache_verify(const char *folder, const GrainRun *run, GrainCacheFindings *out);
/// Of grain_cache_verify the part that grain_cache_check leaves: the births that the cache lists, and the checkpoints.
GRAIN_API GrainResult grain_cache_check_rest(const GrainCache *cache, const GrainRun *run, GrainCacheFindings *out);
/// Removes damaged frames from the manifest and deletes damaged checkpoints. The remaining frames can be played, and
/// the next run of the stage makes the missing ones. GRAIN_ERROR_BUSY while a process writes to the cache.
GRAIN_API GrainResult grain_cache_repair(const char *folder, const GrainRun *run, GrainCacheFindings *out);
/// Deletes frames that the manifest does not list, checkpoints after its last frame, and temporary files. Reports each
/// path through run->message. With dry_run 1 nothing is deleted. Files that Grain did not write are never touched.
GRAIN_API GrainResult grain_cache_clean(const char *folder, int32_t dry_run, const GrainRun *run,
                                        GrainCacheFindings *out);

#ifdef __cplusplus
}
#endif
