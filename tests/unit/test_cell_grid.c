// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/cell_grid.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COUNT = 3000 };
static float x[COUNT], y[COUNT], z[COUNT];

static void scatter(float extent, float offset)
{
    for (uint64_t i = 0; i < COUNT; i++) {
        Rng4 r = rng_at(3, i, RNG_STREAM_TEST, 0);
        x[i] = offset + extent * rng_signed(r.word[0]);
        y[i] = offset + extent * rng_signed(r.word[1]);
        z[i] = offset + extent * rng_signed(r.word[2]);
    }
}

static int is_near(int a, int b, float reach)
{
    double dx = (double)x[a] - (double)x[b], dy = (double)y[a] - (double)y[b], dz = (double)z[a] - (double)z[b];
    return dx * dx + dy * dy + dz * dz <= (double)reach * (double)reach;
}

// Pairs within reach that the grid's ranges hold, each as often as it stands there.
static int64_t pairs_in_ranges(const CellGrid *grid, float reach)
{
    int64_t pairs = 0;
    for (int64_t cell = 0; cell < grid->cell_count; cell++)
        for (int32_t place = grid->cell_start[cell]; place < grid->cell_start[cell + 1]; place++)
            for (int row = 0; row < 9; row++)
                for (int32_t other = grid->rows[cell].begin[row]; other < grid->rows[cell].end[row]; other++)
                    pairs += is_near(grid->order[place], grid->order[other], reach);
    return pairs;
}

static int64_t pairs_by_brute_force(float reach)
{
    int64_t pairs = 0;
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++) pairs += is_near(a, b, reach);
    return pairs;
}

// Small and huge domains, near and far from the origin: the same pairs as all against all.
TEST(every_pair_is_found_once_in_any_domain)
{
    static const struct {
        float extent, offset, cell;
    } cases[] = {{1, 0, 0.1f},     {1, 0, 3.0f},      {1e4f, 0, 900.0f}, {1e6f, 0, 0.5f},
                 {1, 1e5f, 0.25f}, {1e30f, 0, 1e28f}, {1e-7f, 0, 1e-8f}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        scatter(cases[c].extent, cases[c].offset);
        CellGrid grid = {0};
        ENSURE_OK(cell_grid_build(&grid, x, y, z, COUNT, cases[c].cell, 2));
        int64_t found = pairs_in_ranges(&grid, cases[c].cell);
        cell_grid_free(&grid);
        ENSURE_EQUAL(found, pairs_by_brute_force(cases[c].cell));
    }
}

// Far more cells along an axis than are told apart: the far points share a cell, and no pair is lost.
TEST(a_stray_particle_at_the_end_of_the_world_loses_no_pairs)
{
    scatter(1.0f, 0.0f);
    x[0] = 3e37f, x[1] = -3e37f, z[2] = 1e9f;
    CellGrid grid = {0};
    ENSURE_OK(cell_grid_build(&grid, x, y, z, COUNT, 0.2f, 2));
    int64_t found = pairs_in_ranges(&grid, 0.2f);
    cell_grid_free(&grid);
    ENSURE_EQUAL(found, pairs_by_brute_force(0.2f));
}

// Points exactly one cell apart on a lattice: rounding must not drop the pair.
TEST(points_exactly_one_cell_apart_are_neighbours)
{
    for (int i = 0; i < COUNT; i++) x[i] = 0.1f * (float)i, y[i] = 0.0f, z[i] = 0.0f;
    CellGrid grid = {0};
    ENSURE_OK(cell_grid_build(&grid, x, y, z, COUNT, 0.1f, 1));
    int64_t found = pairs_in_ranges(&grid, 0.1f);
    cell_grid_free(&grid);
    ENSURE_EQUAL(found, pairs_by_brute_force(0.1f));
}

TEST(order_does_not_depend_on_threads)
{
    scatter(1.0f, 0.0f);
    int32_t first[COUNT];
    for (int threads = 1; threads <= 4; threads++) {
        CellGrid grid = {0};
        ENSURE_OK(cell_grid_build(&grid, x, y, z, COUNT, 0.07f, threads));
        if (threads == 1) memcpy(first, grid.order, sizeof first);
        int alike = memcmp(first, grid.order, sizeof first) == 0;
        cell_grid_free(&grid);
        ENSURE(alike);
    }
}

TEST(bad_input_is_refused)
{
    CellGrid grid = {0};
    scatter(1.0f, 0.0f);
    ENSURE_FAILS(cell_grid_build(&grid, x, y, z, COUNT, 0.0f, 1), GRAIN_ERROR_ARGUMENT, "cell_size");
    y[17] = NAN;
    ENSURE_FAILS(cell_grid_build(&grid, x, y, z, COUNT, 0.1f, 1), GRAIN_ERROR_DIVERGED, "particle 17");
    y[17] = INFINITY;
    ENSURE_FAILS(cell_grid_build(&grid, x, y, z, COUNT, 0.1f, 1), GRAIN_ERROR_DIVERGED, "particle 17");
    ENSURE_OK(cell_grid_build(&grid, x, y, z, 0, 0.1f, 1));
    ENSURE_EQUAL(grid.cell_count, 0);
    cell_grid_free(&grid);
}
