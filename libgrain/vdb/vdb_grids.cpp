// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks of voxels as OpenVDB grids, in memory; the bytes go to the caller, who knows how to write a file whole.
#include "vdb_guard.h"
#include "vdb_sink.h"

#include <openvdb/tools/Prune.h>

#include <cmath>

namespace {

openvdb::Index leaf_offset(int x, int y, int z) { return openvdb::Index((x << 6) | (y << 3) | z); }

// Calls set(offset in the leaf, number in the block) for every voxel.
template <typename Set> void for_each_voxel(Set set)
{
    for (int x = 0; x < 8; x++)
        for (int y = 0; y < 8; y++)
            for (int z = 0; z < 8; z++) set(leaf_offset(x, y, z), (z << 6) | (y << 3) | x);
}

bool has_any(const float *values, int count)
{
    for (int i = 0; i < count; i++)
        if (values[i] != 0.0f) return true;
    return false;
}

openvdb::Coord corner_of(const VdbGrid &in, int64_t block)
{
    const int32_t *corner = in.corner + 3 * block;
    return {corner[0], corner[1], corner[2]};
}

openvdb::FloatGrid::Ptr make_fog(const VdbGrid &in)
{
    auto grid = openvdb::FloatGrid::create(0.0f);
    for (int64_t block = 0; block < in.block_count; block++) {
        const float *values = in.values + 512 * block;
        if (!has_any(values, 512)) continue;
        auto *leaf = grid->tree().touchLeaf(corner_of(in, block));
        for_each_voxel([&](openvdb::Index offset, int i) {
            if (values[i] > 0.0f) leaf->setValueOn(offset, values[i]);
        });
    }
    grid->setGridClass(openvdb::GRID_FOG_VOLUME);
    return grid;
}

openvdb::Vec3SGrid::Ptr make_velocity(const VdbGrid &in)
{
    auto grid = openvdb::Vec3SGrid::create(openvdb::Vec3s(0.0f));
    for (int64_t block = 0; block < in.block_count; block++) {
        const float *x = in.values + 3 * 512 * block, *y = x + 512, *z = y + 512;
        if (!has_any(x, 3 * 512)) continue;
        auto *leaf = grid->tree().touchLeaf(corner_of(in, block));
        for_each_voxel([&](openvdb::Index offset, int i) {
            openvdb::Vec3s value(x[i], y[i], z[i]);
            if (!value.isZero()) leaf->setValueOn(offset, value);
        });
    }
    // A change of place for each second: turns and scales with the object that carries the grid.
    grid->setVectorType(openvdb::VEC_CONTRAVARIANT_RELATIVE);
    return grid;
}

openvdb::FloatGrid::Ptr make_distance(const VdbGrid &in)
{
    auto grid = openvdb::FloatGrid::create(in.background);
    for (int64_t block = 0; block < in.block_count; block++) {
        const float *values = in.values + 512 * block;
        auto *leaf = grid->tree().touchLeaf(corner_of(in, block));
        for_each_voxel([&](openvdb::Index offset, int i) {
            if (std::fabs(values[i]) < in.background)
                leaf->setValueOn(offset, values[i]);
            else
                leaf->setValueOff(offset, values[i] < 0.0f ? -in.background : in.background);
        });
    }
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    openvdb::tools::pruneLevelSet(grid->tree());
    return grid;
}

openvdb::GridBase::Ptr make_grid(const VdbGrid &in, const VdbFile &file)
{
    openvdb::GridBase::Ptr grid;
    switch (in.kind) {
    case VDB_VELOCITY:
        grid = make_velocity(in);
        break;
    case VDB_DISTANCE:
        grid = make_distance(in);
        break;
    default:
        grid = make_fog(in);
        break;
    }
    grid->setName(in.name);
    grid->setCreator(file.creator);
    grid->setSaveFloatAsHalf(true);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(in.voxel_size));
    for (int64_t i = 0; i < file.number_count; i++)
        grid->insertMeta(file.numbers[i].name, openvdb::DoubleMetadata(file.numbers[i].value));
    return grid;
}

} // namespace

int32_t vdb_grids_write(const VdbFile *file, VdbSinkFn *sink, void *user, VdbMessage *message)
{
    return guarded(message, [&] {
        openvdb::GridCPtrVec grids;
        for (int64_t i = 0; i < file->grid_count; i++) grids.push_back(make_grid(file->grids[i], *file));
        write_to_sink(grids, sink, user);
    });
}
