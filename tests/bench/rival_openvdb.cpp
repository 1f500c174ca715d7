// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/rival_openvdb.h"

#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointCount.h>
#include <openvdb/tools/MeshToVolume.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>

#include <cstring>
#include <filesystem>
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

struct RivalPoints {
    std::vector<openvdb::Vec3f> positions, velocities;
    double voxel = 0.0;
};

namespace {
namespace points = openvdb::points;
using HalfVelocity = points::TypedAttributeArray<openvdb::Vec3f, points::TruncateCodec>;
using Vectors = points::PointAttributeVector<openvdb::Vec3f>;

template <typename Codec> points::PointDataGrid::Ptr make_grid(const RivalPoints &from)
{
    auto transform = openvdb::math::Transform::createLinearTransform(from.voxel);
    Vectors positions(from.positions), velocities(from.velocities);
    auto index = openvdb::tools::createPointIndexGrid<openvdb::tools::PointIndexGrid>(positions, *transform);
    auto grid = points::createPointDataGrid<Codec, points::PointDataGrid>(*index, positions, *transform);
    points::appendAttribute(grid->tree(), "velocity", HalfVelocity::attributeType());
    points::populateAttribute(grid->tree(), index->tree(), "velocity", velocities);
    return grid;
}
} // namespace

RivalPoints *rival_points_create(const float *positions, const float *velocities, int64_t count)
{
    openvdb::initialize();
    HalfVelocity::registerType();
    auto *made = new RivalPoints;
    made->positions.resize(size_t(count));
    made->velocities.resize(size_t(count));
    memcpy(static_cast<void *>(made->positions.data()), positions, size_t(count) * sizeof(openvdb::Vec3f));
    memcpy(static_cast<void *>(made->velocities.data()), velocities, size_t(count) * sizeof(openvdb::Vec3f));
    made->voxel = double(points::computeVoxelSize(Vectors(made->positions), 8));
    return made;
}

void rival_points_destroy(RivalPoints *made) { delete made; }

int64_t rival_points_write(const RivalPoints *from, const char *path, int position_bits, int threads)
{
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, size_t(threads));
    auto grid = position_bits == 8 ? make_grid<points::FixedPointCodec<true>>(*from)
                                   : make_grid<points::FixedPointCodec<false>>(*from);
    openvdb::io::File file(path);
    file.setCompression(openvdb::io::COMPRESS_BLOSC | openvdb::io::COMPRESS_ACTIVE_MASK);
    file.write({grid});
    file.close();
    return int64_t(std::filesystem::file_size(path));
}

int64_t rival_points_read(const char *path, float *positions, float *velocities, int threads)
{
    tbb::global_control control(tbb::global_control::max_allowed_parallelism, size_t(threads));
    openvdb::io::File file(path);
#ifdef OPENVDB_USE_DELAYED_LOADING // built without it, all is read at once
    file.setCopyMaxBytes(0);
#endif
    file.open(false);
    auto grid = openvdb::gridPtrCast<points::PointDataGrid>(file.readGrid(file.beginName().gridName()));
    std::vector<const points::PointDataTree::LeafNodeType *> leaves;
    std::vector<size_t> first;
    size_t total = 0;
    for (auto leaf = grid->tree().cbeginLeaf(); leaf; ++leaf) {
        leaves.push_back(&*leaf);
        first.push_back(total);
        total += size_t(leaf->pointCount());
    }
    tbb::parallel_for(size_t(0), leaves.size(), [&](size_t i) {
        points::AttributeHandle<openvdb::Vec3f> p(leaves[i]->constAttributeArray("P")),
            v(leaves[i]->constAttributeArray("velocity"));
        size_t at = first[i];
        for (auto index = leaves[i]->beginIndexOn(); index; ++index, ++at) {
            openvdb::Vec3d world =
                grid->transform().indexToWorld(openvdb::Vec3d(p.get(*index)) + index.getCoord().asVec3d());
            openvdb::Vec3f velocity = v.get(*index);
            for (int axis = 0; axis < 3; axis++) {
                positions[3 * at + size_t(axis)] = float(world[axis]);
                velocities[3 * at + size_t(axis)] = velocity[axis];
            }
        }
    });
    return int64_t(total);
}
