// SPDX-License-Identifier: GPL-3.0-or-later
#include "cover/cover_holes.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"

#include <string.h>

// A cell begins as a square of twice this side; what sticks out of it is a hole of unknown size.
#define CELL_SIDE 1.2f
// Every neighbour cuts off at least a corner and adds one; some room for rounding.
#define MAX_CORNERS (COVER_LIST_LENGTH + 8)

typedef struct Polygon {
    float u[MAX_CORNERS], v[MAX_CORNERS];
    int count;
} Polygon;

static float farthest_squared(const Polygon *p)
{
    float most = 0.0f;
    for (int i = 0; i < p->count; i++) {
        float squared = p->u[i] * p->u[i] + p->v[i] * p->v[i];
        most = squared > most ? squared : most;
    }
    return most;
}

// To kept, what of p is nearer to the middle than to (u, v).
static void cut(const Polygon *p, Polygon *kept, float u, float v)
{
    float half = 0.5f * (u * u + v * v), there = p->u[0] * u + p->v[0] * v - half;
    kept->count = 0;
    for (int i = 0; i < p->count; i++) {
        int next = i + 1 < p->count ? i + 1 : 0;
        float here = there;
        there = p->u[next] * u + p->v[next] * v - half;
        if (here <= 0.0f) kept->u[kept->count] = p->u[i], kept->v[kept->count++] = p->v[i];
        if ((here < 0.0f && there > 0.0f) || (here > 0.0f && there < 0.0f)) {
            float t = here / (here - there);
            kept->u[kept->count] = p->u[i] + t * (p->u[next] - p->u[i]);
            kept->v[kept->count++] = p->v[i] + t * (p->v[next] - p->v[i]);
        }
        if (kept->count > MAX_CORNERS - 2) return;
    }
}

// Two directions along the surface.
static void tangents(Vec3 normal, Vec3 *along_u, Vec3 *along_v)
{
    Vec3 other = fabsf(normal.x) < 0.6f ? vec3(1, 0, 0) : vec3(0, 1, 0);
    *along_u = vec3_normalize(vec3_cross(normal, other), vec3(1, 0, 0));
    *along_v = vec3_cross(normal, *along_u);
}

// A neighbour in the tangent plane, as far away there as it is in space: so a cell may bend around an edge.
typedef struct Unfolded {
    float u, v, squared;
} Unfolded;

// Those of a floater, the nearest first; returns how many.
static int unfold_neighbours(const CoverFloaters *f, int64_t floater, Vec3 along_u, Vec3 along_v,
                             Unfolded found[COVER_LIST_LENGTH])
{
    Vec3 middle = cover_get(f->places.position, floater);
    int count = 0;
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return count;
        Vec3 way = vec3_sub(cover_get(f->places.position, other), middle);
        float u = vec3_dot(way, along_u), v = vec3_dot(way, along_v), flat = u * u + v * v;
        if (flat < 1e-8f) continue;
        float squared = vec3_dot(way, way), stretch = sqrtf(squared / flat);
        int place = count++;
        for (; place > 0 && found[place - 1].squared > squared; place--) found[place] = found[place - 1];
        found[place] = (Unfolded){u * stretch, v * stretch, squared};
    }
}

// A floater's Voronoi cell in its tangent plane, in one of the two polygons.
static const Polygon *cell_of(const CoverFloaters *f, int64_t floater, Vec3 along_u, Vec3 along_v, Polygon cells[2])
{
    static const float square[2][4] = {{-CELL_SIDE, CELL_SIDE, CELL_SIDE, -CELL_SIDE},
                                       {-CELL_SIDE, -CELL_SIDE, CELL_SIDE, CELL_SIDE}};
    Unfolded neighbours[COVER_LIST_LENGTH];
    int count = unfold_neighbours(f, floater, along_u, along_v, neighbours);
    Polygon *cell = &cells[0], *other = &cells[1];
    memcpy(cell->u, square[0], sizeof square[0]), memcpy(cell->v, square[1], sizeof square[1]);
    cell->count = 4;
    // Neighbours beyond twice the distance of the farthest corner cut nothing off.
    for (int i = 0; i < count && neighbours[i].squared < 4.0f * farthest_squared(cell); i++) {
        cut(cell, other, neighbours[i].u, neighbours[i].v);
        Polygon *swap = cell;
        cell = other;
        other = swap;
    }
    return cell;
}

