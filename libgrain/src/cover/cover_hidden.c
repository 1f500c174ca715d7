// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "cover/cover_floaters.h"

// Sheets nearer to each other than this (in spacings) are one.
#define LAYER 0.1f
// From so far in front of and behind a place (in spacings) it is asked what is inside: near enough for the narrowest
// gap that matters, far enough from the triangle itself.
#define LOOK 0.1
#define BLOCK 256

// So many floaters at least are asked, and at most one of so many left out, for each answer takes microseconds. What
// lies inside another part is seldom smaller than a few dozen floaters; if it is, they do no harm there.
#define ENOUGH_ASKED 512
#define FEWEST_ASKED 16

// --- piled up -------------------------------------------------------------------------------------

// Floaters in a cube one spacing wide. A sheet puts two or three there, so this is the room of eight sheets or more:
// nobody could tell them apart, and most of them only cost time. Loose triangles that fill a room are such piles.
#define MOST_IN_CELL 24

static int has_cubes(const CellGrid *grid)
{
    for (int axis = 0; axis < 3; axis++)
        if (grid->cells[axis] >= CELL_GRID_MOST_CELLS) return 0;
    return 1;
}

GrainResult cover_thin_piles(CoverFloaters *f, int threads, double *area)
{
    CellGrid grid = {0};
    float *const *p = f->places.position;
    uint8_t *keep = ALLOC_ZEROED(uint8_t, f->count);
    GrainResult result = keep ? cell_grid_build(&grid, p[0], p[1], p[2], f->count, 1.0f, threads) : GRAIN_ERROR_MEMORY;
    int64_t before = f->count;
    for (int64_t cell = 0; result == GRAIN_OK && cell < grid.cell_count; cell++) {
        int64_t first = grid.cell_start[cell], count = grid.cell_start[cell + 1] - first, kept = count;
        // The last cell of a needle may be millions of spacings long.
        if (count > MOST_IN_CELL && has_cubes(&grid)) kept = MOST_IN_CELL;
        for (int64_t i = 0; i < kept; i++) keep[grid.order[first + i * count / kept]] = 1;
    }
    if (result == GRAIN_OK) cover_floaters_keep(f, keep);
    *area *= (double)f->count / (double)before;
    cell_grid_free(&grid);
    alloc_free(keep);
    return result;
}

// --- inside another part --------------------------------------------------------------------------

typedef struct Probe {
    const CoverFloaters *f;
    const CoverSurface *surface;
    const MeshWinding *winding;
    int64_t stride;
} Probe;

// Winding numbers so far along the normals of some floaters.
static void look_along(const Probe *probe, const int64_t *floaters, int count, double distance, float *number)
{
    const CoverFrame *frame = &probe->surface->frame;
    const MeshWinding *winding = probe->winding;
    float place[3][BLOCK];
    const double centre[3] = {winding->centre.x, winding->centre.y, winding->centre.z};
    for (int i = 0; i < count; i++) {
        Vec3 normal = probe->surface->mesh->face_normal[probe->f->places.point[floaters[i]].leaf_triangle];
        const double along[3] = {(double)normal.x, (double)normal.y, (double)normal.z};
        for (int axis = 0; axis < 3; axis++) {
            double local = (double)probe->f->places.position[axis][floaters[i]] + distance * along[axis];
            place[axis][i] = (float)((frame->centre[axis] + local * frame->spacing - centre[axis]) / winding->scale);
        }
    }
    SIMD_CALL(mesh_winding_at)(winding, place[0], place[1], place[2], count, number);
}

static CoverSides tell_sides(const Probe *probe, int64_t first, int64_t end)
{
    int64_t asked[BLOCK] = {0};
    float number[BLOCK];
    int count = 0, unsure = 0;
    CoverSides sides = {0};
    for (int64_t i = first; i < end; i += probe->stride)
        if (probe->surface->mesh->solid[probe->f->places.point[i].leaf_triangle]) asked[count++] = i;
    look_along(probe, asked, count, LOOK, number);
    sides.outward = count;
    // In front of nearly all of them is the outside: only the others need a look behind.
    for (int i = 0; i < count; i++)
        if (fabsf(number[i]) > 0.5f) asked[unsure++] = asked[i];
    look_along(probe, asked, unsure, -LOOK, number);
    for (int i = 0; i < unsure; i++) {
        if (fabsf(number[i]) > 0.5f)
            sides.buried++;
        else
            sides.inward++;
        sides.outward--;
    }
    return sides;
}

