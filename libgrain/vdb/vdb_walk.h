// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// OpenVDB believes the files it reads: a count tells it where to write, a tile how much memory to take, and a list of
/// metadata which of its types to make. So the grid that is wanted is followed here first, byte by byte, and OpenVDB
/// gets that grid alone, with the metadata it needs and no other.
#include "vdb_failure.h"

#include <streambuf>

/// What OpenVDB is to read: a file of one grid, in two pieces.
struct LevelSetBytes {
    std::string head;  ///< up to the grid's tree
    size_t from, size; ///< of the tree, in the file
};

/// Unpacks values as OpenVDB does and throws if it cannot. chunk: as it stands in the file, from its size on.
using UnpackFn = void(const char *chunk, size_t chunk_bytes, size_t unpacked_bytes, bool is_blosc);

/// The first level set of floats, of this name unless it is NULL. Throws Failure for a file without one, and for one
/// that does not hold what it promises. The values of inner nodes are unpacked on trial: where they fail, OpenVDB would
/// lose the node's memory. Those of leaves are not.
LevelSetBytes find_level_set(const std::string &file, const char *name, UnpackFn *unpack);

/// Both pieces as one stream.
class LevelSetBuffer : public std::streambuf {
  public:
    LevelSetBuffer(LevelSetBytes &grid, const std::string &file)
        : tree(const_cast<char *>(file.data()) + grid.from), tree_end(tree + grid.size)
    {
        setg(&grid.head[0], &grid.head[0], &grid.head[0] + grid.head.size());
    }

  protected:
    int_type underflow() override
    {
        if (gptr() < egptr()) return traits_type::to_int_type(*gptr());
        if (tree == tree_end) return traits_type::eof();
        setg(tree, tree, tree_end);
        tree = tree_end;
        return traits_type::to_int_type(*gptr());
    }

  private:
    char *tree, *tree_end;
};
