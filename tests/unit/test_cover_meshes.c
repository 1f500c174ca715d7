// SPDX-License-Identifier: GPL-3.0-or-later
// Meshes as artists make them: each gets a cover that can be used, or a text that says why not.
#include "base/rng.h"
#include "base/simd.h"
#include "grain/grain.h"
#include "shared/brute.h"
#include "shared/evenness.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

typedef struct Result {
    GrainResult result;
    int64_t count;
    double off;    // largest distance from the surface, radii
    double radius; // m
    Evenness evenness;
} Result;

// area: of what should be covered.
static Result cover(const Shape *shape, double area, double count, float offset_radii)
{
    Result r = {0};
    GrainMesh mesh = shape_mesh(shape);
    GrainCoverDef def;
    grain_cover_def_default(&def, sizeof def);
    def.radius = (float)sqrt(area / (count * PI));
    def.offset = offset_radii * def.radius;
    r.radius = (double)def.radius;
    GrainCover *made;
    r.result = grain_cover_mesh(&mesh, &def, NULL, &made);
    if (r.result != GRAIN_OK) return r;
    GrainView view, normals;
    grain_cover_view(made, GRAIN_COVER_POSITION, &view);
    grain_cover_view(made, GRAIN_COVER_NORMAL, &normals);
    const float *p = view.data, *n = normals.data;
    r.count = view.count;
    for (int64_t i = 0; i < view.count; i++) {
        double place[3] = {(double)p[3 * i], (double)p[3 * i + 1], (double)p[3 * i + 2]};
        double off = fabs(brute_distance(&mesh, place) - fabs((double)def.offset)) / r.radius;
        r.off = fmax(r.off, isfinite(off) && isfinite(n[3 * i]) ? off : 1e9);
    }
    r.evenness = evenness_measure(p, view.count, &mesh, area, 0);
    grain_cover_destroy(made);
    return r;
}

// A good cover of this area.
static void check(const char *name, Shape shape, double area, double count, float offset_radii)
{
    Result r = cover(&shape, area, count, offset_radii);
    printf("# %s: %lld of %.0f, nearest %.3f, deviation %.1f %%, off by %.4f radii\n", name, (long long)r.count, count,
           r.evenness.nearest_mean, 100.0 * r.evenness.nearest_deviation, r.off);
    ENSURE_OK(r.result);
    ENSURE_NEAR((double)r.count / count, 1.0, 0.04);
    ENSURE(r.off <= 0.02);
    ENSURE(r.evenness.nearest_mean > 0.8 && r.evenness.nearest_deviation < 0.12);
    shape_free(&shape);
}

TEST(open_bowl)
{
    Shape shape = shape_bowl(24);
    check("bowl", shape, shape_area(&shape), 1500, 0.0f);
}

TEST(open_bowl_with_offset)
{
    Shape shape = shape_bowl(64);
    // The lower half of a sphere that is a radius r larger (its area, and the count, grow by (1 + r)^2).
    double r = sqrt(2.0 * PI / (1500 * PI));
    check("bowl outside", shape, 2.0 * PI * (1.0 + r) * (1.0 + r), 1500 * (1.0 + r) * (1.0 + r), 1.0f);
}

TEST(bucket)
{
    Shape shape = shape_bucket();
    check("bucket", shape, shape_area(&shape), 1500, 0.0f);
}

TEST(moebius_strip)
{
    Shape shape = shape_moebius(60);
    check("moebius", shape, shape_area(&shape), 1500, 0.0f);
}

TEST(inside_out)
{
    Shape shape = shape_sphere(24, 0.0);
    shape_turn_inside_out(&shape);
    double r = 1.0 - sqrt(4.0 * PI / (1500 * PI));
    check("inside out, inside", shape, 4.0 * PI * r * r, 1500 * r * r, -1.0f);
}

TEST(vertices_of_their_own)
{
    Shape shape = shape_split(shape_sphere(16, 0.0));
    double r = 1.0 + sqrt(4.0 * PI / (1500 * PI));
    check("split sphere, outside", shape, 4.0 * PI * r * r, 1500 * r * r, 1.0f);
}