GrainResult cover_probe_sides(const CoverFloaters *f, const CoverSurface *surface, const MeshWinding *winding,
                              int threads, CoverSides *sides)
{
    *sides = (CoverSides){0};
    int64_t stride = f->count / ENOUGH_ASKED;
    Probe probe = {f, surface, winding, stride < 1 ? 1 : stride > FEWEST_ASKED ? FEWEST_ASKED : stride};
    int64_t block_size = probe.stride * BLOCK, block_count = parallel_block_count(f->count, block_size);
    CoverSides *blocks = ALLOC(CoverSides, block_count);
    if (!blocks) return GRAIN_ERROR_MEMORY;
    PARALLEL_BLOCKS(threads, block, block_count)
    {
        blocks[block] = tell_sides(&probe, block * block_size, parallel_block_end(block, block_size, f->count));
    }
    for (int64_t block = 0; block < block_count; block++) {
        sides->outward += blocks[block].outward;
        sides->inward += blocks[block].inward;
        sides->buried += blocks[block].buried;
    }
    alloc_free(blocks);
    return GRAIN_OK;
}

// --- on another sheet -----------------------------------------------------------------------------

typedef struct LayerSearch {
    const CoverMesh *mesh;
    Vec3 place, normal;
    int32_t leaf_triangle;
} LayerSearch;

// Whether the line through place along the normal meets a triangle within LAYER that comes before the place's own.
static int is_earlier_layer(void *user, int32_t leaf_triangle)
{
    const LayerSearch *s = user;
    if (leaf_triangle >= s->leaf_triangle || fabsf(vec3_dot(s->mesh->face_normal[leaf_triangle], s->normal)) < 0.9f)
        return 0;
    Vec3 a, ab, ac;
    mesh_tree_corners(&s->mesh->tree, leaf_triangle, &a, &ab, &ac);
    // Moeller & Trumbore 1997
    Vec3 p = vec3_cross(s->normal, ac), from_a = vec3_sub(s->place, a);
    float scale = vec3_dot(ab, p);
    if (scale == 0.0f) return 0;
    Vec3 q = vec3_cross(from_a, ab);
    float v = vec3_dot(from_a, p) / scale, w = vec3_dot(s->normal, q) / scale, depth = vec3_dot(ac, q) / scale;
    return v >= 0.0f && w >= 0.0f && v + w <= 1.0f && fabsf(depth) < LAYER;
}

static int has_earlier_layer(const CoverFloaters *f, const CoverSurface *surface, int64_t floater)
{
    const CoverMesh *mesh = surface->mesh;
    int32_t leaf_triangle = f->places.point[floater].leaf_triangle;
    Vec3 normal = mesh->face_normal[leaf_triangle];
    Vec3 place = vec3_add_scaled(cover_get(f->places.position, floater), normal, -surface->offset);
    LayerSearch search = {mesh, place, normal, leaf_triangle};
    return mesh_tree_visit(&mesh->tree, place, LAYER, is_earlier_layer, &search);
}

enum { SHOWS, BURIED, LAYERED };

GrainResult cover_drop_hidden(CoverFloaters *f, CoverSurface *surface, int threads, double *area)
{
    uint8_t *state = ALLOC(uint8_t, f->count);
    if (!state) return GRAIN_ERROR_MEMORY;
    PARALLEL_FOR(threads, i, f->count)
    {
        Vec3 place = cover_get(f->places.position, i);
        int32_t leaf_triangle = f->places.point[i].leaf_triangle;
        state[i] = SHOWS;
        if (cover_surface_is_buried(surface, place, surface->mesh->face_normal[leaf_triangle], leaf_triangle))
            state[i] = BURIED;
        else if (has_earlier_layer(f, surface, i))
            state[i] = LAYERED;
    }
    int64_t before = f->count, shown = 0;
    for (int64_t i = 0; i < before; i++) {
        surface->has_buried |= state[i] == BURIED;
        state[i] = state[i] == SHOWS;
        shown += state[i];
    }
    // A mesh that hides all of itself is not what any of this was meant for: then everything shows.
    if (shown > 0)
        cover_floaters_keep(f, state);
    else
        surface->has_buried = 0;
    *area *= (double)f->count / (double)before;
    alloc_free(state);
    return GRAIN_OK;
}
