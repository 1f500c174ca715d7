// SPDX-License-Identifier: GPL-3.0-or-later
#include "shared/evenness.h"
#include "base/rng.h"

#include <math.h>
#include <stdlib.h>

// Points in a hash table of cells one spacing wide, each cell a chain.
typedef struct Buckets {
    const float *positions;
    int64_t count, size;
    double cell, low[3];
    int32_t *first, *next;
} Buckets;

static int64_t bucket_of(const Buckets *b, const int64_t at[3])
{
    uint64_t hash = (uint64_t)at[0] * 73856093u ^ (uint64_t)at[1] * 19349663u ^ (uint64_t)at[2] * 83492791u;
    return (int64_t)(hash % (uint64_t)b->size);
}

static void cell_of(const Buckets *b, const double place[3], int64_t at[3])
{
    for (int k = 0; k < 3; k++) at[k] = (int64_t)floor((place[k] - b->low[k]) / b->cell);
}

static Buckets buckets_make(const float *positions, int64_t count, double cell)
{
    Buckets b = {positions, count, 2 * count + 1, cell, {0}, NULL, NULL};
    b.first = malloc((size_t)b.size * sizeof *b.first);
    b.next = malloc((size_t)count * sizeof *b.next);
    for (int k = 0; k < 3; k++) b.low[k] = (double)positions[k];
    for (int64_t i = 0; i < b.size; i++) b.first[i] = -1;
    for (int64_t i = 0; i < count; i++) {
        int64_t at[3];
        double place[3] = {(double)positions[3 * i], (double)positions[3 * i + 1], (double)positions[3 * i + 2]};
        cell_of(&b, place, at);
        int64_t bucket = bucket_of(&b, at);
        b.next[i] = b.first[bucket];
        b.first[bucket] = (int32_t)i;
    }
    return b;
}

// Square of the distance to the nearest point but `own`, at most (2 cells)^2.
static double nearest_squared(const Buckets *b, const double place[3], int64_t own)
{
    int64_t middle[3];
    cell_of(b, place, middle);
    double best = 4.0 * b->cell * b->cell;
    for (int i = 0; i < 125; i++) {
        int64_t at[3] = {middle[0] + i % 5 - 2, middle[1] + i / 5 % 5 - 2, middle[2] + i / 25 - 2};
        for (int32_t j = b->first[bucket_of(b, at)]; j >= 0; j = b->next[j]) {
            double squared = 0.0;
            for (int k = 0; k < 3; k++) {
                double way = (double)b->positions[3 * (int64_t)j + k] - place[k];
                squared += way * way;
            }
            if (j != own && squared < best) best = squared;
        }
    }
    return best;
}

// Probes are handed out over the triangles by their areas.
static double largest_gap(const Buckets *b, const GrainMesh *mesh, double area, int64_t probes)
{
    double due = 0.0, gap = 0.0;
    uint64_t draw = 0;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double p[3][3], ab[3], ac[3];
        for (int c = 0; c < 3; c++)
            for (int k = 0; k < 3; k++) p[c][k] = (double)mesh->positions[3 * (int64_t)mesh->triangles[3 * t + c] + k];
        for (int k = 0; k < 3; k++) ab[k] = p[1][k] - p[0][k], ac[k] = p[2][k] - p[0][k];
        double n[3] = {ab[1] * ac[2] - ab[2] * ac[1], ab[2] * ac[0] - ab[0] * ac[2], ab[0] * ac[1] - ab[1] * ac[0]};
        due += 0.5 * sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / area * (double)probes;
        for (; due >= 1.0; due -= 1.0) {
            Rng4 r = rng_at(7, draw++, RNG_STREAM_TEST, 0);
            double u = (double)rng_unit(r.word[0]), v = (double)rng_unit(r.word[1]), place[3];
            if (u + v > 1.0) u = 1.0 - u, v = 1.0 - v;
            for (int k = 0; k < 3; k++) place[k] = p[0][k] + u * ab[k] + v * ac[k];
            gap = fmax(gap, nearest_squared(b, place, -1));
        }
    }
    return sqrt(gap);
}

Evenness evenness_measure(const float *positions, int64_t count, const GrainMesh *surface, double area, int probes)
{
    double spacing = sqrt(2.0 / sqrt(3.0) * area / (double)count);
    Buckets b = buckets_make(positions, count, spacing);
    double sum = 0.0, squares = 0.0, smallest = 1e300;
    for (int64_t i = 0; i < count; i++) {
        double place[3] = {(double)positions[3 * i], (double)positions[3 * i + 1], (double)positions[3 * i + 2]};
        double nearest = sqrt(nearest_squared(&b, place, i)) / spacing;
        sum += nearest;
        squares += nearest * nearest;
        smallest = fmin(smallest, nearest);
    }
    double mean = sum / (double)count;
    Evenness e = {mean, sqrt(fmax(squares / (double)count - mean * mean, 0.0)) / mean, smallest, 0.0};
    if (probes > 0) e.gap = largest_gap(&b, surface, area, probes * count) / spacing;
    free(b.first);
    free(b.next);
    return e;
}
