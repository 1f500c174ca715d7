// SPDX-License-Identifier: GPL-3.0-or-later
// Who may touch whom before the lists are made again.
//
// Each ball has a skin of its own: as far as it may go before that. It grows with the ball's speed, so that fast balls
// do not force the others to be listed again and again, while resting ones list nobody but those they touch.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Steps that a list should last. Longer lists cost in every step, rarer ones save a share of the cost of making them
// (about that of four steps): flat between 30 and 80 for a flow down a slope.
#define LIST_STEPS 40.0
// Of the radius: the skin of a ball at rest, and the largest one, as cells grow with it.
#define LEAST_SKIN 0.02f
#define LARGEST_SKIN 0.3f

// --- balls --------------------------------------------------------------------------------------

// Where every ball is, and how far it may go.
static void place_balls(Dem *dem, double seconds)
{
    float horizon = (float)(LIST_STEPS * seconds);
    PARALLEL_FOR(dem->base.threads, i, dem->count)
    {
        DemBall *ball = &dem->balls[i];
        float at[3];
        for (int axis = 0; axis < 3; axis++) {
            at[axis] = ball->anchor[axis];
            if (ball->inverse_inertia == 0.0f) continue; // its grain has placed it
            at[axis] = ball->anchor[axis] + ball->offset[axis];
            ball->offset[axis] = (ball->anchor[axis] - at[axis]) + ball->offset[axis]; // what rounding left behind
            ball->anchor[axis] = at[axis];
        }
        float speed = sqrtf(ball->velocity[0] * ball->velocity[0] + ball->velocity[1] * ball->velocity[1] +
                            ball->velocity[2] * ball->velocity[2]);
        float skin = real_minf(LEAST_SKIN * ball->radius + speed * horizon, LARGEST_SKIN * ball->radius);
        ball->skin_squared = skin * skin;
    }
}

static void sort_balls(Dem *dem)
{
    DemBall *balls = dem->balls;
    int32_t *id = dem->id;
    dem->balls = dem->balls_before, dem->balls_before = balls;
    dem->id = dem->id_before, dem->id_before = id;
    PARALLEL_FOR(dem->base.threads, row, dem->count)
    {
        int32_t from = dem->levels.order[row];
        dem->balls[row] = dem->balls_before[from];
        dem->id[row] = dem->id_before[from];
    }
}

// The arrays the search reads, in the balls' order.
static void spread_balls(Dem *dem)
{
    PARALLEL_FOR(dem->base.threads, row, dem->count)
    {
        const DemBall *ball = &dem->balls[row];
        dem->x[row] = ball->anchor[0], dem->y[row] = ball->anchor[1], dem->z[row] = ball->anchor[2];
        dem->reach[row] = ball->radius + sqrtf(ball->skin_squared);
    }
}

// --- shared records -----------------------------------------------------------------------------

// Counting, and later filling, meets every record once: on one thread in order; on several with atomic counters and
// each ball's few entries sorted afterwards, which comes to the same.
static inline int32_t count_up(int32_t *counter, int threads)
{
    if (threads == 1) return (*counter)++;
    return __atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

static void sort_entries(int32_t *entries, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        int32_t entry = entries[i];
        int64_t row = i;
        for (; row > 0 && entries[row - 1] > entry; row--) entries[row] = entries[row - 1];
        entries[row] = entry;
    }
}

static GrainResult grow_records(Dem *dem)
{
    dem->record_count = dem_round_up(dem->pairs.count) + dem_round_up(dem->walls.count);
    int64_t count = 4 * (dem->record_count + 1);
    TRY(alloc_grow((void **)&dem->force, &dem->force_capacity, count, sizeof(float)));
    TRY(alloc_grow((void **)&dem->moment, &dem->moment_capacity, count, sizeof(float)));
    if (dem->law.resists_rolling) TRY(alloc_grow((void **)&dem->torque, &dem->torque_capacity, count, sizeof(float)));
    float *const records[] = {dem->force, dem->moment, dem->torque};
    for (int i = 0; i < 3; i++)
        if (records[i]) memset(records[i] + 4 * dem->record_count, 0, 4 * sizeof(float));
    return GRAIN_OK;
}

// Every ball's entries are filled up to a multiple of DEM_SHARED_MULTIPLE with the record that is always 0.
static GrainResult list_shared(Dem *dem)
{
    int64_t pair_count = dem->pairs.count, wall_count = dem->walls.count, records = dem_round_up(pair_count);
    int64_t most = pair_count + wall_count + (DEM_SHARED_MULTIPLE - 1) * dem->count;
    int threads = dem->base.threads;
    if (most > INT32_MAX)
        return fail(GRAIN_ERROR_MEMORY, "more contacts than one simulation can hold; use larger particles");
    TRY(alloc_grow((void **)&dem->shared, &dem->shared_capacity, most, sizeof(int32_t)));
    // Counted two places on, a ball's counter is one place on its first entry, and runs up to where they end.
    int32_t *start = dem->shared_start, *counter = start + 2;
    memset(start, 0, (size_t)(dem->count + 2) * sizeof *start);
    PARALLEL_FOR(threads, pair, pair_count) { count_up(&counter[dem->pairs.b[pair]], threads); }
    PARALLEL_FOR(threads, wall, wall_count) { count_up(&counter[dem->walls.ball[wall]], threads); }
    int32_t sum = 0;
    for (int64_t i = 0; i < dem->count; i++) {
        int32_t here = (counter[i] + DEM_SHARED_MULTIPLE - 1) & -DEM_SHARED_MULTIPLE;
        start[i + 1] = sum;
        sum += here;
    }
    PARALLEL_FOR(threads, entry, sum) { dem->shared[entry] = (int32_t)dem->record_count; }
    counter = start + 1;
    PARALLEL_FOR(threads, pair, pair_count)
    {
        dem->shared[count_up(&counter[dem->pairs.b[pair]], threads)] = (int32_t)pair;
    }
    PARALLEL_FOR(threads, wall, wall_count)
    {
        dem->shared[count_up(&counter[dem->walls.ball[wall]], threads)] = (int32_t)(records + wall);
    }
    PARALLEL_FOR(threads, i, dem->count) { counter[i] = (counter[i] + DEM_SHARED_MULTIPLE - 1) & -DEM_SHARED_MULTIPLE; }
    if (threads == 1) return GRAIN_OK;
    PARALLEL_FOR(threads, i, dem->count) { sort_entries(dem->shared + start[i], start[i + 1] - start[i]); }
    return GRAIN_OK;
}

