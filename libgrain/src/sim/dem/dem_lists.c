// Who may touch whom before the lists are made again.
//
// Each ball has a skin of its own: as far as it may go before that. It grows with the ball's speed, so that fast balls
// do not force the others to be listed again and again, while resting ones list nobody but those they touch.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

// Steps that a list should last. Longer lists cost in every step, rarer ones save a share of the cost of making them
// (about that of four steps): flat between 30 and 80 for a flow down a slope.
#define LIST_STEPS 40.0
// Of the largest radius: the skin of a ball at rest, and the largest one, as cells grow with it.
#define LEAST_SKIN 0.02f
#define LARGEST_SKIN 0.3f

#define CELL_BLOCK 512

// --- balls --------------------------------------------------------------------------------------

// Where every ball is, how far it may go, and the largest reach.
static float place_balls(Dem *dem, double seconds)
{
    float least = LEAST_SKIN * dem->def.largest_radius, largest = LARGEST_SKIN * dem->def.largest_radius;
    float horizon = (float)(LIST_STEPS * seconds);
    PARALLEL_BLOCKS(dem->threads, block, dem->block_count)
    {
        float largest_reach = 0.0f;
        for (int64_t i = block * PARALLEL_BLOCK; i < parallel_block_end(block, PARALLEL_BLOCK, dem->count); i++) {
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
            float skin = fminf(least + speed * horizon, largest);
            ball->skin_squared = skin * skin;
            dem->x[i] = at[0], dem->y[i] = at[1], dem->z[i] = at[2];
            // by way of the root, as when a checkpoint is loaded
            largest_reach = fmaxf(largest_reach, ball->radius + sqrtf(ball->skin_squared));
        }
        dem->block_reach[block] = largest_reach;
    }
    float reach = 0.0f;
    for (int64_t block = 0; block < dem->block_count; block++) reach = fmaxf(reach, dem->block_reach[block]);
    return reach;
}

static void sort_balls(Dem *dem)
{
    DemBall *balls = dem->balls;
    int32_t *id = dem->id;
    dem->balls = dem->balls_before, dem->balls_before = balls;
    dem->id = dem->id_before, dem->id_before = id;
    PARALLEL_FOR(dem->threads, place, dem->count)
    {
        int32_t from = dem->grid.order[place];
        dem->balls[place] = dem->balls_before[from];
        dem->id[place] = dem->id_before[from];
    }
}

// The arrays the search reads, in sorted order.
static void spread_balls(Dem *dem)
{
    PARALLEL_FOR(dem->threads, place, dem->count)
    {
        const DemBall *ball = &dem->balls[place];
        dem->x[place] = ball->anchor[0], dem->y[place] = ball->anchor[1], dem->z[place] = ball->anchor[2];
        dem->reach[place] = ball->radius + sqrtf(ball->skin_squared);
    }
}

// --- pairs --------------------------------------------------------------------------------------

static int64_t search_block(Dem *dem, int64_t block, int64_t *room)
{
    int64_t first = block * CELL_BLOCK, last = parallel_block_end(block, CELL_BLOCK, dem->grid.cell_count);
    int64_t first_ball = dem->grid.cell_start[first], last_ball = dem->grid.cell_start[last];
    *room = (last_ball - first_ball) * dem->found_per_ball + DEM_LIST_MULTIPLE;
    int32_t *found = dem->found + first_ball * dem->found_per_ball + block * DEM_LIST_MULTIPLE;
    return SIMD_CALL(dem_search)(dem, first, last, dem->pairs.own, found, *room);
}

// Into `found`, block by block, with as much room as it takes.
static GrainResult search_pairs(Dem *dem)
{
    int64_t block_count = parallel_block_count(dem->grid.cell_count, CELL_BLOCK);
    for (;;) {
        int64_t needed = dem->count * dem->found_per_ball + block_count * DEM_LIST_MULTIPLE;
        TRY(alloc_grow((void **)&dem->found, &dem->found_capacity, needed, sizeof(int32_t)));
        _Atomic int too_small = 0;
        PARALLEL_BLOCKS(dem->threads, block, block_count)
        {
            int64_t room;
            if (search_block(dem, block, &room) + DEM_LIST_MULTIPLE > room) too_small = 1;
        }
        if (!too_small) return GRAIN_OK;
        dem->found_per_ball += dem->found_per_ball / 2;
    }
}

