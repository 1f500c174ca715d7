// SPDX-License-Identifier: GPL-3.0-or-later
// Distances and signs against all triangles and the exact winding number, on meshes that are easy and on such that are
// not.
#include "base/rng.h"
#include "grain/grain.h"
#include "sdf/sdf.h"
#include "shared/brute.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Where the surface passes this close (voxels), the sign is a matter of rounding.
#define ON_SURFACE 1e-4

typedef struct Errors {
    double distance; // worst, voxels
    int64_t signs, checked;
    int64_t row_signs, row_checked, rows_open; // at every voxel
} Errors;

static GrainSdf *make(const Shape *shape, float voxel, GrainSdfKind kind)
{
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    def.kind = kind;
    GrainMesh mesh = shape_mesh(shape);
    GrainSdf *sdf = NULL;
    if (grain_sdf_create(&mesh, &def, NULL, &sdf) != GRAIN_OK) test_fail(__FILE__, __LINE__, "%s", grain_last_error());
    return sdf;
}

static double value_at(const GrainSdf *sdf, const int32_t v[3])
{
    int32_t block = sdf_find_block(sdf, v[0], v[1], v[2]);
    if (block == SDF_INSIDE) return -(double)sdf->half_width;
    if (block == SDF_OUTSIDE) return (double)sdf->half_width;
    return (double)sdf_block_values(sdf, block)[sdf_block_index(v[0] & 7, v[1] & 7, v[2] & 7)];
}

// Signs at every voxel of a closed mesh's box, inside and out, row by row.
static void compare_rows(const Shape *shape, const GrainSdf *sdf, Errors *errors)
{
    enum { LONGEST = 4096 };
    static int32_t winding[LONGEST];
    GrainMesh mesh = shape_mesh(shape);
    Vec3 low, high;
    sdf_bounds(sdf, &low, &high);
    double voxel = (double)sdf->voxel_size;
    const double begin[3] = {(double)low.x, (double)low.y, (double)low.z}, end[3] = {high.x, high.y, high.z};
    const double origin[3] = {(double)sdf->origin.x, (double)sdf->origin.y, (double)sdf->origin.z};
    int32_t first[3], count[3];
    for (int k = 0; k < 3; k++) {
        first[k] = (int32_t)fmax(0.0, floor((begin[k] - origin[k]) / voxel) - 1.0);
        count[k] = (int32_t)ceil((end[k] - origin[k]) / voxel) + 1 - first[k];
    }
    if (count[0] > LONGEST) test_fail(__FILE__, __LINE__, "%d voxels in a row", count[0]);
    for (int32_t row = 0; row < count[1] * count[2] && count[0] <= LONGEST; row++) {
        int32_t v[3] = {first[0], first[1] + row % count[1], first[2] + row / count[1]};
        const double place[3] = {origin[0] + v[0] * voxel, origin[1] + v[1] * voxel, origin[2] + v[2] * voxel};
        errors->rows_open += !brute_winding_row(&mesh, place, voxel, count[0], winding);
        for (int32_t i = 0; i < count[0]; i++, v[0]++) {
            double value = value_at(sdf, v);
            if (fabs(value) > ON_SURFACE * voxel) errors->row_signs += (value < 0.0) != (winding[i] != 0);
        }
        errors->row_checked += count[0];
    }
}

// Some voxels of the stored blocks, and some places all over the domain, where only the sign counts.
static Errors compare(const Shape *shape, const GrainSdf *sdf, int64_t samples)
{
    Errors errors = {0};
    GrainMesh mesh = shape_mesh(shape);
    double voxel = (double)sdf->voxel_size, half_width = (double)sdf->half_width;
    for (int64_t i = 0; i < samples; i++) {
        Rng4 r = rng_at(5, (uint64_t)i, RNG_STREAM_TEST, 0);
        int32_t v[3];
        int everywhere = i % 4 == 3, extent = 1 << (3 * (sdf->depth + 1));
        sdf_block_corner(sdf, (int64_t)(r.word[0] % (uint32_t)sdf->block_count), v);
        for (int k = 0; k < 3; k++)
            v[k] = everywhere ? (int32_t)(r.word[k] % (uint32_t)extent) : v[k] + (int32_t)(r.word[1] >> (4 * k) & 7);
        const double place[3] = {(double)sdf->origin.x + v[0] * voxel, (double)sdf->origin.y + v[1] * voxel,
                                 (double)sdf->origin.z + v[2] * voxel};
        double value = value_at(sdf, v);
        double exact = brute_distance(&mesh, place), winding = brute_winding(&mesh, place);
        double off = fabs(fabs(value) - fmin(exact, half_width)) / voxel;
        if (off > errors.distance) errors.distance = off;
        if (exact > ON_SURFACE * voxel) errors.signs += (value < 0.0) != (fabs(winding) > 0.5);
        errors.checked++;
    }
    return errors;
}

