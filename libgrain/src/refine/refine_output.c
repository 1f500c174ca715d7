// SPDX-License-Identifier: GPL-3.0-or-later
#include "refine/refine_output.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MOST_COLUMNS 32
// Grains turned into rows at once when a frame or a checkpoint is written.
#define CHUNKS_AT_ONCE 32
#define ROWS ((int64_t)CHUNKS_AT_ONCE * CHUNK_GRAINS)
#define CHECKPOINT "checkpoint.grain"

void refine_errors(RefineOutput *output, double precision, double grain_radius, double fps)
{
    output->position_error = precision * grain_radius;
    output->velocity_error = 10.0 * output->position_error * fps;
    output->radius_error = 0.25 * output->position_error;
}

// --- rows -----------------------------------------------------------------------------------------

/// A column as it is written, and where its values come from.
typedef struct Source {
    PackedColumn column;
    const Column *inherited; ///< of the coarse frame; NULL: the grains' own
    void *rows;
} Source;

static void fill_rows(const RefineOutput *output, const Source *source, int64_t first, int64_t count, int32_t *parents)
{
    UpsampleRows rows = {0};
    const char *name = source->column.name;
    if (source->inherited)
        rows.parent = parents;
    else if (strcmp(name, "position") == 0)
        rows.position = source->rows;
    else if (strcmp(name, "velocity") == 0)
        rows.velocity = source->rows;
    else if (strcmp(name, "radius") == 0)
        rows.radius = source->rows;
    else if (strcmp(name, "orientation") == 0)
        rows.orientation = source->rows;
    else
        rows.id = source->rows;
    upsample_rows(output->upsampler, first, count, &rows);
    if (!source->inherited) return;
    size_t bytes = (size_t)(column_bytes(source->inherited) / source->inherited->count);
    for (int64_t i = 0; i < count; i++)
        memcpy((char *)source->rows + (size_t)i * bytes,
               (const char *)source->inherited->data + (size_t)parents[i] * bytes, bytes);
}

static const char *const own_names[] = {"position", "velocity",   "radius", "orientation",
                                        "id",       "birth_time", "spin",   NULL};

// The same text for as long as the program runs; NULL where grains have no such column of their own.
static const char *own_name(const char *name)
{
    for (int i = 0; own_names[i]; i++)
        if (strcmp(own_names[i], name) == 0) return own_names[i];
    return NULL;
}

// What the sources gave their particles, grains inherit.
static int is_inherited(const Column *column, int64_t particles)
{
    return !own_name(column->name) && column->count == particles && particles > 0 &&
           strncmp(column->name, "body.", 5) != 0 && column->components <= CHUNK_MAX_COMPONENTS;
}

// A vector is off by half a step along each of its axes.
static ChunkLayout lattice(int components, double error)
{
    return (ChunkLayout){GRAIN_F32, components, CHUNK_LATTICE, 2.0 * error / sqrt((double)components)};
}

// The id stands in the file only where the order does not tell it: where particles are born during the bake.
static int list_sources(const RefineOutput *output, const struct GrainFrame *coarse, Source *sources)
{
    int count = 0;
    sources[count++] = (Source){{"position", lattice(3, output->position_error), 1}, NULL, NULL};
    sources[count++] = (Source){{"velocity", lattice(3, output->velocity_error), 0}, NULL, NULL};
    sources[count++] = (Source){{"radius", lattice(1, output->radius_error), 1}, NULL, NULL};
    if (output->has_orientation)
        sources[count++] = (Source){{"orientation", {GRAIN_F32, 4, CHUNK_ROTATION, 0.0}, 1}, NULL, NULL};
    if (output->is_born_later) sources[count++] = (Source){{"id", {GRAIN_I64, 1, CHUNK_EXACT, 0.0}, 1}, NULL, NULL};
    for (int i = 0; i < coarse->column_count && count < MOST_COLUMNS; i++) {
        const Column *column = &coarse->columns[i];
        if (!is_inherited(column, coarse->header.particles)) continue;
        Source *source = &sources[count++];
        *source = (Source){{"", {column->type, column->components, CHUNK_EXACT, 0.0}, 1}, column, NULL};
        snprintf(source->column.name, sizeof source->column.name, "%s", column->name);
    }
    return count;
}

static GrainResult take_rows(Source *sources, int count)
{
    for (int c = 0; c < count; c++) {
        sources[c].rows = ALLOC(char, ROWS *packed_value_bytes(&sources[c].column.layout));
        if (!sources[c].rows) return GRAIN_ERROR_MEMORY;
    }
    return GRAIN_OK;
}

static void free_rows(Source *sources, int count)
{
    for (int c = 0; c < count; c++) alloc_free(sources[c].rows);
}

// --- frames ---------------------------------------------------------------------------------------

