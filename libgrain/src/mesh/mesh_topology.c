// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_topology.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/sort.h"

#include <stdlib.h>
#include <string.h>

// Around a vertex with no more corners than this, edges fit on the stack and are sorted by insertion.
#define MANY_CORNERS 64

static inline int has_vertex_twice(const int32_t *vertex, int64_t triangle)
{
    const int32_t *v = vertex + 3 * triangle;
    return v[0] == v[1] || v[1] == v[2] || v[2] == v[0];
}

// Each piece owns a range of vertices and reads all triangles: reading is cheap, no thread waits for another, and
// the corners come out in ascending order.
static void count_corners(MeshTopology *t, int64_t piece, int64_t piece_count)
{
    int64_t first = t->vertex_count * piece / piece_count, last = t->vertex_count * (piece + 1) / piece_count;
    int32_t *count = t->corner_start;
    memset(count + first, 0, (size_t)(last - first) * sizeof *count);
    for (int64_t triangle = 0; triangle < t->mesh->triangle_count; triangle++) {
        if (has_vertex_twice(t->vertex, triangle)) continue;
        for (int64_t corner = 3 * triangle; corner < 3 * triangle + 3; corner++)
            if (t->vertex[corner] >= first && t->vertex[corner] < last) count[t->vertex[corner]]++;
    }
}

static void place_corners(MeshTopology *t, int64_t piece, int64_t piece_count)
{
    int64_t first = t->vertex_count * piece / piece_count, last = t->vertex_count * (piece + 1) / piece_count;
    for (int64_t triangle = 0; triangle < t->mesh->triangle_count; triangle++) {
        if (has_vertex_twice(t->vertex, triangle)) continue;
        for (int64_t corner = 3 * triangle; corner < 3 * triangle + 3; corner++)
            if (t->vertex[corner] >= first && t->vertex[corner] < last)
                t->corners[t->corner_start[t->vertex[corner]]++] = (int32_t)corner;
    }
}

static void gather_corners(MeshTopology *t, int threads)
{
    int64_t pieces = t->mesh->triangle_count > PARALLEL_MINIMUM ? threads : 1;
    PARALLEL_BLOCKS(threads, piece, pieces) { count_corners(t, piece, pieces); }
    int32_t total = 0;
    for (int64_t v = 0; v < t->vertex_count; v++) {
        int32_t here = t->corner_start[v];
        t->corner_start[v] = total;
        total += here;
    }
    PARALLEL_BLOCKS(threads, piece, pieces) { place_corners(t, piece, pieces); }
    // Placing moved each start to its end, which is the next one's start.
    memmove(t->corner_start + 1, t->corner_start, (size_t)t->vertex_count * sizeof(int32_t));
    t->corner_start[0] = 0;
}

static int compare_words(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

int64_t mesh_edges_at(const MeshTopology *t, int32_t vertex, uint64_t *buffer)
{
    int64_t count = 0;
    for (int32_t i = t->corner_start[vertex]; i < t->corner_start[vertex + 1]; i++) {
        int32_t leaving = t->corners[i], arriving = mesh_previous_corner(leaving);
        int32_t to = t->vertex[mesh_next_corner(leaving)], from = t->vertex[arriving];
        if (to > vertex) buffer[count++] = (uint64_t)to << 32 | (uint32_t)leaving;
        if (from > vertex) buffer[count++] = (uint64_t)from << 32 | (uint32_t)arriving;
    }
    if (count > MANY_CORNERS) {
        qsort(buffer, (size_t)count, sizeof *buffer, compare_words);
        return count;
    }
    for (int64_t i = 1; i < count; i++) {
        uint64_t word = buffer[i];
        int64_t place = i;
        for (; place > 0 && buffer[place - 1] > word; place--) buffer[place] = buffer[place - 1];
        buffer[place] = word;
    }
    return count;
}

int64_t mesh_most_corners(const MeshTopology *t)
{
    int64_t most = 0;
    for (int64_t v = 0; v < t->vertex_count; v++)
        most = mesh_corner_count(t, v) > most ? mesh_corner_count(t, v) : most;
    return most;
}

typedef struct EdgeCounts {
    int64_t open, crowded, flipped;
} EdgeCounts;

static void count_edges_at(const MeshTopology *t, int32_t vertex, uint64_t *buffer, EdgeCounts *counts)
{
    int64_t count = mesh_edges_at(t, vertex, buffer);
    for (int64_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && buffer[end] >> 32 == buffer[i] >> 32;) end++;
        counts->open += end - i == 1;
        counts->crowded += end - i > 2;
        counts->flipped += end - i == 2 && t->vertex[(uint32_t)buffer[i]] == t->vertex[(uint32_t)buffer[i + 1]];
    }
}

static GrainResult count_edges(MeshTopology *t, int threads)
{
    int64_t block_count = parallel_block_count(t->vertex_count, PARALLEL_BLOCK);
    EdgeCounts *blocks = ALLOC_ZEROED(EdgeCounts, block_count);
    if (!blocks) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        int64_t end = parallel_block_end(block, PARALLEL_BLOCK, t->vertex_count);
        EdgeCounts counts = {0};
        uint64_t buffer[2 * MANY_CORNERS];
        for (int64_t v = block * PARALLEL_BLOCK; v < end; v++)
            if (mesh_corner_count(t, v) <= MANY_CORNERS) count_edges_at(t, (int32_t)v, buffer, &counts);
        blocks[block] = counts;
    }
    EdgeCounts sum = {0};
    for (int64_t block = 0; block < block_count; block++) {
        sum.open += blocks[block].open;
        sum.crowded += blocks[block].crowded;
        sum.flipped += blocks[block].flipped;
    }
    alloc_free(blocks);
    int64_t most = mesh_most_corners(t);
    uint64_t *buffer = most > MANY_CORNERS ? ALLOC(uint64_t, 2 * most) : NULL;
    if (most > MANY_CORNERS && !buffer) return GRAIN_ERROR_MEMORY;
    for (int64_t v = 0; buffer && v < t->vertex_count; v++)
        if (mesh_corner_count(t, v) > MANY_CORNERS) count_edges_at(t, (int32_t)v, buffer, &sum);
    alloc_free(buffer);
    t->open_edges = sum.open;
    t->crowded_edges = sum.crowded;
    t->flipped_edges = sum.flipped;
    return GRAIN_OK;
}