TEST(one_triangle)
{
    float positions[] = {0, 0, 0, 1, 0, 0, 0, 1, 0};
    int32_t triangles[] = {0, 1, 2};
    Shape shape = {positions, triangles, 3, 1};
    const int counts[] = {500, 30, 3, 1};
    for (int i = 0; i < 4; i++) {
        Result r = cover(&shape, 0.5, counts[i], 0.0f);
        ENSURE_OK(r.result);
        ENSURE(abs((int)r.count - counts[i]) <= 1 + counts[i] / 30);
        ENSURE(r.off < 0.02);
    }
    // Particles larger than the triangle: there is one.
    Result r = cover(&shape, 0.5, 1e-4, 0.0f);
    ENSURE_OK(r.result);
    ENSURE_EQUAL(r.count, 1);
}

TEST(zero_thickness)
{
    // A box pressed flat: both sides share one layer.
    Shape shape = shape_box(-1, -1, 0, 1, 1, 0);
    check("flat box", shape, 4.0, 1000, 0.0f);
}

TEST(coplanar_duplicates)
{
    Shape shape = shape_join(shape_plane(6), shape_plane(9));
    check("two planes in one place", shape, 4.0, 1000, 0.0f);
}

TEST(same_triangles_twice)
{
    Shape shape = shape_join(shape_sphere(10, 0.0), shape_sphere(10, 0.0));
    check("same sphere twice", shape, 0.5 * shape_area(&shape), 1000, 0.0f);
}

TEST(self_intersecting)
{
    // Two boxes of side 2, half a side apart in x: what one has inside the other is not covered.
    Shape b = shape_box(0, -0.9f, -0.9f, 2, 0.9f, 0.9f);
    double area = 24.0 + 4.0 * 1.0 * 1.8;
    check("crossing boxes", shape_join(shape_box(-1, -1, -1, 1, 1, 1), b), area, 2000, 0.0f);
}

TEST(nested)
{
    // A box inside a box, both outward: sand sees the outer one alone.
    Shape inner = shape_box(-0.3f, -0.3f, -0.3f, 0.3f, 0.3f, 0.3f);
    check("box in a box", shape_join(shape_box(-1, -1, -1, 1, 1, 1), inner), 24.0, 1500, 0.0f);
}

TEST(micrometre)
{
    Shape shape = shape_sphere(16, 0.0);
    shape_move(&shape, 0.5e-6f, 0, 0, 0);
    check("1e-6 m", shape, shape_area(&shape), 1000, 0.0f);
    shape = shape_sphere(16, 0.0);
    shape_move(&shape, 0.5e-6f, 0, 0, 0);
    double r = sqrt(shape_area(&shape) / (1000 * PI)), grown = (0.5e-6 + r) / 0.5e-6;
    check("1e-6 m, outside", shape, 4.0 * PI * (0.5e-6 + r) * (0.5e-6 + r), 1000 * grown * grown, 1.0f);
}

TEST(thousand_kilometres)
{
    Shape shape = shape_sphere(16, 0.0);
    shape_move(&shape, 0.5e6f, 0, 0, 0);
    check("1e6 m", shape, shape_area(&shape), 1000, 0.0f);
}

TEST(far_from_the_origin)
{
    // float32 steps are 8 mm there; so the mesh is 100 m and the particles 3 m, which leaves a quarter of a percent.
    Shape shape = shape_sphere(16, 0.0);
    shape_move(&shape, 50.0f, 1e5f, -1e5f, 1e5f);
    check("1e5 m away", shape, shape_area(&shape), 1000, 0.0f);
}

TEST(far_and_small)
{
    // 1 m at 1e5 m is a heap of rounding: whatever comes of it, it must come soon and be finite.
    Shape shape = shape_sphere(16, 0.0);
    shape_move(&shape, 0.5f, 1e5f, -1e5f, 1e5f);
    Result r = cover(&shape, PI, 1000, 0.0f);
    ENSURE_OK(r.result);
    ENSURE(r.count > 300 && r.count < 3000);
    shape_free(&shape);
}