static GrainResult append_chunks(const RefineOutput *output, PackedWriter *writer, const Source *sources,
                                 int source_count, const uint32_t *chunk_grains, int64_t chunk_count, int32_t *parents)
{
    const void *data[MOST_COLUMNS];
    int64_t first = 0;
    for (int64_t chunk = 0; chunk < chunk_count;) {
        int64_t chunks = chunk_count - chunk < CHUNKS_AT_ONCE ? chunk_count - chunk : CHUNKS_AT_ONCE, grains = 0;
        for (int64_t i = 0; i < chunks; i++) grains += chunk_grains[chunk + i];
        for (int c = 0; c < source_count; c++) {
            fill_rows(output, &sources[c], first, grains, parents);
            data[c] = sources[c].rows;
        }
        TRY(packed_append(writer, chunks, data));
        first += grains, chunk += chunks;
    }
    return GRAIN_OK;
}

// The frame before, whose key frames this one shares; NULL where there is none.
static GrainResult find_previous(const Cache *cache, int32_t frame, char **path)
{
    const CacheManifest *manifest = &cache->manifest;
    *path = NULL;
    if (manifest->frame_count == 0 || manifest->frames[manifest->frame_count - 1].frame != frame - 1) return GRAIN_OK;
    return cache_frame_path(cache->folder, manifest->stream, frame - 1, path);
}

static GrainResult write_sources(const RefineOutput *output, ColumnFileHeader *header, const Source *sources,
                                 int source_count, const uint32_t *chunk_grains, int64_t chunk_count, int32_t *parents)
{
    PackedColumn columns[MOST_COLUMNS];
    char *path = NULL, *previous = NULL;
    for (int c = 0; c < source_count; c++) columns[c] = sources[c].column;
    GrainResult result = find_previous(output->cache, header->frame, &previous);
    if (result == GRAIN_OK) result = cache_frame_path(output->cache->folder, "grains", header->frame, &path);
    if (result == GRAIN_OK) {
        PackedWriter writer;
        result = packed_begin(&writer, path, header, columns, source_count, chunk_grains, chunk_count, previous,
                              output->threads);
        if (result == GRAIN_OK)
            result = append_chunks(output, &writer, sources, source_count, chunk_grains, chunk_count, parents);
        if (result == GRAIN_OK)
            result = packed_commit(&writer, header);
        else
            packed_abandon(&writer);
    }
    alloc_free(path);
    alloc_free(previous);
    return result;
}

GrainResult refine_write_frame(const RefineOutput *output, const struct GrainFrame *coarse)
{
    Source sources[MOST_COLUMNS];
    int source_count = list_sources(output, coarse, sources);
    ColumnFileHeader header = {
        .frame = coarse->header.frame, .time = coarse->header.time, .particles = upsample_count(output->upsampler)};
    int64_t chunk_count = upsample_chunks(output->upsampler, CHUNK_GRAINS, output->is_born_later, NULL);
    uint32_t *chunk_grains = ALLOC(uint32_t, chunk_count);
    int32_t *parents = ALLOC(int32_t, ROWS);
    GrainResult result = chunk_grains && parents ? take_rows(sources, source_count) : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        upsample_chunks(output->upsampler, CHUNK_GRAINS, output->is_born_later, chunk_grains);
        upsample_order(output->upsampler);
        result = write_sources(output, &header, sources, source_count, chunk_grains, chunk_count, parents);
    }
    free_rows(sources, source_count);
    alloc_free(parents);
    alloc_free(chunk_grains);
    return result == GRAIN_OK ? cache_add_frame(output->cache, &header) : result;
}

// --- in memory ------------------------------------------------------------------------------------

void refine_drop_frame(struct GrainFrame *frame)
{
    for (int c = 0; c < frame->column_count; c++) alloc_free((void *)frame->columns[c].data);
    *frame = (struct GrainFrame){0};
}

GrainResult refine_take_frame(const RefineOutput *output, const struct GrainFrame *coarse, struct GrainFrame *out)
{
    Source sources[MOST_COLUMNS];
    int source_count = list_sources(output, coarse, sources);
    int64_t count = upsample_count(output->upsampler);
    int32_t *parents = ALLOC(int32_t, count);
    GrainResult result = parents ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    refine_drop_frame(out);
    out->header = (ColumnFileHeader){.frame = coarse->header.frame, .time = coarse->header.time, .particles = count};
    for (int c = 0; result == GRAIN_OK && c < source_count; c++) {
        const PackedColumn *column = &sources[c].column;
        char *rows = ALLOC(char, count *packed_value_bytes(&column->layout));
        if (!rows) result = GRAIN_ERROR_MEMORY;
        if (rows) sources[c].rows = rows;
        // Names of inherited columns are the coarse frame's, which lives as long.
        const char *name = sources[c].inherited ? sources[c].inherited->name : own_name(column->name);
        if (rows)
            out->columns[out->column_count++] =
                (Column){name, column->layout.type, column->layout.components, count, rows};
    }
    if (result == GRAIN_OK) {
        upsample_order(output->upsampler);
        for (int c = 0; c < source_count; c++) fill_rows(output, &sources[c], 0, count, parents);
    }
    alloc_free(parents);
    return result;
}

