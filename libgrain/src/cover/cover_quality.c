// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "cover/cover.h"
#include "cover/cover_holes.h"

#include <float.h>

static void measure_nearest(const CoverFloaters *f, const float *nearest, GrainCoverQuality *q, double spacing)
{
    double sum = 0.0, squares = 0.0, smallest = 1e300, distance = 0.0;
    for (int64_t i = 0; i < f->count; i++) {
        double own = (double)nearest[i];
        sum += own;
        squares += own * own;
        smallest = own < smallest ? own : smallest;
        distance = real_max(distance, (double)f->places.distance[i]);
    }
    double mean = sum / (double)f->count, variance = squares / (double)f->count - mean * mean;
    q->nearest_mean = mean * spacing;
    q->nearest_deviation = sqrt(real_max(variance, 0.0)) * spacing;
    q->nearest_smallest = smallest * spacing;
    q->largest_distance = distance * spacing;
}

// Beyond the lists: only few floaters are so alone.
static float nearest_of_all(const CoverFloaters *f, int64_t floater)
{
    float nearest = 0.0f;
    Vec3 place = cover_get(f->places.position, floater);
    for (int64_t i = 0; i < f->count; i++) {
        float distance = vec3_length(vec3_sub(cover_get(f->places.position, i), place));
        if (i != floater && (nearest == 0.0f || distance < nearest)) nearest = distance;
    }
    return nearest;
}

static GrainResult find_largest(const CoverFloaters *f, const CoverSurface *surface, int threads, float *largest)
{
    // The lower the limit, the more holes to look at: most covers have one above the first.
    static const float limits[] = {0.66f, 0.55f, 0.3f, 0.0f};
    CoverHoles holes = {0};
    *largest = 0.0f;
    GrainResult result = GRAIN_OK;
    for (size_t i = 0; i < sizeof limits / sizeof *limits && result == GRAIN_OK && *largest == 0.0f; i++) {
        result = cover_holes_find(&holes, f, surface, limits[i], threads);
        for (int64_t hole = 0; hole < holes.count; hole++) *largest = real_maxf(*largest, holes.holes[hole].size);
    }
    cover_holes_free(&holes);
    return result;
}

GrainResult cover_measure(CoverFloaters *f, const CoverSurface *surface, double area, float largest_hole, int threads,
                          GrainCoverQuality *q)
{
    double spacing = surface->frame.spacing;
    q->count = f->count;
    q->area = area * spacing * spacing;
    if (f->count == 0) return GRAIN_OK;
    q->spacing = sqrt(COVER_PER_AREA * area / (double)f->count) * spacing;
    float *nearest = ALLOC(float, f->count);
    GrainResult result = nearest ? cover_floaters_list(f, threads) : GRAIN_ERROR_MEMORY;
    if (result == GRAIN_OK) {
        PARALLEL_FOR(threads, i, f->count) { nearest[i] = cover_nearest(f, i); }
        int64_t alone = 0;
        for (int64_t i = 0; i < f->count && alone < 100; i++)
            if (nearest[i] >= COVER_LIST_REACH) nearest[i] = nearest_of_all(f, i), alone++;
        measure_nearest(f, nearest, q, spacing);
        if (largest_hole <= 0.0f) result = find_largest(f, surface, threads, &largest_hole);
        q->largest_gap = (double)largest_hole * spacing;
    }
    alloc_free(nearest);
    return result;
}

// The cubic spline of SPH (Monaghan 1992) that ends at 1, up to its factor.
static float spline(float q)
{
    if (q <= 0.5f) return 6.0f * (q * q * q - q * q) + 1.0f;
    float rest = 1.0f - q;
    return 2.0f * rest * rest * rest;
}

static float sum_spline(const CoverFloaters *f, const CellGrid *grid, const CellRows *rows, Vec3 place, float support)
{
    float sum = 0.0f, per_support = 1.0f / support;
    for (int row = 0; row < 9; row++) {
        for (int32_t at = rows->begin[row]; at < rows->end[row]; at++) {
            Vec3 way = vec3_sub(cover_get(f->places.position, grid->order[at]), place);
            float squared = vec3_dot(way, way);
            if (squared < support * support) sum += spline(sqrtf(squared) * per_support);
        }
    }
    return sum;
}

GrainResult cover_weigh(const CoverFloaters *f, float support, double spacing, int threads, float *weights)
{
    CellGrid grid = {0};
    float *const *p = f->places.position;
    GrainResult result = cell_grid_build(&grid, p[0], p[1], p[2], f->count, support, threads);
    if (result == GRAIN_OK) {
        const double pi = 3.14159265358979323846;
        double metres = (double)support * spacing, factor = 8.0 / (pi * metres * metres * metres);
        PARALLEL_FOR(threads, cell, grid.cell_count)
        {
            for (int32_t place = grid.cell_start[cell]; place < grid.cell_start[cell + 1]; place++) {
                int32_t i = grid.order[place];
                float sum = sum_spline(f, &grid, &grid.rows[cell], cover_get(p, i), support);
                // Held where the cube of an absurd radius leaves the range of floats.
                weights[i] = (float)real_min(1.0 / (factor * (double)sum), (double)FLT_MAX);
            }
        }
    }
    cell_grid_free(&grid);
    return result;
}
