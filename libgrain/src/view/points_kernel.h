// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Positions of grains in a view and in the light's grid: loops without branches over a run of grains.
#include "base/simd.h"
#include "view/points_light.h"

#define POINTS_RUN 256         ///< grains at a time: several simple loops over them are faster than one complex loop
#define POINTS_SMALLEST_BALL 4 ///< pixels: dots of this size and larger are shaded as balls

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
