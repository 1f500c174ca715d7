// SPDX-License-Identifier: GPL-3.0-or-later
// Lengths near the ends of float's range, through every stage that takes a mesh: what can be computed is finite, and
// what cannot is refused with a word. And piles of triangles and needles, whose cost must not grow with the square of
// their size.
#include "base/rng.h"
#include "grain/grain.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static GrainResult make_sdf(const GrainMesh *mesh, float voxel, float band, GrainSdf **sdf)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel, def.band_voxels = band;
    return grain_sdf_create(mesh, &def, NULL, sdf);
}

static GrainResult make_cover(const GrainMesh *mesh, float radius, float offset, GrainCover **cover)
{
    GrainCoverDef def;
    grain_cover_def_default(&def, sizeof def);
    def.radius = radius, def.offset = offset;
    return grain_cover_mesh(mesh, &def, NULL, cover);
}

static int is_finite_view(const GrainCover *cover, GrainCoverAttribute attribute)
{
    GrainView view;
    if (grain_cover_view(cover, attribute, &view) != GRAIN_OK) return 0;
    for (int64_t i = 0; i < view.count * view.components; i++)
        if (!isfinite(((const float *)view.data)[i])) return 0;
    return view.count > 0;
}

// One vertex too far away, and all of them.
TEST(places_too_far_away_are_refused_by_every_stage)
{
    for (int which = 0; which < 2; which++) {
        Shape box = shape_box(-1, -1, -1, 1, 1, 1);
        if (which == 0) box.positions[5] = -FLT_MAX;
        for (int i = 0; which == 1 && i < 24; i++) box.positions[i] *= FLT_MAX;
        GrainMesh mesh = shape_mesh(&box);
        GrainMeshReport report = {.struct_size = sizeof report};
        GrainMassProperties mass = {.struct_size = sizeof mass};
        char text[2000];
        GrainSdf *sdf;
        GrainCover *cover;
        GrainShape shape = {.struct_size = sizeof shape};
        ENSURE_OK(grain_mesh_check(&mesh, NULL, &report));
        ENSURE_OK(grain_mesh_report_text(&report, text, sizeof text));
        ENSURE_EQUAL(report.non_finite_vertices, which == 0 ? 1 : 8);
        ENSURE(which == 1 || strstr(text, "too far away") != NULL);
        ENSURE(isfinite(report.area) && isfinite(report.volume) && isfinite(report.high[2] - report.low[2]));
        ENSURE_FAILS(grain_mesh_mass(&mesh, 1000.0, &mass), GRAIN_ERROR_MESH, "too far away");
        ENSURE_FAILS(make_sdf(&mesh, 1e36f, 3.0f, &sdf), GRAIN_ERROR_MESH, "too far away");
        ENSURE_FAILS(make_cover(&mesh, 1e36f, 0.0f, &cover), GRAIN_ERROR_MESH, "too far away");
        ENSURE_FAILS(grain_shape_make("mesh", &mesh, 8, &shape), GRAIN_ERROR_MESH, "too far away");
        shape_free(&box);
    }
}

// As large as meshes may be, and as small as floats have all their digits.
TEST(the_largest_and_the_smallest_meshes_have_finite_results)
{
    for (int which = 0; which < 2; which++) {
        float size = which == 0 ? 1e37f : 1e-36f;
        Shape box = shape_box(-size, -size, -size, size, size, size);
        GrainMesh mesh = shape_mesh(&box);
        GrainMeshReport report = {.struct_size = sizeof report};
        GrainMassProperties mass = {.struct_size = sizeof mass};
        GrainSdf *sdf;
        GrainCover *cover;
        ENSURE_OK(grain_mesh_check(&mesh, NULL, &report));
        ENSURE(report.closed && isfinite(report.area) && report.area > 0.0);
        ENSURE_OK(grain_mesh_mass(&mesh, 1000.0, &mass));
        ENSURE(mass.volume > 0.0 && isfinite(mass.inertia[0]));
        ENSURE_OK(make_sdf(&mesh, 0.01f * size, 3.0f, &sdf));
        const float places[6] = {0.0f, 0.0f, 0.0f, 1.02f * size, 0.0f, 0.0f};
        float distances[2], gradients[6];
        ENSURE_OK(grain_sdf_sample(sdf, places, 2, distances, gradients, NULL));
        grain_sdf_destroy(sdf);
        ENSURE(distances[0] < 0.0f && isfinite(distances[0]));
        ENSURE_NEAR(distances[1] / size, 0.02, 1e-4);
        for (int side = -1; side <= 1; side++) {
            ENSURE_OK(make_cover(&mesh, 0.1f * size, 0.1f * (float)side * size, &cover));
            int is_finite = is_finite_view(cover, GRAIN_COVER_POSITION) && is_finite_view(cover, GRAIN_COVER_NORMAL) &&
                            is_finite_view(cover, GRAIN_COVER_WEIGHT);
            grain_cover_destroy(cover);
            ENSURE(is_finite);
        }
        shape_free(&box);
    }
}

