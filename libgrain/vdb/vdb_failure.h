// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "vdb_shim.h"

#include <string>

// Thrown for what is not OpenVDB's to say.
struct Failure {
    VdbError code;
    std::string text;
};