// Of a surface without an edge the signs are looked at everywhere.
static void check(const char *name, Shape shape, float voxel, int is_closed)
{
    GrainSdf *sdf = make(&shape, voxel, GRAIN_SDF_AUTO);
    if (!sdf) return;
    Errors errors = compare(&shape, sdf, 8000000 / (shape.triangle_count + 500));
    if (is_closed) compare_rows(&shape, sdf, &errors);
    grain_sdf_destroy(sdf);
    shape_free(&shape);
    printf("# %s: %.2e voxels off at most, %lld of %lld signs wrong, %lld of all %lld\n", name, errors.distance,
           (long long)errors.signs, (long long)errors.checked, (long long)errors.row_signs,
           (long long)errors.row_checked);
    if (errors.distance > 1e-4)
        test_fail(__FILE__, __LINE__, "%s: a distance is off by %.3g voxels", name, errors.distance);
    if (errors.row_signs > 0 || errors.rows_open > 0)
        test_fail(__FILE__, __LINE__, "%s: %lld of all %lld signs are wrong; %lld lines", name,
                  (long long)errors.row_signs, (long long)errors.row_checked, (long long)errors.rows_open);
    if (errors.signs > 0)
        test_fail(__FILE__, __LINE__, "%s: %lld of %lld signs are wrong", name, (long long)errors.signs,
                  (long long)errors.checked);
}

TEST(tetrahedron) { check("tetrahedron", shape_tetrahedron(), 0.021f, 1); }
TEST(coarse_sphere) { check("coarse sphere", shape_sphere(3, 0.12), 0.03f, 1); }
TEST(dense_sphere) { check("dense sphere", shape_sphere(24, 0.12), 0.11f, 1); }
TEST(very_dense_sphere) { check("very dense sphere", shape_sphere(32, 0.12), 0.4f, 1); }
TEST(torus_knot) { check("torus knot", shape_torus_knot(3000), 0.037f, 1); }
TEST(fine_torus_knot) { check("fine torus knot", shape_torus_knot(800), 0.009f, 1); }
TEST(thin_fins) { check("thin fins", shape_fins(7, 0.013f), 0.02f, 1); }
TEST(suzanne) { check("suzanne", shape_load(GRAIN_TEST_DATA "/suzanne.obj"), 0.03f, 0); }

TEST(inside_out)
{
    Shape shape = shape_torus(12, 30, 0.3);
    shape_turn_inside_out(&shape);
    check("inside out torus", shape, 0.03f, 1);
}

TEST(nested_shells)
{
    // All outward: the inner ones make no difference to what is inside, but are near it.
    Shape all = shape_join(shape_sphere(8, 0.1), shape_box(-0.3f, -0.3f, -0.3f, 0.3f, 0.3f, 0.3f));
    check("nested shells", all, 0.04f, 1);
}

TEST(cavity)
{
    Shape inner = shape_sphere(6, 0.0);
    shape_move(&inner, 0.6f, 0.05f, 0.02f, 0.0f);
    shape_turn_inside_out(&inner);
    check("cavity", shape_join(shape_sphere(8, 0.1), inner), 0.035f, 1);
}

TEST(overlapping_shells)
{
    Shape b = shape_sphere(7, 0.1);
    shape_move(&b, 0.8f, 0.7f, 0.2f, 0.1f);
    check("overlapping spheres", shape_join(shape_sphere(7, 0.0), b), 0.05f, 1);
}

TEST(one_of_two_inside_out)
{
    Shape b = shape_sphere(5, 0.1);
    shape_move(&b, 0.8f, 4.0f, 0.2f, 0.1f);
    shape_turn_inside_out(&b);
    check("one of two inside out", shape_join(shape_sphere(5, 0.0), b), 0.05f, 1);
}