// --- entry --------------------------------------------------------------------------------------

GrainResult dem_name_lost(const Dem *dem)
{
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *ball = &dem->balls[i];
        if (!(fabsf(ball->anchor[0] + ball->offset[0]) + fabsf(ball->anchor[1] + ball->offset[1]) +
                  fabsf(ball->anchor[2] + ball->offset[2]) <
              INFINITY))
            return fail(
                GRAIN_ERROR_DIVERGED,
                "the simulation diverged: the position of particle %d is not a number; it was pressed too deep into "
                "another "
                "one or a collider: use a smaller softness, or check that the sources do not overlap at the start",
                dem->id[i]);
    }
    return fail(GRAIN_ERROR_DIVERGED, "the simulation diverged: the position of a particle is not a number");
}

static GrainResult list_records(Dem *dem)
{
    TRY(grow_records(dem));
    return list_shared(dem);
}

// Where the balls of the new lists stood in those before; NULL: there were none.
static GrainResult find_before(Dem *dem, const int32_t **before)
{
    *before = dem->pairs.own ? dem->levels.order : NULL;
    if (!*before || !dem->has_changed) return GRAIN_OK;
    TRY(alloc_grow((void **)&dem->ball_before, &dem->before_capacity, dem->count, sizeof(int32_t)));
    PARALLEL_FOR(dem->base.threads, row, dem->count)
    {
        dem->ball_before[row] = dem->row_before[dem->levels.order[row]];
    }
    *before = dem->ball_before;
    return GRAIN_OK;
}

GrainResult dem_make_lists(Dem *dem, double seconds)
{
    if (!dem->must_list) return GRAIN_OK;
    rigid_mark(dem->base.rigid, seconds, (double)dem->largest_margin);
    dem->must_list = dem->count > 0;
    if (!dem->must_list) { // bodies alone, or all are gone
        dem->pairs.count = dem->walls.count = dem->record_count = dem->loaded_count = 0;
        return GRAIN_OK;
    }
    dem_anchor_grains(dem);
    place_balls(dem, seconds);
    spread_balls(dem);
    GrainResult result =
        dem_levels_build(&dem->levels, dem->x, dem->y, dem->z, dem->reach, dem->count, dem->base.threads);
    if (result != GRAIN_OK) return result == GRAIN_ERROR_DIVERGED ? dem_name_lost(dem) : result;
    sort_balls(dem);
    dem_sort_grains(dem);
    dem_sleep_sort(dem);
    spread_balls(dem);
    const int32_t *ball_before;
    TRY(find_before(dem, &ball_before));
    DemPairs pairs = dem->pairs;
    dem->pairs = dem->pairs_before, dem->pairs_before = pairs;
    DemWalls walls = dem->walls;
    dem->walls = dem->walls_before, dem->walls_before = walls;
    dem_place_arms(dem);
    TRY(dem_list_pairs(dem, ball_before));
    TRY(dem_find_walls(dem, ball_before));
    TRY(list_records(dem));
    dem->must_list = dem->has_changed = 0;
    dem->sleep.evaluate_all = 1;
    return dem_sleep_choose(dem);
}

// Walls of a collider that stands are found again; those of sheets that bend depend on which side a ball has come from.
static GrainResult restore_walls(Dem *dem, const Column *columns, int column_count)
{
    if (!dem->base.has_moving) return dem_find_walls(dem, NULL);
    const Column *ball = column_find(columns, column_count, "dem.wall_ball");
    const Column *collider = column_find(columns, column_count, "dem.wall_collider");
    if (!ball || !collider || ball->count != collider->count || ball->type != GRAIN_I32 || collider->type != GRAIN_I32)
        return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has no list of walls");
    return dem_restore_walls(dem, ball->data, collider->data, ball->count);
}

GrainResult dem_restore_lists(Dem *dem, const Column *columns, int column_count)
{
    if (dem->count == 0) return GRAIN_OK;
    // The balls stand in the order of these very cells, so sorting them again would change nothing.
    spread_balls(dem);
    TRY(dem_levels_build(&dem->levels, dem->x, dem->y, dem->z, dem->reach, dem->count, dem->base.threads));
    dem_place_arms(dem);
    TRY(dem_list_pairs(dem, NULL));
    TRY(restore_walls(dem, columns, column_count));
    return list_records(dem);
}

void dem_free_lists(Dem *dem)
{
    dem_free_pairs(&dem->pairs);
    dem_free_pairs(&dem->pairs_before);
    dem_free_walls(&dem->walls);
    dem_free_walls(&dem->walls_before);
    void *arrays[] = {dem->shared, dem->shared_start, dem->force,  dem->moment, dem->torque,
                      dem->found,  dem->wall_found,   dem->loaded, dem->pressed};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    dem_levels_free(&dem->levels);
}
