// SPDX-License-Identifier: GPL-3.0-or-later
// The format is that of OpenVDB's io/Archive.cc, tree/*Node.h and io/Compression.h, versions 222 (2013) to 224.
#include "vdb_walk.h"

#include <cstring>
#include <set>
#include <tuple>
#include <vector>

namespace {

constexpr int64_t magic = 0x56444220;
constexpr uint32_t oldest_version = 222, newest_version = 224;
constexpr size_t uuid_bytes = 36;
// Flags of a grid's compression.
constexpr uint32_t zip = 1, active_mask = 2, blosc = 4;
// Blocks of 8 x 8 x 8 that active tiles may stand for: a level set is active near its surface only, in voxels.
constexpr int64_t most_tile_blocks = 32768;

[[noreturn]] void fail(const std::string &why)
{
    throw Failure{VDB_ERROR_FORMAT, "the file is damaged or cut short: " + why};
}

class Bytes {
  public:
    explicit Bytes(const std::string &all) : file(all) {}
    size_t at = 0;

    size_t left() const { return file.size() - at; }

    const uint8_t *skip(uint64_t count)
    {
        if (count > left()) fail("it ends within a grid");
        const char *here = file.data() + at;
        at += size_t(count);
        return reinterpret_cast<const uint8_t *>(here);
    }

    template <typename T> T take()
    {
        T value;
        std::memcpy(&value, skip(sizeof value), sizeof value);
        return value;
    }

    std::string text()
    {
        uint32_t size = take<uint32_t>();
        return std::string(reinterpret_cast<const char *>(skip(size)), size);
    }

    void go_to(int64_t place)
    {
        if (place < int64_t(at) || place > int64_t(file.size())) fail("a grid ends before it begins");
        at = size_t(place);
    }

    std::string between(size_t from, size_t to) const { return file.substr(from, to - from); }

  private:
    const std::string &file;
};

// --- what is written ------------------------------------------------------------------------------

template <typename T> std::string bytes_of(T value)
{
    return std::string(reinterpret_cast<const char *>(&value), sizeof value);
}

std::string text_of(const std::string &text) { return bytes_of(uint32_t(text.size())) + text; }

std::string meta_of(const char *name, const char *type, const std::string &value)
{
    return text_of(name) + text_of(type) + text_of(value);
}

// --- trees ----------------------------------------------------------------------------------------

size_t count_on(const uint8_t *mask, size_t bytes)
{
    size_t count = 0;
    for (size_t i = 0; i < bytes; i++)
        for (unsigned bits = mask[i]; bits; bits &= bits - 1) count++;
    return count;
}

class Tree {
  public:
    Tree(Bytes &file, uint32_t compression_flags, bool is_half, UnpackFn *unpack_values)
        : bytes(file), compression(compression_flags), value_bytes(is_half ? 2 : 4), unpack(unpack_values)
    {
    }

    void walk()
    {
        if (bytes.take<int32_t>() != 1) fail("its tree has more than one buffer");
        bytes.skip(sizeof(float)); // background
        uint32_t tiles = bytes.take<uint32_t>(), children = bytes.take<uint32_t>();
        for (uint32_t i = 0; i < tiles; i++) {
            check_place();
            bytes.skip(sizeof(float));
            uint8_t is_active = bytes.take<uint8_t>();
            if (is_active > 1) fail("a tile is neither active nor inactive");
            add_tiles(is_active, int64_t(512) * 512 * 512);
        }
        for (uint32_t i = 0; i < children; i++) {
            check_place();
            walk_upper();
        }
        for (size_t leaf = 0; leaf < leaves; leaf++) walk_values(512, bytes.skip(64), false);
    }

  private:
    Bytes &bytes;
    uint32_t compression;
    size_t value_bytes, leaves = 0;
    UnpackFn *unpack;
    int64_t tile_blocks = 0;
    std::set<std::tuple<int32_t, int32_t, int32_t>> places;

    void check_place()
    {
        int32_t x = bytes.take<int32_t>(), y = bytes.take<int32_t>(), z = bytes.take<int32_t>();
        if ((x | y | z) & 4095 || !places.insert({x, y, z}).second) fail("two of its nodes are in one place");
    }

    void add_tiles(size_t count, int64_t blocks_each)
    {
        tile_blocks += int64_t(count) * blocks_each;
        if (tile_blocks > most_tile_blocks)
            throw Failure{VDB_ERROR_FORMAT, "it is active in more than " + std::to_string(most_tile_blocks * 512) +
                                                " voxels that are not stored, far from any surface; only level sets "
                                                "with a narrow band can be read"};
    }

