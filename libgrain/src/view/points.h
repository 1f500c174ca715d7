// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grains drawn as points (grain/view.h). Arguments are checked by the caller.
#include "base/run.h"
#include "grain/view.h"

GrainResult points_colour(const GrainPoints *points, const GrainPointsLook *look, const Run *run, uint8_t *out,
                          float bounds[6]);
GrainResult points_picture(const float *positions, const uint8_t *colours, int64_t count, const GrainPointsView *view,
                           const Run *run, float *out);
