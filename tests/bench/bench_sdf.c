// SPDX-License-Identifier: GPL-3.0-or-later
// Mesh to signed distances against OpenVDB's meshToLevelSet: the same mesh, voxel size, band and threads, in turns.
// Builds for releases have no such rival; there only our own seconds are measured.
#include "bench/bench.h"
#include "bench/rival_openvdb.h"
#include "sdf/sdf.h"
#include "shared/brute.h"
#include "shared/meshes.h"

#include <malloc.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF_WIDTH 3.0f // voxels
#define THREADS 2

static double status_megabytes(const char *key)
{
    char line[256];
    double kilobytes = 0.0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0) kilobytes = atof(line + strlen(key) + 1);
    if (file) fclose(file);
    return kilobytes / 1024.0;
}

// What a piece of work takes: the best time of several, and the most memory beyond what was there before.
typedef struct Cost {
    double seconds, megabytes, begin, before;
} Cost;

static void cost_begin(Cost *cost)
{
    malloc_trim(0);                                   // what earlier work left behind would hide what this one takes
    FILE *file = fopen("/proc/self/clear_refs", "w"); // 5 resets the peak
    if (file) fputs("5", file), fclose(file);
    cost->before = status_megabytes("VmRSS:");
    cost->begin = run_clock();
}

static void cost_end(Cost *cost)
{
    double seconds = run_clock() - cost->begin, megabytes = status_megabytes("VmHWM:") - cost->before;
    if (cost->seconds == 0.0 || seconds < cost->seconds) cost->seconds = seconds;
    if (megabytes > cost->megabytes) cost->megabytes = megabytes;
}

static int64_t run_rival(const RivalMesh *mesh, float voxel, Cost *cost)
{
    cost_begin(cost);
    RivalGrid *grid = rival_mesh_to_level_set(mesh, (double)voxel, HALF_WIDTH, THREADS);
    cost_end(cost);
    int64_t voxels = rival_grid_voxels(grid);
    rival_grid_destroy(grid);
    return voxels;
}

static GrainSdf *run_grain(const GrainMesh *mesh, float voxel, Cost *cost)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    def.band_voxels = HALF_WIDTH;
    GrainRun run = {sizeof run, THREADS, NULL, NULL};
    GrainSdf *sdf = NULL;
    cost_begin(cost);
    GrainResult result = grain_sdf_create(mesh, &def, &run, &sdf);
    cost_end(cost);
    if (result != GRAIN_OK) puts(grain_last_error());
    return sdf;
}

static int64_t count_band(const GrainSdf *sdf)
{
    int64_t count = 0;
    for (int64_t block = 0; block < sdf->block_count; block++)
        for (int slot = 0; slot < 512; slot++) {
            float value = sdf_block_values(sdf, block)[sdf_block_index(slot & 7, slot >> 3 & 7, slot >> 6)];
            count += fabsf(value) < sdf->half_width;
        }
    return count;
}

// Worst error of some voxels, in voxels, against all triangles.
static double worst_error(const GrainMesh *mesh, const GrainSdf *sdf)
{
    int64_t checks = 20000000 / mesh->triangle_count + 10;
    double worst = 0.0, voxel = (double)sdf->voxel_size;
    for (int64_t i = 0; i < checks; i++) {
        int64_t block = i * 7919 % sdf->block_count;
        int32_t corner[3], x = (int32_t)(i * 3 % 8), y = (int32_t)(i * 5 % 8), z = (int32_t)(i * 7 % 8);
        sdf_block_corner(sdf, block, corner);
        const double place[3] = {(double)sdf->origin.x + (corner[0] + x) * voxel,
                                 (double)sdf->origin.y + (corner[1] + y) * voxel,
                                 (double)sdf->origin.z + (corner[2] + z) * voxel};
        double exact = fmin(brute_distance(mesh, place), (double)sdf->half_width);
        double value = fabs((double)sdf_block_values(sdf, block)[sdf_block_index(x, y, z)]);
        worst = fmax(worst, fabs(value - exact) / voxel);
    }
    return worst;
}

typedef struct Totals {
    double logarithms, memory, voxels, seconds;
    int cases;
} Totals;

static void compare(int64_t triangles, double band_voxels, Totals *totals)
{
    Shape shape = shape_sphere((int)(sqrt((double)triangles / 20.0) + 0.5), 0.12);
    GrainMesh mesh = shape_mesh(&shape);
    RivalMesh *rival_mesh = rival_mesh_create(mesh.positions, mesh.vertex_count, mesh.triangles, mesh.triangle_count);
    // The band is twice the half width thick.
    float voxel = (float)sqrt(2.0 * (double)HALF_WIDTH * shape_area(&shape) / band_voxels);
    Cost theirs = {0}, ours = {0};
    int64_t their_voxels = 0, our_voxels = 0;
    double error = 0.0;
    int repeats = band_voxels < 5e6 ? 3 : 2;
    for (int repeat = 0; repeat < repeats; repeat++) {
        if (rival_mesh) their_voxels = run_rival(rival_mesh, voxel, &theirs);
        GrainSdf *sdf = run_grain(&mesh, voxel, &ours);
        if (repeat == 0) our_voxels = count_band(sdf), error = worst_error(&mesh, sdf);
        grain_sdf_destroy(sdf);
    }
    double ratio = theirs.seconds / ours.seconds, memory = ours.megabytes / theirs.megabytes;
    totals->logarithms += log(ratio);
    totals->memory = fmax(totals->memory, memory);
    totals->cases++;
    totals->voxels += (double)our_voxels;
    totals->seconds += ours.seconds;
    printf("%9lld | %10lld %10lld | %8.3f %8.3f %6.1f | %8.0f %8.0f | %11.1e\n", (long long)mesh.triangle_count,
           (long long)their_voxels, (long long)our_voxels, theirs.seconds, ours.seconds, ratio, theirs.megabytes,
           ours.megabytes, error);
    fflush(stdout);
    rival_mesh_destroy(rival_mesh);
    shape_free(&shape);
}

BENCH(sdf)
{
    Totals totals = {0};
    printf("%d threads, half width %g voxels\n", THREADS, (double)HALF_WIDTH);
    printf("%9s | %10s %10s | %8s %8s %6s | %8s %8s | %11s\n", "triangles", "voxels vdb", "grain", "vdb s", "grain s",
           "ratio", "vdb MB", "grain MB", "worst error");
    for (double voxels = 1e6; voxels < 2e7; voxels *= 10.0)
        for (int64_t triangles = 10000; triangles <= 1000000; triangles *= 10) compare(triangles, voxels, &totals);
    bench_figure("voxels_per_second", totals.voxels / totals.seconds);
    if (isinf(totals.logarithms)) return; // there was no rival
    double ratio = exp(totals.logarithms / totals.cases);
    printf("geometric mean of the ratios %.1f; our peak memory is at most %.2f of OpenVDB's\n", ratio, totals.memory);
    bench_figure("ratio", ratio);
    bench_figure("memory_ratio", 1.0 / totals.memory);
}