static GrainResult grow_pairs(Dem *dem, int64_t count)
{
    DemPairs *pairs = &dem->pairs;
    if (count > INT32_MAX / 2)
        return fail(GRAIN_ERROR_MEMORY, "%lld contacts are more than one simulation can hold; use larger particles",
                    (long long)count);
    int64_t padded = dem_round_up(count);
    TRY(alloc_grow((void **)&pairs->a, &pairs->a_capacity, padded, sizeof(int32_t)));
    TRY(alloc_grow((void **)&pairs->b, &pairs->b_capacity, padded, sizeof(int32_t)));
    if (dem->material) TRY(alloc_grow((void **)&pairs->mix, &pairs->mix_capacity, padded, sizeof(int32_t)));
    TRY(dem_vectors_grow(&pairs->apart, padded));
    TRY(dem_vectors_grow(&pairs->shear, padded));
    if (dem->law.resists_rolling) TRY(dem_vectors_grow(&pairs->roll, padded));
    pairs->count = count;
    for (int64_t pair = count; pair < padded; pair++) {
        pairs->a[pair] = pairs->b[pair] = 0;
        if (pairs->mix) pairs->mix[pair] = 0;
        pairs->apart.x[pair] = pairs->apart.y[pair] = pairs->apart.z[pair] = 1e9f;
    }
    return GRAIN_OK;
}

// Counts to places; returns the number of all.
static int64_t sum_counts(int32_t *counts, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        int32_t here = counts[i];
        counts[i] = (int32_t)sum;
        sum += here;
    }
    counts[count] = (int32_t)sum;
    return sum;
}

static void copy_spring(const DemVectors *from, int64_t source, DemVectors *to, int64_t target, float sign)
{
    to->x[target] = sign * from->x[source];
    to->y[target] = sign * from->y[source];
    to->z[target] = sign * from->z[source];
}

// The springs of the pair as it stood in the lists before. It may have been listed the other way round.
static void take_springs(Dem *dem, const int32_t *ball_before, int64_t pair, int32_t a, int32_t b)
{
    const DemPairs *before = &dem->pairs_before;
    DemVectors *shear = &dem->pairs.shear, *roll = &dem->pairs.roll;
    int resists_rolling = dem->law.resists_rolling;
    if (ball_before) {
        int32_t first = ball_before[a], second = ball_before[b];
        float sign = first < second ? 1.0f : -1.0f;
        if (first > second) first = ball_before[b], second = ball_before[a];
        for (int64_t old = before->own[first]; old < before->own[first + 1]; old++) {
            if (before->b[old] != second) continue;
            copy_spring(&before->shear, old, shear, pair, sign);
            if (resists_rolling) copy_spring(&before->roll, old, roll, pair, sign);
            return;
        }
    }
    shear->x[pair] = shear->y[pair] = shear->z[pair] = 0.0f;
    if (resists_rolling) roll->x[pair] = roll->y[pair] = roll->z[pair] = 0.0f;
}

static void fill_pairs(Dem *dem, const int32_t *ball_before)
{
    DemPairs *pairs = &dem->pairs;
    int64_t block_count = parallel_block_count(dem->grid.cell_count, CELL_BLOCK);
    PARALLEL_BLOCKS(dem->threads, block, block_count)
    {
        int32_t first = dem->grid.cell_start[block * CELL_BLOCK];
        int32_t last = dem->grid.cell_start[parallel_block_end(block, CELL_BLOCK, dem->grid.cell_count)];
        const int32_t *found = dem->found + first * dem->found_per_ball + block * DEM_LIST_MULTIPLE;
        for (int32_t a = first; a < last; a++) {
            for (int64_t pair = pairs->own[a]; pair < pairs->own[a + 1]; pair++) {
                int32_t b = *found++;
                pairs->a[pair] = a;
                pairs->b[pair] = b;
                pairs->apart.x[pair] = dem->x[a] - dem->x[b];
                pairs->apart.y[pair] = dem->y[a] - dem->y[b];
                pairs->apart.z[pair] = dem->z[a] - dem->z[b];
                if (pairs->mix)
                    pairs->mix[pair] = dem->material[dem->ball_particle[dem->id[a]]] * DEM_MAX_MATERIALS +
                                       dem->material[dem->ball_particle[dem->id[b]]];
                take_springs(dem, ball_before, pair, a, b);
            }
        }
    }
}

