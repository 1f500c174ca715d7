// SPDX-License-Identifier: GPL-3.0-or-later
// Adding and removing particles, animated parameters, force fields. Balls and grains that are there stand side by side,
// so those that go make room; what the lists know of the contacts of the others is kept.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/dem/dem.h"

#include <string.h>

// Fewer balls than this are not worth another thread: a step of theirs takes as long as handing it over.
#define BALLS_PER_THREAD 2000

static GrainResult reserve_balls(Dem *dem, int64_t count, int has_grains)
{
    AllocGrown all[] = {{&dem->balls, sizeof(DemBall), 0},
                        {&dem->balls_before, sizeof(DemBall), 0},
                        {&dem->id, sizeof(int32_t), 0},
                        {&dem->id_before, sizeof(int32_t), 0},
                        {&dem->ball_particle, sizeof(int32_t), 0},
                        {&dem->x, sizeof(float), 0},
                        {&dem->y, sizeof(float), 0},
                        {&dem->z, sizeof(float), 0},
                        {&dem->reach, sizeof(float), 0},
                        {&dem->shared_start, sizeof(int32_t), 2},
                        {&dem->arms, sizeof(DemArm), 0},
                        {&dem->push, 4 * sizeof(float), 0},
                        {&dem->turn, 4 * sizeof(float), 0},
                        {&dem->body, sizeof(int32_t), 0},
                        {&dem->row, sizeof(int32_t), 0}};
    int last = (int)(sizeof all / sizeof *all);
    return alloc_grow_all(all, has_grains ? last : last - 5, &dem->ball_capacity, count);
}

static GrainResult reserve_particles(Dem *dem, int64_t count, int has_grains)
{
    AllocGrown all[2];
    int used = 0;
    if (dem->base.def.more_material_count > 0) all[used++] = (AllocGrown){&dem->material, 1, 0};
    if (has_grains) all[used++] = (AllocGrown){&dem->particle_grain, sizeof(int32_t), 0};
    return used > 0 ? alloc_grow_all(all, used, &dem->particle_capacity, count) : GRAIN_OK;
}

static GrainResult reserve_grains(Dem *dem, int64_t count)
{
    AllocGrown all[] = {{&dem->grains, sizeof(DemGrain), 0},       {&dem->grains_before, sizeof(DemGrain), 0},
                        {&dem->grain_id, sizeof(int32_t), 0},      {&dem->grain_id_before, sizeof(int32_t), 0},
                        {&dem->grain_first, sizeof(int32_t), 1},   {&dem->grain_shape, 1, 0},
                        {&dem->grain_particle, sizeof(int32_t), 0}};
    return count > 0 ? alloc_grow_all(all, sizeof all / sizeof *all, &dem->grain_capacity, count) : GRAIN_OK;
}

static int has_grains(const Dem *dem)
{
    for (int i = 0; i < dem->base.def.shape_count; i++)
        if (dem->base.def.shapes[i].ball_count > 1) return 1;
    return 0;
}

GrainResult dem_reserve(Dem *dem, const Particles *born)
{
    int64_t balls, grains, particles = dem->base.born + born->count;
    int with_grains = has_grains(dem);
    dem_count_grains(dem, born, &balls, &grains);
    if (dem->ball_born + balls > INT32_MAX / 4)
        return fail(GRAIN_ERROR_MEMORY,
                    "%lld grains are %lld balls, more than one simulation can hold; use larger grains",
                    (long long)particles, (long long)(dem->ball_born + balls));
    TRY(reserve_balls(dem, dem->ball_born + balls, with_grains));
    TRY(reserve_particles(dem, particles, with_grains));
    TRY(reserve_grains(dem, dem->grain_born + grains));
    TRY(dem_sleep_reserve(dem));
    int64_t blocks = parallel_block_count(dem->ball_capacity, PARALLEL_BLOCK);
    return alloc_grow((void **)&dem->block_walls, &dem->block_walls_capacity, blocks + 1, sizeof(int64_t));
}

