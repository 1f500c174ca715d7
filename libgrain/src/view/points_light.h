// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Orientation of the sand's surface: the gradient of the density of grains on a coarse grid around most of them.
#include "base/run.h"
#include "grain/view.h"

#define POINTS_LIGHT_UNIT 200.0f
#define POINTS_LIGHT_STEPS 256

typedef struct PointsLight {
    float low[3], cells_per_length;
    int32_t size[3];
    uint8_t *brightness; ///< of a cell; x runs fastest
    float bounds[6];     ///< of all grains, including strays
} PointsLight;

/// Call points_light_destroy also after a failure.
GrainResult points_light_create(PointsLight *light, const GrainPoints *points, const Run *run);
void points_light_destroy(PointsLight *light);
/// Brightness of grains, POINTS_LIGHT_UNIT times 0.15 (turned away) to 1.15 (facing the light). `dice`
/// shifts each grain by up to half a cell, which blends neighbouring cells. At most POINTS_RUN grains.
void points_light_at(const PointsLight *light, const float *positions, const uint32_t *dice, int64_t count,
                     uint8_t *out);
