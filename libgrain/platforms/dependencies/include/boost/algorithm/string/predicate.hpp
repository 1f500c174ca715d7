// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's.
#include <string>
#include <string_view>

namespace boost {
inline bool ends_with(const std::string &text, std::string_view end)
{
    return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}
} // namespace boost
