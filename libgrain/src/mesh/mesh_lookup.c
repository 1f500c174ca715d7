// SPDX-License-Identifier: GPL-3.0-or-later
#include "mesh/mesh_lookup.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "mesh/mesh_order.h"

enum { BATCH = 256 };

GrainResult mesh_lookup_create(MeshLookup *lookup, const GrainMesh *mesh, int threads)
{
    *lookup = (MeshLookup){.mesh = mesh};
    int64_t count;
    TRY(mesh_order(mesh, NULL, threads, &lookup->triangle, &count));
    Vec3 *corners = ALLOC(Vec3, 3 * count);
    GrainResult result = corners ? GRAIN_OK : GRAIN_ERROR_MEMORY;
    for (int64_t leaf_triangle = 0; corners && leaf_triangle < count; leaf_triangle++)
        for (int c = 0; c < 3; c++)
            corners[3 * leaf_triangle + c] = mesh_vertex(mesh, lookup->triangle[leaf_triangle], c);
    if (result == GRAIN_OK) result = mesh_tree_build(&lookup->tree, corners, count, threads);
    alloc_free(corners);
    if (result != GRAIN_OK) mesh_lookup_free(lookup);
    return result;
}

void mesh_lookup_free(MeshLookup *lookup)
{
    mesh_tree_free(&lookup->tree);
    alloc_free(lookup->triangle);
    *lookup = (MeshLookup){0};
}

void mesh_lookup_find(const MeshLookup *lookup, const Vec3 *places, int64_t count, int threads, MeshPoint *points)
{
    PARALLEL_BLOCKS(threads, block, parallel_block_count(count, BATCH))
    {
        float x[BATCH], y[BATCH], z[BATCH];
        int64_t first = block * BATCH, end = parallel_block_end(block, BATCH, count);
        for (int64_t i = first; i < end; i++) {
            x[i - first] = places[i].x, y[i - first] = places[i].y, z[i - first] = places[i].z;
            points[i].leaf_triangle = -1; // a guess would decide among triangles at the same distance
        }
        mesh_tree_nearest(&lookup->tree, x, y, z, end - first, 0.0f, points + first);
    }
}

void mesh_lookup_read(const MeshLookup *lookup, MeshPoint point, const MeshAttribute *attribute, float *out)
{
    int64_t triangle = lookup->triangle[point.leaf_triangle];
    const float share[3] = {1.0f - point.v - point.w, point.v, point.w};
    for (int k = 0; k < attribute->components; k++) out[k] = 0.0f;
    for (int c = 0; c < 3; c++) {
        int64_t element = attribute->by_corner ? 3 * triangle + c : lookup->mesh->triangles[3 * triangle + c];
        for (int k = 0; k < attribute->components; k++)
            out[k] += share[c] * attribute->numbers[element * attribute->components + k];
    }
}
