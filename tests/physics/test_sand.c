// SPDX-License-Identifier: GPL-3.0-or-later
// The same experiments for every solver of bulk sand: keep a load on a truck, carry bodies, stand when wet.
#include "physics/sand_experiments.h"
#include "unit/test.h"

#include <math.h>

// A cell of mpm is two layers deep: it needs some more of them.
static const SandKind sph = {"sph", "elastoplastic", 10.0f}, mpm = {"mpm", NULL, 16.0f};

// 2 m/s2 are a tilt of 11.5 degrees: 31.5 in all stay below 35. 4 m/s2 are 22.2: 42.2 do not. If the flank that is too
// steep then comes down to 12.8 degrees, and not farther, the outline changes by 13 %.
static void check_truck(SandKind kind)
{
    TruckResult gentle, hard;
    ENSURE_OK(sand_truck(kind, 2.0, &gentle));
    ENSURE_OK(sand_truck(kind, 4.0, &hard));
    printf("# outline changed by %.1f %% at 2 m/s2, by %.1f %% at 4 m/s2\n", 100.0 * gentle.change,
           100.0 * hard.change);
    ENSURE(gentle.change < 0.03);
    ENSURE(hard.change > 0.1);
}

static void check_balls(SandKind kind)
{
    BallsResult balls;
    ENSURE_OK(sand_three_balls(kind, &balls));
    printf("# depths over the radius %.2f, %.2f, %.2f; half a second later %.2f, %.2f, %.2f\n",
           balls.depth[0] / balls.radius, balls.depth[1] / balls.radius, balls.depth[2] / balls.radius,
           balls.later[0] / balls.radius, balls.later[1] / balls.radius, balls.later[2] / balls.radius);
    for (int k = 0; k < 3; k++) {
        ENSURE(balls.depth[k] > 0.0 && balls.depth[k] < 2.5 * balls.radius); // the bed is three radii deep
        ENSURE(fabs(balls.later[k] - balls.depth[k]) < 0.02 * balls.radius);
    }
    ENSURE(balls.depth[0] < balls.depth[1] && balls.depth[1] < balls.depth[2]);
}

static void check_block(SandKind kind)
{
    BlockResult dry, wet;
    ENSURE_OK(sand_block(kind, 0.0f, &dry));
    ENSURE_OK(sand_block(kind, 1.0f, &wet));
    printf("# run-out over the side: dry %.2f, wet %.2f; height at the face %.2f, %.2f\n", dry.run_out / dry.side,
           wet.run_out / wet.side, dry.height / dry.side, wet.height / wet.side);
    ENSURE(dry.run_out > 0.3 * dry.side);
    ENSURE(wet.run_out < 0.5 * dry.run_out);
    ENSURE(wet.height > 0.8 * wet.side); // particles end half a spacing below the top
}

// Damp sand holds a castle's edges, dry sand none: the tower slumps by half.
static void check_castle(SandKind kind)
{
    CastleResult damp, dry;
    ENSURE_OK(sand_castle(kind, 0.5f, &damp));
    ENSURE_OK(sand_castle(kind, 0.0f, &dry));
    printf("# tower: damp %.2f of its height, %.1f %% moved, fastest then %.4f m/s; dry %.2f, %.1f %% moved\n",
           damp.height_later / damp.height, 100.0 * damp.moved, damp.fastest, dry.height_later / dry.height,
           100.0 * dry.moved);
    ENSURE(damp.height_later > 0.95 * damp.height && damp.moved < 0.01); // it settles by a part of a spacing
    ENSURE(dry.height_later < 0.6 * dry.height && dry.moved > 0.5);
}

TEST(sph_damp_castle_stands_and_a_dry_one_falls) { check_castle(sph); }
TEST(mpm_damp_castle_stands_and_a_dry_one_falls) { check_castle(mpm); }
TEST(sph_truck_keeps_its_load_until_it_accelerates_too_much) { check_truck(sph); }
TEST(mpm_truck_keeps_its_load_until_it_accelerates_too_much) { check_truck(mpm); }
TEST(sph_sand_carries_three_balls_by_their_density) { check_balls(sph); }
TEST(mpm_sand_carries_three_balls_by_their_density) { check_balls(mpm); }
TEST(sph_wet_block_stands_where_a_dry_one_runs_out) { check_block(sph); }
TEST(mpm_wet_block_stands_where_a_dry_one_runs_out) { check_block(mpm); }
