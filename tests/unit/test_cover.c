// SPDX-License-Identifier: GPL-3.0-or-later
// What an artist may rely on: particles on the surface, as many as asked for, evenly spread. Measured by
// shared/evenness.c and shared/brute.c, which know nothing of the library.
#include "grain/grain.h"
#include "shared/brute.h"
#include "shared/evenness.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct Limits {
    double nearest, deviation, gap; // as in Evenness; gap 0: not looked at
    double area;                    // of the surface to cover; 0: the mesh's
    float offset;                   // in radii
} Limits;

// More even than the best samplers measured (nearest 0.80 on average, gap 0.81): nearest at least 0.85, deviation at
// most 6 % where the surface is smooth and 10 % with sharp edges, gap at most 0.78 where smooth.
static const Limits smooth = {0.85, 0.06, 0.78, 0.0, 0.0f};
static const Limits sharp = {0.85, 0.10, 0.0, 0.0, 0.0f};

static GrainCoverDef def_for(const Shape *shape, double count, double density)
{
    GrainCoverDef def;
    grain_cover_def_default(&def, sizeof def);
    def.density = (float)density;
    def.radius = (float)sqrt(density * shape_area(shape) / (count * PI));
    return def;
}

// Largest distance from the surface asked for, in radii, of some of the particles.
static double farthest(const GrainMesh *mesh, const GrainCoverDef *def, GrainView positions)
{
    const float *p = positions.data;
    int64_t step = 1 + positions.count * mesh->triangle_count / 20000000;
    double most = 0.0;
    for (int64_t i = 0; i < positions.count; i += step) {
        double place[3] = {(double)p[3 * i], (double)p[3 * i + 1], (double)p[3 * i + 2]};
        most = fmax(most, fabs(brute_distance(mesh, place) - fabs((double)def->offset)));
    }
    return most / (double)def->radius;
}

static void check(const char *name, Shape shape, double count, double density, Limits limits)
{
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, count, density);
    def.offset = limits.offset * def.radius;
    GrainCover *cover = NULL;
    ENSURE_OK(grain_cover_mesh(&mesh, &def, NULL, &cover));
    GrainView positions, normals;
    GrainCoverQuality quality = {.struct_size = sizeof quality};
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &positions));
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_NORMAL, &normals));
    ENSURE_OK(grain_cover_quality(cover, &quality));
    double area = limits.area > 0.0 ? limits.area : shape_area(&shape);
    double wanted = density * area / (PI * (double)def.radius * (double)def.radius);
    Evenness e = evenness_measure(positions.data, positions.count, &mesh, area, limits.gap > 0.0 ? 30 : 0);
    double off = farthest(&mesh, &def, positions);
    printf("# %s: %lld of %.0f, nearest %.3f, deviation %.1f %%, smallest %.3f, gap %.3f (own figure %.3f), off by "
           "%.4f radii\n",
           name, (long long)positions.count, wanted, e.nearest_mean, 100.0 * e.nearest_deviation, e.nearest_smallest,
           e.gap, quality.largest_gap / quality.spacing, off);
    ENSURE_NEAR((double)positions.count / wanted, 1.0, 0.03);
    ENSURE(off <= 0.02);
    ENSURE(e.nearest_mean >= limits.nearest);
    ENSURE(e.nearest_deviation <= limits.deviation);
    ENSURE(limits.gap == 0.0 || fmax(e.gap, quality.largest_gap / quality.spacing) <= limits.gap);
    // The library's own figures are the same. Probing at random finds a hole's middle only to some percent.
    ENSURE_NEAR(quality.nearest_mean / quality.spacing, e.nearest_mean, 0.01);
    ENSURE(quality.largest_distance <= 0.02 * (double)def.radius);
    if (limits.gap > 0.0) ENSURE_NEAR(quality.largest_gap / quality.spacing, e.gap + 0.015, 0.05);
    for (int64_t i = 0; i < normals.count; i++) {
        const float *n = (const float *)normals.data + 3 * i;
        ENSURE_NEAR(n[0] * n[0] + n[1] * n[1] + n[2] * n[2], 1.0, 1e-3);
    }
    grain_cover_destroy(cover);
    shape_free(&shape);
}

