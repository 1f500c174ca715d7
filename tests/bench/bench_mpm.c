// The material point method: columns of sand that collapse (flowing) and sand that lies in a box (settled, kept awake).
//
// The rival is the paper's own figure for the same job of a coarse solver (Ihmsen, Wahl, Teschner 2013, table 1): 38k
// particles, 1.4 s for a frame of 20 ms on 12 cores, of an older processor.
#include "base/error.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "sim/mpm/mpm.h"

#include <math.h>
#include <time.h>

#define HEIGHT 0.2f
#define FRAME 0.02
#define PAPER_CORE_SECONDS (1.4 * 12.0) // a frame of 38k
enum { PIECES = 7, STEPS = 40, SETTLING = 600, START = 150 };

static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// A cube of sand on a floor; with walls it stays, without it collapses.
static GrainResult create(int64_t particles, int has_walls, int threads, Mpm **out)
{
    int side = (int)lround(cbrt((double)particles));
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
    SimDef def = {.solver = "mpm",
                  .gravity = {0, 0, -9.81f},
                  .largest_radius = radius,
                  .density = 2600.0f,
                  .friction = 0.6f,
                  .expected_speed = sqrtf(2.0f * 9.81f * HEIGHT),
                  .colliders = walls,
                  .collider_count = has_walls ? 5 : 1};
    if (result == GRAIN_OK) result = mpm_solver.create(&def, &start, threads, (void **)out);
    particles_free(&start);
    return result;
}

static GrainResult advance(Mpm *mpm, int steps)
{
    double seconds = mpm_solver.largest_step(mpm);
    for (int i = 0; i < steps; i++) TRY(mpm_solver.step(mpm, seconds));
    return GRAIN_OK;
}

typedef struct Speed {
    double core, wall; // particle-steps a second: of processor time, of the clock; the best of some pieces
    double step;       // s, of the simulated time
    int64_t particles;
} Speed;

static Speed measure(int64_t particles, int has_walls, int threads)
{
    Speed best = {0};
    Mpm *mpm = NULL;
    if (create(particles, has_walls, threads, &mpm) != GRAIN_OK ||
        advance(mpm, has_walls ? SETTLING : START) != GRAIN_OK) {
        printf("mpm: %s\n", grain_last_error());
        mpm_solver.destroy(mpm);
        return best;
    }
    best.step = mpm_solver.largest_step(mpm);
    best.particles = mpm->count;
    double work = (double)mpm->count * STEPS;
    for (int i = 0; i < PIECES; i++) {
        double core = processor_seconds(), wall = run_clock();
        if (advance(mpm, STEPS) != GRAIN_OK) break;
        core = processor_seconds() - core, wall = run_clock() - wall;
        best.core = fmax(best.core, work / core), best.wall = fmax(best.wall, work / wall);
    }
    mpm_solver.destroy(mpm);
    return best;
}

BENCH(mpm)
{
    static const int64_t counts[] = {38000, 60000};
    double slowest = INFINITY, least_gain = INFINITY, paper = 0.0;
    printf("%10s %9s %16s %16s %8s %18s\n", "particles", "", "M steps/s, core", "on two cores", "gain",
           "20 ms, two cores");
    for (int c = 0; c < 2; c++)
        for (int has_walls = 0; has_walls < 2; has_walls++) {
            Speed one = measure(counts[c], has_walls, 1), two = measure(counts[c], has_walls, 2);
            double steps = ceil(FRAME / one.step), work = steps * (double)one.particles;
            printf("%10lld %9s %16.2f %16.2f %8.2f %16.3f s\n", (long long)one.particles,
                   has_walls ? "settled" : "flowing", 1e-6 * one.core, 1e-6 * two.wall, two.wall / one.wall,
                   work / two.wall);
            if (c == 0 && !has_walls) {
                paper = PAPER_CORE_SECONDS / (work / one.core);
                bench_figure("frame_38k", work / two.wall);
            }
            if (c == 1) slowest = fmin(slowest, one.core);
            least_gain = fmin(least_gain, two.wall / one.wall);
        }
    bench_figure("steps_per_core", slowest);
    bench_figure("two_cores", least_gain);
    bench_figure("ratio", paper);
    printf("mpm.ratio %.0f: processor time of the paper's smoothed particles for a frame of 38k, over ours\n", paper);
}
