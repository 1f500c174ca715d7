// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grain shapes for the solver `dem`: rigid clumps of balls.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_SHAPE_MAX_BALLS 64

/// A shape, and how to place the object it was made from: a point p of that object appears in a frame at
/// position + radius * rotate(orientation, (p - centre) / scale).
typedef struct GrainShape {
    uint32_t struct_size;
    int32_t ball_count;
    float centre[3];                       ///< centre of mass, in the units of the original object
    float scale;                           ///< radius of the sphere around the grain, in the same units
    float balls[GRAIN_SHAPE_MAX_BALLS][4]; ///< x, y, z, radius; relative to the centre and divided by the scale
} GrainShape;

/// `name` is "sphere", "tetrahedron", "cube", "rod", "bean" or "mesh". With "mesh" a closed mesh is filled with at most
/// most_balls balls, each as large as possible; otherwise mesh may be NULL. The caller sets out->struct_size.
GRAIN_API GrainResult grain_shape_make(const char *name, const GrainMesh *mesh, int32_t most_balls, GrainShape *out);

#ifdef __cplusplus
}
#endif
