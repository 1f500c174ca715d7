// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shapes of grains: clumps of balls that move as one (solver dem).
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

#define GRAIN_SHAPE_MAX_BALLS 64

/// Relates the columns of a frame to the shape: a point p of the shape is, in a frame, at
/// position + radius * rotate(orientation, (p - centre) / scale).
typedef struct GrainShape {
    uint32_t struct_size;
    int32_t ball_count;
    float centre[3];                       ///< of mass, in the unit of the shape
    float scale;                           ///< radius of the bounding ball, in the unit of the shape
    float balls[GRAIN_SHAPE_MAX_BALLS][4]; ///< x, y, z, radius, relative to the centre and divided by scale
} GrainShape;

/// name is "sphere", "tetrahedron", "cube", "rod", "bean" or "mesh". With "mesh", a closed mesh is filled with at most
/// most_balls balls, each as large as fits; otherwise mesh may be NULL. The caller sets out->struct_size.
GRAIN_API GrainResult grain_shape_make(const char *name, const GrainMesh *mesh, int32_t most_balls, GrainShape *out);

#ifdef __cplusplus
}
#endif
