// SPDX-License-Identifier: GPL-3.0-or-later
#include "job/birth.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

#include <string.h>

GrainResult birth_begin(Birth *birth, const Job *job, int threads)
{
    *birth = (Birth){.job = job, .threads = threads};
    birth->lookups = ALLOC_ZEROED(MeshLookup, job->object_count);
    return birth->lookups ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

void birth_free(Birth *birth)
{
    for (int i = 0; birth->lookups && i < birth->job->object_count; i++) mesh_lookup_free(&birth->lookups[i]);
    alloc_free(birth->lookups);
    alloc_free(birth->rest);
    alloc_free(birth->source);
    for (int a = 0; a < JOB_MAX_ATTRIBUTES; a++) alloc_free(birth->values[a]);
    *birth = (Birth){0};
}

static int32_t source_number(const Job *job, int object)
{
    int32_t number = 0;
    for (int i = 0; i < object; i++) number += job_is_source(&job->objects[i]);
    return number;
}

int birth_object_of(const Job *job, int32_t source)
{
    for (int i = 0; i < job->object_count; i++)
        if (job_is_source(&job->objects[i]) && source-- == 0) return i;
    return -1;
}

static GrainResult reserve(Birth *birth, int64_t count)
{
    TRY(alloc_grow((void **)&birth->rest, &birth->capacities[0], count, sizeof(Vec3)));
    TRY(alloc_grow((void **)&birth->source, &birth->capacities[1], count, sizeof(int32_t)));
    for (int a = 0; a < birth->job->attribute_count; a++)
        TRY(alloc_grow((void **)&birth->values[a], &birth->capacities[2 + a], count,
                       sizeof(float) * (size_t)birth->job->attributes[a].components));
    return GRAIN_OK;
}

static GrainResult find_points(Birth *birth, int object, const Vec3 *places, int64_t count, MeshPoint *points)
{
    MeshLookup *lookup = &birth->lookups[object];
    if (!lookup->mesh) TRY(mesh_lookup_create(lookup, &birth->job->objects[object].mesh, birth->threads));
    mesh_lookup_find(lookup, places, count, birth->threads, points);
    return GRAIN_OK;
}

static void read_paint(const Birth *birth, int object, const MeshAttribute *paint, const MeshPoint *points,
                       int64_t count, float *out)
{
    PARALLEL_FOR(birth->threads, i, count)
    {
        mesh_lookup_read(&birth->lookups[object], points[i], paint, out + i * paint->components);
    }
}

GrainResult birth_paint(Birth *birth, int object, const MeshAttribute *paint, const Vec3 *places, int64_t count,
                        float *out)
{
    MeshPoint *points = ALLOC(MeshPoint, count);
    GrainResult result = points ? find_points(birth, object, places, count, points) : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) read_paint(birth, object, paint, points, count, out);
    alloc_free(points);
    return result;
}

GrainResult birth_moisten(Birth *birth, int object, const Vec3 *places, int64_t count, float *out)
{
    const MeshAttribute *paint = &birth->job->objects[object].moisture_paint;
    if (paint->numbers) return birth_paint(birth, object, paint, places, count, out);
    for (int64_t i = 0; i < count; i++) out[i] = 1.0f;
    return GRAIN_OK;
}

// What of the job's attributes this source has; the others are 0.
static GrainResult add_values(Birth *birth, int object, const Vec3 *places, int64_t count)
{
    const Job *job = birth->job;
    const JobObject *source = &job->objects[object];
    int has_paint = 0;
    for (int a = 0; a < job->attribute_count; a++) has_paint |= source->paint[a].numbers != NULL;
    MeshPoint *points = ALLOC(MeshPoint, has_paint ? count : 0);
    GrainResult result = points ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK && has_paint) result = find_points(birth, object, places, count, points);
    for (int a = 0; result == GRAIN_OK && a < job->attribute_count; a++) {
        int64_t components = job->attributes[a].components;
        float *to = birth->values[a] + birth->count * components;
        if (source->paint[a].numbers)
            read_paint(birth, object, &source->paint[a], points, count, to);
        else
            memset(to, 0, sizeof(float) * (size_t)(count * components));
    }
    alloc_free(points);
    return result;
}

GrainResult birth_add(Birth *birth, int object, const Vec3 *places, const Vec3 *on, int64_t count)
{
    if (count == 0) return GRAIN_OK;
    TRY(reserve(birth, birth->count + count));
    TRY(add_values(birth, object, on, count));
    memcpy(birth->rest + birth->count, places, sizeof(Vec3) * (size_t)count);
    int32_t source = source_number(birth->job, object);
    for (int64_t i = 0; i < count; i++) birth->source[birth->count + i] = source;
    birth->count += count;
    return GRAIN_OK;
}