// --- checkpoints ----------------------------------------------------------------------------------
// Frames are rounded, so they cannot be gone on from.

enum { STATE_COLUMNS = 3 };
static const Source state[STATE_COLUMNS] = {{{"position", {GRAIN_F32, 3, CHUNK_EXACT, 0.0}, 0}, NULL, NULL},
                                            {{"velocity", {GRAIN_F32, 3, CHUNK_EXACT, 0.0}, 0}, NULL, NULL},
                                            {{"orientation", {GRAIN_F32, 4, CHUNK_EXACT, 0.0}, 0}, NULL, NULL}};

static GrainResult append_state(const RefineOutput *output, ColumnFileStream *stream, const Source *sources,
                                int64_t count)
{
    for (int c = 0; c < STATE_COLUMNS; c++) {
        for (int64_t first = 0; first < count; first += ROWS) {
            int64_t rows = count - first < ROWS ? count - first : ROWS;
            fill_rows(output, &sources[c], first, rows, NULL);
            TRY(column_file_append(stream, sources[c].rows, rows * packed_value_bytes(&sources[c].column.layout)));
        }
        TRY(column_file_end_column(stream));
    }
    return GRAIN_OK;
}

GrainResult refine_write_checkpoint(const RefineOutput *output, int32_t frame, double time)
{
    Source sources[STATE_COLUMNS];
    Column columns[STATE_COLUMNS];
    int64_t count = upsample_count(output->upsampler);
    ColumnFileHeader header = {.frame = frame, .time = time, .particles = count};
    ColumnFileStream stream;
    char *path;
    memcpy(sources, state, sizeof sources);
    for (int c = 0; c < STATE_COLUMNS; c++)
        columns[c] = (Column){state[c].column.name, GRAIN_F32, state[c].column.layout.components, count, NULL};
    TRY(cache_lock_check(&output->cache->lock));
    TRY(file_join(output->cache->folder, CHECKPOINT, &path));
    GrainResult result = take_rows(sources, STATE_COLUMNS);
    if (result == GRAIN_OK) {
        upsample_order(output->upsampler);
        result = column_file_begin(&stream, path, &header, columns, STATE_COLUMNS);
        if (result == GRAIN_OK) result = append_state(output, &stream, sources, count);
        if (result == GRAIN_OK)
            result = column_file_commit(&stream, &header);
        else
            column_file_abandon(&stream);
    }
    free_rows(sources, STATE_COLUMNS);
    alloc_free(path);
    if (result == GRAIN_OK) output->cache->bytes_written += header.bytes;
    return result;
}

GrainResult refine_remove_checkpoint(const RefineOutput *output)
{
    char *path;
    TRY(file_join(output->cache->folder, CHECKPOINT, &path));
    GrainResult result = file_remove(path);
    alloc_free(path);
    return result;
}

static GrainResult load(const RefineOutput *output, const struct GrainFrame *file, const CacheManifest *coarse)
{
    int64_t count = file->header.particles, born = coarse->frames[file->header.frame - coarse->frame_start].particles;
    const void *data[STATE_COLUMNS];
    for (int c = 0; c < STATE_COLUMNS; c++) {
        const PackedColumn *wanted = &state[c].column;
        const Column *column = column_find(file->columns, file->column_count, wanted->name);
        if (!column || column->type != GRAIN_F32 || column->components != wanted->layout.components ||
            column->count != count)
            return GRAIN_ERROR_DAMAGED;
        data[c] = column->data;
    }
    return upsample_load(output->upsampler, born, count, data[0], data[1], data[2]);
}

GrainResult refine_read_checkpoint(const RefineOutput *output, const CacheManifest *coarse, int32_t last,
                                   int32_t *frame)
{
    char *path;
    struct GrainFrame file;
    TRY(file_join(output->cache->folder, CHECKPOINT, &path));
    GrainResult result = file_exists(path) ? column_file_read(path, &file) : GRAIN_ERROR_IO;
    alloc_free(path);
    if (result != GRAIN_OK) return result == GRAIN_ERROR_MEMORY ? result : GRAIN_OK;
    int32_t at = file.header.frame;
    if (at >= coarse->frame_start && at <= last && at - coarse->frame_start < coarse->frame_count) {
        result = load(output, &file, coarse);
        if (result == GRAIN_OK) *frame = at;
    }
    column_file_free(&file);
    return result == GRAIN_ERROR_MEMORY ? result : GRAIN_OK;
}