// The corners of a floater's cell that are farther away than size, brought to the surface; returns how many.
static int find_corners(const CoverFloaters *f, const CoverSurface *surface, int64_t floater, float size,
                        CoverHole found[MAX_CORNERS])
{
    Vec3 middle = cover_get(f->places.position, floater), normal = cover_get(f->places.normal, floater), along_u,
         along_v;
    tangents(normal, &along_u, &along_v);
    Polygon cells[2];
    const Polygon *cell = cell_of(f, floater, along_u, along_v, cells);
    int count = 0;
    for (int i = 0; i < cell->count; i++) {
        if (cell->u[i] * cell->u[i] + cell->v[i] * cell->v[i] < size * size) continue;
        CoverHole *hole = &found[count];
        hole->place = vec3_add_scaled(vec3_add_scaled(middle, along_u, cell->u[i]), along_v, cell->v[i]);
        hole->normal = normal;
        hole->point = f->places.point[floater];
        float distance;
        CoverPlaces one = {{&hole->place.x, &hole->place.y, &hole->place.z},
                           {&hole->normal.x, &hole->normal.y, &hole->normal.z},
                           &hole->point,
                           &distance};
        cover_surface_project(surface, &one, 0, 1, 4);
        // Nothing to cover inside another part, nor where the surface was not found.
        if (surface->has_buried &&
            cover_surface_is_buried(surface, hole->place, hole->normal, hole->point.leaf_triangle))
            continue;
        Vec3 way = vec3_sub(hole->place, middle);
        count += vec3_dot(way, way) >= size * size && distance < 0.1f;
    }
    return count;
}

static GrainResult list_corners(CoverHoles *holes, const CoverFloaters *f, const CoverSurface *surface, float size,
                                int threads)
{
    int64_t block_count = parallel_block_count(f->count, COVER_BLOCK);
    CoverHoles *blocks = ALLOC_ZEROED(CoverHoles, block_count);
    if (!blocks) return GRAIN_ERROR_MEMORY;
    GrainResult *results = ALLOC_ZEROED(GrainResult, block_count);
    GrainResult result = results ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    if (results) {
        PARALLEL_BLOCKS(threads, block, block_count)
        {
            CoverHoles *own = &blocks[block];
            int64_t end = parallel_block_end(block, COVER_BLOCK, f->count);
            for (int64_t i = block * COVER_BLOCK; i < end && results[block] == GRAIN_OK; i++) {
                CoverHole found[MAX_CORNERS];
                int count = find_corners(f, surface, i, size, found);
                if (count == 0) continue;
                results[block] = alloc_grow((void **)&own->holes, &own->capacity, own->count + count, sizeof *found);
                if (results[block] != GRAIN_OK) break;
                memcpy(own->holes + own->count, found, (size_t)count * sizeof *found);
                own->count += count;
            }
        }
    }
    for (int64_t block = 0; block < block_count; block++) {
        CoverHoles *own = &blocks[block];
        if (result == GRAIN_OK) result = results[block];
        if (result == GRAIN_OK && own->count > 0)
            result = alloc_grow((void **)&holes->holes, &holes->capacity, holes->count + own->count, sizeof(CoverHole));
        if (result == GRAIN_OK && own->count > 0) {
            memcpy(holes->holes + holes->count, own->holes, (size_t)own->count * sizeof(CoverHole));
            holes->count += own->count;
        }
        cover_holes_free(own);
    }
    alloc_free(blocks);
    alloc_free(results);
    return result;
}

// --- exact sizes ----------------------------------------------------------------------------------

// Holes and floaters in one grid: first the holes, then the floaters.
typedef struct Together {
    float *column[3];
    CellGrid grid;
    int64_t hole_count;
} Together;

static GrainResult together_build(Together *t, const CoverHoles *holes, const CoverFloaters *f, int64_t floater_count,
                                  float reach, int threads)
{
    int64_t count = holes->count + floater_count;
    t->hole_count = holes->count;
    for (int axis = 0; axis < 3; axis++)
        if (!(t->column[axis] = ALLOC(float, count))) return GRAIN_ERROR_MEMORY;
    for (int64_t i = 0; i < holes->count; i++) cover_set(t->column, i, holes->holes[i].place);
    for (int axis = 0; axis < 3 && floater_count > 0; axis++)
        memcpy(t->column[axis] + holes->count, f->places.position[axis], (size_t)floater_count * sizeof(float));
    return cell_grid_build(&t->grid, t->column[0], t->column[1], t->column[2], count, reach, threads);
}

