// SPDX-License-Identifier: GPL-3.0-or-later
// Grains as an OpenVDB point grid, quantised.
#include "vdb_guard.h"
#include "vdb_sink.h"

#include <openvdb/points/PointAttribute.h>
#include <openvdb/points/PointConversion.h>

#include <mutex>

namespace {

using namespace openvdb;
using namespace openvdb::points;

// Three floats each, as OpenVDB asks for positions and attributes.
template <typename Value> class Rows {
  public:
    using value_type = Value; // OpenVDB asks for both spellings
    using ValueType = Value;
    using PosType = Value;
    Rows(const float *all_values, int64_t row_count) : values(all_values), count(row_count) {}
    size_t size() const { return size_t(count); }
    void getPos(size_t i, Value &out) const { get(out, i); }
    template <typename T> void get(T &out, size_t i) const { read(out, i); }
    template <typename T> void get(T &out, size_t i, Index) const { read(out, i); }

  private:
    void read(Vec3f &out, size_t i) const { out = Vec3f(values[3 * i], values[3 * i + 1], values[3 * i + 2]); }
    void read(Vec3d &out, size_t i) const { out = Vec3d(values[3 * i], values[3 * i + 1], values[3 * i + 2]); }
    void read(float &out, size_t i) const { out = values[i]; }
    // Ours has w first, Houdini's last.
    void read(math::Quat<float> &out, size_t i) const
    {
        out = math::Quat<float>(values[4 * i + 1], values[4 * i + 2], values[4 * i + 3], values[4 * i]);
    }
    const float *values;
    int64_t count;
};

class Ids {
  public:
    using value_type = int64_t;
    using ValueType = int64_t;
    Ids(const int64_t *all_values, int64_t row_count) : values(all_values), count(row_count) {}
    size_t size() const { return size_t(count); }
    template <typename T> void get(T &out, size_t i) const { out = T(values[i]); }
    template <typename T> void get(T &out, size_t i, Index) const { out = T(values[i]); }

  private:
    const int64_t *values;
    int64_t count;
};

using Positions = Rows<Vec3f>;
using Order = tools::PointIndexGrid;

template <typename Attribute, typename Values>
void add(PointDataGrid &grid, const Order &order, const char *name, const Values &values)
{
    appendAttribute(grid.tree(), name, Attribute::attributeType());
    populateAttribute<PointDataTree, tools::PointIndexTree, Values>(grid.tree(), order.tree(), name, values);
}

void register_quaternions()
{
    static std::once_flag once;
    std::call_once(once, [] {
        if (!AttributeArray::isRegistered(TypedAttributeArray<math::Quat<float>>::attributeType()))
            TypedAttributeArray<math::Quat<float>>::registerType();
    });
}

PointDataGrid::Ptr make_points(const VdbPoints &in)
{
    register_quaternions();
    auto transform = math::Transform::createLinearTransform(in.voxel_size);
    Positions positions(in.position, in.count);
    auto order = tools::createPointIndexGrid<Order>(positions, *transform);
    auto grid = createPointDataGrid<FixedPointCodec<false>, PointDataGrid>(*order, positions, *transform);
    if (in.velocity)
        add<TypedAttributeArray<Vec3f, TruncateCodec>>(*grid, *order, "v", Rows<Vec3f>(in.velocity, in.count));
    if (in.radius)
        add<TypedAttributeArray<float, TruncateCodec>>(*grid, *order, "pscale", Rows<float>(in.radius, in.count));
    if (in.orientation)
        add<TypedAttributeArray<math::Quat<float>>>(*grid, *order, "orient",
                                                    Rows<math::Quat<float>>(in.orientation, in.count));
    if (in.id) add<TypedAttributeArray<int64_t>>(*grid, *order, "id", Ids(in.id, in.count));
    grid->setName("points");
    grid->setCreator(in.creator);
    return grid;
}

} // namespace

int32_t vdb_points_write(const VdbPoints *points, VdbSinkFn *sink, void *user, VdbMessage *message)
{
    return guarded(message, [&] {
        openvdb::GridCPtrVec grids{make_points(*points)};
        write_to_sink(grids, sink, user);
    });
}
