// SPDX-License-Identifier: GPL-3.0-or-later
// Upsampling 40k coarse particles that swirl and fall, frame by frame, without output.
//
// The rival is the figure the paper gives (Ihmsen, Wahl, Teschner 2013, table 1): 19.4M grains, 9.6 s for a frame of
// two substeps on 12 cores, 0.34M updates a second and core, of an older processor.
#include "base/alloc.h"
#include "base/rng.h"
#include "base/simd.h"
#include "bench/bench.h"
#include "upsample/upsample.h"

#include <math.h>
#include <time.h>

#define SIDE 34
#define RADIUS 0.025f
#define FRAME 0.02
#define PAPER_UPDATES (19.4e6 * 2.0 / 9.6 / 12.0)

typedef struct Coarse {
    UpsampleCoarse frame[2];
    Vec3 *position[2], *velocity[2];
} Coarse;

static Vec3 flow(Vec3 p)
{
    float x = p.x - SIDE * RADIUS, y = p.y - SIDE * RADIUS;
    return vec3(-1.5f * y + 0.5f * sinf(3.0f * p.z), 1.5f * x + 0.5f * cosf(3.0f * p.z),
                -1.0f - 0.5f * sinf(4.0f * x) * cosf(4.0f * y));
}

static void coarse_begin(Coarse *coarse)
{
    int64_t count = SIDE * SIDE * SIDE;
    for (int i = 0; i < 2; i++) {
        coarse->position[i] = ALLOC(Vec3, count), coarse->velocity[i] = ALLOC(Vec3, count);
        coarse->frame[i] = (UpsampleCoarse){count, coarse->position[i], coarse->velocity[i], NULL};
    }
    for (int64_t i = 0; i < count; i++) {
        Rng4 r = rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 at = {(float)(i % SIDE) + 0.5f + 0.15f * rng_signed(r.word[0]),
                   (float)(i / SIDE % SIDE) + 0.5f + 0.15f * rng_signed(r.word[1]),
                   (float)(i / SIDE / SIDE) + 0.5f + 0.15f * rng_signed(r.word[2])};
        coarse->position[1][i] = vec3_scale(at, 2.0f * RADIUS);
        coarse->velocity[1][i] = flow(coarse->position[1][i]);
    }
}

// The last frame becomes the first, and the flow carries on.
static void coarse_next(Coarse *coarse)
{
    for (int64_t i = 0; i < coarse->frame[0].count; i++) {
        coarse->position[0][i] = coarse->position[1][i], coarse->velocity[0][i] = coarse->velocity[1][i];
        coarse->position[1][i] = vec3_add_scaled(coarse->position[0][i], coarse->velocity[0][i], (float)FRAME);
        coarse->velocity[1][i] = flow(coarse->position[1][i]);
    }
}

static void coarse_end(Coarse *coarse)
{
    for (int i = 0; i < 2; i++) alloc_free(coarse->position[i]), alloc_free(coarse->velocity[i]);
}

// A floor far below and a wall beside: what every shot has.
static const UpsampleWalls *walls_at(void *user, double time)
{
    static const SimCollider sides[2] = {{.plane_normal = {0, 0, 1}, .plane_point = {0, 0, -1}, .friction = 0.6f},
                                         {.plane_normal = {1, 0, 0}, .plane_point = {-0.5f, 0, 0}, .friction = 0.6f}};
    static const MotionFrame still[2] = {{0}, {0}};
    static const UpsampleWalls walls = {2, sides, still, NULL, 9.81f};
    (void)user, (void)time;
    return &walls;
}

// Of all threads: what other programs do on the machine does not count.
static double processor_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Measured {
    double frame, processor, birth, bytes; // s, s, s, bytes a grain
    int64_t grains;
} Measured;

static Measured measure(double per_particle, int threads, int frames)
{
    Coarse coarse;
    coarse_begin(&coarse);
    UpsampleDef def = {.coarse_radius = RADIUS,
                       .per_particle = per_particle,
                       .size_spread = 0.2f,
                       .substep = 0.01f,
                       .gravity = {.constant = {0, 0, -9.81f}, .components = 3},
                       .coarse_total = coarse.frame[0].count,
                       .shard_count = 1,
                       .walls = walls_at};
    Upsampler *upsampler;
    Measured m = {.frame = 1e30};
    int64_t before = grain_allocated_bytes();
    if (upsample_create(&def, threads, &upsampler) != GRAIN_OK) {
        fprintf(stderr, "%s\n", grain_last_error());
        coarse_end(&coarse);
        return m;
    }
    double began = run_clock();
    upsample_begin(upsampler, &coarse.frame[1], 0.0);
    m.birth = run_clock() - began;
    m.grains = upsample_count(upsampler);
    // Two frames of warming up; the sort falls into every fourth frame, so the mean counts, not the best.
    double taken = 0.0, processor = 0.0;
    for (int i = -2; i < frames; i++) {
        coarse_next(&coarse);
        began = run_clock();
        double processor_began = processor_seconds();
        upsample_advance(upsampler, &coarse.frame[0], &coarse.frame[1], FRAME * i, FRAME, NULL, NULL);
        if (i >= 0) taken += run_clock() - began, processor += processor_seconds() - processor_began;
    }
    m.frame = taken / frames;
    m.processor = processor / frames;
    m.bytes = (double)(grain_allocated_bytes() - before) / (double)m.grains;
    upsample_destroy(upsampler);
    coarse_end(&coarse);
    return m;
}

typedef struct Best {
    double small, large; // updates a second of one thread, of 2 and of 20 million grains
} Best;

static void note_figures(const Measured *m, int is_large, int threads, double updates, Best *one)
{
    if (threads == 1) {
        *(is_large ? &one->large : &one->small) = updates;
        if (is_large) bench_figure("ratio", updates / PAPER_UPDATES);
    } else if (is_large) {
        bench_figure("frame_20m_seconds", m->frame);
        bench_figure("two_cores", updates / one->large);
        bench_figure("bytes_per_grain", m->bytes);
    } else {
        bench_figure("two_cores_2m", updates / one->small);
    }
}

static void run_one(int is_large, int set, int threads, int is_best, Best *one)
{
    static const char *const names[] = {"base", "avx2", "avx512"};
    simd_limit((SimdSet)set);
    Measured m = measure(is_large ? 509.0 : 51.0, threads, is_large ? 4 : 16);
    double updates = 2.0 * (double)m.grains / (threads == 1 ? m.processor : m.frame);
    printf("%9lld %8s %7d | %8.2f %8.3f %8.3f | %13.1f %8.1f\n", (long long)m.grains, names[set], threads, m.birth,
           m.frame, m.processor, 2e-6 * (double)m.grains / m.processor, m.bytes);
    fflush(stdout);
    if (set == SIMD_AVX2 && threads == 1)
        bench_figure(is_large ? "avx2_20m_updates_per_second" : "avx2_2m_updates_per_second", updates);
    if (is_best) note_figures(&m, is_large, threads, updates, one);
}

BENCH(upsample)
{
    int best = (int)simd_set();
    Best one = {0};
    printf("%9s %8s %7s | %8s %8s %8s | %13s %8s\n", "grains", "set", "threads", "birth s", "frame s", "cpu s",
           "M updates/cpu", "bytes/gr");
    for (int is_large = 0; is_large < 2; is_large++)
        for (int set = SIMD_BASE; set <= best; set++) {
            if (set != SIMD_BASE || !is_large) run_one(is_large, set, 1, set == best, &one);
            if (set != SIMD_BASE && set == best) run_one(is_large, set, 2, 1, &one);
        }
    simd_limit(SIMD_AVX512);
}
