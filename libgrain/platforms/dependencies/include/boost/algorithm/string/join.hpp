// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's.
#include <string>

namespace boost {
template <typename Words> std::string join(const Words &words, const std::string &between)
{
    std::string joined;
    bool first = true;
    for (const std::string &word : words) {
        if (!first) joined += between;
        joined += word;
        first = false;
    }
    return joined;
}
} // namespace boost