// New particles have no previous position; removed ones need none.
static GrainResult note_places(Dem *dem, const uint8_t *gone, int64_t born)
{
    TRY(alloc_grow((void **)&dem->row_before, &dem->row_before_capacity, dem->count + born, sizeof(int32_t)));
    int64_t kept = 0;
    for (int64_t i = 0; i < dem->count; i++)
        if (!gone || !gone[dem->ball_particle[dem->id[i]]])
            dem->row_before[kept++] = dem->has_changed ? dem->row_before[i] : (int32_t)i;
    for (int64_t i = 0; i < born; i++) dem->row_before[kept++] = -1;
    dem->has_changed = 1;
    return GRAIN_OK;
}

static void remove_balls(Dem *dem, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < dem->count; i++) {
        if (gone[dem->ball_particle[dem->id[i]]]) continue;
        dem->balls[kept] = dem->balls[i];
        if (dem->sleep.is_allowed) dem->sleep.quiet[kept] = dem->sleep.quiet[i];
        dem->id[kept++] = dem->id[i];
    }
    dem->count = kept;
}

void dem_set_threads(Dem *dem)
{
    solver_base_set_threads(&dem->base, dem->count, BALLS_PER_THREAD);
    dem->block_count = parallel_block_count(dem->count, PARALLEL_BLOCK);
}

GrainResult dem_change(void *state, const SimChange *change)
{
    Dem *dem = state;
    const Particles none = {0}, *born = change->born ? change->born : &none;
    int64_t balls, grains;
    dem_count_grains(dem, born, &balls, &grains);
    TRY(dem_reserve(dem, born));
    TRY(note_places(dem, change->gone, balls));
    if (change->gone) {
        dem_sleep_wake(dem, change->gone);
        remove_balls(dem, change->gone);
        dem_remove_grains(dem, change->gone);
    }
    int64_t first = dem->count;
    dem_start_grains(dem, born, change->material);
    for (int64_t i = first; dem->sleep.is_allowed && i < dem->count; i++) dem->sleep.quiet[i] = 0;
    dem_set_threads(dem);
    dem->must_list = 1;
    if (change->will_load) return GRAIN_OK;
    // A checkpoint may be written before the next step: it can only tell lists that are those of the balls, and forces
    // that mean nothing yet should at least be the same nothing.
    TRY(dem_make_lists(dem, dem_longest_step(dem)));
    float *const records[] = {dem->force, dem->moment, dem->torque};
    for (int i = 0; i < 3; i++)
        if (records[i]) memset(records[i], 0, (size_t)dem->record_count * 4 * sizeof(float));
    return GRAIN_OK;
}

GrainResult dem_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Dem *dem = state;
    int any = 0;
    solver_base_steer(&dem->base, now, grips);
    if (grips) dem_grip_walls(dem, 0, dem->walls.count);
    dem_law_steer(&dem->law, &dem->mixes, now);
    for (int64_t i = 0; wake && dem->sleep.is_allowed && i < dem->count; i++) {
        if (!wake[dem->ball_particle[dem->id[i]]] || dem->sleep.quiet[i] == 0) continue;
        dem->sleep.quiet[i] = 0;
        any = 1;
    }
    return any && !dem->must_list && dem->count > 0 ? dem_sleep_choose(dem) : GRAIN_OK;
}

static void add_to(float velocity[3], Vec3 change)
{
    velocity[0] += change.x, velocity[1] += change.y, velocity[2] += change.z;
}

void dem_push(void *state, const Vec3 *acceleration, double seconds)
{
    Dem *dem = state;
    float dt = (float)seconds;
    int may_sleep = dem->sleep.is_allowed && dem->sleep.asleep > 0;
    PARALLEL_FOR(dem->base.threads, i, dem->count)
    {
        int is_awake = !may_sleep || !dem->sleep.balls[i / DEM_SLEEP_RUN];
        if (is_awake) add_to(dem->balls[i].velocity, vec3_scale(acceleration[dem->ball_particle[dem->id[i]]], dt));
    }
    PARALLEL_FOR(dem->base.threads, g, dem->grain_count)
    {
        add_to(dem->grains[g].velocity, vec3_scale(acceleration[dem->grain_particle[dem->grain_id[g]]], dt));
    }
}
