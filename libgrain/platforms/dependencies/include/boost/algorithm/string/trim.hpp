// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's.
#include <string>

namespace boost {
inline void trim(std::string &text)
{
    const char *blanks = " \t\n\v\f\r";
    size_t first = text.find_first_not_of(blanks);
    if (first == std::string::npos) return text.clear();
    text = text.substr(first, text.find_last_not_of(blanks) - first + 1);
}
} // namespace boost
