#include "grain/grain.h"
#include "sdf/sdf.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

static const float cube_positions[] = {-1, -1, -1, 1, -1, -1, -1, 1, -1, 1, 1, -1,
                                       -1, -1, 1,  1, -1, 1,  -1, 1, 1,  1, 1, 1};
static const int32_t cube_triangles[] = {0, 2, 1, 1, 2, 3, 4, 5, 6, 5, 7, 6, 0, 1, 4, 1, 5, 4,
                                         2, 6, 3, 3, 6, 7, 0, 4, 2, 2, 4, 6, 1, 3, 5, 3, 7, 5};
static const GrainMesh cube = {cube_positions, cube_triangles, 8, 12};

// Distance to a cube of half side 1.
static float cube_distance(Vec3 p)
{
    Vec3 q = {fabsf(p.x) - 1.0f, fabsf(p.y) - 1.0f, fabsf(p.z) - 1.0f};
    Vec3 out = vec3_max(q, vec3(0, 0, 0));
    return vec3_length(out) + fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0.0f);
}

TEST(cube_has_its_distances_at_every_voxel)
{
    GrainSdfDef def;
    ENSURE_OK(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = 0.0301f;
    GrainSdf *sdf;
    ENSURE_OK(grain_sdf_create(&cube, &def, NULL, &sdf));
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
