// SPDX-License-Identifier: GPL-3.0-or-later
#include "refine/refine_births.h"
#include "base/alloc.h"
#include "base/error.h"

#include <stdio.h>
#include <string.h>

// Grains turned into rows at once.
#define CHUNKS_AT_ONCE 16
#define ROWS ((int64_t)CHUNKS_AT_ONCE * CHUNK_GRAINS)
// Step of colours on disk: finer than what any screen can tell apart, in the shadows too.
#define COLOUR_STEP (1.0 / 8192.0)
#define MOST_COLUMNS (BIRTH_MAX_COLUMNS + 1)

GrainResult refine_births_begin(RefineBirths *births, const Job *job, const char *folder, const CacheManifest *coarse,
                                const UpsampleDef *settings, int threads)
{
    *births = (RefineBirths){.folder = folder, .coarse = coarse, .settings = settings};
    return birth_begin(&births->parents, job, threads);
}

void refine_births_free(RefineBirths *births)
{
    birth_free(&births->parents);
    *births = (RefineBirths){0};
}

// Coarse births up to a frame.
static GrainResult read_parents(RefineBirths *births, int32_t frame)
{
    for (; births->read < births->coarse->birth_count; births->read++) {
        const CacheFrame *birth = &births->coarse->births[births->read];
        if (birth->frame > frame) return GRAIN_OK;
        struct GrainFrame file;
        TRY(cache_read_birth(births->folder, birth, &file));
        GrainResult result = birth_load(&births->parents, &file);
        column_file_free(&file);
        if (result != GRAIN_OK)
            return fail_within(result, "birth_%06d.grain in '%s' does not fit the job; bake anew", birth->frame,
                               births->folder);
        if (birth->frame == births->coarse->frame_start) births->begun = births->parents.count;
    }
    return GRAIN_OK;
}

GrainResult refine_births_skip(RefineBirths *births, int32_t frame) { return read_parents(births, frame); }

// --- rows -----------------------------------------------------------------------------------------

/// Grains that are born now, in the order of their ranks.
typedef struct Newborns {
    int64_t count;
    Vec3 *position;
    int32_t *parent;
    int64_t *id;
    // What is written, beside the id.
    Vec3 *rest;
    int32_t *source;
    float *values[JOB_MAX_ATTRIBUTES];
} Newborns;

static GrainResult newborns_create(Newborns *n, const Job *job)
{
    *n = (Newborns){.position = ALLOC(Vec3, ROWS),
                    .parent = ALLOC(int32_t, ROWS),
                    .id = ALLOC(int64_t, ROWS),
                    .rest = ALLOC(Vec3, ROWS),
                    .source = ALLOC(int32_t, ROWS)};
    int is_whole = n->position && n->parent && n->id && n->rest && n->source;
    for (int a = 0; a < job->attribute_count; a++)
        is_whole &= (n->values[a] = ALLOC(float, ROWS * job->attributes[a].components)) != NULL;
    return is_whole ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

static void newborns_free(Newborns *n)
{
    void *const all[] = {n->position, n->parent, n->id, n->rest, n->source};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) alloc_free(all[i]);
    for (int a = 0; a < JOB_MAX_ATTRIBUTES; a++) alloc_free(n->values[a]);
}

// A grain was born beside its particle as far as it is from it now: to the bit where the particle has not moved yet.
static void place_newborns(const RefineBirths *births, const Vec3 *coarse, Newborns *n)
{
    for (int64_t i = 0; i < n->count; i++) {
        int32_t parent = n->parent[i];
        Vec3 rest = births->parents.rest[parent], way = vec3_sub(rest, coarse[parent]);
        n->rest[i] = vec3_add(n->position[i], way);
        n->source[i] = births->parents.source[parent];
    }
}

static void inherit(const RefineBirths *births, int attribute, Newborns *n)
{
    int components = births->parents.job->attributes[attribute].components;
    const float *from = births->parents.values[attribute];
    for (int64_t i = 0; i < n->count; i++)
        memcpy(n->values[attribute] + i * components, from + (int64_t)n->parent[i] * components,
               sizeof(float) * (size_t)components);
}

// Grains of one source together, for the surface is searched for many at once.
static GrainResult paint_source(RefineBirths *births, int object, int32_t source, Newborns *n)
{
    Birth *parents = &births->parents;
    const Job *job = parents->job;
    int64_t *which = ALLOC(int64_t, n->count), count = 0;
    Vec3 *places = ALLOC(Vec3, n->count);
    float *values = ALLOC(float, 4 * n->count);
    GrainResult result = which && places && values ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; result == GRAIN_OK && i < n->count; i++)
        if (n->source[i] == source && n->parent[i] < births->begun) which[count] = i, places[count++] = n->rest[i];
    for (int a = 0; result == GRAIN_OK && count > 0 && a < job->attribute_count; a++) {
        const MeshAttribute *paint = &job->objects[object].paint[a];
        if (!paint->numbers) continue;
        result = birth_paint(parents, object, paint, places, count, values);
        for (int64_t k = 0; result == GRAIN_OK && k < count; k++)
            memcpy(n->values[a] + which[k] * paint->components, values + k * paint->components,
                   sizeof(float) * (size_t)paint->components);
    }
    alloc_free(which);
    alloc_free(places);
    alloc_free(values);
    return result;
}

static GrainResult fill_newborns(RefineBirths *births, const Vec3 *coarse, Newborns *n)
{
    const Job *job = births->parents.job;
    place_newborns(births, coarse, n);
    for (int a = 0; a < job->attribute_count; a++) inherit(births, a, n);
    if (job->attribute_count == 0) return GRAIN_OK;
    int object;
    for (int32_t source = 0; (object = birth_object_of(job, source)) >= 0; source++)
        TRY(paint_source(births, object, source, n));
    return GRAIN_OK;
}

