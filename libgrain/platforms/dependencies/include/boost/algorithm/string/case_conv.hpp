// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's, for the names of classes and kinds, which are ASCII.
#include <string>

namespace boost {
inline void to_lower(std::string &text)
{
    for (char &letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = char(letter - 'A' + 'a');
}
} // namespace boost