TEST(nothing_to_cover)
{
    float positions[] = {0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3};
    int32_t triangles[] = {0, 1, 2, 0, 0, 3, 1, 2, 3};
    Shape line = {positions, triangles, 4, 3}, empty = {positions, triangles, 4, 0}, no_place = line;
    ENSURE_EQUAL(cover(&line, 1.0, 100, 0.0f).result, GRAIN_ERROR_MESH);
    ENSURE(strstr(grain_last_error(), "area") != NULL);
    ENSURE_EQUAL(cover(&empty, 1.0, 100, 0.0f).result, GRAIN_ERROR_MESH);
    ENSURE(strstr(grain_last_error(), "no faces") != NULL);
    positions[4] = NAN;
    ENSURE_EQUAL(cover(&no_place, 1.0, 100, 0.0f).result, GRAIN_ERROR_MESH);
}

// Takes out triangles without an area, which are not covered but would count as near; returns how many are left.
static int64_t drop_flat(const float *positions, int32_t *triangles, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        Shape one = {(float *)(uintptr_t)positions, triangles + 3 * i, 0, 1};
        if (shape_area(&one) > 0.0) memmove(triangles + 3 * kept++, triangles + 3 * i, 3 * sizeof *triangles);
    }
    return kept;
}

TEST(random_triangles)
{
    // Soups of triangles of all shapes and sizes, crossing and touching each other: never a crash, and what comes out
    // is on the mesh.
    for (int soup = 0; soup < 12; soup++) {
        enum { COUNT = 40 };
        float positions[9 * COUNT];
        int32_t triangles[3 * COUNT];
        for (int i = 0; i < 9 * COUNT; i++) {
            Rng4 r = rng_at((uint64_t)soup, (uint64_t)i, RNG_STREAM_TEST, 0);
            positions[i] = rng_signed(r.word[0]);
            if (soup % 3 == 1) positions[i] = roundf(2.0f * positions[i]);
            if (soup % 3 == 2) positions[i] *= powf(10.0f, 3.0f * rng_signed(r.word[1]));
        }
        for (int i = 0; i < 3 * COUNT; i++)
            triangles[i] = soup % 2 ? i : (int32_t)(rng_at(1, (uint64_t)i, RNG_STREAM_TEST, 0).word[0] % (3 * COUNT));
        Shape shape = {positions, triangles, 3 * COUNT, drop_flat(positions, triangles, COUNT)};
        for (int side = -1; side <= 1; side++) {
            Result r = cover(&shape, shape_area(&shape), 300, (float)side);
            printf("# soup %d side %d: %d, %lld particles, off by %.4f radii\n", soup, side, (int)r.result,
                   (long long)r.count, r.off);
            if (r.result != GRAIN_OK)
                ENSURE_EQUAL(r.result, GRAIN_ERROR_MESH);
            else
                ENSURE(r.count >= 1 && r.count < 2000 && r.off < 0.02);
        }
    }
}

TEST(same_bits_on_every_instruction_set)
{
    if (simd_set() == SIMD_BASE) SKIP("this processor has one instruction set only");
    Shape shape = shape_torus_knot(2000);
    GrainMesh mesh = shape_mesh(&shape);
    GrainCoverDef def;
    ENSURE_OK(grain_cover_def_default(&def, sizeof def));
    def.radius = 0.05f;
    def.offset = -0.05f;
    GrainCover *covers[3];
    GrainView views[3];
    SimdSet all = simd_set();
    for (int set = SIMD_BASE; set <= SIMD_AVX512; set++) {
        simd_limit((SimdSet)set);
        ENSURE_OK(grain_cover_mesh(&mesh, &def, NULL, &covers[set]));
        ENSURE_OK(grain_cover_view(covers[set], GRAIN_COVER_POSITION, &views[set]));
    }
    simd_limit(all);
    for (int set = SIMD_AVX2; set <= SIMD_AVX512; set++) {
        ENSURE_EQUAL(views[set].count, views[0].count);
        ENSURE(memcmp(views[set].data, views[0].data, (size_t)views[0].count * 12) == 0);
    }
    for (int set = SIMD_BASE; set <= SIMD_AVX512; set++) grain_cover_destroy(covers[set]);
    shape_free(&shape);
}
