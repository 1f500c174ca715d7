// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Which way sand faces: the gradient of how many grains are where, on a coarse grid around the bulk of them.
#include "base/run.h"
#include "grain/dots.h"

#define DOTS_LIGHT_UNIT 200.0f
#define DOTS_LIGHT_STEPS 256

typedef struct DotsLight {
    float low[3], cells_per_length;
    int32_t size[3];
    uint8_t *brightness; ///< of a cell; x runs fastest
    float bounds[6];     ///< of all grains, strays too
} DotsLight;

/// dots_light_destroy gives it back, also after a failure.
GrainResult dots_light_create(DotsLight *light, const GrainDots *dots, const Run *run);
void dots_light_destroy(DotsLight *light);
/// Brightness of grains, DOTS_LIGHT_UNIT times 0.15 (turned away) to 1.15 (facing the light). A grain's dice shift its
/// place by up to half a cell: seen together, grains blend what neighbouring cells say. At most DOTS_RUN grains.
void dots_light_at(const DotsLight *light, const float *positions, const uint32_t *dice, int64_t count, uint8_t *out);