static void together_free(Together *t)
{
    for (int axis = 0; axis < 3; axis++) alloc_free(t->column[axis]);
    cell_grid_free(&t->grid);
}

static float size_of_hole(const Together *t, const CoverFloaters *f, int64_t cell, const CoverHole *hole)
{
    float nearest = COVER_HOLE_REACH * COVER_HOLE_REACH;
    const CellRows *rows = &t->grid.rows[cell];
    for (int row = 0; row < 9; row++) {
        for (int32_t at = rows->begin[row]; at < rows->end[row]; at++) {
            int32_t other = t->grid.order[at];
            if (other < t->hole_count) continue;
            Vec3 way = vec3_sub(cover_get(t->column, other), hole->place);
            float squared = vec3_dot(way, way);
            if (squared >= nearest) continue;
            Vec3 normal = cover_get(f->places.normal, other - t->hole_count);
            if (!cover_is_behind_wall(hole->normal, normal, way)) nearest = squared;
        }
    }
    return sqrtf(nearest);
}

static GrainResult measure_holes(CoverHoles *holes, const CoverFloaters *f, int threads)
{
    Together t = {0};
    GrainResult result = together_build(&t, holes, f, f->count, COVER_HOLE_REACH, threads);
    if (result == GRAIN_OK) {
        PARALLEL_FOR(threads, cell, t.grid.cell_count)
        {
            for (int32_t at = t.grid.cell_start[cell]; at < t.grid.cell_start[cell + 1]; at++) {
                int32_t own = t.grid.order[at];
                if (own < t.hole_count) holes->holes[own].size = size_of_hole(&t, f, cell, &holes->holes[own]);
            }
        }
    }
    together_free(&t);
    return result;
}

GrainResult cover_holes_find(CoverHoles *holes, const CoverFloaters *f, const CoverSurface *surface, float size,
                             int threads)
{
    holes->count = 0;
    TRY(list_corners(holes, f, surface, size, threads));
    if (holes->count == 0) return GRAIN_OK;
    TRY(measure_holes(holes, f, threads));
    int64_t kept = 0;
    for (int64_t i = 0; i < holes->count; i++)
        if (holes->holes[i].size >= size) holes->holes[kept++] = holes->holes[i];
    holes->count = kept;
    return GRAIN_OK;
}

static int is_largest_around(const Together *t, const CoverHoles *holes, int64_t cell, int32_t own, float distance)
{
    const CoverHole *hole = &holes->holes[own];
    for (int row = 0; row < 9; row++) {
        for (int32_t at = t->grid.rows[cell].begin[row]; at < t->grid.rows[cell].end[row]; at++) {
            int32_t other = t->grid.order[at];
            const CoverHole *rival = &holes->holes[other];
            if (other == own || vec3_length(vec3_sub(hole->place, rival->place)) > distance) continue;
            if (rival->size > hole->size || (rival->size == hole->size && other < own)) return 0;
        }
    }
    return 1;
}

GrainResult cover_holes_separate(CoverHoles *holes, float distance, int threads)
{
    if (holes->count == 0) return GRAIN_OK;
    Together t = {0};
    uint8_t *largest = ALLOC(uint8_t, holes->count);
    GrainResult result = largest ? together_build(&t, holes, NULL, 0, distance, threads) : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        PARALLEL_FOR(threads, cell, t.grid.cell_count)
        {
            for (int32_t at = t.grid.cell_start[cell]; at < t.grid.cell_start[cell + 1]; at++) {
                int32_t own = t.grid.order[at];
                largest[own] = (uint8_t)is_largest_around(&t, holes, cell, own, distance);
            }
        }
        int64_t kept = 0;
        for (int64_t i = 0; i < holes->count; i++)
            if (largest[i]) holes->holes[kept++] = holes->holes[i];
        holes->count = kept;
    }
    together_free(&t);
    alloc_free(largest);
    return result;
}

void cover_holes_free(CoverHoles *holes)
{
    alloc_free(holes->holes);
    *holes = (CoverHoles){0};
}

float cover_nearest(const CoverFloaters *f, int64_t floater)
{
    float nearest = COVER_LIST_REACH * COVER_LIST_REACH;
    Vec3 place = cover_get(f->places.position, floater);
    for (int32_t k = 0;; k++) {
        int32_t other = cover_neighbour(f, floater, k);
        if (other == floater) return sqrtf(nearest);
        Vec3 way = vec3_sub(cover_get(f->places.position, other), place);
        float squared = vec3_dot(way, way);
        if (squared < nearest) nearest = squared;
    }
}
