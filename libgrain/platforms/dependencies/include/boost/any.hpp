// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// In place of Boost's: OpenVDB 10 keeps notes of any type about a stream.
#include <any>

namespace boost {
using std::any;
using std::any_cast;
} // namespace boost
