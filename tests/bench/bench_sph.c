// SPDX-License-Identifier: GPL-3.0-or-later
// Smoothed particles as in Ihmsen et al. 2013: a block of sand with three corrections of pressure and friction and with
// walls, against the paper's own figure and against the same step written plainly, in the same run.
//
// The paper's bulldozer: 38,000 particles, 20 steps a frame, 1.4 s a frame on 12 cores of 3.46 GHz.
#include "base/error.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/rival_sph.h"
#include "shared/processor_clock.h"
#include "sim/sph/sph.h"

#include <math.h>

#define RADIUS 0.01f
#define PAPER_SPEED (38000.0 * 20.0 / 1.4 / 12.0)
enum { PIECES = 5, STEPS = 20, RIVAL_STEPS = 2 };

// A block on a floor between four walls, shaken, twice as long and wide as high.
static GrainResult create(const char *model, int64_t particles, int threads, Sph **out)
{
    float pitch = 2.0f * RADIUS * 0.8908987f;
    int high = (int)cbrt((double)particles / 4.0), along = 2 * high;
    float side = (float)(along - 1) * pitch + 2.0f * RADIUS;
    Vec3 point[5] = {{0, 0, 0}, {0, 0, 0}, {side, 0, 0}, {0, 0, 0}, {0, side, 0}};
    Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    SimCollider walls[5];
    for (int i = 0; i < 5; i++)
        walls[i] = (SimCollider){.plane_point = point[i], .plane_normal = normal[i], .friction = 0.5f};
    Particles start = {0};
    GrainResult result = GRAIN_OK;
    for (int64_t i = 0; i < (int64_t)along * along * high && result == GRAIN_OK; i++) {
        Rng4 random = rng_at(9, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
        Vec3 at = {RADIUS + pitch * (float)(i % along), RADIUS + pitch * (float)(i / along % along),
                   RADIUS + pitch * (float)(i / (along * along))};
        result = particles_add(&start, vec3_add_scaled(at, shift, 0.05f * pitch), vec3(0, 0, 0), RADIUS);
    }
    SimDef def = {.solver = "sph",
                  .model = model,
                  .gravity = {0, 0, -9.81f},
                  .largest_radius = RADIUS,
                  .density = 2600.0f,
                  .friction = 0.6f,
                  .expected_speed = sqrtf(2.0f * 9.81f * (float)high * pitch),
                  .colliders = walls,
                  .collider_count = 5};
    if (result == GRAIN_OK) result = solver_create(&sph_solver, &def, &start, threads, (void **)out);
    particles_free(&start);
    return result;
}

typedef struct Speed {
    double core, wall; // particle-steps a second: of processor time, of the clock
} Speed;

static GrainResult take_steps(Sph *sph, int count)
{
    for (int i = 0; i < count; i++) TRY(sph_solver.step(sph, sph_solver.largest_step(sph)));
    return GRAIN_OK;
}

// The fastest piece counts: noise only ever adds.
static GrainResult measure(const char *model, int64_t particles, int threads, Speed *speed)
{
    Sph *sph = NULL;
    *speed = (Speed){0};
    GrainResult result = create(model, particles, threads, &sph);
    if (result == GRAIN_OK) result = take_steps(sph, STEPS); // to its first lists, and some motion
    for (int piece = 0; piece < PIECES && result == GRAIN_OK; piece++) {
        double processor = processor_seconds(), clock = run_clock();
        result = take_steps(sph, STEPS);
        double work = (double)sph->neighbours.count * STEPS;
        speed->core = fmax(speed->core, work / (processor_seconds() - processor));
        speed->wall = fmax(speed->wall, work / (run_clock() - clock));
    }
    solver_destroy(&sph_solver, sph);
    return result;
}

// The same particles, the same step, one thread, one particle after another.
static GrainResult measure_rival(int64_t particles, double *speed, double *off)
{
    Sph *sph = NULL;
    *speed = 0.0;
    GrainResult result = create("ihmsen2013", particles, 1, &sph);
    if (result == GRAIN_OK) result = take_steps(sph, STEPS);
    if (result == GRAIN_OK) {
        sph->rules.sleep_speed = 0.0f; // rounding decides who falls asleep
        RivalSph *rival = rival_sph_create(sph);
        double processor = processor_seconds(), seconds = sph_solver.largest_step(sph);
        for (int i = 0; i < RIVAL_STEPS; i++) rival_sph_step(rival, seconds);
        *speed = (double)sph->neighbours.count * RIVAL_STEPS / (processor_seconds() - processor);
        for (int i = 0; i < RIVAL_STEPS && result == GRAIN_OK; i++) result = sph_solver.step(sph, seconds);
        *off = rival_sph_difference(rival, sph);
        rival_sph_destroy(rival);
    }
    solver_destroy(&sph_solver, sph);
    return result;
}

BENCH(sph)
{
    static const int64_t counts[2] = {40000, 100000};
    Speed one, two, elastic;
    double plain = 0.0, off = 0.0;
    printf("%-10s %14s %14s %10s %14s %14s\n", "particles", "ihmsen2013", "two cores", "gain", "elastoplastic",
           "plain");
    for (int k = 0; k < 2; k++) {
        GrainResult result = measure("ihmsen2013", counts[k], 1, &one);
        if (result == GRAIN_OK) result = measure("ihmsen2013", counts[k], 2, &two);
        if (result == GRAIN_OK) result = measure("elastoplastic", counts[k], 1, &elastic);
        if (result == GRAIN_OK) result = measure_rival(counts[k], &plain, &off);
        if (result != GRAIN_OK) {
            printf("%s\n", grain_last_error());
            return;
        }
        printf("%-10lld %13.2fM %13.2fM %10.2f %13.2fM %13.2fM\n", (long long)counts[k], one.core * 1e-6,
               two.wall * 1e-6, two.wall / one.wall, elastic.core * 1e-6, plain * 1e-6);
    }
    printf("particle-steps a second; a core of the paper's: %.3fM. Velocities differ from the plain step's by %.1e of "
           "the\n"
           "fastest\n",
           PAPER_SPEED * 1e-6, off);
    bench_figure("particle_steps_per_second", one.core);
    bench_figure("elastoplastic_per_second", elastic.core);
    bench_figure("two_cores", two.wall / one.wall);
    bench_figure("over_plain", one.core / plain);
    bench_figure("ratio", one.core / PAPER_SPEED);
}
