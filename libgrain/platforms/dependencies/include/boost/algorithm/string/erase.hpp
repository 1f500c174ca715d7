// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's.
#include <string>
#include <string_view>

namespace boost {
inline void erase_last(std::string &text, std::string_view part)
{
    size_t at = text.rfind(part);
    if (at != std::string::npos) text.erase(at, part.size());
}
} // namespace boost
