// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Cache frames as they lie on disk (layout: libgrain/docs/formats.md).
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum GrainType { GRAIN_F32 = 0, GRAIN_I32 = 1, GRAIN_F64 = 2, GRAIN_I64 = 3 } GrainType;

/// Read-only window on one array. Valid until its owner is destroyed.
typedef struct GrainView {
    const void *data;
    int64_t count;
    int32_t components; ///< 1 to 16 values to an element
    int32_t type;       ///< GrainType
} GrainView;

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

#ifdef __cplusplus
}
#endif
