// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Shapes of grains: clumps of balls. Sizes are relative to the bounding ball of the grain, whose radius is 1.
#include "base/vec.h"
#include "grain/shape.h"

typedef struct ShapeBall {
    Vec3 at;
    float radius;
} ShapeBall;

/// Origin at the centre of mass, axes along the principal axes of inertia. Volume and inertia are those of the union of
/// the balls: where they overlap, the material counts once.
typedef struct BallShape {
    int ball_count; ///< 1: a sphere
    ShapeBall balls[GRAIN_SHAPE_MAX_BALLS];
    double volume;     ///< of the grain, 4/3 pi for a sphere
    double inertia[3]; ///< over density, about the principal axes; 8/15 pi for a sphere
    float smallest_ball;
    Quat from_given; ///< rotation from the input frame to this one
    Vec3 centre;     ///< of mass, in the input frame and scale
    float scale;     ///< input length that corresponds to 1
} BallShape;

/// "sphere", "tetrahedron", ..., NULL-ended.
extern const char *const shape_names[];
/// GRAIN_ERROR_ARGUMENT lists the valid names.
GrainResult shape_by_name(const char *name, BallShape *out);
/// Makes a shape from balls at any position and scale.
GrainResult shape_from_balls(const ShapeBall *balls, int ball_count, BallShape *out);
/// Fills a closed mesh with at most ball_count balls, each as large as fits, where it adds most.
GrainResult shape_from_mesh(const GrainMesh *mesh, int ball_count, BallShape *out);