static GrainResult list_pairs(Dem *dem, const int32_t *ball_before)
{
    TRY(alloc_grow((void **)&dem->pairs.own, &dem->pairs.own_capacity, dem->count + 1, sizeof(int32_t)));
    TRY(search_pairs(dem));
    TRY(grow_pairs(dem, sum_counts(dem->pairs.own, dem->count)));
    fill_pairs(dem, ball_before);
    return GRAIN_OK;
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
        int64_t place = i;
        for (; place > 0 && entries[place - 1] > entry; place--) entries[place] = entries[place - 1];
        entries[place] = entry;
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
    int threads = dem->threads;
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
                "particle %d left the range of numbers: it was pressed too deep into another or a collider; use a "
                "smaller softness, or check that the sources do not start inside each other",
                dem->id[i]);
    }
    return fail(GRAIN_ERROR_DIVERGED, "a particle left the range of numbers");
}

static GrainResult list_all(Dem *dem, const int32_t *ball_before)
{
    spread_balls(dem);
    dem_place_arms(dem);
    TRY(list_pairs(dem, ball_before));
    TRY(dem_find_walls(dem, ball_before));
    TRY(grow_records(dem));
    return list_shared(dem);
}

static float largest_reach(const Dem *dem)
{
    float reach = 0.0f;
    for (int64_t i = 0; i < dem->count; i++)
        reach = fmaxf(reach, dem->balls[i].radius + sqrtf(dem->balls[i].skin_squared));
    return reach;
}

GrainResult dem_make_lists(Dem *dem, double seconds)
{
    if (!dem->must_list) return GRAIN_OK;
    dem_anchor_grains(dem);
    float reach = place_balls(dem, seconds);
    GrainResult result = cell_grid_build(&dem->grid, dem->x, dem->y, dem->z, dem->count, 2.0f * reach, dem->threads);
    if (result != GRAIN_OK) return result == GRAIN_ERROR_DIVERGED ? dem_name_lost(dem) : result;
    sort_balls(dem);
    dem_sort_grains(dem);
    int is_first = dem->pairs.own == NULL;
    DemPairs pairs = dem->pairs;
    dem->pairs = dem->pairs_before, dem->pairs_before = pairs;
    DemWalls walls = dem->walls;
    dem->walls = dem->walls_before, dem->walls_before = walls;
    TRY(list_all(dem, is_first ? NULL : dem->grid.order));
    dem->must_list = 0;
    return GRAIN_OK;
}

GrainResult dem_restore_lists(Dem *dem)
{
    // The balls stand in the order of these very cells, so sorting them again would change nothing.
    float reach = largest_reach(dem);
    spread_balls(dem);
    TRY(cell_grid_build(&dem->grid, dem->x, dem->y, dem->z, dem->count, 2.0f * reach, dem->threads));
    return list_all(dem, NULL);
}

static void free_pairs(DemPairs *pairs)
{
    alloc_free(pairs->own);
    alloc_free(pairs->a);
    alloc_free(pairs->b);
    alloc_free(pairs->mix);
    dem_vectors_free(&pairs->apart);
    dem_vectors_free(&pairs->shear);
    dem_vectors_free(&pairs->roll);
}

void dem_free_lists(Dem *dem)
{
    free_pairs(&dem->pairs);
    free_pairs(&dem->pairs_before);
    dem_free_walls(&dem->walls);
    dem_free_walls(&dem->walls_before);
    void *arrays[] = {dem->shared, dem->shared_start, dem->force,     dem->moment,
                      dem->torque, dem->found,        dem->wall_found};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    cell_grid_free(&dem->grid);
}
