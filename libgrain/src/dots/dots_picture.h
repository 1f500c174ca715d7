// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "base/run.h"
#include "grain/dots.h"

/// Checked arguments only.
GrainResult dots_picture(const float *positions, const uint8_t *colours, int64_t count, const GrainDotsView *view,
                         const Run *run, float *out);
