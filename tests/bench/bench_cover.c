// SPDX-License-Identifier: GPL-3.0-or-later
// Covers of props, distance field included: time, particles a second, and how even they are, against the best
// blue-noise sampler on two cores of the same machine.
#include "bench/bench.h"
#include "shared/evenness.h"
#include "shared/meshes.h"

#include <math.h>

// SPlisHSPlasH's Poisson disk sampling of 19,000 points: nearest 0.79, deviation 7.1 %, gap 0.88 to 0.90.
#define RIVAL_SAMPLES_PER_SECOND 65000.0
#define PI 3.14159265358979323846

typedef struct Figures {
    double seconds, per_second;
    int64_t count;
    Evenness evenness;
} Figures;

static Figures measure(const Shape *shape, double count, int threads)
{
    Figures f = {0};
    GrainMesh mesh = shape_mesh(shape);
    GrainRun run = {sizeof run, threads, NULL, NULL};
    GrainCoverDef def;
    grain_cover_def_default(&def, sizeof def);
    def.radius = (float)sqrt(shape_area(shape) / (count * PI));
    GrainCover *cover = NULL;
    BENCH_SECONDS(f.seconds, count > 50000.0 ? 3 : 7, {
        grain_cover_destroy(cover);
        if (grain_cover_mesh(&mesh, &def, &run, &cover) != GRAIN_OK) printf("%s\n", grain_last_error());
    });
    if (!cover) return f;
    GrainView view;
    GrainCoverQuality quality = {.struct_size = sizeof quality};
    grain_cover_view(cover, GRAIN_COVER_POSITION, &view);
    grain_cover_quality(cover, &quality);
    f.count = view.count;
    f.per_second = (double)view.count / f.seconds;
    f.evenness = evenness_measure(view.data, view.count, &mesh, shape_area(shape), 0);
    f.evenness.gap = quality.largest_gap / quality.spacing;
    grain_cover_destroy(cover);
    return f;
}

BENCH(cover)
{
    struct {
        const char *name;
        Shape shape;
    } props[] = {{"torus knot", shape_torus_knot(32000)},
                 {"bumpy sphere", shape_sphere(40, 0.12)},
                 {"cube", shape_box(-1, -1, -1, 1, 1, 1)}};
    const double counts[] = {1000, 4000, 20000, 100000};
    Figures knot[4];
    printf("%-13s %9s %9s %7s | %9s %9s | %7s %9s %8s %6s\n", "prop", "triangles", "particles", "threads", "ms", "k/s",
           "nearest", "deviation", "smallest", "gap");
    for (int prop = 0; prop < 3; prop++) {
        for (int i = 0; i < 4; i++) {
            for (int threads = 1; threads <= 2; threads++) {
                Figures f = measure(&props[prop].shape, counts[i], threads);
                if (prop == 0 && threads == 2) knot[i] = f;
                printf("%-13s %9lld %9lld %7d | %9.1f %9.1f | %7.3f %7.1f %% %8.3f %6.3f\n", props[prop].name,
                       (long long)props[prop].shape.triangle_count, (long long)f.count, threads, 1000.0 * f.seconds,
                       f.per_second / 1000.0, f.evenness.nearest_mean, 100.0 * f.evenness.nearest_deviation,
                       f.evenness.nearest_smallest, f.evenness.gap);
            }
        }
        shape_free(&props[prop].shape);
    }
    bench_figure("seconds_4000", knot[1].seconds);
    bench_figure("seconds_100000", knot[3].seconds);
    bench_figure("nearest", knot[3].evenness.nearest_mean);
    bench_figure("deviation", knot[3].evenness.nearest_deviation);
    bench_figure("gap", knot[3].evenness.gap);
    bench_figure("ratio", knot[3].per_second / RIVAL_SAMPLES_PER_SECOND);
}
