// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A file's bytes, made in memory: OpenVDB's own File does not look whether its bytes arrived, and a full disk would
/// leave half a file behind.
#include "vdb_guard.h"

#include <openvdb/io/Archive.h>
#include <openvdb/io/Compression.h>

#include <algorithm>
#include <cstring>
#include <sstream>

namespace {

class MemoryFile : public openvdb::io::Archive {
  public:
    MemoryFile() { setGridStatsMetadataEnabled(false); }

    openvdb::SharedPtr<openvdb::io::Archive> copy() const override
    {
        return openvdb::SharedPtr<openvdb::io::Archive>(new MemoryFile(*this));
    }

    std::string bytes_of(const openvdb::GridCPtrVec &grids) const
    {
        std::ostringstream stream(std::ios::binary);
        stream.exceptions(std::ios::failbit | std::ios::badbit);
        openvdb::io::Archive::write(stream, with_statistics(grids), true, openvdb::MetaMap());
        return stream.str();
    }

  private:
    // As OpenVDB adds them, but for the memory its own objects take: that differs from one C++ library to another, and
    // the same grids are to be the same file on every system.
    openvdb::GridCPtrVec with_statistics(const openvdb::GridCPtrVec &grids) const
    {
        openvdb::GridCPtrVec copies;
        for (const auto &grid : grids) {
            auto copy = openvdb::ConstPtrCast<openvdb::GridBase>(grid->copyGrid()); // shares the tree
            copy->addStatsMetadata();
            copy->removeMeta(openvdb::GridBase::META_FILE_MEM_BYTES);
            copy->insertMeta(openvdb::GridBase::META_FILE_COMPRESSION,
                             openvdb::StringMetadata(openvdb::io::compressionToString(compression())));
            copies.push_back(copy);
        }
        return copies;
    }
};

// After the magic number, three version numbers and a flag OpenVDB writes a random number as text. Ours follows from
// the file's other bytes (FNV-1a), so that the same grids are the same file.
inline void replace_random_number(std::string &bytes)
{
    constexpr size_t first = 8 + 3 * 4 + 1, length = 36;
    if (bytes.size() < first + length) return;
    uint64_t hash[2] = {0xcbf29ce484222325u, 0x9ae16a3b2f90404fu};
    for (size_t i = 0; i < bytes.size(); i++) {
        if (i >= first && i < first + length) continue;
        hash[i & 1] = (hash[i & 1] ^ uint8_t(bytes[i])) * 0x100000001b3u;
    }
    char text[length + 1];
    snprintf(text, sizeof text, "%08x-%04x-5%03x-8%03x-%012llx", unsigned(hash[0] >> 32),
             unsigned(hash[0] >> 16 & 0xffff), unsigned(hash[0] & 0xfff), unsigned(hash[1] >> 48 & 0xfff),
             (unsigned long long)(hash[1] & 0xffffffffffffu));
    std::memcpy(&bytes[first], text, length);
}

inline std::string file_bytes(const openvdb::GridCPtrVec &grids)
{
    std::string bytes = MemoryFile().bytes_of(grids);
    replace_random_number(bytes);
    return bytes;
}

inline void write_to_sink(const openvdb::GridCPtrVec &grids, VdbSinkFn *sink, void *user)
{
    std::string bytes = file_bytes(grids);
    constexpr size_t piece = size_t(1) << 26;
    for (size_t at = 0; at < bytes.size(); at += piece)
        if (sink(user, bytes.data() + at, int64_t(std::min(piece, bytes.size() - at))) != 0)
            throw Failure{VDB_ERROR_IO, ""};
}

} // namespace
