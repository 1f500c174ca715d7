// SPDX-License-Identifier: GPL-3.0-or-later
// Making and sampling a distance field: the calls themselves.
#include "base/rng.h"
#include "base/system.h"
#include "grain/grain.h"
#include "sdf/sdf.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static GrainSdf *make(const Shape *shape, float voxel, int threads)
{
    GrainSdfDef def;
    GrainRun run = {sizeof run, threads, NULL, NULL};
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = voxel;
    GrainMesh mesh = shape_mesh(shape);
    GrainSdf *sdf = NULL;
    if (grain_sdf_create(&mesh, &def, &run, &sdf) != GRAIN_OK) test_fail(__FILE__, __LINE__, "%s", grain_last_error());
    return sdf;
}

// Distance to a cube of half side 1.
static float cube_distance(Vec3 p)
{
    Vec3 q = {fabsf(p.x) - 1.0f, fabsf(p.y) - 1.0f, fabsf(p.z) - 1.0f};
    Vec3 out = vec3_max(q, vec3(0, 0, 0));
    return vec3_length(out) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0.0f);
}

TEST(cube_has_its_distances_at_every_voxel)
{
    Shape cube = shape_box(-1, -1, -1, 1, 1, 1);
    GrainSdf *sdf = make(&cube, 0.0301f, 2);
    shape_free(&cube);
    ENSURE(sdf != NULL);
    float worst = 0.0f, half_width = sdf_half_width(sdf);
    for (int64_t block = 0; block < sdf->block_count; block++) {
        int32_t corner[3];
        sdf_block_corner(sdf, block, corner);
        const float *values = sdf_block_values(sdf, block);
        for (int z = 0; z < 9; z++)
            for (int y = 0; y < 9; y++)
                for (int x = 0; x < 9; x++) {
                    float exact = cube_distance(sdf_voxel_position(sdf, corner[0] + x, corner[1] + y, corner[2] + z));
                    exact = fminf(fmaxf(exact, -half_width), half_width);
                    worst = fmaxf(worst, fabsf(values[sdf_block_index(x, y, z)] - exact));
                }
    }
    Vec3 slope;
    float deep = sdf_sample_point(sdf, vec3(0.1f, 0.2f, 0), &slope);
    float away = sdf_sample_point(sdf, vec3(50, 0, 0), &slope);
    float near = sdf_sample_point(sdf, vec3(1.02f, 0.3f, 0.1f), &slope);
    grain_sdf_destroy(sdf);
    ENSURE(deep == -half_width && away == half_width);
    ENSURE_NEAR(near, 0.02, 1e-5);
    ENSURE_NEAR(slope.x, 1.0, 1e-4);
    ENSURE_NEAR(worst, 0.0, 1e-4 * 0.03);
}

// Between voxels: no farther from the true distance than interpolation allows. A sphere of radius 1 curves by
// voxel^2 / 8 between two voxels, three times in space, and its own triangles lie up to 1e-3 inside.
TEST(between_voxels_the_field_is_smooth)
{
    Shape sphere = shape_sphere(32, 0.0);
    float voxel = 0.05f;
    GrainSdf *sdf = make(&sphere, voxel, 2);
    shape_free(&sphere);
    ENSURE(sdf != NULL);
    double worst = 0.0, least = 2.0, most = 0.0, sum = 0.0;
    int64_t count = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        Rng4 r = rng_at(2, i, RNG_STREAM_TEST, 0);
        Vec3 p = {rng_signed(r.word[0]), rng_signed(r.word[1]), rng_signed(r.word[2])}, slope;
        float length = vec3_length(p);
        if (length < 0.1f) continue;
        // So far into the band that all eight corners of a cell are known, each up to sqrt(3) voxels away.
        p = vec3_scale(p, (1.0f + 1.25f * voxel * rng_signed(r.word[3])) / length);
        float distance = sdf_sample_point(sdf, p, &slope);
        worst = fmax(worst, fabs((double)distance - ((double)vec3_length(p) - 1.0)));
        double steep = (double)vec3_length(slope);
        least = fmin(least, steep), most = fmax(most, steep), sum += steep;
        count++;
    }
    grain_sdf_destroy(sdf);
    printf("# gradient length %.4f to %.4f, mean %.5f; distance off by %.2e\n", least, most, sum / (double)count,
           worst);
    ENSURE(worst < 0.002);
    // Differences over a voxel see a slope half a voxel away: off by 0.5 * voxel / radius = 0.025 at most, and facets.
    ENSURE(least > 0.97 && most < 1.03);
    ENSURE_NEAR(sum / (double)count, 1.0, 1e-3);
}

