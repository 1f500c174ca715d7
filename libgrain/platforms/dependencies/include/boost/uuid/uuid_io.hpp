// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's: 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12.
#include <boost/uuid/uuid.hpp>

#include <istream>
#include <ostream>
#include <string>

namespace boost::uuids {

inline bool dash_before(size_t byte) { return byte == 4 || byte == 6 || byte == 8 || byte == 10; }

inline std::string to_string(const uuid &id)
{
    std::string text;
    for (size_t i = 0; i < uuid::size(); i++) {
        if (dash_before(i)) text += '-';
        text += "0123456789abcdef"[id.data[i] >> 4];
        text += "0123456789abcdef"[id.data[i] & 15];
    }
    return text;
}

inline std::ostream &operator<<(std::ostream &out, const uuid &id) { return out << to_string(id); }

inline int hex_digit(int letter)
{
    if (letter >= '0' && letter <= '9') return letter - '0';
    if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
    if (letter >= 'A' && letter <= 'F') return letter - 'A' + 10;
    return -1;
}

inline std::istream &operator>>(std::istream &in, uuid &id)
{
    std::istream::sentry ready(in);
    if (!ready) return in;
    uuid read = {};
    for (size_t i = 0; i < uuid::size(); i++) {
        bool dash = !dash_before(i) || in.get() == '-';
        int high = dash ? hex_digit(in.get()) : -1, low = high >= 0 ? hex_digit(in.get()) : -1;
        if (low < 0) {
            in.setstate(std::ios_base::failbit);
            return in;
        }
        read.data[i] = uint8_t(high << 4 | low);
    }
    id = read;
    return in;
}

} // namespace boost::uuids