TEST(sphere) { check("sphere", shape_sphere(24, 0.0), 4000, 1.0, smooth); }
TEST(bumpy_sphere) { check("bumpy sphere", shape_sphere(40, 0.12), 4000, 1.0, smooth); }
TEST(torus_knot) { check("torus knot", shape_torus_knot(16000), 8000, 1.0, smooth); }
TEST(plane) { check("plane", shape_plane(10), 3000, 1.0, smooth); }
TEST(suzanne) { check("suzanne", shape_load(GRAIN_TEST_DATA "/suzanne.obj"), 4000, 1.0, smooth); }
TEST(cube) { check("cube", shape_box(-1, -1, -1, 1, 1, 1), 4000, 1.0, sharp); }
TEST(small_cube) { check("small cube", shape_box(-1, -1, -1, 1, 1, 1), 150, 1.0, sharp); }
TEST(tetrahedron) { check("tetrahedron", shape_tetrahedron(), 1000, 1.0, sharp); }
TEST(fins) { check("fins", shape_fins(5, 0.1f), 20000, 1.0, sharp); }
TEST(loose_cover) { check("loose sphere", shape_sphere(24, 0.0), 1000, 0.3, smooth); }
TEST(crowded_cover) { check("crowded sphere", shape_sphere(24, 0.0), 4000, 3.0, smooth); }

TEST(sphere_with_offsets)
{
    Limits limits = smooth;
    limits.gap = 0.0; // the surface to probe is not the mesh
    for (int side = -1; side <= 1; side += 2) {
        Shape shape = shape_sphere(48, 0.0);
        double radius = (double)def_for(&shape, 3000, 1.0).radius, r = 1.0 + side * 1.5 * radius;
        limits.offset = 1.5f * (float)side;
        limits.area = 4.0 * PI * r * r;
        check(side < 0 ? "sphere inside" : "sphere outside", shape, 3000, 1.0, limits);
    }
}

TEST(cube_with_offsets)
{
    Limits limits = sharp;
    Shape inner = shape_box(-1, -1, -1, 1, 1, 1), outer = shape_box(-1, -1, -1, 1, 1, 1);
    double d = (double)def_for(&inner, 3000, 1.0).radius;
    limits.offset = -1.0f;
    limits.area = 24.0 * (1.0 - d) * (1.0 - d);
    check("cube inside", inner, 3000, 1.0, limits);
    // Faces, quarters of cylinders along the edges, eighths of spheres at the corners.
    limits.offset = 1.0f;
    limits.area = 24.0 + 12.0 * PI * d + 4.0 * PI * d * d;
    check("cube outside", outer, 3000, 1.0, limits);
}

TEST(sharp_edges_have_particles_on_them)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, 4000, 1.0);
    GrainCover *cover;
    ENSURE_OK(grain_cover_mesh(&mesh, &def, NULL, &cover));
    GrainView view;
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &view));
    const float *p = view.data;
    double worst = 0.0;
    // From any point of an edge the next particle is no farther than a radius and a half: the edge is not rounded off.
    for (int i = 0; i <= 200; i++) {
        double nearest = 1e9;
        float edge[3] = {-1.0f + 0.01f * (float)i, 1.0f, 1.0f};
        for (int64_t j = 0; j < view.count; j++)
            nearest = fmin(nearest, hypot(hypot((double)(p[3 * j] - edge[0]), (double)(p[3 * j + 1] - edge[1])),
                                          (double)(p[3 * j + 2] - edge[2])));
        worst = fmax(worst, nearest);
    }
    printf("# farthest from an edge: %.3f radii\n", worst / (double)def.radius);
    ENSURE(worst < 1.5 * (double)def.radius);
    grain_cover_destroy(cover);
    shape_free(&shape);
}

TEST(field_alone)
{
    Shape shape = shape_torus_knot(16000);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, 4000, 1.0);
    GrainSdfDef sdf_def;
    ENSURE_OK(grain_sdf_def_default(&sdf_def, sizeof sdf_def));
    sdf_def.voxel_size = def.radius;
    GrainSdf *sdf;
    GrainCover *cover;
    ENSURE_OK(grain_sdf_create(&mesh, &sdf_def, NULL, &sdf));
    ENSURE_OK(grain_cover_create(sdf, &def, NULL, &cover));
    GrainView view;
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &view));
    float *distances = malloc((size_t)view.count * sizeof(float));
    ENSURE_OK(grain_sdf_sample(sdf, view.data, view.count, distances, NULL, NULL));
    for (int64_t i = 0; i < view.count; i++) ENSURE_NEAR(distances[i], 0.0, 0.02 * (double)def.radius);
    free(distances);
    Evenness e = evenness_measure(view.data, view.count, &mesh, shape_area(&shape), 30);
    printf("# %lld, nearest %.3f, deviation %.1f %%, gap %.3f\n", (long long)view.count, e.nearest_mean,
           100.0 * e.nearest_deviation, e.gap);
    ENSURE_NEAR(view.count, 4000.0, 120.0);
    ENSURE(e.nearest_mean >= 0.85 && e.nearest_deviation <= 0.06 && e.gap <= 0.78);
    grain_cover_destroy(cover);
    def.offset = 2.1f * def.radius;
    ENSURE_FAILS(grain_cover_create(sdf, &def, NULL, &cover), GRAIN_ERROR_ARGUMENT, "band_voxels");
    ENSURE(cover == NULL);
    grain_sdf_destroy(sdf);
    shape_free(&shape);
}

