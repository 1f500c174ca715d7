// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls of include/grain/output.h.
#include "grain/output.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/system.h"
#include "output/grains_file.h"
#include "output/level_set_file.h"

#include <stdio.h>
#include <string.h>

static GrainResult make_frame(const char *path, GrainResult (*fill)(const char *path, GrainFrame *frame),
                              GrainFrame **out)
{
    *out = NULL;
    GrainFrame *frame = ALLOC_ZEROED(GrainFrame, 1);
    if (!frame) return GRAIN_ERROR_MEMORY;
    GrainResult result = fill(path, frame);
    if (result == GRAIN_OK)
        *out = frame;
    else
        alloc_free(frame);
    return result;
}

GrainResult grain_frame_read(const char *path, GrainFrame **out)
{
    if (!path || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_read: path or out is NULL");
    return make_frame(path, grain_file_read, out);
}

static GrainResult open_packed(const char *path, GrainFrame *frame)
{
    GrainsFile *packed = ALLOC(GrainsFile, 1);
    if (!packed) return GRAIN_ERROR_MEMORY;
    GrainResult result = grains_open(path, packed);
    if (result != GRAIN_OK) {
        alloc_free(packed);
        return result;
    }
    *frame = (GrainFrame){.header = packed->header, .column_count = packed->column_count, .packed = packed};
    for (int c = 0; c < packed->column_count; c++) {
        const GrainsColumn *column = &packed->columns[c];
        frame->columns[c] =
            (Column){column->name, column->layout.type, column->layout.components, packed->header.particles, NULL};
    }
    return GRAIN_OK;
}

GrainResult grain_frame_open(const char *path, GrainFrame **out)
{
    if (!path || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_open: path or out is NULL");
    return make_frame(path, grains_is_packed(path) ? open_packed : grain_file_read, out);
}

void grain_frame_destroy(GrainFrame *frame)
{
    if (!frame) return;
    grain_file_free(frame);
    alloc_free(frame);
}

GrainResult grain_frame_info(const GrainFrame *frame, GrainFrameInfo *out)
{
    if (!frame) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_info: frame is NULL");
    CHECK_STRUCT(out, GrainFrameInfo);
    out->frame = frame->header.frame;
    out->time = frame->header.time;
    out->particles = frame->header.particles;
    out->bytes = frame->header.bytes;
    return GRAIN_OK;
}

static GrainResult find_column(const GrainFrame *frame, const char *name, const Column **out)
{
    *out = column_find(frame->columns, frame->column_count, name);
    if (*out) return GRAIN_OK;
    char names[512] = "";
    for (int i = 0; i < frame->column_count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", frame->columns[i].name);
    }
    return fail(GRAIN_ERROR_ARGUMENT, "frame %d has no column '%s'; it has %s", frame->header.frame, name, names);
}

GrainResult grain_frame_column(const GrainFrame *frame, const char *name, GrainView *out)
{
    if (!frame || !name || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_column: frame, name or out is NULL");
    const Column *column;
    TRY(find_column(frame, name, &column));
    *out = (GrainView){column->data, column->count, column->components, (int32_t)column->type};
    return GRAIN_OK;
}

GrainResult grain_frame_load(GrainFrame *frame, const char *name, int64_t count, void *out, int32_t thread_count)
{
    if (!frame || !name || (!out && count > 0))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_load: frame, name or out is NULL");
    const Column *column;
    TRY(find_column(frame, name, &column));
    if (count < 0 || count > column->count || thread_count < 0 || thread_count > 1024)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_load: %lld of %lld elements of '%s' on %d threads",
                    (long long)count, (long long)column->count, name, thread_count);
    if (frame->packed)
        return grains_load(frame->packed, (int)(column - frame->columns), count, out,
                           thread_count > 0 ? thread_count : system_core_count());
    if (count > 0) memcpy(out, column->data, (size_t)(column_bytes(column) / column->count * count));
    return GRAIN_OK;
}

GrainResult grain_sdf_write_vdb(const GrainSdf *sdf, const char *path, const char *grid_name)
{
    if (!sdf || !path) return fail(GRAIN_ERROR_ARGUMENT, "grain_sdf_write_vdb needs a GrainSdf and a path");
    return level_set_write(sdf, path, grid_name);
}

GrainResult grain_sdf_read_vdb(const char *path, const char *grid_name, GrainSdf **out)
{
    if (!out) return fail(GRAIN_ERROR_ARGUMENT, "grain_sdf_read_vdb needs a pointer for its result");
    *out = NULL;
    if (!path) return fail(GRAIN_ERROR_ARGUMENT, "grain_sdf_read_vdb needs a path");
    return level_set_read(path, grid_name, out);
}
