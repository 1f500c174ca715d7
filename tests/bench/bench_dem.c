// SPDX-License-Identifier: GPL-3.0-or-later
// Discrete elements, packed and at rest, the state sand is in most of the time, and flowing: spheres, or grains of four
// balls, against LAMMPS where `lmp` is installed (apt: lammps), from the same state in the same run.
//
// The machine is noisy, and noise only ever adds: all sides run in pieces, in turn, and the fastest piece of each
// counts. The figures a core are taken from processor time, the gain of two cores from the clock. What two cores could
// reach at best is shown by two simulations that know nothing of each other, one on each.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/rng.h"
#include "bench/bench.h"
#include "shared/processor_clock.h"
#include "sim/dem/dem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RADIUS 0.005f
#define DENSITY 2500.0f
#define STEP 2e-5
// Settling is not timed: longer steps, as far as they are stable.
#define SETTLE_STEP 8e-5
#define FLOW_STEP 4e-5
enum { OWN_PIECES = 10 };

typedef struct Pack {
    int64_t grains;
    float side;
    int is_clumps, is_viscous;
} Pack;

// Of pieces that ran one after another.
typedef struct Speeds {
    double core;                // ball-steps a second of processor time on one core, the fastest
    double two[2 * OWN_PIECES]; // gain of two cores, and of two simulations on one core each
    double beside[2 * OWN_PIECES];
    int pieces;
} Speeds;

// --- the pack -----------------------------------------------------------------------------------

// Layers in a square lattice, shaken, in free fall.
static GrainResult pour(const Pack *pack, float radius, Particles *out)
{
    uint64_t seed = 12345;
    float pitch = radius * (pack->is_clumps ? 2.05f : 2.3f), jitter = radius * (pack->is_clumps ? 0.02f : 0.1f);
    int64_t along = (int64_t)(pack->side / pitch);
    float step = pack->side / (float)along;
    for (int64_t i = 0; i < pack->grains; i++) {
        int64_t x = i % along, y = i / along % along, z = i / (along * along);
        Rng4 random = rng_at(seed, (uint64_t)i, RNG_STREAM_TEST, 0),
             more = rng_at(seed, (uint64_t)i, RNG_STREAM_TEST, 1);
        Vec3 at = {((float)x + 0.5f) * step, ((float)y + 0.5f) * step, ((float)z + 0.5f) * pitch + 0.001f};
        Vec3 shift = {rng_signed(random.word[0]), rng_signed(random.word[1]), rng_signed(random.word[2])};
        Vec3 velocity = {rng_signed(more.word[0]), rng_signed(more.word[1]), rng_signed(more.word[2])};
        float size = pack->is_clumps ? radius : radius * (1.0f + 0.05f * rng_signed(random.word[3]));
        TRY(particles_add(out, vec3_add_scaled(at, shift, jitter), vec3_scale(velocity, 0.2f), size));
    }
    return GRAIN_OK;
}

static GrainResult create(const Pack *pack, const Particles *start, Dem **dem)
{
    SimCollider walls[5];
    Vec3 point[5] = {{0, 0, 0}, {0, 0, 0}, {pack->side, 0, 0}, {0, 0, 0}, {0, pack->side, 0}};
    Vec3 normal[5] = {{0, 0, 1}, {1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}};
    for (int i = 0; i < 5; i++)
        walls[i] = (SimCollider){.plane_point = point[i], .plane_normal = normal[i], .friction = 0.5f};
    BallShape shape;
    TRY(shape_by_name(pack->is_clumps ? "tetrahedron" : "sphere", &shape));
    float radius = RADIUS / shape.balls[0].radius; // balls of one size, whatever they are part of
    SimDef def = {.solver = "dem",
                  .gravity = {0, 0, -9.81f},
                  .largest_radius = 1.05f * radius,
                  .density = DENSITY,
                  .friction = 0.5f,
                  .restitution = 0.4f,
                  .normal_law = "hertz",
                  .shear_law = pack->is_viscous ? "sliding" : "spring",
                  .young_modulus = 1e7f,
                  .poisson_ratio = 0.3f,
                  .softness = 0.1f,
                  .expected_speed = 2.0f,
                  .shapes = &shape,
                  .shape_count = 1,
                  .colliders = walls,
                  .collider_count = 5};
    Particles poured = {0};
    GrainResult result = start ? GRAIN_OK : pour(pack, radius, &poured);
    if (result == GRAIN_OK) result = solver_create(&dem_solver, &def, start ? start : &poured, 2, (void **)dem);
    particles_free(&poured);
    return result;
}