TEST(weights_add_up_to_a_layer)
{
    // Akinci et al. 2012: a flat layer of particles, each standing for 1 / sum W. Far from the rim all are alike to
    // some percent, and so is the sum over the kernel of weight * W: the number density they were made from.
    Shape shape = shape_plane(10);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, 2000, 1.0);
    GrainCover *cover;
    ENSURE_OK(grain_cover_mesh(&mesh, &def, NULL, &cover));
    GrainView positions, weights;
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_POSITION, &positions));
    ENSURE_OK(grain_cover_view(cover, GRAIN_COVER_WEIGHT, &weights));
    const float *p = positions.data, *w = weights.data;
    double support = 4.0 * (double)def.radius;
    for (int64_t i = 0; i < positions.count; i += 97) {
        double sum = 0.0;
        for (int64_t j = 0; j < positions.count; j++) {
            double q = hypot((double)(p[3 * i] - p[3 * j]), (double)(p[3 * i + 1] - p[3 * j + 1])) / support;
            double spline = q <= 0.5 ? 6.0 * (q * q * q - q * q) + 1.0 : q < 1.0 ? 2.0 * pow(1.0 - q, 3.0) : 0.0;
            sum += 8.0 / (PI * support * support * support) * spline;
        }
        ENSURE_NEAR((double)w[i] * sum, 1.0, 1e-4);
    }
    grain_cover_destroy(cover);
    shape_free(&shape);
}

TEST(same_bits_for_any_thread_count)
{
    Shape shape = shape_torus_knot(4000);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, 6000, 1.0);
    for (int offset = 0; offset < 2; offset++) {
        GrainCover *covers[3];
        GrainView views[3];
        def.offset = (float)offset * def.radius;
        for (int i = 0; i < 3; i++) {
            GrainRun run = {sizeof run, 1 + 2 * i, NULL, NULL};
            ENSURE_OK(grain_cover_mesh(&mesh, &def, &run, &covers[i]));
            ENSURE_OK(grain_cover_view(covers[i], GRAIN_COVER_POSITION, &views[i]));
        }
        for (int i = 1; i < 3; i++) {
            ENSURE_EQUAL(views[i].count, views[0].count);
            ENSURE(memcmp(views[i].data, views[0].data, (size_t)views[0].count * 12) == 0);
        }
        for (int i = 0; i < 3; i++) grain_cover_destroy(covers[i]);
    }
    shape_free(&shape);
}

static int32_t stop_soon(void *user, const char *stage, float fraction)
{
    (void)stage, (void)fraction;
    return ++*(int *)user < 2 ? GRAIN_CONTINUE : 0;
}

TEST(can_be_cancelled)
{
    Shape shape = shape_torus_knot(16000);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def = def_for(&shape, 100000, 1.0);
    int calls = 0;
    GrainRun run = {sizeof run, 0, stop_soon, &calls};
    GrainCover *cover;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, &run, &cover), GRAIN_CANCELLED, "cancelled");
    ENSURE(cover == NULL);
    shape_free(&shape);
}

TEST(wrong_defs_are_refused)
{
    Shape shape = shape_tetrahedron();
    GrainMesh mesh = shape_mesh(&shape);
    GrainCover *cover;
    GrainCoverDef good = def_for(&shape, 100, 1.0), def = good;
    def.radius = 0.0f;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_ARGUMENT, "radius");
    def = good, def.radius = NAN;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_ARGUMENT, "radius");
    def = good, def.density = 9.0f;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_ARGUMENT, "density");
    def = good, def.offset = INFINITY;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_ARGUMENT, "offset");
    def = good, def.struct_size = 4;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_ABI, "GrainCoverDef");
    def = good, def.radius = 1e-6f;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_MESH, "larger radius");
    def = good, def.offset = -1.0f;
    ENSURE_FAILS(grain_cover_mesh(&mesh, &def, NULL, &cover), GRAIN_ERROR_MESH, "offset");
    ENSURE_FAILS(grain_cover_mesh(NULL, &good, NULL, &cover), GRAIN_ERROR_ARGUMENT, "NULL");
    ENSURE(cover == NULL);
    shape_free(&shape);
}
