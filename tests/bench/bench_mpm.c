// SPDX-License-Identifier: GPL-3.0-or-later
// The material point method: columns of sand that collapse (flowing) and sand that lies in a box (settled, kept awake).
//
// The rival is the scheme of Ihmsen, Wahl and Teschner 2013 (three corrections a step) on the same particles for the
// same frame, in the same run: written plainly (rival_sph.h), and as fast as we can make it (sim/sph). The paper's own
// figure (table 1) for a frame of 20 ms of 38k particles is 1.4 s on 12 cores, of an older processor.
#include "base/error.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "bench/rival_sph.h"
#include "shared/processor_clock.h"
#include "sim/mpm/mpm.h"

#include <math.h>

#define HEIGHT 0.2f
#define FRAME 0.02
#define PAPER_CORE_SECONDS (1.4 * 12.0) // a frame of 38k
enum { PIECES = 7, STEPS = 40, SETTLING = 600, START = 150 };

// Particles along an edge of the cube that has about so many.
static int side_of(int64_t particles) { return (int)lround(cbrt((double)particles)); }

// A cube of sand on a floor; with walls it stays, without it collapses.
static GrainResult create(const Solver *solver, int64_t particles, int has_walls, int threads, void **out)
{
    int side = side_of(particles);
    float pitch = HEIGHT / (float)side, radius = 0.5f * pitch / 0.8908987f, edge = HEIGHT + 2.0f * radius - pitch;
    Vec3 point[5] = {{0, 0, 0}, {0, 0, 0}, {edge, 0, 0}, {0, 0, 0}, {0, edge, 0}};
    Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    SimCollider walls[5];
    for (int i = 0; i < 5; i++)
        walls[i] = (SimCollider){.plane_point = point[i], .plane_normal = normal[i], .friction = 0.6f};
    Particles start = {0};
    GrainResult result = GRAIN_OK;
    for (int64_t i = 0; i < (int64_t)side * side * side && result == GRAIN_OK; i++) {
        Rng4 random = rng_at(9, (uint64_t)i, RNG_STREAM_TEST, 0);
        Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
        Vec3 at = {radius + pitch * (float)(i % side), radius + pitch * (float)(i / side % side),
                   radius + pitch * (float)(i / ((int64_t)side * side))};
        result = particles_add(&start, vec3_add_scaled(at, shift, 0.2f * pitch), vec3(0, 0, 0), radius);
    }
    SimDef def = {.solver = solver->name,
                  .model = solver == &sph_solver ? "ihmsen2013" : NULL,
                  .gravity = {0, 0, -9.81f},
                  .largest_radius = radius,
                  .density = 2600.0f,
                  .friction = 0.6f,
                  .expected_speed = sqrtf(2.0f * 9.81f * HEIGHT),
                  .colliders = walls,
                  .collider_count = has_walls ? 5 : 1};
    if (result == GRAIN_OK) result = solver_create(solver, &def, &start, threads, out);
    particles_free(&start);
    return result;
}

static GrainResult advance(const Solver *solver, void *state, int steps)
{
    double seconds = solver->largest_step(state);
    for (int i = 0; i < steps; i++) TRY(solver->step(state, seconds));
    return GRAIN_OK;
}

typedef struct Speed {
    double core, wall; // particle-steps a second: of processor time, of the clock; the best of some pieces
    double frame;      // particle-steps that a frame takes
    int64_t particles;
} Speed;

// Until it flows, or lies.
static GrainResult prepare(const Solver *solver, int64_t particles, int has_walls, int threads, void **out,
                           Speed *speed)
{
    TRY(create(solver, particles, has_walls, threads, out));
    int64_t side = side_of(particles), count = side * side * side;
    // By the steps of the start: single particles that jump later make those of smoothed particles twice as short.
    *speed = (Speed){.frame = ceil(FRAME / solver->largest_step(*out)) * (double)count, .particles = count};
    return advance(solver, *out, has_walls ? SETTLING : START);
}

static Speed measure(const Solver *solver, int64_t particles, int has_walls, int threads)
{
    Speed best = {0};
    void *state = NULL;
    GrainResult result = prepare(solver, particles, has_walls, threads, &state, &best);
    double work = (double)best.particles * STEPS;
    for (int i = 0; i < PIECES && result == GRAIN_OK; i++) {
        double core = processor_seconds(), wall = run_clock();
        result = advance(solver, state, STEPS);
        core = processor_seconds() - core, wall = run_clock() - wall;
        best.core = fmax(best.core, work / core), best.wall = fmax(best.wall, work / wall);
    }
    if (result != GRAIN_OK) printf("%s: %s\n", solver->name, grain_last_error());
    solver_destroy(solver, state);
    return best;
}

static Speed measure_plain(int64_t particles)
{
    Speed best = {0};
    void *state = NULL;
    if (prepare(&sph_solver, particles, 0, 1, &state, &best) == GRAIN_OK) {
        RivalSph *rival = rival_sph_create(state);
        for (int i = 0; i < PIECES; i++) {
            double core = processor_seconds();
            rival_sph_step(rival, sph_solver.largest_step(state));
            best.core = fmax(best.core, (double)best.particles / (processor_seconds() - core));
        }
        rival_sph_destroy(rival);
    } else
        printf("sph: %s\n", grain_last_error());
    solver_destroy(&sph_solver, state);
    return best;
}

// s of processor time for a frame.
static double frame_cost(Speed speed) { return speed.frame / speed.core; }

static void compare(Speed ours)
{
    double plain = frame_cost(measure_plain(ours.particles)),
           quick = frame_cost(measure(&sph_solver, ours.particles, 0, 1)), own = frame_cost(ours);
    printf(
        "processor time for that frame of %lld, flowing: %.3f s; scheme of Ihmsen et al. 2013 written plainly %.2f s, "
        "ours %.2f s, the paper's %.1f s\n",
        (long long)ours.particles, own, plain, quick, PAPER_CORE_SECONDS);
    bench_figure("ratio", plain / own);
    bench_figure("over_sph", quick / own);
    bench_figure("over_paper", PAPER_CORE_SECONDS / own);
    printf("mpm.ratio %.0f (written plainly, same run), %.1f over ours, %.0f over the paper's\n", plain / own,
           quick / own, PAPER_CORE_SECONDS / own);
}

BENCH(mpm)
{
    static const int64_t counts[] = {38000, 60000};
    double slowest = INFINITY, least_gain = INFINITY;
    Speed smallest = {0};
    printf("%10s %9s %16s %16s %8s %18s\n", "particles", "", "M steps/s, core", "on two cores", "gain",
           "20 ms, two cores");
    for (int c = 0; c < 2; c++)
        for (int has_walls = 0; has_walls < 2; has_walls++) {
            Speed one = measure(&mpm_solver, counts[c], has_walls, 1),
                  two = measure(&mpm_solver, counts[c], has_walls, 2);
            printf("%10lld %9s %16.2f %16.2f %8.2f %16.3f s\n", (long long)one.particles,
                   has_walls ? "settled" : "flowing", 1e-6 * one.core, 1e-6 * two.wall, two.wall / one.wall,
                   two.frame / two.wall);
            if (c == 0 && !has_walls) {
                smallest = one;
                bench_figure("frame_38k", two.frame / two.wall);
            }
            if (c == 1) slowest = fmin(slowest, one.core);
            least_gain = fmin(least_gain, two.wall / one.wall);
        }
    bench_figure("steps_per_core", slowest);
    bench_figure("two_cores", least_gain);
    compare(smallest);
}
