// SPDX-License-Identifier: GPL-3.0-or-later
// What OpenVDB's own reader finds in a .vdb file, as JSON: vdb_probe FILE [X Y Z]. For the tests, which trust no reader
// of ours. With a place, the values there are told too.
#include <openvdb/openvdb.h>
#include <openvdb/points/PointConversion.h>
#include <openvdb/points/PointCount.h>
#include <openvdb/tools/Interpolation.h>

#include <cstdio>
#include <cstdlib>

using namespace openvdb;

static void print_common(const GridBase &grid)
{
    std::string kind = GridBase::gridClassToString(grid.getGridClass());
    std::printf("\"%s\": {\"type\": \"%s\", \"class\": \"%s\", \"half\": %s, \"voxel_size\": %.9g, \"active\": %llu",
                grid.getName().c_str(), grid.type().c_str(), kind.c_str(), grid.saveFloatAsHalf() ? "true" : "false",
                grid.voxelSize().x(), (unsigned long long)grid.activeVoxelCount());
    std::printf(", \"vector_type\": \"%s\"", GridBase::vecTypeToString(grid.getVectorType()).c_str());
    for (auto meta = grid.beginMeta(); meta != grid.endMeta(); ++meta)
        if (meta->second->typeName() == "double")
            std::printf(", \"%s\": %s", meta->first.c_str(), meta->second->str().c_str());
}

// Sum of the values, their first moment, and the range.
static void print_float(const FloatGrid &grid, const Vec3d *place)
{
    double sum = 0.0, low = 0.0, high = 0.0;
    Vec3d moment(0.0);
    for (auto value = grid.cbeginValueOn(); value; ++value) {
        Vec3d at = grid.indexToWorld(value.getCoord());
        sum += double(*value) * double(value.getVoxelCount());
        moment += at * double(*value);
        low = std::min(low, double(*value)), high = std::max(high, double(*value));
    }
    std::printf(
        ", \"background\": %.9g, \"sum\": %.12g, \"moment\": [%.12g, %.12g, %.12g], \"low\": %.9g, \"high\": %.9g",
        double(grid.background()), sum, moment.x(), moment.y(), moment.z(), low, high);
    if (place)
        std::printf(", \"value\": %.9g", double(tools::BoxSampler::sample(grid.tree(), grid.worldToIndex(*place))));
}

static void print_vector(const Vec3SGrid &grid, const Vec3d *place)
{
    Vec3d mean(0.0);
    double fastest = 0.0;
    for (auto value = grid.cbeginValueOn(); value; ++value) {
        mean += Vec3d(*value);
        fastest = std::max(fastest, double((*value).length()));
    }
    if (grid.activeVoxelCount() > 0) mean /= double(grid.activeVoxelCount());
    std::printf(", \"mean\": [%.9g, %.9g, %.9g], \"fastest\": %.9g", mean.x(), mean.y(), mean.z(), fastest);
    if (!place) return;
    Vec3d value(tools::BoxSampler::sample(grid.tree(), grid.worldToIndex(*place)));
    std::printf(", \"value\": [%.9g, %.9g, %.9g]", value.x(), value.y(), value.z());
}

// Every point: position, velocity, radius, id.
static void print_points(const points::PointDataGrid &grid)
{
    std::printf(", \"points\": %llu, \"attributes\": {", (unsigned long long)points::pointCount(grid.tree()));
    auto leaf = grid.tree().cbeginLeaf();
    const char *comma = "";
    if (leaf)
        for (const auto &entry : leaf->attributeSet().descriptor().map()) {
            const auto &type = leaf->attributeSet().descriptor().type(entry.second);
            std::printf("%s\"%s\": \"%s %s\"", comma, entry.first.c_str(), type.first.c_str(), type.second.c_str());
            comma = ", ";
        }
    std::printf("}, \"rows\": [");
    comma = "";
    for (; leaf; ++leaf) {
        points::AttributeHandle<Vec3f> position(leaf->constAttributeArray("P")),
            velocity(leaf->constAttributeArray("v"));
        points::AttributeHandle<float> radius(leaf->constAttributeArray("pscale"));
        points::AttributeHandle<int64_t> id(leaf->constAttributeArray("id"));
        for (auto index = leaf->beginIndexOn(); index; ++index) {
            Vec3d at = grid.indexToWorld(Vec3d(position.get(*index)) + index.getCoord().asVec3d());
            Vec3f v = velocity.get(*index);
            std::printf("%s[%.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %.9g, %lld]", comma, at.x(), at.y(), at.z(),
                        double(v.x()), double(v.y()), double(v.z()), double(radius.get(*index)),
                        (long long)id.get(*index));
            comma = ", ";
        }
    }
    std::printf("]");
}

int main(int argument_count, char **arguments)
{
    if (argument_count != 2 && argument_count != 5) return 2;
    initialize();
    Vec3d place(0.0);
    for (int i = 2; i < argument_count; i++) place[i - 2] = std::atof(arguments[i]);
    const Vec3d *asked = argument_count == 5 ? &place : nullptr;
    try {
        io::File file(arguments[1]);
        file.open(false);
        GridPtrVecPtr grids = file.getGrids();
        std::printf("{");
        const char *comma = "";
        for (const auto &grid : *grids) {
            std::printf("%s", comma);
            print_common(*grid);
            if (auto values = gridPtrCast<FloatGrid>(grid)) print_float(*values, asked);
            if (auto values = gridPtrCast<Vec3SGrid>(grid)) print_vector(*values, asked);
            if (auto values = gridPtrCast<points::PointDataGrid>(grid)) print_points(*values);
            std::printf("}");
            comma = ", ";
        }
        std::printf("}\n");
    } catch (const std::exception &error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
    return 0;
}
