// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/rigid/rigid_paint.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "mesh/mesh_lookup.h"

#include <math.h>

// Values of one block of the field. What lies beyond the band touches nothing.
static void paint_block(RigidPaint *paint, const MeshLookup *lookup, const MeshAttribute *from, const float *distances,
                        int64_t block)
{
    int32_t corner[3], which[SDF_BLOCK_VALUES];
    Vec3 places[SDF_BLOCK_VALUES];
    MeshPoint points[SDF_BLOCK_VALUES];
    int count = 0;
    float *values = paint->field.values + block * SDF_BLOCK_VALUES;
    sdf_block_corner(&paint->field, block, corner);
    for (int i = 0; i < SDF_BLOCK_VALUES; i++) {
        values[i] = 0.0f;
        if (fabsf(distances[i]) >= paint->field.half_width) continue;
        int x = i % SDF_BLOCK_PITCH, y = i / SDF_BLOCK_PITCH % SDF_BLOCK_PITCH,
            z = i / (SDF_BLOCK_PITCH * SDF_BLOCK_PITCH);
        places[count] = sdf_voxel_position(&paint->field, corner[0] + x, corner[1] + y, corner[2] + z);
        which[count++] = i;
    }
    mesh_lookup_find(lookup, places, count, 1, points);
    for (int k = 0; k < count; k++) mesh_lookup_read(lookup, points[k], from, &values[which[k]]);
}

GrainResult rigid_paint_create(RigidPaint *paint, const float *numbers, const GrainMesh *mesh, const GrainSdf *sdf,
                               int threads)
{
    *paint = (RigidPaint){.numbers = numbers, .triangles = mesh ? mesh->triangles : NULL};
    if (!numbers || !sdf) return GRAIN_OK;
    MeshLookup lookup;
    MeshAttribute from = {numbers, 1, 0};
    paint->field = *sdf;
    paint->field.values = ALLOC(float, sdf->block_count *SDF_BLOCK_VALUES);
    if (!paint->field.values) return GRAIN_ERROR_MEMORY;
    TRY(mesh_lookup_create(&lookup, mesh, threads));
    PARALLEL_BLOCKS(threads, block, sdf->block_count)
    {
        paint_block(paint, &lookup, &from, sdf_block_values(sdf, block), block);
    }
    mesh_lookup_free(&lookup);
    return GRAIN_OK;
}

void rigid_paint_free(RigidPaint *paint)
{
    alloc_free(paint->field.values);
    *paint = (RigidPaint){0};
}

void rigid_paint_sample(const RigidPaint *paint, float scale, const float *x, const float *y, const float *z, int count,
                        float *out)
{
    if (paint->field.values) sdf_sample(&paint->field, x, y, z, count, out, NULL, NULL, NULL);
    for (int i = 0; i < count; i++)
        out[i] = paint->field.values ? scale * real_minf(real_maxf(out[i], 0.0f), 1.0f) : scale;
}

float rigid_paint_at_plane(const RigidPaint *paint, float scale, const RigidSurface *surface, const RigidPlane *plane)
{
    if (!paint->numbers) return scale;
    const int32_t *corner = paint->triangles + 3 * (int64_t)surface->triangle[plane->leaf_triangle];
    return scale * ((1.0f - plane->v - plane->w) * paint->numbers[corner[0]] + plane->v * paint->numbers[corner[1]] +
                    plane->w * paint->numbers[corner[2]]);
}