    // The masks of a node with this many children; returns that of the children.
    const uint8_t *walk_masks(size_t count, int64_t blocks_each)
    {
        const uint8_t *child = bytes.skip(count / 8), *value = bytes.skip(count / 8);
        for (size_t i = 0; i < count / 8; i++)
            if (child[i] & value[i]) fail("a node has a tile and a child in one place");
        add_tiles(count_on(value, count / 8), blocks_each);
        walk_values(count, value, true);
        return child;
    }

    void walk_upper()
    {
        const uint8_t *child = walk_masks(32768, 4096);
        for (size_t i = count_on(child, 4096); i > 0; i--) {
            size_t below = count_on(walk_masks(4096, 1), 512);
            bytes.skip(64 * below); // masks of leaves
            leaves += below;
        }
    }

    void walk_values(size_t count, const uint8_t *mask, bool is_inner)
    {
        enum { ONE_INACTIVE = 2, MASK = 3, MASK_AND_ONE = 4, MASK_AND_TWO = 5, ALL_VALUES = 6 };
        uint8_t kind = bytes.take<uint8_t>();
        if (kind > ALL_VALUES) fail("values are stored in a way that is not known");
        if (kind == ONE_INACTIVE || kind == MASK_AND_ONE) bytes.skip(sizeof(float));
        if (kind == MASK_AND_TWO) bytes.skip(2 * sizeof(float));
        if (kind == MASK || kind == MASK_AND_ONE || kind == MASK_AND_TWO) bytes.skip(count / 8);
        bool has_active_only = (compression & active_mask) && kind != ALL_VALUES;
        walk_numbers(has_active_only ? count_on(mask, count / 8) : count, is_inner);
    }

    void walk_numbers(size_t count, bool is_inner)
    {
        int64_t expected = int64_t(count * value_bytes);
        if (value_bytes == 2 && count == 0) return;
        if (!(compression & (zip | blosc))) {
            bytes.skip(uint64_t(expected));
            return;
        }
        int64_t stored = bytes.take<int64_t>(); // not above 0: not compressed
        if (stored <= 0 && stored != -expected) fail("values have another size than their node");
        const uint8_t *data = bytes.skip(uint64_t(stored > 0 ? stored : expected));
        if (stored <= 0) return;
        if (compression & blosc) check_blosc(data, stored, expected);
        if (is_inner)
            unpack(reinterpret_cast<const char *>(data) - sizeof stored, sizeof stored + size_t(stored),
                   size_t(expected), compression & blosc);
    }

    // Blosc takes the size of its input from the input itself.
    static void check_blosc(const uint8_t *data, int64_t stored, int64_t expected)
    {
        uint32_t unpacked, packed;
        if (stored < 16) fail("compressed values are too short");
        std::memcpy(&unpacked, data + 4, 4), std::memcpy(&packed, data + 12, 4);
        if (unpacked != expected || packed != stored) fail("compressed values have another size than their node");
    }
};

// --- grids ----------------------------------------------------------------------------------------

struct Grid {
    std::string unique_name, type, parent; ///< parent: of an instance, whose tree it shares
    std::string name, kind;
    bool is_half = false;
    uint32_t compression = 0;
    std::string transform;
    size_t tree = 0, tree_bytes = 0; ///< in the file; of grids before the one that is wanted, from the transform on
    int64_t end = 0;

