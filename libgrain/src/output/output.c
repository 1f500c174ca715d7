// SPDX-License-Identifier: GPL-3.0-or-later
// The public calls of include/grain/output.h.
#include "grain/output.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/run.h"
#include "output/cache_view.h"
#include "output/column_gate.h"
#include "output/export.h"
#include "output/level_set_file.h"
#include "output/packed_file.h"
#include "output/volume_file.h"

#include <math.h>
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
    return make_frame(path, column_file_read, out);
}

static GrainResult open_packed(const char *path, GrainFrame *frame)
{
    PackedFile *packed = ALLOC(PackedFile, 1);
    if (!packed) return GRAIN_ERROR_MEMORY;
    GrainResult result = packed_open(path, packed);
    if (result != GRAIN_OK) {
        alloc_free(packed);
        return result;
    }
    *frame = (GrainFrame){.header = packed->header, .column_count = packed->column_count, .packed = packed};
    for (int c = 0; c < packed->column_count; c++) {
        const PackedColumn *column = &packed->columns[c];
        frame->columns[c] =
            (Column){column->name, column->layout.type, column->layout.components, packed->header.particles, NULL};
    }
    return GRAIN_OK;
}

GrainResult grain_frame_open(const char *path, GrainFrame **out)
{
    if (!path || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_open: path or out is NULL");
    return make_frame(path, packed_recognises(path) ? open_packed : column_file_read, out);
}

void grain_frame_destroy(GrainFrame *frame)
{
    if (!frame) return;
    column_file_free(frame);
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

int32_t grain_frame_column_count(const GrainFrame *frame) { return frame ? frame->column_count : 0; }

const char *grain_frame_column_name(const GrainFrame *frame, int32_t index)
{
    return frame && index >= 0 && index < frame->column_count ? frame->columns[index].name : NULL;
}

GrainResult grain_frame_load(GrainFrame *frame, const char *name, int64_t count, void *out, const GrainRun *options)
{
    if (!frame || !name || (!out && count > 0))
        return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_load: frame, name or out is NULL");
    Run run;
    const Column *column;
    TRY(run_begin(&run, options));
    TRY(find_column(frame, name, &column));
    if (count < 0 || count > column->count)
        return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_load: %lld elements of '%s' were asked for; it has %lld",
                    (long long)count, name, (long long)column->count);
    if (frame->packed) {
        Column loaded = {column->name, column->type, column->components, count, out};
        TRY(packed_load(frame->packed, (int)(column - frame->columns), count, out, run.thread_count));
        return column_gate_check_values(frame->packed->path, &loaded);
    }
    if (count > 0) memcpy(out, column->data, (size_t)(column_bytes(column) / column->count * count));
    return GRAIN_OK;
}

// --- exports ----------------------------------------------------------------------------------------

GrainResult grain_export_def_default(GrainExportDef *def, uint32_t size)
{
    BEGIN_DEFAULT(def, size, GrainExportDef);
    def->fps = 24.0;
    def->voxel_size = 2.0f;
    return GRAIN_OK;
}

GrainResult grain_frame_export(const GrainFrame *frame, const GrainExportDef *def, const GrainRun *options)
{
    CHECK_STRUCT(def, GrainExportDef);
    if (!frame || !def->path) return fail(GRAIN_ERROR_ARGUMENT, "grain_frame_export: frame or path is NULL");
    Run run;
    TRY(run_begin(&run, options));
    if (def->format < GRAIN_EXPORT_PLY || def->format > GRAIN_EXPORT_VDB_GRIDS)
        return fail(GRAIN_ERROR_ARGUMENT, "format is %d; allowed are 0 (PLY), 1 (VDB points) and 2 (VDB grids)",
                    def->format);
    if (!(def->fps > 0.0) || !isfinite(def->fps))
        return fail(GRAIN_ERROR_ARGUMENT, "fps is %g; it must be above 0", def->fps);
    if (!(def->voxel_size >= 0.5f && def->voxel_size <= 100.0f))
        return fail(GRAIN_ERROR_ARGUMENT, "voxel_size is %g radii; allowed are 0.5 to 100", (double)def->voxel_size);
    if (frame->packed)
        return fail(GRAIN_ERROR_ARGUMENT, "frame %d was only opened: read it whole with grain_frame_read to export it",
                    frame->header.frame);
    return export_frame(frame, def, run.thread_count);
}

GrainResult grain_cover_write_ply(const GrainCover *cover, const char *path)
{
    if (!cover || !path) return fail(GRAIN_ERROR_ARGUMENT, "grain_cover_write_ply: cover or path is NULL");
    return export_cover(path, cover);
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

// --- cache folders ----------------------------------------------------------------------------------

GrainResult grain_cache_open(const char *folder, GrainCache **out)
{
    if (!folder || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_open: folder or out is NULL");
    *out = NULL;
    GrainCache *cache = ALLOC_ZEROED(GrainCache, 1);
    if (!cache) return GRAIN_ERROR_MEMORY;
    GrainResult result = cache_view_read(cache, folder);
    if (result == GRAIN_OK)
        *out = cache;
    else
        grain_cache_destroy(cache);
    return result;
}

void grain_cache_destroy(GrainCache *cache)
{
    if (!cache) return;
    cache_view_free(cache);
    alloc_free(cache);
}

GrainResult grain_cache_info(const GrainCache *cache, GrainCacheInfo *out)
{
    if (!cache) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_info: cache is NULL");
    CHECK_STRUCT(out, GrainCacheInfo);
    *out = cache->info;
    return GRAIN_OK;
}

static GrainResult read_listed(const GrainCache *cache, const CacheFrame *listed, GrainFrame *frame)
{
    return cache_read_frame(cache->folder, cache->manifest.stream, listed, frame);
}

GrainResult grain_cache_read(const GrainCache *cache, int32_t frame, GrainFrame **out)
{
    if (!cache || !out) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_read: cache or out is NULL");
    *out = NULL;
    if (cache->info.stream == GRAIN_STREAM_VOLUME)
        return fail(GRAIN_ERROR_ARGUMENT, "'%s' contains volumes, which other programs can open directly",
                    cache->folder);
    const CacheFrame *listed;
    TRY(cache_view_find(cache, frame, &listed));
    GrainFrame *read = ALLOC_ZEROED(GrainFrame, 1);
    if (!read) return GRAIN_ERROR_MEMORY;
    GrainResult result = read_listed(cache, listed, read);
    if (result == GRAIN_OK)
        *out = read;
    else
        alloc_free(read);
    return result;
}

GrainResult grain_cache_check(const GrainCache *cache, int32_t frame)
{
    if (!cache) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_check: cache is NULL");
    const CacheFrame *listed;
    TRY(cache_view_find(cache, frame, &listed));
    if (cache->info.stream == GRAIN_STREAM_VOLUME) return volume_file_check(cache->folder, &cache->manifest, listed);
    GrainFrame read;
    TRY(read_listed(cache, listed, &read));
    column_file_free(&read);
    return GRAIN_OK;
}

GrainResult grain_cache_folder(const char *folder, int32_t index, char *path, int64_t size)
{
    if (!folder || !path || size < 1) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_folder: folder or path is NULL");
    if (index < 0) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_folder: index is %d", index);
    return cache_view_folder(folder, index, path, size);
}

static GrainResult begin_care(const char *folder, const GrainRun *options, GrainCacheFindings *out, Run *run)
{
    CHECK_STRUCT(out, GrainCacheFindings);
    if (!folder) return fail(GRAIN_ERROR_ARGUMENT, "the cache folder is NULL");
    *out = (GrainCacheFindings){.struct_size = sizeof *out};
    return run_begin(run, options);
}

GrainResult grain_cache_verify(const char *folder, const GrainRun *options, GrainCacheFindings *out)
{
    Run run;
    TRY(begin_care(folder, options, out, &run));
    return cache_verify(folder, &run, &out->files);
}

GrainResult grain_cache_check_rest(const GrainCache *cache, const GrainRun *options, GrainCacheFindings *out)
{
    Run run;
    if (!cache) return fail(GRAIN_ERROR_ARGUMENT, "grain_cache_check_rest: cache is NULL");
    TRY(begin_care(cache->folder, options, out, &run));
    return cache_check_rest(cache->folder, &cache->manifest, &run, &out->files);
}

GrainResult grain_cache_repair(const char *folder, const GrainRun *options, GrainCacheFindings *out)
{
    Run run;
    TRY(begin_care(folder, options, out, &run));
    return cache_repair(folder, &run, &out->files);
}

GrainResult grain_cache_clean(const char *folder, int32_t dry_run, const GrainRun *options, GrainCacheFindings *out)
{
    Run run;
    TRY(begin_care(folder, options, out, &run));
    return cache_collect_garbage(folder, dry_run, &run, &out->files, &out->bytes);
}
