// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's.
#include <boost/uuid/uuid.hpp>

namespace boost::uuids {

inline uuid nil_uuid() { return {}; }

/// Random, of version 4 (RFC 4122).
template <typename Engine> class basic_random_generator {
  public:
    explicit basic_random_generator(Engine *random_engine) : engine(random_engine) {}
    uuid operator()()
    {
        uuid made;
        for (uint8_t &byte : made.data) byte = uint8_t((*engine)() >> 24);
        made.data[6] = uint8_t((made.data[6] & 0x0f) | 0x40);
        made.data[8] = uint8_t((made.data[8] & 0x3f) | 0x80);
        return made;
    }

  private:
    Engine *engine;
};

} // namespace boost::uuids
