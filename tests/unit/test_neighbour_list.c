// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/neighbour_list.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <string.h>

enum { COUNT = 2500 };
enum { PADDED = COUNT + 16 }; // vectors may be loaded past the end, as from alloc_array
static float x[PADDED], y[PADDED], z[PADDED], radius[PADDED];
#define SKIN 0.01f
#define LARGEST_RADIUS 0.06f

static void scatter_sorted(CellGrid *grid)
{
    float *given[4];
    for (int a = 0; a < 4; a++) given[a] = ALLOC(float, COUNT);
    for (uint64_t i = 0; i < COUNT; i++) {
        Rng4 r = rng_at(11, i, RNG_STREAM_TEST, 0);
        for (int a = 0; a < 3; a++) given[a][i] = rng_signed(r.word[a]) * 0.6f;
        given[3][i] = LARGEST_RADIUS * (0.2f + 0.8f * rng_unit(r.word[3]));
    }
    cell_grid_build(grid, given[0], given[1], given[2], COUNT, 2 * LARGEST_RADIUS + SKIN, 2);
    for (int place = 0; place < COUNT; place++) {
        int32_t i = grid->order[place];
        x[place] = given[0][i], y[place] = given[1][i], z[place] = given[2][i], radius[place] = given[3][i];
    }
    for (int a = 0; a < 4; a++) alloc_free(given[a]);
}

static int touches(int a, int b)
{
    float dx = x[b] - x[a], dy = y[b] - y[a], dz = z[b] - z[a], reach = radius[b] + (radius[a] + SKIN);
    return a != b && dx * dx + dy * dy + dz * dz < reach * reach;
}

// With every instruction set this CPU has, and several thread counts: the same list as all against all.
TEST(list_equals_brute_force_on_every_instruction_set)
{
    CellGrid grid = {0};
    scatter_sorted(&grid);
    int64_t expected = 0;
    for (int a = 0; a < COUNT; a++)
        for (int b = 0; b < COUNT; b++) expected += touches(a, b);

    NeighbourList list = {0};
    int64_t entries = 0, wrong = 0;
    for (SimdSet set = SIMD_BASE; set <= SIMD_AVX512; set++) {
        if (simd_limit(set) != set) continue;
        for (int threads = 1; threads <= 3; threads++) {
            ENSURE_OK(neighbour_list_build(&list, &grid, x, y, z, radius, SKIN, threads));
            entries = list.start[COUNT];
            wrong += entries != expected;
            for (int a = 0; a < COUNT; a++)
                for (int64_t e = list.start[a]; e < list.start[a + 1]; e++) wrong += !touches(a, list.neighbour[e]);
        }
    }
    simd_limit(SIMD_AVX512);
    neighbour_list_free(&list);
    cell_grid_free(&grid);
    ENSURE(expected > COUNT);
    ENSURE_EQUAL(entries, expected);
    ENSURE_EQUAL(wrong, 0);
}
