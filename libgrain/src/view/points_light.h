// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Which way sand faces: the gradient of how many grains are where, on a coarse grid around the bulk of them.
#include "base/run.h"
#include "grain/view.h"

#define POINTS_LIGHT_UNIT 200.0f
#define POINTS_LIGHT_STEPS 256

typedef struct PointsLight {
    float low[3], cells_per_length;
    int32_t size[3];
    uint8_t *brightness; ///< of a cell; x runs fastest
    float bounds[6];     ///< of all grains, strays too
} PointsLight;

/// points_light_destroy gives it back, also after a failure.
GrainResult points_light_create(PointsLight *light, const GrainPoints *points, const Run *run);
void points_light_destroy(PointsLight *light);
/// Brightness of grains, POINTS_LIGHT_UNIT times 0.15 (turned away) to 1.15 (facing the light). A grain's dice shift
/// its place by up to half a cell: seen together, grains blend what neighbouring cells say. At most POINTS_RUN grains.
void points_light_at(const PointsLight *light, const float *positions, const uint32_t *dice, int64_t count,
                     uint8_t *out);
