// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/rng.h"
#include "grain/grain.h"
#include "mesh/mesh_winding.h"
#include "shared/brute.h"
#include "shared/meshes.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

enum { POINTS = 500 };

// The worst difference to the exact sum, over points in and around the mesh.
static double worst(const Shape *shape, float numbers[POINTS])
{
    GrainMesh mesh = shape_mesh(shape);
    MeshWinding winding;
    if (mesh_winding_build(&winding, &mesh, NULL, NULL, 2) != GRAIN_OK) return INFINITY;
    float x[POINTS], y[POINTS], z[POINTS];
    for (uint64_t i = 0; i < POINTS; i++) {
        Rng4 r = rng_at(11, i, RNG_STREAM_TEST, 0);
        x[i] = 0.5f * rng_signed(r.word[0]), y[i] = 0.5f * rng_signed(r.word[1]), z[i] = 0.5f * rng_signed(r.word[2]);
    }
    SIMD_CALL(mesh_winding_at)(&winding, x, y, z, POINTS, numbers);
    double off = 0.0;
    for (int i = 0; i < POINTS; i++) {
        const double place[3] = {winding.centre.x + winding.scale * (double)x[i],
                                 winding.centre.y + winding.scale * (double)y[i],
                                 winding.centre.z + winding.scale * (double)z[i]};
        off = fmax(off, fabs((double)numbers[i] - brute_winding(&mesh, place)));
    }
    mesh_winding_free(&winding);
    return off;
}

// Only "more than a half" is ever asked of it.
TEST(near_the_exact_sum_over_closed_and_open_meshes)
{
    float numbers[POINTS];
    Shape shapes[] = {shape_sphere(16, 0.12), shape_torus_knot(4000), shape_bowl(20), shape_plane(30),
                      shape_load(GRAIN_TEST_DATA "/suzanne.obj")};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        double off = worst(&shapes[i], numbers);
        printf("# shape %zu: off by %.4f\n", i, off);
        shape_free(&shapes[i]);
        ENSURE(off < 0.02);
    }
}

TEST(the_same_bits_for_all_instruction_sets)
{
    if (simd_set() == SIMD_BASE) SKIP("this processor has one instruction set only");
    Shape shape = shape_torus_knot(3000);
    float numbers[3][POINTS];
    SimdSet best = simd_limit(SIMD_AVX512);
    for (int set = SIMD_BASE; set <= SIMD_AVX512; set++) {
        simd_limit((SimdSet)set);
        worst(&shape, numbers[set]);
    }
    simd_limit(best);
    shape_free(&shape);
    ENSURE(memcmp(numbers[0], numbers[1], sizeof numbers[0]) == 0);
    ENSURE(memcmp(numbers[0], numbers[2], sizeof numbers[0]) == 0);
}
