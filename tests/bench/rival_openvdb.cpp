#include "bench/rival_openvdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/global_control.h>

#include <cstring>
#include <vector>

struct RivalMesh {
    std::vector<openvdb::Vec3s> points;
    std::vector<openvdb::Vec3I> triangles;
};

struct RivalGrid {
    openvdb::FloatGrid::Ptr grid;
};

RivalMesh *rival_mesh_create(const float *positions, int64_t vertex_count, const int32_t *triangles,
                             int64_t triangle_count)
{
    openvdb::initialize();
    auto *mesh = new RivalMesh;
    mesh->points.resize(size_t(vertex_count));
    mesh->triangles.resize(size_t(triangle_count));
    memcpy(static_cast<void *>(mesh->points.data()), positions, mesh->points.size() * sizeof(openvdb::Vec3s));
    memcpy(static_cast<void *>(mesh->triangles.data()), triangles, mesh->triangles.size() * sizeof(openvdb::Vec3I));
    return mesh;
}

void rival_mesh_destroy(RivalMesh *mesh) { delete mesh; }

RivalGrid *rival_mesh_to_level_set(const RivalMesh *mesh, double voxel, float half_width_voxels, int threads)
{
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, size_t(threads));
    auto transform = openvdb::math::Transform::createLinearTransform(voxel);
    auto grid = openvdb::tools::meshToLevelSet<openvdb::FloatGrid>(*transform, mesh->points, mesh->triangles,
                                                                   half_width_voxels);
    return new RivalGrid{grid};
}

int64_t rival_grid_voxels(const RivalGrid *grid) { return int64_t(grid->grid->activeVoxelCount()); }

void rival_grid_destroy(RivalGrid *grid) { delete grid; }