static uint64_t place_hash(const float *p)
{
    uint32_t bits[3];
    float place[3] = {p[0] + 0.0f, p[1] + 0.0f, p[2] + 0.0f}; // -0 is the same place as 0
    memcpy(bits, place, sizeof bits);
    uint64_t hash = (uint64_t)bits[0] * 0x9E3779B97F4A7C15ull ^ (uint64_t)bits[1] * 0xC2B2AE3D27D4EB4Full ^
                    (uint64_t)bits[2] * 0x165667B19E3779F9ull;
    return (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull >> 20; // 44 bits: four digits to sort by
}

GrainResult mesh_weld(const GrainMesh *mesh, int threads, int32_t **same_as, int64_t *count)
{
    int64_t vertex_count = mesh->vertex_count;
    *count = 0;
    *same_as = ALLOC(int32_t, vertex_count);
    SortItem *items = ALLOC(SortItem, vertex_count);
    SortScratch scratch = {0};
    GrainResult result = *same_as && items ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        PARALLEL_FOR(threads, v, vertex_count)
        {
            items[v] = (SortItem){place_hash(mesh->positions + 3 * v), (uint32_t)v, 0};
        }
        result = sort_by_key(items, vertex_count, 44, &scratch, threads);
    }
    for (int64_t first = 0, i = 0; result == GRAIN_OK && i < vertex_count; i++) {
        if (items[i].key != items[first].key) first = i;
        int32_t v = (int32_t)items[i].value, same = v;
        const float *p = mesh->positions + 3 * (int64_t)v;
        // Among those with the same hash, nearly always the very first one.
        for (int64_t j = first; j < i && same == v; j++) {
            const float *q = mesh->positions + 3 * (int64_t)items[j].value;
            if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) same = (int32_t)items[j].value;
        }
        (*same_as)[v] = same;
        *count += same != v;
    }
    sort_scratch_free(&scratch);
    alloc_free(items);
    if (result != GRAIN_OK) {
        alloc_free(*same_as);
        *same_as = NULL;
    }
    return result;
}

static GrainResult weld_vertices(MeshTopology *t, int threads)
{
    int32_t *same_as;
    int64_t doubled;
    TRY(mesh_weld(t->mesh, threads, &same_as, &doubled));
    int64_t corner_count = 3 * t->mesh->triangle_count;
    if (doubled > 0 && (t->welded = ALLOC(int32_t, corner_count))) {
        PARALLEL_FOR(threads, corner, corner_count) { t->welded[corner] = same_as[t->mesh->triangles[corner]]; }
        t->vertex = t->welded;
    }
    alloc_free(same_as);
    if (doubled == 0) return GRAIN_OK;
    if (!t->welded) return GRAIN_ERROR_MEMORY;
    gather_corners(t, threads);
    return count_edges(t, threads);
}

GrainResult mesh_topology_build(MeshTopology *t, const GrainMesh *mesh, int weld, int threads)
{
    *t = (MeshTopology){.mesh = mesh, .vertex = mesh->triangles, .vertex_count = mesh->vertex_count};
    t->corner_start = ALLOC(int32_t, mesh->vertex_count + 1);
    t->corners = ALLOC(int32_t, 3 * mesh->triangle_count);
    GrainResult result = t->corner_start && t->corners ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        gather_corners(t, threads);
        result = count_edges(t, threads);
    }
    if (result == GRAIN_OK && weld && t->open_edges > 0) result = weld_vertices(t, threads);
    if (result != GRAIN_OK) mesh_topology_free(t);
    return result;
}

void mesh_topology_free(MeshTopology *t)
{
    alloc_free(t->corner_start);
    alloc_free(t->corners);
    alloc_free(t->welded);
    *t = (MeshTopology){0};
}

MeshNeighbour mesh_neighbour(const MeshTopology *t, int32_t corner)
{
    int32_t a = t->vertex[corner], b = t->vertex[mesh_next_corner(corner)];
    // From the end with fewer corners: the centre of a fan may have a hundred thousand.
    if (t->corner_start[a + 1] - t->corner_start[a] > t->corner_start[b + 1] - t->corner_start[b]) {
        int32_t swap = a;
        a = b;
        b = swap;
    }
    MeshNeighbour found = {-1, 0, 0};
    int64_t others = 0;
    for (int32_t i = t->corner_start[a]; i < t->corner_start[a + 1]; i++) {
        int32_t leaving = t->corners[i], arriving = mesh_previous_corner(leaving);
        for (int way = 0; way < 2; way++) {
            int32_t edge = way ? arriving : leaving;
            int32_t far_end = t->vertex[way ? arriving : mesh_next_corner(leaving)];
            if (far_end != b) continue;
            found.triangles++;
            if (edge == corner) continue;
            others++;
            found.edge = edge;
            found.same_way = t->vertex[edge] == t->vertex[corner];
        }
    }
    if (others != 1) found.edge = -1;
    return found;
}
