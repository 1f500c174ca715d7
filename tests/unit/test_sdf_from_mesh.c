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
        Vec3 p = sdf_voxel_position(sdf, v[0], v[1], v[2]);
        const double place[3] = {(double)sdf->origin.x + v[0] * voxel, (double)sdf->origin.y + v[1] * voxel,
                                 (double)sdf->origin.z + v[2] * voxel};
        int32_t block = sdf_find_block(sdf, v[0], v[1], v[2]);
        double value = block == SDF_INSIDE ? -half_width
                       : block == SDF_OUTSIDE
                           ? half_width
                           : (double)sdf_block_values(sdf, block)[sdf_block_index(v[0] & 7, v[1] & 7, v[2] & 7)];
        (void)p;
        double exact = brute_distance(&mesh, place), winding = brute_winding(&mesh, place);
        double off = fabs(fabs(value) - fmin(exact, half_width)) / voxel;
        if (off > errors.distance) errors.distance = off;
        if (exact > ON_SURFACE * voxel) errors.signs += (value < 0.0) != (fabs(winding) > 0.5);
        errors.checked++;
    }
    return errors;
}

static void check(const char *name, Shape shape, float voxel)
{
    GrainSdf *sdf = make(&shape, voxel, GRAIN_SDF_AUTO);
    if (!sdf) return;
    Errors errors = compare(&shape, sdf, 8000000 / (shape.triangle_count + 500));
    grain_sdf_destroy(sdf);
    shape_free(&shape);
    printf("# %s: %.2e voxels, %lld of %lld signs\n", name, errors.distance, (long long)errors.signs,
           (long long)errors.checked);
    if (errors.distance > 1e-4)
        test_fail(__FILE__, __LINE__, "%s: a distance is off by %.3g voxels", name, errors.distance);
    if (errors.signs > 0)
        test_fail(__FILE__, __LINE__, "%s: %lld of %lld signs are wrong", name, (long long)errors.signs,
                  (long long)errors.checked);
}

TEST(tetrahedron) { check("tetrahedron", shape_tetrahedron(), 0.021f); }
TEST(coarse_sphere) { check("coarse sphere", shape_sphere(3, 0.12), 0.03f); }
TEST(dense_sphere) { check("dense sphere", shape_sphere(24, 0.12), 0.11f); }
TEST(very_dense_sphere) { check("very dense sphere", shape_sphere(32, 0.12), 0.4f); }
TEST(torus_knot) { check("torus knot", shape_torus_knot(3000), 0.037f); }
TEST(fine_torus_knot) { check("fine torus knot", shape_torus_knot(800), 0.009f); }
TEST(thin_fins) { check("thin fins", shape_fins(7, 0.013f), 0.02f); }
TEST(suzanne) { check("suzanne", shape_load(GRAIN_TEST_DATA "/suzanne.obj"), 0.03f); }

TEST(inside_out)
{
    Shape shape = shape_torus(12, 30, 0.3);
    shape_turn_inside_out(&shape);
    check("inside out torus", shape, 0.03f);
}

TEST(nested_shells)
{
    // All outward: the inner ones make no difference to what is inside, but are near it.
    Shape all = shape_join(shape_sphere(8, 0.1), shape_box(-0.3f, -0.3f, -0.3f, 0.3f, 0.3f, 0.3f));
    check("nested shells", all, 0.04f);
}

TEST(cavity)
{
    Shape inner = shape_sphere(6, 0.0);
    shape_move(&inner, 0.6f, 0.05f, 0.02f, 0.0f);
    shape_turn_inside_out(&inner);
    check("cavity", shape_join(shape_sphere(8, 0.1), inner), 0.035f);
}

TEST(overlapping_shells)
{
    Shape b = shape_sphere(7, 0.1);
    shape_move(&b, 0.8f, 0.7f, 0.2f, 0.1f);
    check("overlapping spheres", shape_join(shape_sphere(7, 0.0), b), 0.05f);
}

TEST(one_of_two_inside_out)
{
    Shape b = shape_sphere(5, 0.1);
    shape_move(&b, 0.8f, 4.0f, 0.2f, 0.1f);
    shape_turn_inside_out(&b);
    check("one of two inside out", shape_join(shape_sphere(5, 0.0), b), 0.05f);
}
