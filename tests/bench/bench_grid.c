// SPDX-License-Identifier: GPL-3.0-or-later
// The neighbour grid on a loose random packing: points sorted, cells and neighbours found a second.
#include "base/alloc.h"
#include "base/neighbour_list.h"
#include "base/rng.h"
#include "bench/bench.h"

#include <math.h>

#define RADIUS 0.01f
#define SKIN 0.002f
#define SOLID_FRACTION 0.6

typedef struct Points {
    float *x, *y, *z, *radius;
    int64_t count;
} Points;

static Points points_new(int64_t count)
{
    Points p = {ALLOC(float, count), ALLOC(float, count), ALLOC(float, count), ALLOC(float, count), count};
    float side = (float)cbrt((double)count * 4.18879 * (double)(RADIUS * RADIUS * RADIUS) / SOLID_FRACTION);
    for (int64_t i = 0; i < count; i++) {
        Rng4 r = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0);
        p.x[i] = side * rng_unit(r.word[0]), p.y[i] = side * rng_unit(r.word[1]), p.z[i] = side * rng_unit(r.word[2]);
        p.radius[i] = RADIUS;
    }
    return p;
}

static void points_free(Points *p) { alloc_free(p->x), alloc_free(p->y), alloc_free(p->z), alloc_free(p->radius); }

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
    printf("%9s %7s | %10s %10s | %12s %12s %10s\n", "points", "threads", "sort ms", "Mpoints/s", "Mcells/s", "list ms",
           "Mneigh/s");
    for (int64_t count = 100000; count <= 1000000; count *= 10) {
        for (int threads = 1; threads <= 2; threads++) {
            Points given = points_new(count);
            CellGrid grid = {0};
            NeighbourList list = {0};
            double sort_seconds, list_seconds;
            cell_grid_build(&grid, given.x, given.y, given.z, count, 2 * RADIUS + SKIN, threads);
            Points p = points_sorted(&given, &grid);
            BENCH_SECONDS(sort_seconds, 7, cell_grid_build(&grid, p.x, p.y, p.z, count, 2 * RADIUS + SKIN, threads));
            neighbour_list_build(&list, &grid, p.x, p.y, p.z, p.radius, SKIN, threads);
            BENCH_SECONDS(list_seconds, 7, neighbour_list_build(&list, &grid, p.x, p.y, p.z, p.radius, SKIN, threads));
            double neighbours = (double)list.start[count];
            printf("%9lld %7d | %10.2f %10.1f | %12.2f %12.2f %10.1f\n", (long long)count, threads, 1e3 * sort_seconds,
                   1e-6 * (double)count / sort_seconds, 1e-6 * (double)grid.cell_count / sort_seconds,
                   1e3 * list_seconds, 1e-6 * neighbours / list_seconds);
            if (count == 1000000 && threads == 2) {
                bench_figure("points_per_second", (double)count / sort_seconds);
                bench_figure("cells_per_second", (double)grid.cell_count / sort_seconds);
                bench_figure("neighbours_per_second", neighbours / list_seconds);
            }
            neighbour_list_free(&list);
            cell_grid_free(&grid);
            points_free(&p);
            points_free(&given);
        }
    }
}
