// SPDX-License-Identifier: GPL-3.0-or-later
// The mesoscopic solver: particle-steps a second at about 12 neighbours each, and what paste costs.
#include "base/error.h"
#include "base/rng.h"
#include "base/run.h"
#include "bench/bench.h"
#include "grain/grain.h"
#include "particles/particles.h"
#include "shared/processor_clock.h"
#include "sim/meso/meso.h"

#include <math.h>
#include <stdio.h>

#define RADIUS 0.01f
// The paper's: 1,000 particles, 1,050 steps a second of 25 frames, 30 s a frame (an SGI O2 of 150 MHz).
#define PAPER_SPEED (1000.0 * 1050.0 / 25.0 / 30.0)
enum { STEPS = 60, PIECES = 5 };

// A block settling in a box of five walls, as dense as sources are filled.
static GrainResult create(SimMesoNumbers numbers, int64_t particles, int threads, Meso **out)
{
    float pitch = RADIUS * 1.7818f;
    int along = (int)lround(cbrt((double)particles / 0.6)), high = (int)lround(0.6 * along);
    float side = (float)along * pitch;
    const SimCollider walls[5] = {{.plane_normal = {0, 0, 1}, .friction = 0.5f},
                                  {.plane_normal = {1, 0, 0}},
                                  {.plane_normal = {0, 1, 0}},
                                  {.plane_point = {side, 0, 0}, .plane_normal = {-1, 0, 0}},
                                  {.plane_point = {0, side, 0}, .plane_normal = {0, -1, 0}}};
    Particles start = {0};
    GrainResult result = GRAIN_OK;
    for (int64_t i = 0; i < (int64_t)along * along * high && result == GRAIN_OK; i++) {
        Rng4 random = rng_at(9, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
        Vec3 at = {0.5f * pitch + pitch * (float)(i % along), 0.5f * pitch + pitch * (float)(i / along % along),
                   0.5f * pitch + pitch * (float)(i / (along * along))};
        result = particles_add(&start, vec3_add_scaled(at, shift, 0.1f * pitch), vec3(0, 0, 0), RADIUS);
    }
    SimDef def = {.solver = "meso",
                  .gravity = {0, 0, -9.81f},
                  .largest_radius = RADIUS,
                  .density = 2600.0f,
                  .restitution = 0.3f,
                  .meso = sim_meso_of(&numbers),
                  .expected_speed = 1.0f,
                  .colliders = walls,
                  .collider_count = 5};
    if (result == GRAIN_OK) result = solver_create(&meso_solver, &def, &start, threads, (void **)out);
    particles_free(&start);
    return result;
}

typedef struct Speed {
    double core, wall; // particle-steps a second: of processor time, of the clock
    double neighbours; // within the farther reach
} Speed;

static GrainResult take_steps(Meso *meso, int count)
{
    for (int i = 0; i < count; i++) TRY(meso_solver.step(meso, meso_solver.largest_step(meso)));
    return GRAIN_OK;
}

static double neighbours_of(const Meso *meso, double reach)
{
    const Neighbours *neighbours = &meso->neighbours;
    double count = 0.0;
    for (int64_t i = 0; i < neighbours->count; i++)
        for (int64_t k = neighbours->block[i / BLOCK_LANES].list; k < neighbours->block[i / BLOCK_LANES].list_end;
             k++) {
            int32_t j = meso->rows.list[k * BLOCK_LANES + i % BLOCK_LANES];
            if (j == neighbours->room) break; // nobody
            Vec3d way = vec3d_sub(neighbours_place_of(neighbours, i), neighbours_place_of(neighbours, j));
            count += vec3d_length(way) <= 2.0 * (double)RADIUS * reach;
        }
    return count / (double)neighbours->count;
}

// The fastest piece counts: noise only ever adds.
static GrainResult measure(SimMesoNumbers numbers, int64_t particles, int threads, int steps, Speed *speed)
{
    Meso *meso = NULL;
    *speed = (Speed){0};
    GrainResult result = create(numbers, particles, threads, &meso);
    if (result == GRAIN_OK) result = take_steps(meso, steps); // to its first lists, and some motion
    for (int piece = 0; piece < PIECES && result == GRAIN_OK; piece++) {
        double processor = processor_seconds(), clock = run_clock();
        result = take_steps(meso, steps);
        double work = (double)meso->neighbours.count * steps;
        speed->core = fmax(speed->core, work / (processor_seconds() - processor));
        speed->wall = fmax(speed->wall, work / (run_clock() - clock));
    }
    if (result == GRAIN_OK)
        speed->neighbours = neighbours_of(meso, (double)(numbers.elastic_reach * fmaxf(1.0f, numbers.reach_ratio)));
    solver_destroy(&meso_solver, meso);
    return result;
}

BENCH(meso)
{
    enum { KINDS = 4 };
    static const struct {
        const char *name;
        SimMesoNumbers numbers;
        int steps;
    } kinds[KINDS] = {{"grains, ip3, reach 1.15", {4e4f, 100, 1.15f, 1.0f}, STEPS},
                      {"grains, ip3, reach 1.38", {4e4f, 100, 1.38f, 1.0f}, STEPS},
                      {"thick grains, implicit", {4e4f, 600, 1.22f, 1.0f}, STEPS / 2},
                      {"paste, ip5, reach 2.5", {2e4f, 60, 1.0f, 2.5f}, STEPS / 6}};
    const int64_t count = 40000;
    Speed one[KINDS], two[KINDS];
    printf("%-24s %10s %12s %12s %10s\n", "", "neighbours", "one core", "two cores", "two/one");
    for (int k = 0; k < KINDS; k++) {
        GrainResult result = measure(kinds[k].numbers, count, 1, kinds[k].steps, &one[k]);
        if (result == GRAIN_OK) result = measure(kinds[k].numbers, count, 2, kinds[k].steps, &two[k]);
        if (result != GRAIN_OK) {
            printf("%s\n", grain_last_error());
            return;
        }
        printf("%-24s %10.1f %11.2fM %11.2fM %10.2f\n", kinds[k].name, one[k].neighbours, one[k].core * 1e-6,
               two[k].wall * 1e-6, two[k].wall / one[k].wall);
    }
    printf("million particle-steps a second of %lld particles; the paper's: %.4fM\n", (long long)count,
           PAPER_SPEED * 1e-6);
    bench_figure("particle_steps_per_second", one[1].core);
    bench_figure("neighbours", one[1].neighbours);
    bench_figure("few_neighbours_per_second", one[0].core);
    bench_figure("implicit_per_second", one[2].core);
    bench_figure("paste_per_second", one[3].core);
    bench_figure("two_cores", two[1].wall / one[1].wall);
    bench_figure("ratio", one[1].core / PAPER_SPEED);
}
