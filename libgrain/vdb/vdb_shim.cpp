// SPDX-License-Identifier: GPL-3.0-or-later
#include "vdb_guard.h"
#include "vdb_path.h"
#include "vdb_sink.h"
#include "vdb_walk.h"

#include <openvdb/io/Compression.h>
#include <openvdb/io/Stream.h>
#include <openvdb/openvdb.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

struct VdbReader {
    openvdb::FloatGrid::Ptr grid;
};

namespace {

void save(const char *path, const std::string &bytes)
{
    std::ofstream file(path_of(path), std::ios::binary | std::ios::trunc);
    if (!file) throw Failure{VDB_ERROR_IO, "the file cannot be opened for writing"};
    file.write(bytes.data(), std::streamsize(bytes.size()));
    file.close();
    if (!file) throw Failure{VDB_ERROR_IO, "the file could not be written; is the disk full?"};
}

openvdb::math::Transform::Ptr make_transform(const VdbLevelSet &in)
{
    auto transform = openvdb::math::Transform::createLinearTransform(in.voxel_size);
    openvdb::Vec3d offset(in.offset[0], in.offset[1], in.offset[2]);
    if (!offset.isZero()) transform->postTranslate(offset);
    return transform;
}

void fill_leaf(openvdb::FloatTree::LeafNodeType &leaf, const VdbLevelSet &in, const float *values)
{
    for (int x = 0; x < 8; x++)
        for (int y = 0; y < 8; y++)
            for (int z = 0; z < 8; z++) {
                float value = values[z * in.slice + y * in.row + x];
                openvdb::Index offset = openvdb::Index((x << 6) | (y << 3) | z);
                if (std::fabs(value) < in.background)
                    leaf.setValueOn(offset, value);
                else
                    leaf.setValueOff(offset, value < 0.0f ? -in.background : in.background);
            }
}

openvdb::FloatGrid::Ptr make_grid(const VdbLevelSet &in)
{
    auto grid = openvdb::FloatGrid::create(in.background);
    for (int64_t i = 0; i < in.inside_count; i++) {
        const int32_t *box = in.inside + 4 * i;
        openvdb::Coord low(box[0], box[1], box[2]);
        grid->tree().sparseFill(openvdb::CoordBBox(low, low.offsetBy(box[3] - 1)), -in.background, false);
    }
    for (int64_t i = 0; i < in.block_count; i++) {
        const int32_t *corner = in.corner + 3 * i;
        auto *leaf = grid->tree().touchLeaf(openvdb::Coord(corner[0], corner[1], corner[2]));
        fill_leaf(*leaf, in, in.values + i * in.block_stride);
    }
    grid->setTransform(make_transform(in));
    grid->setGridClass(openvdb::GRID_LEVEL_SET);
    grid->setName(in.name ? in.name : "surface");
    return grid;
}

std::string load(const char *path)
{
    std::ifstream file(path_of(path), std::ios::binary | std::ios::ate);
    std::streamoff size = file ? std::streamoff(file.tellg()) : -1;
    if (size < 0) throw Failure{VDB_ERROR_IO, "the file cannot be opened"};
    std::string bytes(size_t(size), '\0');
    file.seekg(0);
    file.read(&bytes[0], size);
    if (!file) throw Failure{VDB_ERROR_IO, "the file cannot be read"};
    return bytes;
}

void unpack(const char *chunk, size_t chunk_bytes, size_t unpacked_bytes, bool is_blosc)
{
    LevelSetBytes none{std::string(chunk, chunk_bytes), 0, 0};
    LevelSetBuffer buffer(none, none.head);
    std::istream stream(&buffer);
    std::vector<char> values(unpacked_bytes);
    if (is_blosc)
        openvdb::io::bloscFromStream(stream, values.data(), values.size());
    else
        openvdb::io::unzipFromStream(stream, values.data(), values.size());
}

// OpenVDB sees nothing that has not been followed before (vdb_walk.h). What follows there may still not unpack.
openvdb::FloatGrid::Ptr find_grid(const char *path, const char *name)
{
    std::string bytes = load(path);
    LevelSetBytes level_set = find_level_set(bytes, name, unpack);
    LevelSetBuffer buffer(level_set, bytes);
    std::istream file(&buffer);
    file.exceptions(std::ios::failbit | std::ios::badbit | std::ios::eofbit);
    openvdb::io::Stream stream(file, false);
    openvdb::GridPtrVecPtr grids = stream.getGrids();
    auto grid = grids->empty() ? nullptr : openvdb::gridPtrCast<openvdb::FloatGrid>(grids->front());
    if (!grid) throw Failure{VDB_ERROR_FORMAT, "its level set cannot be read"};
    return grid;
}

// Only lattices along the axes: others would have to be resampled.
void read_transform(const openvdb::FloatGrid &grid, VdbLevelSetInfo &info)
{
    const auto &transform = grid.transform();
    openvdb::Vec3d origin = transform.indexToWorld(openvdb::Vec3d(0.0)), size = grid.voxelSize();
    double voxel = size.x();
    for (int axis = 0; axis < 3; axis++) {
        openvdb::Vec3d unit(0.0);
        unit[axis] = 1.0;
        openvdb::Vec3d step = transform.indexToWorld(unit) - origin;
        step[axis] -= voxel;
        if (!(step.length() <= 1e-6 * voxel))
            throw Failure{VDB_ERROR_FORMAT, "its voxels are turned or not cubes; only upright cubes can be read"};
        info.offset[axis] = origin[axis];
    }
    info.voxel_size = voxel;
}

} // namespace

uint32_t vdb_shim_version(void) { return VDB_SHIM_VERSION; }

int32_t vdb_level_set_write(const char *path, const VdbLevelSet *level_set, VdbMessage *message)
{
    return guarded(message, [&] {
        openvdb::GridCPtrVec grids{make_grid(*level_set)};
        save(path, file_bytes(grids));
    });
}

int32_t vdb_level_set_open(const char *path, const char *name, VdbReader **reader, VdbLevelSetInfo *info,
                           VdbMessage *message)
{
    *reader = nullptr;
    return guarded(message, [&] {
        auto grid = find_grid(path, name);
        *info = VdbLevelSetInfo();
        read_transform(*grid, *info);
        grid->tree().voxelizeActiveTiles();
        info->background = grid->background();
        info->block_count = int64_t(grid->tree().leafCount());
        *reader = new VdbReader{grid};
    });
}

int32_t vdb_level_set_read(VdbReader *reader, int32_t *corner, float *values, VdbMessage *message)
{
    return guarded(message, [&] {
        for (auto leaf = reader->grid->tree().cbeginLeaf(); leaf; ++leaf, corner += 3, values += 512) {
            openvdb::Coord origin = leaf->origin();
            corner[0] = origin.x(), corner[1] = origin.y(), corner[2] = origin.z();
            for (int x = 0; x < 8; x++)
                for (int y = 0; y < 8; y++)
                    for (int z = 0; z < 8; z++)
                        values[(z << 6) | (y << 3) | x] = leaf->getValue(openvdb::Index((x << 6) | (y << 3) | z));
        }
    });
}

void vdb_reader_close(VdbReader *reader) { delete reader; }
