// SPDX-License-Identifier: GPL-3.0-or-later
// The neighbour grid on a loose random packing: points sorted and cells found a second.
#include "base/alloc.h"
#include "base/cell_grid.h"
#include "base/rng.h"
#include "bench/bench.h"

#include <math.h>

#define RADIUS 0.01f
#define SKIN 0.002f
#define SOLID_FRACTION 0.6

typedef struct Points {
    float *x, *y, *z;
    int64_t count;
} Points;

static Points points_new(int64_t count)
{
    Points p = {ALLOC(float, count), ALLOC(float, count), ALLOC(float, count), count};
    float side = (float)cbrt((double)count * 4.18879 * (double)(RADIUS * RADIUS * RADIUS) / SOLID_FRACTION);
    for (int64_t i = 0; i < count; i++) {
        Rng4 r = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0);
        p.x[i] = side * rng_unit(r.word[0]), p.y[i] = side * rng_unit(r.word[1]), p.z[i] = side * rng_unit(r.word[2]);
    }
    return p;
}

static void points_free(Points *p) { alloc_free(p->x), alloc_free(p->y), alloc_free(p->z); }

// In the grid's order, as a solver keeps its particles.
static Points points_sorted(const Points *from, const CellGrid *grid)
{
    Points to = points_new(from->count);
    for (int64_t place = 0; place < from->count; place++) {
        int32_t i = grid->order[place];
        to.x[place] = from->x[i], to.y[place] = from->y[i], to.z[place] = from->z[i];
    }
    return to;
}

BENCH(grid)
{
    printf("%9s %7s | %10s %10s %10s\n", "points", "threads", "sort ms", "Mpoints/s", "Mcells/s");
    for (int64_t count = 100000; count <= 1000000; count *= 10) {
        for (int threads = 1; threads <= 2; threads++) {
            Points given = points_new(count);
            CellGrid grid = {0};
            double seconds;
            cell_grid_build(&grid, given.x, given.y, given.z, count, 2 * RADIUS + SKIN, threads);
            Points p = points_sorted(&given, &grid);
            BENCH_SECONDS(seconds, 7, cell_grid_build(&grid, p.x, p.y, p.z, count, 2 * RADIUS + SKIN, threads));
            printf("%9lld %7d | %10.2f %10.1f %10.1f\n", (long long)count, threads, 1e3 * seconds,
                   1e-6 * (double)count / seconds, 1e-6 * (double)grid.cell_count / seconds);
            if (count == 1000000 && threads == 2) {
                bench_figure("points_per_second", (double)count / seconds);
                bench_figure("cells_per_second", (double)grid.cell_count / seconds);
            }
            cell_grid_free(&grid);
            points_free(&p);
            points_free(&given);
        }
    }
}
