// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shapes of grains: balls that move as one (the solver dem).
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_SHAPE_MAX_BALLS 64

/// How a frame's columns fit the shape as it was given: a place p of it is, in a frame,
/// position + radius * rotate(orientation, (p - centre) / scale).
typedef struct GrainShape {
    uint32_t struct_size;
    int32_t ball_count;
    float centre[3];                       ///< of mass, in the unit of what was given
    float scale;                           ///< radius there of the ball around the grain
    float balls[GRAIN_SHAPE_MAX_BALLS][4]; ///< x, y, z, radius, from the centre, over the scale
} GrainShape;

/// name: "sphere", "tetrahedron", "cube", "rod", "bean", or "mesh": then a closed mesh is filled with at most
/// most_balls balls, each as large as fits; else mesh may be NULL. struct_size must be set.
GRAIN_API GrainResult grain_shape_make(const char *name, const GrainMesh *mesh, int32_t most_balls, GrainShape *out);

#ifdef __cplusplus
}
#endif