    bool has_floats() const { return type == "Tree_float_5_4_3" || type == "Tree_float_5_4_3_HalfFloat"; }
};

void read_metadata(Bytes &bytes, Grid *grid)
{
    for (uint32_t count = bytes.take<uint32_t>(); count > 0; count--) {
        std::string name = bytes.text(), type = bytes.text();
        uint32_t size = bytes.take<uint32_t>();
        std::string value(reinterpret_cast<const char *>(bytes.skip(size)), size);
        if (grid && type == "string" && name == "name") grid->name = value;
        if (grid && type == "string" && name == "class") grid->kind = value;
        if (grid && type == "bool" && name == "is_saved_as_half_float") grid->is_half = size == 1 && value[0] != 0;
    }
}

// Doubles of each kind of transform.
size_t transform_doubles(const std::string &type)
{
    static const struct {
        const char *name;
        size_t doubles;
    } maps[] = {{"UniformScaleMap", 15},   {"ScaleMap", 15},      {"UniformScaleTranslateMap", 18},
                {"ScaleTranslateMap", 18}, {"TranslationMap", 3}, {"AffineMap", 16},
                {"UnitaryMap", 16}};
    for (const auto &map : maps)
        if (type == map.name) return map.doubles;
    throw Failure{VDB_ERROR_FORMAT, "its voxels are turned or not cubes; only upright cubes can be read"};
}

Grid read_grid(Bytes &bytes)
{
    Grid grid;
    grid.unique_name = bytes.text(), grid.type = bytes.text(), grid.parent = bytes.text();
    bytes.skip(2 * sizeof(int64_t)); // where the grid and its values begin
    grid.end = bytes.take<int64_t>();
    grid.compression = bytes.take<uint32_t>();
    if (grid.compression > (zip | active_mask | blosc)) fail("it is compressed in a way that is not known");
    read_metadata(bytes, &grid);
    return grid;
}

// The transform and, of a grid that is no instance, the tree behind it.
void read_tree(Bytes &bytes, Grid &grid, UnpackFn *unpack)
{
    size_t from = bytes.at;
    bytes.skip(sizeof(double) * transform_doubles(bytes.text()));
    grid.transform = bytes.between(from, bytes.at);
    grid.tree = bytes.at;
    if (!grid.parent.empty()) return;
    if (!grid.has_floats()) throw Failure{VDB_ERROR_FORMAT, "a grid of type '" + grid.type + "' cannot be read"};
    Tree(bytes, grid.compression, grid.is_half, unpack).walk();
    grid.tree_bytes = bytes.at - grid.tree;
}

bool is_wanted(const Grid &grid, const char *name)
{
    return grid.has_floats() && grid.kind == "level set" && (!name || grid.name == name);
}

// The bytes up to the grids' number, but for the file's own metadata; *offsets: whether grids say where they end.
std::string read_header(Bytes &bytes, bool *offsets)
{
    if (bytes.left() < sizeof magic || bytes.take<int64_t>() != magic)
        throw Failure{VDB_ERROR_FORMAT, "it is not an OpenVDB file"};
    uint32_t version = bytes.take<uint32_t>();
    if (version < oldest_version || version > newest_version)
        throw Failure{VDB_ERROR_FORMAT, "it has version " + std::to_string(version) + " of the format; versions " +
                                            std::to_string(oldest_version) + " to " + std::to_string(newest_version) +
                                            " can be read"};
    bytes.skip(2 * sizeof(uint32_t)); // of the library that wrote it
    *offsets = bytes.take<uint8_t>() != 0;
    bytes.skip(uuid_bytes);
    std::string header = bytes.between(0, bytes.at);
    read_metadata(bytes, nullptr);
    return header;
}

// A file of this grid alone, up to its tree.
std::string head_of(const std::string &header, const Grid &grid, const Grid &tree)
{
    std::string meta = meta_of("class", "string", grid.kind) + meta_of("name", "string", grid.name);
    if (tree.is_half) meta += meta_of("is_saved_as_half_float", "bool", std::string(1, '\1'));
    return header + bytes_of(uint32_t(0)) + bytes_of(int32_t(1)) + text_of(grid.unique_name) + text_of(tree.type) +
           text_of("") + std::string(3 * sizeof(int64_t), '\0') + bytes_of(tree.compression) +
           bytes_of(uint32_t(tree.is_half ? 3 : 2)) + meta + grid.transform;
}

// The tree that an instance shares.
Grid find_parent(const std::vector<Grid> &grids, const std::string &name)
{
    for (const Grid &grid : grids)
        if (grid.unique_name == name && grid.parent.empty() && grid.has_floats()) return grid;
    fail("the tree of a grid is missing");
}

} // namespace

LevelSetBytes find_level_set(const std::string &file, const char *name, UnpackFn *unpack)
{
    Bytes bytes(file);
    bool has_offsets;
    std::string header = read_header(bytes, &has_offsets), names;
    std::vector<Grid> before;
    for (int32_t count = bytes.take<int32_t>(); count > 0; count--) {
        Grid grid = read_grid(bytes);
        size_t place = bytes.at; // of the transform
        names += (names.empty() ? "" : ", ") + grid.name;
        bool is_it = is_wanted(grid, name);
        if (is_it || !has_offsets) read_tree(bytes, grid, unpack);
        if (is_it && grid.parent.empty()) return {head_of(header, grid, grid), grid.tree, grid.tree_bytes};
        if (is_it) {
            Grid tree = find_parent(before, grid.parent);
            Bytes again(file);
            again.at = tree.tree;
            read_tree(again, tree, unpack);
            return {head_of(header, grid, tree), tree.tree, tree.tree_bytes};
        }
        grid.tree = place;
        before.push_back(grid);
        if (has_offsets) bytes.go_to(grid.end);
    }
    throw Failure{VDB_ERROR_FORMAT, (name ? "there is no level set named '" + std::string(name) + "'"
                                          : std::string("there is no level set")) +
                                        "; the file holds: " + (names.empty() ? "nothing" : names)};
}
