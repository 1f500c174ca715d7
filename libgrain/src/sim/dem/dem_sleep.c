// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <string.h>

// Of the speed after a fall by half a radius.
#define REST_PART 1e-3

GrainResult dem_sleep_create(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    double gravity = (double)vec3_length(dem->base.def.gravity);
    // Laws without memory never rest, they creep.
    sleep->is_allowed =
        dem->base.def.may_sleep && gravity > 0.0 && dem->law.shear == DEM_SHEAR_SPRING && !dem->adaptive;
    sleep->speed_squared_over_radius = (float)(REST_PART * REST_PART * gravity);
    return dem_sleep_reserve(dem);
}

GrainResult dem_sleep_reserve(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    if (!sleep->is_allowed) return GRAIN_OK;
    const AllocGrown quiet[] = {{&sleep->quiet, sizeof(int32_t), 0}, {&sleep->quiet_before, sizeof(int32_t), 0}};
    int64_t runs = parallel_block_count(dem->ball_capacity, DEM_SLEEP_RUN);
    int is_first = sleep->quiet == NULL;
    TRY(alloc_grow_all(quiet, 2, &sleep->capacity, dem->ball_capacity));
    TRY(alloc_grow((void **)&sleep->balls, &sleep->runs_capacity, runs, 1));
    for (int64_t i = 0; is_first && i < dem->count; i++) sleep->quiet[i] = 0;
    if (runs > 0) memset(sleep->balls, 0, (size_t)runs);
    return GRAIN_OK;
}

void dem_sleep_wake(Dem *dem, const uint8_t *gone)
{
    const DemPairs *pairs = &dem->pairs;
    // Neighbours are not needed between this point and the rebuilding of the lists.
    for (int64_t pair = 0; dem->sleep.is_allowed && pairs->own && pair < pairs->count; pair++) {
        int32_t a = pairs->a[pair], b = pairs->b[pair];
        if (gone[dem->ball_particle[dem->id[a]]]) dem->sleep.quiet[b] = 0;
        if (gone[dem->ball_particle[dem->id[b]]]) dem->sleep.quiet[a] = 0;
    }
}

void dem_sleep_free(Dem *dem)
{
    alloc_free(dem->sleep.quiet);
    alloc_free(dem->sleep.quiet_before);
    alloc_free(dem->sleep.balls);
    alloc_free(dem->sleep.pairs);
    alloc_free(dem->sleep.grains);
}

void dem_sleep_sort(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    if (!sleep->is_allowed) return;
    int32_t *quiet = sleep->quiet;
    sleep->quiet = sleep->quiet_before, sleep->quiet_before = quiet;
    PARALLEL_FOR(dem->base.threads, row, dem->count) { sleep->quiet[row] = quiet[dem->levels.order[row]]; }
}

static int is_quiet(const DemSleep *sleep, int32_t ball) { return sleep->quiet[ball] >= DEM_SLEEP_WINDOWS; }

// Whether the record is a wall of a prop that moves, or of a body: also while it stands.
static int touches_what_moves(const Dem *dem, int32_t record)
{
    int64_t wall = record - dem_round_up(dem->pairs.count);
    if (wall < 0 || wall >= dem->walls.count) return 0;
    const RigidObject *object = &dem->base.rigid->objects[dem->walls.collider[wall] & ~DEM_WALL_FIXED];
    return object->has_moved && !object->is_held;
}

// Quiet, and so are all its neighbours.
static int is_undisturbed(const Dem *dem, int64_t ball)
{
    const DemSleep *sleep = &dem->sleep;
    if (!is_quiet(sleep, (int32_t)ball)) return 0;
    for (int64_t own = dem->pairs.own[ball]; own < dem->pairs.own[ball + 1]; own++)
        if (!is_quiet(sleep, dem->pairs.b[own])) return 0;
    for (int64_t entry = dem->shared_start[ball]; entry < dem->shared_start[ball + 1]; entry++) {
        int32_t record = dem->shared[entry];
        if (record < dem->pairs.count && !is_quiet(sleep, dem->pairs.a[record])) return 0;
        if (dem->base.has_moving && touches_what_moves(dem, record)) return 0;
    }
    return 1;
}

static void stop_ball(DemBall *ball)
{
    memset(ball->velocity, 0, sizeof ball->velocity);
    memset(ball->spin, 0, sizeof ball->spin);
}

static int is_grain_undisturbed(const Dem *dem, int64_t grain)
{
    int32_t id = dem->grain_id[grain];
    for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++)
        if (!is_undisturbed(dem, dem->row[ball])) return 0;
    return 1;
}