// At the edge of the band and on the borders of blocks the field does not jump.
TEST(the_field_is_continuous)
{
    Shape knot = shape_torus_knot(600);
    float voxel = 0.06f;
    GrainSdf *sdf = make(&knot, voxel, 2);
    shape_free(&knot);
    ENSURE(sdf != NULL);
    double steepest = 0.0;
    for (uint64_t line = 0; line < 300; line++) {
        Rng4 r = rng_at(4, line, RNG_STREAM_TEST, 0);
        Vec3 from = {1.6f * rng_signed(r.word[0]), 1.6f * rng_signed(r.word[1]), 0.9f * rng_signed(r.word[2])};
        float before = sdf_sample_point(sdf, from, NULL), step = voxel / 16.0f;
        for (int i = 0; i < 400; i++) {
            from = vec3_add(from, vec3(step * 0.6f, step * (line & 1 ? 0.8f : -0.3f), step * 0.2f));
            float here = sdf_sample_point(sdf, from, NULL);
            steepest = fmax(steepest, fabs((double)here - (double)before) / (double)step);
            before = here;
        }
    }
    grain_sdf_destroy(sdf);
    ENSURE(steepest < 1.8); // along a diagonal of a cell, interpolation may climb by sqrt(3)
}

static int is_same_field(const GrainSdf *a, const GrainSdf *b)
{
    return a->block_count == b->block_count && a->node_count == b->node_count &&
           memcmp(a->values, b->values, (size_t)a->block_count * SDF_BLOCK_VALUES * sizeof(float)) == 0 &&
           memcmp(a->nodes, b->nodes, (size_t)a->node_count * SDF_NODE_CHILDREN * sizeof(int32_t)) == 0;
}

TEST(the_same_bits_for_any_threads_and_instruction_set)
{
    Shape crossing = shape_sphere(6, 0.1);
    shape_move(&crossing, 0.7f, 0.8f, 0.1f, 0.2f);
    Shape shapes[] = {shape_sphere(24, 0.12), shape_load(GRAIN_TEST_DATA "/suzanne.obj"),
                      shape_join(shape_sphere(5, 0.1), crossing), shape_bowl(10)};
    SimdSet best = simd_limit(SIMD_AVX512);
    for (int i = 0; i < 4; i++) {
        GrainSdf *first = make(&shapes[i], 0.05f, 1);
        int alike = 1;
        for (int threads = 2; threads <= 5; threads += 3) {
            GrainSdf *other = make(&shapes[i], 0.05f, threads);
            alike &= is_same_field(first, other);
            grain_sdf_destroy(other);
        }
        for (int set = SIMD_BASE; set <= SIMD_AVX512; set++) {
            simd_limit((SimdSet)set);
            GrainSdf *other = make(&shapes[i], 0.05f, 2);
            alike &= is_same_field(first, other);
            Vec3 slope = {0}, first_slope = {0};
            float a = sdf_sample_point(first, vec3(0.9f, 0.1f, 0.2f), &first_slope);
            float b = sdf_sample_point(other, vec3(0.9f, 0.1f, 0.2f), &slope);
            alike &= a == b && memcmp(&slope, &first_slope, sizeof slope) == 0;
            grain_sdf_destroy(other);
        }
        simd_limit(best);
        grain_sdf_destroy(first);
        shape_free(&shapes[i]);
        ENSURE(alike);
    }
}

TEST(many_points_give_what_each_gives_alone)
{
    Shape sphere = shape_sphere(4, 0.1);
    GrainSdf *sdf = make(&sphere, 0.1f, 1);
    shape_free(&sphere);
    enum { COUNT = 1501 };
    static float positions[3 * COUNT], distances[COUNT], gradients[3 * COUNT];
    for (uint64_t i = 0; i < COUNT; i++) {
        Rng4 r = rng_at(6, i, RNG_STREAM_TEST, 0);
        for (int k = 0; k < 3; k++) positions[3 * i + (uint64_t)k] = 1.7f * rng_signed(r.word[k]);
    }
    positions[0] = NAN, positions[4] = INFINITY, positions[8] = -3e38f;
    ENSURE_OK(grain_sdf_sample(sdf, positions, COUNT, distances, gradients, NULL));
    int alike = 1;
    for (int i = 0; i < COUNT; i++) {
        Vec3 slope;
        float alone = sdf_sample_point(sdf, vec3(positions[3 * i], positions[3 * i + 1], positions[3 * i + 2]), &slope);
        alike &= alone == distances[i] && memcmp(&slope, gradients + 3 * i, sizeof slope) == 0;
    }
    ENSURE(alike && distances[0] == sdf->half_width && gradients[0] == 0.0f);
    ENSURE_OK(grain_sdf_sample(sdf, positions, COUNT, distances, NULL, NULL));
    ENSURE_OK(grain_sdf_sample(sdf, NULL, 0, NULL, NULL, NULL));
    ENSURE_FAILS(grain_sdf_sample(sdf, NULL, 3, distances, NULL, NULL), GRAIN_ERROR_ARGUMENT, "positions");
    grain_sdf_destroy(sdf);
}

