// The public calls of include/grain/output.h.
#include "grain/output.h"
#include "base/alloc.h"
#include "base/error.h"
#include "output/grain_file.h"

#include <stdio.h>
#include <string.h>

GrainResult grain_frame_read(const char *path, GrainFrame **out)
{
    if (!path || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_read: path or out is NULL");
    *out = NULL;
    GrainFrame *frame = ALLOC_ZEROED(GrainFrame, 1);
    if (!frame) return GRAIN_ERROR_MEMORY;
    GrainResult result = grain_file_read(path, frame);
    if (result == GRAIN_OK) *out = frame;
    else alloc_free(frame);
    return result;
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

GrainResult grain_frame_column(const GrainFrame *frame, const char *name, GrainView *out)
{
    if (!frame || !name || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_column: frame, name or out is NULL");
    const Column *column = column_find(frame->columns, frame->column_count, name);
    if (column) {
        *out = (GrainView){column->data, column->count, column->components, (int32_t)column->type};
        return GRAIN_OK;
    }
    char names[512] = "";
    for (int i = 0; i < frame->column_count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", frame->columns[i].name);
    }
    return fail(GRAIN_ERROR_ARGUMENT, "frame %d has no column '%s'; it has %s", frame->header.frame, name, names);
}
