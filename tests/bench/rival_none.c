// SPDX-License-Identifier: GPL-3.0-or-later
// Stands in for OpenVDB where a build has none to measure against: there is no rival, and benchmarks leave it out.
#include "bench/rival_openvdb.h"

#include <stddef.h>

RivalMesh *rival_mesh_create(const float *positions, int64_t vertex_count, const int32_t *triangles,
                             int64_t triangle_count)
{
    (void)positions, (void)vertex_count, (void)triangles, (void)triangle_count;
    return NULL;
}

void rival_mesh_destroy(RivalMesh *mesh) { (void)mesh; }

RivalGrid *rival_mesh_to_level_set(const RivalMesh *mesh, double voxel, float half_width_voxels, int threads)
{
    (void)mesh, (void)voxel, (void)half_width_voxels, (void)threads;
    return NULL;
}

int64_t rival_grid_voxels(const RivalGrid *grid)
{
    (void)grid;
    return 0;
}

void rival_grid_destroy(RivalGrid *grid) { (void)grid; }
