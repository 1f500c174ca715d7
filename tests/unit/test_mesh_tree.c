// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/alloc.h"
#include "base/rng.h"
#include "grain/grain.h"
#include "mesh/mesh_tree.h"
#include "shared/brute.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define COUNT 500

typedef struct Places {
    float x[COUNT], y[COUNT], z[COUNT];
    MeshPoint points[COUNT];
} Places;

static MeshTree build(const Shape *shape)
{
    MeshTree tree;
    Vec3 *corners = ALLOC(Vec3, 3 * shape->triangle_count);
    for (int64_t i = 0; i < 3 * shape->triangle_count; i++)
        memcpy(&corners[i], shape->positions + 3 * shape->triangles[i], sizeof(Vec3));
    if (mesh_tree_build(&tree, corners, shape->triangle_count, 2) != GRAIN_OK) test_fail(__FILE__, __LINE__, "build");
    alloc_free(corners);
    return tree;
}

static void scatter(Places *p, float size, int32_t guess)
{
    for (int i = 0; i < COUNT; i++) {
        Rng4 r = rng_at(3, (uint64_t)i, RNG_STREAM_TEST, 0);
        p->x[i] = size * rng_signed(r.word[0]), p->y[i] = size * rng_signed(r.word[1]);
        p->z[i] = size * rng_signed(r.word[2]);
        p->points[i].leaf_triangle = guess < 0 ? -1 : (int32_t)(r.word[3] % (uint32_t)guess);
    }
}

static double worst_error(const Shape *shape, const MeshTree *tree, const Places *p)
{
    GrainMesh mesh = shape_mesh(shape);
    double worst = 0.0;
    for (int i = 0; i < COUNT; i++) {
        double place[3] = {(double)p->x[i], (double)p->y[i], (double)p->z[i]};
        double exact = brute_distance(&mesh, place);
        Vec3 found = mesh_tree_place(tree, p->points[i]);
        double distance = (double)vec3_length(vec3_sub(found, vec3(p->x[i], p->y[i], p->z[i])));
        worst = fmax(worst, fmax(fabs(distance - exact), fabs(sqrt((double)p->points[i].distance_squared) - exact)));
    }
    return worst;
}

TEST(nearest_point_is_the_nearest_of_all_triangles)
{
    Shape shapes[] = {shape_torus_knot(3000), shape_box(-1, -1, -1, 1, 1, 1), shape_tetrahedron(), shape_plane(7)};
    static Places places;
    for (int i = 0; i < 4; i++) {
        MeshTree tree = build(&shapes[i]);
        for (int guessing = 0; guessing < 2; guessing++) {
            scatter(&places, 2.0f, guessing ? (int32_t)shapes[i].triangle_count : -1);
            mesh_tree_nearest(&tree, places.x, places.y, places.z, COUNT, 0.0f, places.points);
            ENSURE_NEAR(worst_error(&shapes[i], &tree, &places), 0.0, 2e-6);
        }
        mesh_tree_free(&tree);
        shape_free(&shapes[i]);
    }
}

TEST(refitted_tree_finds_what_a_new_one_does)
{
    static Places places;
    Shape shape = shape_torus_knot(1000);
    MeshTree tree = build(&shape);
    Vec3 *corners = ALLOC(Vec3, 3 * shape.triangle_count);
    for (int64_t i = 0; i < shape.vertex_count; i++) shape.positions[3 * i] += sinf(3.0f * shape.positions[3 * i + 2]);
    for (int64_t i = 0; i < 3 * shape.triangle_count; i++)
        memcpy(&corners[i], shape.positions + 3 * shape.triangles[i], sizeof(Vec3));
    mesh_tree_refit(&tree, corners, 2);
    alloc_free(corners);
    scatter(&places, 2.0f, -1);
    mesh_tree_nearest(&tree, places.x, places.y, places.z, COUNT, 0.0f, places.points);
    ENSURE_NEAR(worst_error(&shape, &tree, &places), 0.0, 2e-6);
    mesh_tree_free(&tree);
    shape_free(&shape);
}

TEST(same_points_on_every_instruction_set)
{
    if (simd_set() == SIMD_BASE) SKIP("this processor has one instruction set only");
    static Places places[3];
    Shape shape = shape_torus_knot(2000);
    MeshTree tree = build(&shape);
    SimdSet all = simd_set();
    for (int set = SIMD_BASE; set <= SIMD_AVX512; set++) {
        simd_limit((SimdSet)set);
        scatter(&places[set], 2.0f, -1);
        mesh_tree_nearest(&tree, places[set].x, places[set].y, places[set].z, COUNT, 0.0f, places[set].points);
    }
    simd_limit(all);
    for (int set = SIMD_AVX2; set <= SIMD_AVX512; set++)
        ENSURE(memcmp(places[0].points, places[set].points, sizeof places[0].points) == 0);
    mesh_tree_free(&tree);
    shape_free(&shape);
}
