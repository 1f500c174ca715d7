// SPDX-License-Identifier: GPL-3.0-or-later
// The two loops of a substep, over contacts and over balls, shared among the threads. Pieces are small, so that a
// thread whose core is held up, or whose balls are awake while those of others sleep, gets help.
#include "base/parallel.h"
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"

// Of one piece of work: pairs, walls (which cost more) and balls, grains. Some microseconds each.
#define PAIR_BLOCK 1024
#define WALL_BLOCK 512
#define BALL_BLOCK 512
#define GRAIN_BLOCK 128

// The next range of what is awake within [*first, last), in runs; returns whether there is one.
static int next_awake(const uint8_t *asleep, int64_t *first, int64_t *end, int64_t last)
{
    *first = *end;
    while (*first < last && asleep[*first]) ++*first;
    *end = *first;
    while (*end < last && !asleep[*end]) ++*end;
    return *first < *end;
}

static void press_pairs(const Dem *dem, const DemWork *work, int64_t first, int64_t last)
{
    if (work->wakes_all) {
        SIMD_CALL(dem_pairs)(work, first, last);
        return;
    }
    int64_t begin, end = first / DEM_SLEEP_RUN;
    while (next_awake(dem->sleep.pairs, &begin, &end, last / DEM_SLEEP_RUN))
        SIMD_CALL(dem_pairs)(work, begin * DEM_SLEEP_RUN, end * DEM_SLEEP_RUN);
}

static void press_walls(Dem *dem, const DemWork *work, int64_t first, int64_t last)
{
    int64_t end = last < dem->walls.count ? last : dem->walls.count; // without the filling
    if (!work->gives_rates) {
        dem_refresh_walls(dem, first, end);
        if (dem->base.has_moving) dem_drive_walls(dem, first, end);
    }
    SIMD_CALL(dem_walls)(work, first, last, dem_round_up(dem->pairs.count));
}

void dem_find_forces(Dem *dem, const DemWork *work)
{
    int64_t pairs = dem_round_up(dem->pairs.count), walls = dem_round_up(dem->walls.count);
    int64_t pair_blocks = parallel_block_count(pairs, PAIR_BLOCK),
            wall_blocks = parallel_block_count(walls, WALL_BLOCK);
    PARALLEL_STRIPS(dem->base.threads, block, pair_blocks + wall_blocks)
    {
        int64_t wall_block = block - pair_blocks;
        if (wall_block < 0)
            press_pairs(dem, work, block * PAIR_BLOCK, parallel_block_end(block, PAIR_BLOCK, pairs));
        else
            press_walls(dem, work, wall_block * WALL_BLOCK, parallel_block_end(wall_block, WALL_BLOCK, walls));
    }
}

// Returns whether one of them has left its skin.
static int32_t move_balls(const Dem *dem, int64_t first, int64_t last, float seconds)
{
    if (dem->sleep.asleep == 0) return SIMD_CALL(dem_move)(dem, first, last, seconds);
    int64_t begin, end = first / DEM_SLEEP_RUN;
    int32_t left = 0;
    while (next_awake(dem->sleep.balls, &begin, &end, parallel_block_count(last, DEM_SLEEP_RUN)))
        left |=
            SIMD_CALL(dem_move)(dem, begin * DEM_SLEEP_RUN, parallel_block_end(end - 1, DEM_SLEEP_RUN, last), seconds);
    return left;
}

static int32_t move_grains(const Dem *dem, int64_t first, int64_t last, float seconds)
{
    if (!dem->sleep.is_allowed) return SIMD_CALL(dem_grains)(dem, first, last, seconds);
    int64_t begin, end = first / DEM_SLEEP_RUN;
    int32_t left = 0;
    while (next_awake(dem->sleep.grains, &begin, &end, parallel_block_count(last, DEM_SLEEP_RUN)))
        left |= SIMD_CALL(dem_grains)(dem, begin * DEM_SLEEP_RUN, parallel_block_end(end - 1, DEM_SLEEP_RUN, last),
                                      seconds);
    return left;
}

void dem_move_all(Dem *dem, float seconds)
{
    int32_t left = 0;
    PARALLEL_STRIPS(dem->base.threads, block, parallel_block_count(dem->count, BALL_BLOCK))
    {
        int64_t last = parallel_block_end(block, BALL_BLOCK, dem->count);
        if (move_balls(dem, block * BALL_BLOCK, last, seconds)) __atomic_store_n(&left, 1, __ATOMIC_RELAXED);
    }
    PARALLEL_STRIPS(dem->base.threads, block, parallel_block_count(dem->grain_count, GRAIN_BLOCK))
    {
        int64_t last = parallel_block_end(block, GRAIN_BLOCK, dem->grain_count);
        if (move_grains(dem, block * GRAIN_BLOCK, last, seconds)) __atomic_store_n(&left, 1, __ATOMIC_RELAXED);
    }
    dem->must_list |= left;
}