TEST(wrong_settings_are_refused)
{
    Shape box = shape_box(0, 0, 0, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&box);
    GrainSdfDef def, good;
    GrainSdf *sdf;
    ENSURE_OK(grain_sdf_def_default(&good, sizeof good));
    good.voxel_size = 0.1f;
    ENSURE_FAILS(grain_sdf_def_default(&def, 4), GRAIN_ERROR_ABI, "GrainSdfDef");
    def = good, def.voxel_size = 0.0f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "voxel_size");
    def = good, def.voxel_size = NAN;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "voxel_size");
    def = good, def.band_voxels = 1.0f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "band_voxels");
    def = good, def.thickness = -1.0f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "thickness");
    def = good, def.thickness = 100.0f;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "thickness");
    def = good, def.kind = 7;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "kind");
    def = good, def.struct_size = 3;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, NULL, &sdf), GRAIN_ERROR_ABI, "GrainSdfDef");
    ENSURE_FAILS(grain_sdf_create(NULL, &good, NULL, &sdf), GRAIN_ERROR_ARGUMENT, "GrainMesh");
    ENSURE_FAILS(grain_sdf_create(&mesh, &good, NULL, NULL), GRAIN_ERROR_ARGUMENT, "pointer");
    box.positions[4] = INFINITY;
    ENSURE_FAILS(grain_sdf_create(&mesh, &good, NULL, &sdf), GRAIN_ERROR_MESH, "vertex 1");
    box.positions[4] = 0.0f, box.triangles[7] = 8;
    ENSURE_FAILS(grain_sdf_create(&mesh, &good, NULL, &sdf), GRAIN_ERROR_MESH, "triangle 2");
    mesh.triangle_count = 0;
    ENSURE_FAILS(grain_sdf_create(&mesh, &good, NULL, &sdf), GRAIN_ERROR_MESH, "no faces");
    ENSURE(sdf == NULL);
    grain_sdf_destroy(NULL);
    shape_free(&box);
}

static int32_t stop_at(void *user, const char *stage, float fraction)
{
    (void)stage;
    return fraction >= *(const float *)user ? 0 : GRAIN_CONTINUE;
}

TEST(a_cancelled_field_leaves_nothing_behind)
{
    Shape sphere = shape_sphere(8, 0.1);
    GrainMesh mesh = shape_mesh(&sphere);
    GrainSdfDef def;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = 0.02f;
    float at = 0.0f;
    GrainRun run = {sizeof run, 2, stop_at, &at};
    GrainSdf *sdf;
    ENSURE_FAILS(grain_sdf_create(&mesh, &def, &run, &sdf), GRAIN_CANCELLED, "distance field");
    ENSURE(sdf == NULL);
    shape_free(&sphere);
}

// --- memory that runs out: every allocation in turn --------------------------------------------------

static int64_t allocations_left;

static void *allocate_some(void *user, uint64_t bytes, uint64_t alignment)
{
    (void)user;
    return __atomic_fetch_sub(&allocations_left, 1, __ATOMIC_RELAXED) > 0 ? system_allocate(bytes, alignment) : NULL;
}

static void release_some(void *user, void *memory, uint64_t bytes)
{
    (void)user, (void)bytes;
    system_free(memory);
}

TEST(every_allocation_may_fail)
{
    Shape crossing = shape_sphere(2, 0.1);
    shape_move(&crossing, 0.7f, 0.8f, 0.1f, 0.2f);
    Shape shapes[] = {shape_sphere(2, 0.1), shape_join(shape_sphere(2, 0.1), crossing), shape_bowl(3)};
    GrainAllocator allocator = {allocate_some, release_some, NULL};
    ENSURE_OK(grain_set_allocator(&allocator));
    int ended[3] = {0}, clean = 1;
    for (int i = 0; i < 3; i++) {
        GrainMesh mesh = shape_mesh(&shapes[i]);
        GrainSdfDef def;
        GrainRun run = {sizeof run, 2, NULL, NULL};
        grain_sdf_def_default(&def, sizeof def);
        def.voxel_size = 0.4f;
        for (int64_t allowed = 0; allowed < 500 && !ended[i]; allowed++) {
            allocations_left = allowed;
            GrainSdf *sdf;
            GrainResult result = grain_sdf_create(&mesh, &def, &run, &sdf);
            ended[i] = result == GRAIN_OK;
            clean &= result == GRAIN_OK || (result == GRAIN_ERROR_MEMORY && sdf == NULL);
            grain_sdf_destroy(sdf);
            clean &= grain_allocated_bytes() == 0;
        }
        shape_free(&shapes[i]);
    }
    grain_set_allocator(NULL);
    ENSURE(ended[0] && ended[1] && ended[2] && clean);
}
