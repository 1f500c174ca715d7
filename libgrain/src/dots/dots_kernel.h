// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Where grains are, on a view and in the light's grid: loops without branches over a run of them.
#include "base/simd.h"
#include "dots/dots_light.h"

#define DOTS_RUN 256 ///< grains at a time: one simple loop after another over them is quicker than all of it for each
#define DOTS_SMALLEST_BALL 4 ///< pixels: from here on a dot is shaded as a ball

/// Squares of pixels that dots cover, counted from the lower left corner of the view's part.
typedef struct DotsPlaces {
    int32_t left[DOTS_RUN], bottom[DOTS_RUN];
    int32_t side[DOTS_RUN];   ///< 0: not seen
    int32_t corner[DOTS_RUN]; ///< the first pixel of a square, no ball, that lies in the part as a whole; else -1
    float depth[DOTS_RUN];    ///< 0 to 1
} DotsPlaces;

/// At most DOTS_RUN grains.
SIMD_KERNEL(void, dots_places,
            (const GrainDotsView *view, const float *restrict positions, const uint8_t *restrict colours, int64_t count,
             DotsPlaces *restrict out))
/// The cell of each grain; dice, where not NULL, shift it as dots_light_at says.
SIMD_KERNEL(void, dots_cells,
            (const DotsLight *light, const float *restrict positions, const uint32_t *restrict dice, int64_t count,
             int32_t *restrict cells))