TEST(lengths_that_overflow_are_refused)
{
    Shape box = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&box);
    GrainSdf *sdf;
    GrainCover *cover;
    ENSURE_FAILS(make_sdf(&mesh, FLT_MAX, 3.0f, &sdf), GRAIN_ERROR_ARGUMENT, "voxel_size");
    ENSURE_FAILS(make_sdf(&mesh, 1e37f, 16.0f, &sdf), GRAIN_ERROR_ARGUMENT, "voxel_size");
    ENSURE_FAILS(make_cover(&mesh, FLT_MAX, 0.0f, &cover), GRAIN_ERROR_ARGUMENT, "radius");
    ENSURE_FAILS(make_cover(&mesh, 0.1f, FLT_MAX, &cover), GRAIN_ERROR_ARGUMENT, "offset");
    ENSURE_FAILS(make_cover(&mesh, 0.1f, 1e30f, &cover), GRAIN_ERROR_MESH, "too long");
    // A needle has next to no area, but its ends are beyond what floats can square.
    for (int i = 0; i < 24; i++) box.positions[i] *= i % 3 == 0 ? 1e36f : 1e-36f;
    ENSURE_FAILS(make_cover(&mesh, 1e-3f, 0.0f, &cover), GRAIN_ERROR_MESH, "too long");
    shape_free(&box);
}

// Voxels are chosen from the particles' radius: the object and the remedy are what the artist knows.
TEST(a_mesh_too_large_for_its_voxels_is_refused_with_figures)
{
    Shape box = shape_box(-1e6f, -1e6f, -1e6f, 1e6f, 1e6f, 1e6f);
    GrainMesh mesh = shape_mesh(&box);
    GrainSdf *sdf;
    ENSURE_FAILS(make_sdf(&mesh, 0.01f, 3.0f, &sdf), GRAIN_ERROR_MESH, "2e+06 m");
    ENSURE_FAILS(make_sdf(&mesh, 0.01f, 3.0f, &sdf), GRAIN_ERROR_MESH, "use voxels of 0.12 m or larger");
    shape_free(&box);
}

// --- piles and needles ------------------------------------------------------------------------------

// Triangles in a cube of 2 m, with vertices of their own.
static Shape loose_triangles(int64_t count, float size)
{
    Shape s = {malloc((size_t)(9 * count) * sizeof(float)), malloc((size_t)(3 * count) * sizeof(int32_t)), 3 * count,
               count};
    for (int64_t i = 0; i < 3 * count; i++) {
        Rng4 middle = rng_at(5, (uint64_t)(i / 3), RNG_STREAM_TEST, 0),
             own = rng_at(6, (uint64_t)i, RNG_STREAM_TEST, 0);
        for (int axis = 0; axis < 3; axis++)
            s.positions[3 * i + axis] =
                (1.0f - size) * rng_signed(middle.word[axis]) + size * rng_signed(own.word[axis]);
        s.triangles[i] = (int32_t)i;
    }
    return s;
}

// A cover is even whatever the mesh is: no two particles at one place, as there were after 71 s where 40,000 triangles
// fill a cube. A pair that pushes from all sides comes nearer than the perfect pattern's 1; half of it is far from 0.
static void check_even(const char *what, Shape shape, float radius, int64_t least, int64_t most)
{
    GrainMesh mesh = shape_mesh(&shape);
    GrainCover *cover;
    GrainCoverQuality quality = {.struct_size = sizeof quality};
    ENSURE_OK(make_cover(&mesh, radius, 0.0f, &cover));
    GrainResult result = grain_cover_quality(cover, &quality);
    grain_cover_destroy(cover);
    shape_free(&shape);
    ENSURE_OK(result);
    double spacing = 1.9046 * (double)radius; // of the perfect pattern
    printf("# %s: %lld particles, nearest %.3f to mean %.3f, largest gap %.3f spacings, %d iterations\n", what,
           (long long)quality.count, quality.nearest_smallest / spacing, quality.nearest_mean / spacing,
           quality.largest_gap / spacing, quality.iterations);
    ENSURE(quality.count >= least && quality.count <= most);
    ENSURE(quality.nearest_smallest > 0.4 * spacing || quality.count == 1);
}

TEST(triangles_that_fill_a_cube)
{
    check_even("10,000 large triangles", loose_triangles(10000, 1.0f), 0.3f, 30, 150);
    check_even("10,000 small triangles", loose_triangles(10000, 0.05f), 0.1f, 300, 3000);
    check_even("1,000 large triangles", loose_triangles(1000, 1.0f), 0.1f, 800, 3000);
}

TEST(needles_and_specks)
{
    check_even("needle", shape_box(0, 0, 0, 1e-4f, 1e-4f, 1), 1e-4f, 4000, 13000);
    check_even("thinner than a particle", shape_box(0, 0, 0, 1e-6f, 1e-6f, 1), 1e-3f, 1, 600);
    check_even("speck", shape_sphere(30, 0.0), 50.0f, 1, 1);
    check_even("few", shape_sphere(30, 0.0), 1.0f, 1, 8);
}

HEAVY_TEST(forty_thousand_triangles_that_fill_a_cube)
{
    check_even("40,000 large triangles", loose_triangles(40000, 1.0f), 0.3f, 30, 150);
    check_even("40,000 small triangles", loose_triangles(40000, 0.05f), 0.05f, 5000, 20000);
}