static void stop_grain(Dem *dem, int64_t row)
{
    DemGrain *grain = &dem->grains[row];
    int32_t id = dem->grain_id[row];
    memset(grain->velocity, 0, sizeof grain->velocity);
    memset(grain->momentum, 0, sizeof grain->momentum);
    memset(grain->spin, 0, sizeof grain->spin);
    for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++)
        stop_ball(&dem->balls[dem->row[ball]]);
}

static void choose_grains(Dem *dem)
{
    PARALLEL_FOR(dem->base.threads, run, parallel_block_count(dem->grain_count, DEM_SLEEP_RUN))
    {
        int64_t first = run * DEM_SLEEP_RUN, last = parallel_block_end(run, DEM_SLEEP_RUN, dem->grain_count);
        int sleeps = 1;
        for (int64_t g = first; g < last && sleeps; g++) sleeps = is_grain_undisturbed(dem, g);
        for (int64_t g = first; g < last && sleeps; g++) stop_grain(dem, g);
        dem->sleep.grains[run] = (uint8_t)sleeps;
    }
}

// What a ball alone is free to do, one of a grain does with it.
static int may_sleep(const Dem *dem, int64_t ball)
{
    int32_t grain = dem->body ? dem->body[ball] : -1;
    return grain < 0 ? is_undisturbed(dem, ball) : dem->sleep.grains[grain / DEM_SLEEP_RUN];
}

static void choose_balls(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    PARALLEL_FOR(dem->base.threads, run, parallel_block_count(dem->count, DEM_SLEEP_RUN))
    {
        int64_t first = run * DEM_SLEEP_RUN, last = parallel_block_end(run, DEM_SLEEP_RUN, dem->count);
        int sleeps = 1;
        for (int64_t i = first; i < last && sleeps; i++) sleeps = may_sleep(dem, i);
        for (int64_t i = first; i < last && sleeps; i++) stop_ball(&dem->balls[i]);
        sleep->balls[run] = (uint8_t)sleeps;
    }
    sleep->asleep = 0;
    for (int64_t run = 0; run < parallel_block_count(dem->count, DEM_SLEEP_RUN); run++)
        if (sleep->balls[run])
            sleep->asleep += parallel_block_end(run, DEM_SLEEP_RUN, dem->count) - run * DEM_SLEEP_RUN;
}

static void choose_pairs(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    PARALLEL_FOR(dem->base.threads, run, dem_round_up(dem->pairs.count) / DEM_SLEEP_RUN)
    {
        int sleeps = sleep->asleep > 0;
        for (int64_t pair = run * DEM_SLEEP_RUN; pair < (run + 1) * DEM_SLEEP_RUN && sleeps; pair++)
            sleeps =
                sleep->balls[dem->pairs.a[pair] / DEM_SLEEP_RUN] && sleep->balls[dem->pairs.b[pair] / DEM_SLEEP_RUN];
        sleep->pairs[run] = (uint8_t)sleeps;
    }
}

GrainResult dem_sleep_choose(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    if (!sleep->is_allowed) return GRAIN_OK;
    TRY(alloc_grow((void **)&sleep->pairs, &sleep->pairs_capacity, dem_round_up(dem->pairs.count) / DEM_SLEEP_RUN, 1));
    TRY(alloc_grow((void **)&sleep->grains, &sleep->grains_capacity,
                   parallel_block_count(dem->grain_count, DEM_SLEEP_RUN), 1));
    choose_grains(dem);
    choose_balls(dem);
    choose_pairs(dem);
    return GRAIN_OK;
}

static void count_quiet(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    PARALLEL_FOR(dem->base.threads, i, dem->count)
    {
        const DemBall *ball = &dem->balls[i];
        const float *v = ball->velocity, *w = ball->spin;
        float limit = sleep->speed_squared_over_radius * ball->radius;
        float turning = (w[0] * w[0] + w[1] * w[1] + w[2] * w[2]) * (ball->radius * ball->radius);
        if (!(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < limit && turning < limit))
            sleep->quiet[i] = 0;
        else if (sleep->quiet[i] < DEM_SLEEP_WINDOWS)
            sleep->quiet[i]++;
    }
}

GrainResult dem_sleep_end_step(Dem *dem)
{
    DemSleep *sleep = &dem->sleep;
    if (!sleep->is_allowed || ++sleep->steps < DEM_SLEEP_WINDOW) return GRAIN_OK;
    sleep->steps = 0;
    count_quiet(dem);
    return dem_sleep_choose(dem);
}
