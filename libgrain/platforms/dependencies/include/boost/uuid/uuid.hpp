// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's: the identifier in a .vdb file's header.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace boost::uuids {

struct uuid {
    uint8_t data[16];
    static constexpr size_t size() { return 16; }
};

inline bool operator==(const uuid &a, const uuid &b) { return std::memcmp(a.data, b.data, sizeof a.data) == 0; }
inline bool operator!=(const uuid &a, const uuid &b) { return !(a == b); }

} // namespace boost::uuids
