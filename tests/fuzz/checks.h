// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What several targets ask of the library.
#include "grain/grain.h"

/// Ends the process unless it worked.
void fuzz_must(GrainResult result);
/// Ends the process for an error without a text.
void fuzz_check_word(GrainResult result);
/// Distances and gradients from corner to corner of a field.
void fuzz_sample(const GrainSdf *sdf);
