// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover_floaters.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

#include <string.h>

// Every array of a floater, so that reserving and sorting forget none.
#define FLOAT_COLUMNS 13
static void float_columns(CoverFloaters *f, float **columns[FLOAT_COLUMNS])
{
    int count = 0;
    for (int axis = 0; axis < 3; axis++) {
        columns[count++] = &f->places.position[axis];
        columns[count++] = &f->places.normal[axis];
        columns[count++] = &f->move[axis];
        columns[count++] = &f->next[axis];
    }
    columns[count] = &f->places.distance;
}

static GrainResult grow(void **array, int64_t old_count, int64_t capacity, size_t size)
{
    void *larger = alloc_array(capacity, size);
    if (!larger) return GRAIN_ERROR_MEMORY;
    if (*array) memcpy(larger, *array, (size_t)old_count * size);
    alloc_free(*array);
    *array = larger;
    return GRAIN_OK;
}

GrainResult cover_floaters_reserve(CoverFloaters *f, int64_t capacity)
{
    if (capacity <= f->capacity) return GRAIN_OK;
    int64_t block_count = parallel_block_count(capacity, COVER_LIST_LANES);
    // Whole blocks of 16: kernels work on what lies behind the last floater too.
    capacity = block_count * COVER_LIST_LANES;
    float **columns[FLOAT_COLUMNS];
    float_columns(f, columns);
    for (int i = 0; i < FLOAT_COLUMNS; i++) {
        TRY(grow((void **)columns[i], f->count, capacity, sizeof(float)));
        memset(*columns[i] + f->count, 0, (size_t)(capacity - f->count) * sizeof(float));
    }
    TRY(grow((void **)&f->places.point, f->count, capacity, sizeof(MeshPoint)));
    for (int i = 0; i < COVER_SORTED; i++) TRY(grow((void **)&f->spare[i], 0, capacity, sizeof(float)));
    TRY(grow((void **)&f->spare_points, 0, capacity, sizeof(MeshPoint)));
    TRY(grow((void **)&f->neighbours, 0, capacity * COVER_LIST_LENGTH, sizeof(int32_t)));
    TRY(grow((void **)&f->list_length, 0, block_count, sizeof(int32_t)));
    TRY(grow((void **)&f->sums, 0, parallel_block_count(capacity, COVER_BLOCK), sizeof(double)));
    f->capacity = capacity;
    return GRAIN_OK;
}

void cover_floaters_free(CoverFloaters *f)
{
    float **columns[FLOAT_COLUMNS];
    float_columns(f, columns);
    for (int i = 0; i < FLOAT_COLUMNS; i++) alloc_free(*columns[i]);
    alloc_free(f->places.point);
    for (int i = 0; i < COVER_SORTED; i++) alloc_free(f->spare[i]);
    alloc_free(f->spare_points);
    alloc_free(f->neighbours);
    alloc_free(f->list_length);
    alloc_free(f->sums);
    cell_grid_free(&f->grid);
    *f = (CoverFloaters){0};
}

// The next places are about to be computed anew and need no sorting.
static void sort_columns(CoverFloaters *f, int threads)
{
    float **columns[COVER_SORTED] = {&f->places.position[0],
                                     &f->places.position[1],
                                     &f->places.position[2],
                                     &f->places.normal[0],
                                     &f->places.normal[1],
                                     &f->places.normal[2],
                                     &f->move[0],
                                     &f->move[1],
                                     &f->move[2],
                                     &f->places.distance};
    const int32_t *order = f->grid.order;
    PARALLEL_BLOCKS(threads, block, parallel_block_count(f->count, COVER_BLOCK))
    {
        int64_t first = block * COVER_BLOCK, end = parallel_block_end(block, COVER_BLOCK, f->count);
        for (int column = 0; column < COVER_SORTED; column++) {
            const float *from = *columns[column];
            float *to = f->spare[column];
            for (int64_t i = first; i < end; i++) to[i] = from[order[i]];
        }
        for (int64_t i = first; i < end; i++) f->spare_points[i] = f->places.point[order[i]];
    }
    for (int column = 0; column < COVER_SORTED; column++) {
        float *swap = *columns[column];
        *columns[column] = f->spare[column];
        f->spare[column] = swap;
    }
    MeshPoint *swap = f->places.point;
    f->places.point = f->spare_points;
    f->spare_points = swap;
}

GrainResult cover_floaters_list(CoverFloaters *f, int threads)
{
    float *const *p = f->places.position;
    TRY(cell_grid_build(&f->grid, p[0], p[1], p[2], f->count, COVER_LIST_REACH, threads));
    sort_columns(f, threads);
    PARALLEL_BLOCKS(threads, block, parallel_block_count(f->count, COVER_BLOCK))
    {
        SIMD_CALL(cover_list)(f, block * COVER_BLOCK, parallel_block_end(block, COVER_BLOCK, f->count));
    }
    return GRAIN_OK;
}

void cover_floaters_keep(CoverFloaters *f, const uint8_t *keep)
{
    float **columns[FLOAT_COLUMNS];
    float_columns(f, columns);
    int64_t kept = 0;
    for (int64_t i = 0; i < f->count; i++) {
        if (!keep[i]) continue;
        if (kept != i) {
            for (int c = 0; c < FLOAT_COLUMNS; c++) (*columns[c])[kept] = (*columns[c])[i];
            f->places.point[kept] = f->places.point[i];
        }
        kept++;
    }
    f->count = kept;
}

void cover_floaters_project(CoverFloaters *f, const CoverSurface *surface, int passes, int threads)
{
    PARALLEL_BLOCKS(threads, block, parallel_block_count(f->count, COVER_BLOCK))
    {
        int64_t first = block * COVER_BLOCK, end = parallel_block_end(block, COVER_BLOCK, f->count);
        cover_surface_project(surface, &f->places, first, end, passes);
    }
}
