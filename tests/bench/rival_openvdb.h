#pragma once
/// What benchmarks ask of OpenVDB.
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct RivalMesh RivalMesh;
/// The mesh in OpenVDB's own containers: copying it is no part of what is timed.
RivalMesh *rival_mesh_create(const float *positions, int64_t vertex_count, const int32_t *triangles,
                             int64_t triangle_count);
void rival_mesh_destroy(RivalMesh *mesh);

typedef struct RivalGrid RivalGrid;
/// openvdb::tools::meshToLevelSet on this many threads.
RivalGrid *rival_mesh_to_level_set(const RivalMesh *mesh, double voxel, float half_width_voxels, int threads);
int64_t rival_grid_voxels(const RivalGrid *grid);
void rival_grid_destroy(RivalGrid *grid);

#ifdef __cplusplus
}
#endif
