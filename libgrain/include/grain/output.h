// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Cache frames as they lie on disk (layout: libgrain/docs/formats.md).
#include "grain/sdf.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainFrame GrainFrame;

typedef struct GrainFrameInfo {
    uint32_t struct_size;
    int32_t frame;
    double time; ///< s since the first frame
    int64_t particles;
    int64_t bytes; ///< of the file
} GrainFrameInfo;

/// Reads one frame file whole and checks it: GRAIN_ERROR_DAMAGED where the checksum or the layout is wrong.
GRAIN_API GrainResult grain_frame_read(const char *path, GrainFrame **out);
/// As grain_frame_read, but of packed grains only the head is read and checked: their columns have no data until
/// grain_frame_load. For showing them, or the first of them, quickly.
GRAIN_API GrainResult grain_frame_open(const char *path, GrainFrame **out);
GRAIN_API void grain_frame_destroy(GrainFrame *frame);
GRAIN_API GrainResult grain_frame_info(const GrainFrame *frame, GrainFrameInfo *out);
/// "position" and "velocity" (f32 x 3, m and m/s), "radius" (f32, m). GRAIN_ERROR_ARGUMENT names those there are.
GRAIN_API GrainResult grain_frame_column(const GrainFrame *frame, const char *name, GrainView *out);
/// The first `count` elements of a column into out, which has room for them: what the file holds of them is unpacked
/// and checked on thread_count threads (0: all cores), and no other part of it is read. Grains are ordered so that any
/// beginning is an even sample of them. One call at a time for a frame.
GRAIN_API GrainResult grain_frame_load(GrainFrame *frame, const char *name, int64_t count, void *out,
                                       int32_t thread_count);

// --- distance fields as files ----------------------------------------------------------------------

/// As an OpenVDB level set: active in the band, signs everywhere. The file is written beside its final name, flushed
/// and renamed. grid_name NULL: "surface". GRAIN_ERROR_IO where libgrain_vdb.so cannot be loaded; the text says why.
GRAIN_API GrainResult grain_sdf_write_vdb(const GrainSdf *sdf, const char *path, const char *grid_name);
/// A level set of upright, cubic voxels. grid_name NULL: the first one in the file.
GRAIN_API GrainResult grain_sdf_read_vdb(const char *path, const char *grid_name, GrainSdf **out);

#ifdef __cplusplus
}
#endif
