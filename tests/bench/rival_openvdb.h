// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What benchmarks ask of OpenVDB.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RivalMesh RivalMesh;
/// The mesh in OpenVDB's own containers: copying it is no part of what is timed. NULL in builds without OpenVDB.
RivalMesh *rival_mesh_create(const float *positions, int64_t vertex_count, const int32_t *triangles,
                             int64_t triangle_count);
void rival_mesh_destroy(RivalMesh *mesh);

typedef struct RivalGrid RivalGrid;
/// openvdb::tools::meshToLevelSet on this many threads.
RivalGrid *rival_mesh_to_level_set(const RivalMesh *mesh, double voxel, float half_width_voxels, int threads);
int64_t rival_grid_voxels(const RivalGrid *grid);
void rival_grid_destroy(RivalGrid *grid);

typedef struct RivalPoints RivalPoints;
/// Points in OpenVDB's own containers.
RivalPoints *rival_points_create(const float *positions, const float *velocities, int64_t count);
void rival_points_destroy(RivalPoints *points);
/// As a grid of OpenVDB points with position_bits (8 or 16) to a coordinate within its voxel, velocities in half floats
/// and Blosc, eight points to a voxel. Returns the bytes of the file.
int64_t rival_points_write(const RivalPoints *points, const char *path, int position_bits, int threads);
/// Back into arrays, in the grid's own order. Returns how many.
int64_t rival_points_read(const char *path, float *positions, float *velocities, int threads);

#ifdef __cplusplus
}
#endif