static GrainResult check_sources(const Job *job, const int32_t *source, int64_t count)
{
    int32_t sources = source_number(job, job->object_count);
    for (int64_t i = 0; i < count; i++)
        if (source[i] < 0 || source[i] >= sources)
            return fail(GRAIN_ERROR_DAMAGED, "a particle comes from source %d; the job has %d", source[i], sources);
    return GRAIN_OK;
}

GrainResult birth_load(Birth *birth, const struct GrainFrame *file)
{
    int64_t count = file->header.particles, at = birth->count;
    const Column *rest = column_find(file->columns, file->column_count, "rest");
    if (!rest || rest->count != count) // or memory would be taken for what the header alone promises
        return fail(GRAIN_ERROR_DAMAGED, "it is not a file of births");
    TRY(reserve(birth, at + count));
    TRY(column_copy(file->columns, file->column_count, "rest", GRAIN_F32, 3, count, birth->rest + at));
    TRY(column_copy(file->columns, file->column_count, "source_id", GRAIN_I32, 1, count, birth->source + at));
    TRY(check_sources(birth->job, birth->source + at, count));
    for (int a = 0; a < birth->job->attribute_count; a++) {
        const JobAttribute *attribute = &birth->job->attributes[a];
        TRY(column_copy(file->columns, file->column_count, attribute->name, GRAIN_F32, attribute->components, count,
                        birth->values[a] + at * attribute->components));
    }
    birth->count += count;
    return GRAIN_OK;
}

int birth_columns(const Birth *birth, int64_t first, Column columns[BIRTH_MAX_COLUMNS])
{
    int64_t count = birth->count - first;
    int used = 0;
    columns[used++] = (Column){"rest", GRAIN_F32, 3, count, birth->rest + first};
    columns[used++] = (Column){"source_id", GRAIN_I32, 1, count, birth->source + first};
    for (int a = 0; a < birth->job->attribute_count; a++) {
        const JobAttribute *attribute = &birth->job->attributes[a];
        columns[used++] = (Column){attribute->name, GRAIN_F32, attribute->components, count,
                                   birth->values[a] + first * attribute->components};
    }
    return used;
}

// --- between frames -------------------------------------------------------------------------------

static int64_t all_components(const Birth *birth)
{
    int64_t sum = 0;
    for (int a = 0; a < birth->job->attribute_count; a++) sum += birth->job->attributes[a].components;
    return sum;
}

// Attributes one after another: a file has no room for a column for each beside those of the solver.
GrainResult birth_pending(const Birth *birth, int64_t first, float **values, Column columns[BIRTH_PENDING_COLUMNS])
{
    int64_t count = birth->count - first, used = 0;
    *values = ALLOC(float, all_components(birth) * count);
    if (!*values) return GRAIN_ERROR_MEMORY;
    for (int a = 0; a < birth->job->attribute_count; a++) {
        int64_t components = birth->job->attributes[a].components;
        if (count > 0)
            memcpy(*values + used, birth->values[a] + first * components, sizeof(float) * (size_t)(count * components));
        used += count * components;
    }
    columns[0] = (Column){"birth.rest", GRAIN_F32, 3, count, birth->rest ? birth->rest + first : NULL};
    columns[1] = (Column){"birth.source", GRAIN_I32, 1, count, birth->source ? birth->source + first : NULL};
    columns[2] = (Column){"birth.values", GRAIN_F32, 1, used, *values};
    return GRAIN_OK;
}

GrainResult birth_resume(Birth *birth, const Column *columns, int column_count)
{
    const Column *rest = column_find(columns, column_count, "birth.rest");
    const Column *values = column_find(columns, column_count, "birth.values");
    int64_t at = birth->count, used = 0;
    if (!rest || !values) return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has no birth attributes");
    TRY(reserve(birth, at + rest->count));
    TRY(column_copy(columns, column_count, "birth.rest", GRAIN_F32, 3, rest->count, birth->rest + at));
    TRY(column_copy(columns, column_count, "birth.source", GRAIN_I32, 1, rest->count, birth->source + at));
    TRY(check_sources(birth->job, birth->source + at, rest->count));
    if (values->type != GRAIN_F32 || values->components != 1 || values->count != rest->count * all_components(birth))
        return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's birth attributes do not match this job");
    for (int a = 0; a < birth->job->attribute_count; a++) {
        int64_t numbers = rest->count * birth->job->attributes[a].components;
        if (numbers > 0)
            memcpy(birth->values[a] + at * birth->job->attributes[a].components, (const float *)values->data + used,
                   sizeof(float) * (size_t)numbers);
        used += numbers;
    }
    birth->count += rest->count;
    return GRAIN_OK;
}
