// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_copies.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/sort.h"

#include <string.h>

static int is_balanced_at(const MeshTopology *t, int32_t vertex, uint64_t *buffer)
{
    int64_t count = mesh_edges_at(t, vertex, buffer);
    for (int64_t first = 0, next; first < count; first = next) {
        int64_t sum = 0;
        for (next = first; next < count && buffer[next] >> 32 == buffer[first] >> 32; next++)
            sum += t->vertex[(uint32_t)buffer[next]] == vertex ? 1 : -1;
        if (sum != 0) return 0;
    }
    return 1;
}

static GrainResult is_balanced(const MeshTopology *t, int *is)
{
    uint64_t *buffer = ALLOC(uint64_t, 2 * mesh_most_corners(t) + 1);
    if (!buffer) return GRAIN_ERROR_MEMORY;
    *is = 1;
    for (int64_t vertex = 0; *is && vertex < t->vertex_count; vertex++)
        *is = is_balanced_at(t, (int32_t)vertex, buffer);
    alloc_free(buffer);
    return GRAIN_OK;
}

// The vertices of a triangle, ascending; 1 if it goes around them that way, else -1.
static int sort_vertices(const MeshTopology *t, int64_t triangle, int32_t v[3])
{
    int way = 1;
    memcpy(v, t->vertex + 3 * triangle, 3 * sizeof *v);
    for (int pass = 0; pass < 3; pass++) {
        int at = pass % 2;
        if (v[at] <= v[at + 1]) continue;
        int32_t swap = v[at];
        v[at] = v[at + 1], v[at + 1] = swap;
        way = -way;
    }
    return way;
}

static uint64_t hash_of(const int32_t v[3])
{
    uint64_t hash = (uint64_t)v[0] * 0x9E3779B97F4A7C15ull ^ (uint64_t)v[1] * 0xC2B2AE3D27D4EB4Full ^
                    (uint64_t)v[2] * 0x165667B19E3779F9ull;
    return (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull >> 20; // 44 bits: four digits to sort by
}

// How a triangle goes around the vertices of the first of a run of equal keys; 0: it has others.
static int way_of(const MeshTopology *t, const int32_t first[3], int64_t triangle)
{
    int32_t v[3];
    int way = sort_vertices(t, triangle, v);
    return memcmp(first, v, sizeof v) == 0 && v[0] != v[1] && v[1] != v[2] ? way : 0;
}

// In a run of equal keys: of those that go around the same vertices one way, as many stay as go the other way, and one.
static int64_t mark_run(const MeshTopology *t, const SortItem *run, int64_t length, uint8_t *is_copy)
{
    int32_t first[3];
    int64_t sum = 0, marked = 0;
    sort_vertices(t, run[0].value, first);
    for (int64_t i = 0; i < length; i++) sum += way_of(t, first, run[i].value);
    int more = sum < 0 ? -1 : 1;
    for (int64_t i = length - 1; i >= 0 && more * sum - marked > 1; i--) {
        if (way_of(t, first, run[i].value) != more) continue;
        is_copy[run[i].value] = 1;
        marked++;
    }
    return marked;
}

static GrainResult mark_copies(const MeshTopology *t, int threads, uint8_t *is_copy, int64_t *marked)
{
    int64_t count = t->mesh->triangle_count;
    SortItem *items = ALLOC(SortItem, count);
    SortScratch scratch = {0};
    if (!items) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        int32_t v[3];
        sort_vertices(t, i, v);
        items[i] = (SortItem){hash_of(v), (uint32_t)i, 0};
    }
    GrainResult result = sort_by_key(items, count, 44, &scratch, threads);
    for (int64_t first = 0, next; result == GRAIN_OK && first < count; first = next) {
        for (next = first + 1; next < count && items[next].key == items[first].key;) next++;
        if (next > first + 1) *marked += mark_run(t, items + first, next - first, is_copy);
    }
    sort_scratch_free(&scratch);
    alloc_free(items);
    return result;
}

static GrainResult keep_others(const GrainMesh *mesh, const uint8_t *is_copy, int32_t **triangles, int64_t *count)
{
    *triangles = ALLOC(int32_t, 3 * *count);
    if (!*triangles) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0, to = 0; i < mesh->triangle_count; i++)
        if (!is_copy[i]) memcpy(*triangles + 3 * to++, mesh->triangles + 3 * i, 3 * sizeof **triangles);
    return GRAIN_OK;
}

GrainResult mesh_drop_copies(const MeshTopology *t, int threads, int32_t **triangles, int64_t *count)
{
    int64_t marked = 0;
    int is = 1;
    *triangles = NULL, *count = 0;
    if (t->crowded_edges == 0) return GRAIN_OK; // a copy of a face crowds the edges that it shares with others
    TRY(is_balanced(t, &is));
    if (is) return GRAIN_OK;
    *count = t->mesh->triangle_count;
    uint8_t *is_copy = ALLOC_ZEROED(uint8_t, *count);
    if (!is_copy) return GRAIN_ERROR_MEMORY;
    GrainResult result = mark_copies(t, threads, is_copy, &marked);
    *count -= marked;
    if (result == GRAIN_OK && marked > 0) result = keep_others(t->mesh, is_copy, triangles, count);
    alloc_free(is_copy);
    return result;
}