static double fastest_squared(const Dem *dem)
{
    double fastest = 0.0;
    for (int64_t i = 0; i < dem->count; i++) {
        const float *v = dem->balls[i].velocity;
        fastest = fmax(fastest, (double)(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
    }
    return fastest;
}

// Two threads wait for each other at every loop; where others hold the cores, one alone is faster.
static GrainResult take_steps(Dem *dem, int count, double seconds)
{
    double taken[2];
    for (int threads = 1; threads <= 2; threads++) {
        dem->base.threads = threads;
        taken[threads - 1] = run_clock();
        for (int i = 0; i < 10; i++) TRY(dem_solver.step(dem, seconds));
        taken[threads - 1] = run_clock() - taken[threads - 1];
    }
    dem->base.threads = taken[1] < taken[0] ? 2 : 1;
    for (int i = 20; i < count; i++) TRY(dem_solver.step(dem, seconds));
    return GRAIN_OK;
}

// At rest when the fastest grain would need a second for its own radius.
static GrainResult settle(Dem *dem, int most_steps)
{
    for (int i = 0; i < most_steps; i += 250) {
        TRY(take_steps(dem, 250, SETTLE_STEP));
        if (fastest_squared(dem) < (double)(RADIUS * RADIUS)) break;
    }
    return GRAIN_OK;
}

// --- the two sides ------------------------------------------------------------------------------

// Ball-steps a second of the clock.
static double run_piece(Dem *dem, int threads, int steps, double *core)
{
    dem->base.threads = threads;
    double processor = processor_seconds(), clock = run_clock(), work = (double)dem->count * steps;
    for (int i = 0; i < steps; i++) dem_solver.step(dem, STEP);
    if (core) *core = fmax(*core, work / (processor_seconds() - processor));
    return work / (run_clock() - clock);
}

// The same state once more.
static GrainResult copy_of(const Pack *pack, const Dem *dem, Dem **out)
{
    Particles start = {0};
    Column columns[SOLVER_MAX_COLUMNS];
    GrainResult result = dem_solver.read(dem, &start);
    if (result == GRAIN_OK) result = create(pack, &start, out);
    if (result == GRAIN_OK) result = dem_solver.load(*out, columns, dem_solver.save(dem, columns));
    if (result == GRAIN_OK) (*out)->base.def.gravity = dem->base.def.gravity;
    particles_free(&start);
    return result;
}

// Two simulations at once, on one core each.
static double run_beside(Dem *const both[2], int steps)
{
    both[0]->base.threads = both[1]->base.threads = 1;
    double clock = run_clock();
    PARALLEL_STRIPS(2, k, 2)
    {
        for (int i = 0; i < steps; i++) dem_solver.step(both[k], STEP);
    }
    return 2.0 * (double)both[0]->count * steps / (run_clock() - clock);
}

static void measure_ours(Dem *dem, Dem *copy, int warm_steps, int steps, Speeds *speeds)
{
    for (int i = 0; i < warm_steps; i++) dem_solver.step(dem, STEP), dem_solver.step(copy, STEP);
    for (int end = speeds->pieces + OWN_PIECES; speeds->pieces < end; speeds->pieces++) {
        double one = run_piece(dem, 1, steps, &speeds->core);
        speeds->two[speeds->pieces] = run_piece(dem, 2, steps, NULL) / one;
        one = run_piece(dem, 1, steps, &speeds->core);
        speeds->beside[speeds->pieces] = run_beside((Dem *[2]){dem, copy}, steps) / one;
    }
}

static int compare(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first > second) - (first < second);
}

static double median_of(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static GrainResult write_for_lammps(const Pack *pack, const Dem *dem, const char *path)
{
    FILE *file = fopen(path, "w");
    if (!file) return fail(GRAIN_ERROR_IO, "could not write '%s'", path);
    fprintf(file, "bench_dem\n\n%lld atoms\n1 atom types\n\n0 %g xlo xhi\n0 %g ylo yhi\n0 4 zlo zhi\n\nAtoms\n\n",
            (long long)dem->count, (double)pack->side, (double)pack->side);
    for (int64_t i = 0; i < dem->count; i++) {
        const DemBall *b = &dem->balls[i];
        fprintf(file, "%lld 1 %.9g %g %.9g %.9g %.9g\n", (long long)i + 1, 2.0 * (double)b->radius, (double)DENSITY,
                (double)b->anchor[0] + (double)b->offset[0], (double)b->anchor[1] + (double)b->offset[1],
                (double)b->anchor[2] + (double)b->offset[2]);
    }
    fputs("\nVelocities\n\n", file);
    for (int64_t i = 0; i < dem->count; i++) {
        const float *v = dem->balls[i].velocity, *w = dem->balls[i].spin;
        fprintf(file, "%lld %.7g %.7g %.7g %.7g %.7g %.7g\n", (long long)i + 1, (double)v[0], (double)v[1],
                (double)v[2], (double)w[0], (double)w[1], (double)w[2]);
    }
    if (pack->is_clumps) {
        fputs("\nMolecules\n\n", file);
        for (int64_t i = 0; i < dem->count; i++)
            fprintf(file, "%lld %d\n", (long long)i + 1, dem->ball_particle[dem->id[i]] + 1);
    }
    return fclose(file) == 0 ? GRAIN_OK : fail(GRAIN_ERROR_IO, "could not write '%s'", path);
}

// LAMMPS prints "Loop time of 10.4 on 1 procs for 2000 steps with 20000 atoms", then "98.5% CPU use with ...".
static double measure_lammps(const Pack *pack, const Dem *dem, int warm_steps, int piece_steps)
{
    char path[] = "/tmp/grain_bench_dem_XXXXXX", command[1024], line[512];
    int descriptor = mkstemp(path);
    if (descriptor < 0) return 0.0;
    close(descriptor);
    double best = 0.0, seconds = 0.0;
    if (write_for_lammps(pack, dem, path) == GRAIN_OK) {
        snprintf(command, sizeof command,
                 "cd /tmp && OMP_NUM_THREADS=1 lmp -in %s/dem_%s.lmp -var data %s -var side %g -var model %s -var warm "
                 "%d -var piece %d -var gx %g -var gz %g -log none 2>/dev/null",
                 GRAIN_BENCH_DATA, pack->is_clumps ? "clumps" : "spheres", path, (double)pack->side,
                 pack->is_viscous ? "viscous" : "history", warm_steps, piece_steps, (double)dem->base.def.gravity.x,
                 (double)dem->base.def.gravity.z);
        FILE *output = popen(command, "r");
        while (output && fgets(line, sizeof line, output)) {
            double percent;
            if (sscanf(line, "Loop time of %lf", &seconds) == 1) continue;
            if (sscanf(line, "%lf%% CPU use", &percent) != 1 || percent <= 0.0 || seconds <= 0.0) continue;
            best = fmax(best, (double)dem->count * piece_steps / (seconds * percent / 100.0));
        }
        if (output) pclose(output);
    }
    remove(path);
    return best;
}

static int has_lammps(void) { return system("command -v lmp >/dev/null 2>&1") == 0; }

// --- the bench ----------------------------------------------------------------------------------

// Pairs in the list and contacts, of each ball.
static void count_contacts(const Dem *dem, double *pairs, double *touching)
{
    int64_t count = 0;
    for (int64_t pair = 0; pair < dem->pairs.count; pair++) {
        const float *f = dem->force + 4 * pair;
        count += f[0] != 0.0f || f[1] != 0.0f || f[2] != 0.0f;
    }
    *pairs = (double)dem->pairs.count / (double)dem->count;
    *touching = 2.0 * (double)count / (double)dem->count;
}

// What LAMMPS reached where this bench was written (AMD EPYC, Zen 3, 2.45 GHz), for machines without it: million
// ball-steps a second on one core.
typedef struct Case {
    const char *name, *figure;
    double recorded;
} Case;

// Returns the ratio.
static double bench_case(const Case *which, const Pack *pack, Dem *dem, int with_lammps)
{
    int piece = (int)(3000000 / dem->count), warm = 2 * piece;
    Speeds ours = {0};
    Dem *copy = NULL;
    if (copy_of(pack, dem, &copy) != GRAIN_OK) return 0.0;
    // Ours, theirs, ours again: if the machine slows down meanwhile, both feel it.
    measure_ours(dem, copy, warm, piece, &ours);
    double rival = with_lammps ? measure_lammps(pack, dem, warm, piece) : 0.0;
    measure_ours(dem, copy, 0, piece, &ours);
    solver_destroy(&dem_solver, copy);
    double pairs, touching, core = ours.core;
    double two = median_of(ours.two, ours.pieces), beside = median_of(ours.beside, ours.pieces);
    count_contacts(dem, &pairs, &touching);
    const char *source = rival > 0.0 ? "now" : "recorded";
    if (rival <= 0.0) rival = 1e6 * which->recorded;
    printf("%-24s %6.2f %6.2f | %9.1f %7.1f | %8.2f %-8s | %6.2f | %7.2f %7.2f\n", which->name, pairs, touching,
           1e-6 * core, 1e9 / core, 1e-6 * rival, source, core / rival, two, beside);
    fflush(stdout);
    char name[64];
    bench_figure(strcat(strcpy(name, "ratio_"), which->figure), core / rival);
    bench_figure(strcat(strcpy(name, "steps_a_second_"), which->figure), core);
    bench_figure(strcat(strcpy(name, "two_cores_"), which->figure), two);
    bench_figure(strcat(strcpy(name, "two_alone_"), which->figure), beside);
    return core / rival;
}

// Gravity tilted by 40 degrees, until the pack slides down it.
static GrainResult make_flow(Dem *dem)
{
    const float tilt = 40.0f * 3.14159265f / 180.0f;
    dem->base.def.gravity = vec3(9.81f * sinf(tilt), 0, -9.81f * cosf(tilt));
    for (int i = 0; i < 2500; i += 250) TRY(take_steps(dem, 250, FLOW_STEP));
    return GRAIN_OK;
}

// Four times the pack, side by side: as settled as that, save where they meet.
static GrainResult tile(const Dem *dem, float side, Particles *out)
{
    Particles one = {0};
    GrainResult result = dem_solver.read(dem, &one);
    for (int64_t i = 0; i < 4 * one.count && result == GRAIN_OK; i++) {
        int64_t from = i / 4;
        Vec3 at = one.position[from];
        if (i & 1) at.x += side;
        if (i & 2) at.y += side;
        result = particles_add(out, at, one.velocity[from], one.radius[from]);
    }
    particles_free(&one);
    return result;
}

static GrainResult bench_spheres(int with_lammps, Particles *settled, double *logarithms)
{
    static const Case cases[] = {{"20k, dense", "20k_dense", 4.9},
                                 {"20k, flow", "20k_flow", 4.4},
                                 {"100k, dense", "100k_dense", 4.4},
                                 {"100k, flow", "100k_flow", 4.0}};
    static const Pack small = {20000, 0.27f, 0, 0}, quarter = {25000, 0.225f, 0, 0}, large = {100000, 0.45f, 0, 0};
    Dem *dem, *part;
    TRY(create(&small, NULL, &dem));
    TRY(settle(dem, 10000));
    TRY(dem_solver.read(dem, settled));
    *logarithms += log(bench_case(&cases[0], &small, dem, with_lammps));
    TRY(make_flow(dem));
    *logarithms += log(bench_case(&cases[1], &small, dem, with_lammps));
    solver_destroy(&dem_solver, dem);

    Particles tiled = {0};
    TRY(create(&quarter, NULL, &part));
    TRY(settle(part, 10000));
    TRY(tile(part, quarter.side, &tiled));
    solver_destroy(&dem_solver, part);
    TRY(create(&large, &tiled, &dem));
    particles_free(&tiled);
    TRY(settle(dem, 2000));
    *logarithms += log(bench_case(&cases[2], &large, dem, with_lammps));
    TRY(make_flow(dem));
    *logarithms += log(bench_case(&cases[3], &large, dem, with_lammps));
    solver_destroy(&dem_solver, dem);
    return GRAIN_OK;
}

static GrainResult bench_others(int with_lammps, const Particles *settled)
{
    static const Case viscous_case = {"20k, dense, no history", "viscous", 3.0},
                      clump_case = {"5k of 4 balls, dense", "clumps", 5.7};
    static const Pack viscous = {20000, 0.27f, 0, 1}, clumps = {5000, 0.24f, 1, 0};
    Dem *dem;
    TRY(create(&viscous, settled, &dem));
    TRY(settle(dem, 2000));
    bench_case(&viscous_case, &viscous, dem, with_lammps);
    solver_destroy(&dem_solver, dem);
    TRY(create(&clumps, NULL, &dem));
    TRY(settle(dem, 10000));
    bench_case(&clump_case, &clumps, dem, with_lammps);
    solver_destroy(&dem_solver, dem);
    return GRAIN_OK;
}

BENCH(dem)
{
    printf("Steps of %g s. M = million balls a second and core (processor time).\n", STEP);
    printf("%-24s %6s %6s | %9s %7s | %8s %-8s | %6s | %7s %7s\n", "pack", "listed", "touch", "ours, M", "ns", "LAMMPS",
           "", "ratio", "2 cores", "2 alone");
    int with_lammps = has_lammps();
    double logarithms = 0.0;
    Particles settled = {0};
    GrainResult result = bench_spheres(with_lammps, &settled, &logarithms);
    if (result == GRAIN_OK) bench_figure("ratio", exp(0.25 * logarithms));
    if (result == GRAIN_OK) printf("Hertz with history, geometric mean: %.2f times LAMMPS\n", exp(0.25 * logarithms));
    if (result == GRAIN_OK) result = bench_others(with_lammps, &settled);
    if (result != GRAIN_OK) printf("%s\n", grain_last_error());
    particles_free(&settled);
}