// --- writing --------------------------------------------------------------------------------------

static int list_columns(const RefineBirths *births, const RefineOutput *output, const Newborns *n,
                        PackedColumn *columns, const void **data)
{
    const Job *job = births->parents.job;
    int count = 0;
    double step = 2.0 * output->position_error / 1.7320508075688772;
    data[count] = n->rest, columns[count++] = (PackedColumn){"rest", {GRAIN_F32, 3, CHUNK_LATTICE, step}, 0};
    data[count] = n->source, columns[count++] = (PackedColumn){"source_id", {GRAIN_I32, 1, CHUNK_EXACT, 0.0}, 0};
    if (output->is_born_later)
        data[count] = n->id, columns[count++] = (PackedColumn){"id", {GRAIN_I64, 1, CHUNK_EXACT, 0.0}, 0};
    for (int a = 0; a < job->attribute_count; a++) {
        int components = job->attributes[a].components, is_colour = components == 4;
        ChunkLayout layout = {GRAIN_F32, components, is_colour ? CHUNK_LATTICE : CHUNK_EXACT,
                              is_colour ? COLOUR_STEP : 0.0};
        data[count] = n->values[a], columns[count] = (PackedColumn){"", layout, 0};
        snprintf(columns[count].name, sizeof columns[count].name, "%s", job->attributes[a].name);
        count++;
    }
    return count;
}

// Rows [*from, all) as far as there is room, those of particles from `first` on.
static void gather(const RefineOutput *output, int64_t first, int64_t all, int64_t *from, Newborns *n)
{
    n->count = 0;
    while (*from < all && n->count < ROWS) {
        int64_t rows = all - *from < ROWS - n->count ? all - *from : ROWS - n->count, kept = n->count;
        UpsampleRows out = {.position = n->position + n->count, .parent = n->parent + n->count, .id = n->id + n->count};
        upsample_rows(output->upsampler, *from, rows, &out);
        for (int64_t i = n->count; i < n->count + rows; i++) {
            if (n->parent[i] < first) continue;
            n->position[kept] = n->position[i], n->parent[kept] = n->parent[i], n->id[kept++] = n->id[i];
        }
        n->count = kept;
        *from += rows;
    }
}

static GrainResult append_newborns(RefineBirths *births, const RefineOutput *output, const Vec3 *coarse, int64_t first,
                                   Newborns *n, const void *const *data, PackedWriter *writer)
{
    int64_t all = upsample_count(output->upsampler), from = 0;
    while (from < all) {
        gather(output, first, all, &from, n);
        if (n->count == 0) continue;
        TRY(fill_newborns(births, coarse, n));
        TRY(packed_append(writer, (n->count + CHUNK_GRAINS - 1) / CHUNK_GRAINS, data));
    }
    return GRAIN_OK;
}

static GrainResult write_newborns(RefineBirths *births, const RefineOutput *output, const Vec3 *coarse, int64_t first,
                                  Newborns *n, ColumnFileHeader *header)
{
    PackedColumn columns[MOST_COLUMNS];
    const void *data[MOST_COLUMNS];
    int column_count = list_columns(births, output, n, columns, data);
    int64_t chunk_count = (header->particles + CHUNK_GRAINS - 1) / CHUNK_GRAINS;
    uint32_t *chunk_grains = ALLOC(uint32_t, chunk_count);
    char *path = NULL;
    GrainResult result =
        chunk_grains ? cache_frame_path(output->cache->folder, "birth", header->frame, &path) : GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; result == GRAIN_OK && i < chunk_count; i++) {
        int64_t left = header->particles - i * CHUNK_GRAINS;
        chunk_grains[i] = (uint32_t)(left < CHUNK_GRAINS ? left : CHUNK_GRAINS);
    }
    if (result == GRAIN_OK) {
        PackedWriter writer;
        result = packed_begin(&writer, path, header, columns, column_count, chunk_grains, chunk_count, NULL,
                              output->threads);
        if (result == GRAIN_OK) result = append_newborns(births, output, coarse, first, n, data, &writer);
        if (result == GRAIN_OK)
            result = packed_commit(&writer, header);
        else
            packed_abandon(&writer);
    }
    alloc_free(path);
    alloc_free(chunk_grains);
    return result;
}

GrainResult refine_births_write(RefineBirths *births, const RefineOutput *output, const struct GrainFrame *coarse)
{
    const Column *position = column_find(coarse->columns, coarse->column_count, "position");
    int32_t frame = coarse->header.frame;
    int64_t first = births->parents.count;
    TRY(read_parents(births, frame));
    int is_new = births->parents.count > first && !cache_has_birth(&output->cache->manifest, frame);
    if (!is_new || !position || births->parents.count != coarse->header.particles) return GRAIN_OK;
    ColumnFileHeader header = {.frame = frame, .time = coarse->header.time};
    header.particles = upsample_count(output->upsampler) - upsample_count_grains(births->settings, first);
    if (header.particles == 0) return GRAIN_OK;
    Newborns newborns;
    GrainResult result = newborns_create(&newborns, births->parents.job);
    if (result == GRAIN_OK) {
        upsample_order(output->upsampler);
        result = write_newborns(births, output, position->data, first, &newborns, &header);
    }
    newborns_free(&newborns);
    return result == GRAIN_OK ? cache_add_birth(output->cache, &header) : result;
}
