// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Where grains are, on a view and in the light's grid: loops without branches over a run of them.
#include "base/simd.h"
#include "view/points_light.h"

#define POINTS_RUN 256 ///< grains at a time: one simple loop after another over them is quicker than all of it for each
#define POINTS_SMALLEST_BALL 4 ///< pixels: from here on a dot is shaded as a ball

/// Squares of pixels that points cover, counted from the lower left corner of the view's part.
typedef struct PointsPlaces {
    int32_t left[POINTS_RUN], bottom[POINTS_RUN];
    int32_t side[POINTS_RUN];   ///< 0: not seen
    int32_t corner[POINTS_RUN]; ///< the first pixel of a square, no ball, that lies in the part as a whole; else -1
    float depth[POINTS_RUN];    ///< 0 to 1
} PointsPlaces;

/// At most POINTS_RUN grains.
SIMD_KERNEL(void, points_places,
            (const GrainPointsView *view, const float *restrict positions, const uint8_t *restrict colours,
             int64_t count, PointsPlaces *restrict out))
/// The cell of each grain; dice, where not NULL, shift it as points_light_at says.
SIMD_KERNEL(void, points_cells,
            (const PointsLight *light, const float *restrict positions, const uint32_t *restrict dice, int64_t count,
             int32_t *restrict cells))
