// SPDX-License-Identifier: GPL-3.0-or-later
// Grain shapes: mass and inertia of unions of balls, meshes turned into balls.
#include "grain/grain.h"
#include "shape/shape.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

TEST(two_balls_apart_have_the_sum_of_their_masses)
{
    // 0.1 %: 128 points along an axis.
    ShapeBall balls[2] = {{{-1.0f, 0, 0}, 1.0f}, {{1.0f, 0, 0}, 1.0f}};
    BallShape shape;
    ENSURE_OK(shape_from_balls(balls, 2, &shape));
    double ball = 4.0 / 3.0 * M_PI;
    ENSURE_NEAR(shape.volume * 8.0 / (2.0 * ball), 1.0, 1e-3); // fitted into radius 1, from 2
    ENSURE_NEAR(shape.inertia[0] * 32.0 / (2.0 * 0.4 * ball), 1.0, 2e-3);
    ENSURE_NEAR(shape.inertia[1] * 32.0 / (2.0 * (0.4 + 1.0) * ball), 1.0, 2e-3);
    ENSURE_NEAR(shape.scale, 2.0, 1e-6);
}

TEST(where_balls_overlap_the_material_counts_once)
{
    // Two balls at distance 1: the union is two balls less the lens, pi (4 + d) (2 - d)^2 / 12.
    ShapeBall balls[2] = {{{0, 0, 0}, 1.0f}, {{0, 0, 1.0f}, 1.0f}};
    BallShape shape;
    ENSURE_OK(shape_from_balls(balls, 2, &shape));
    double expected = 8.0 / 3.0 * M_PI - M_PI * 5.0 / 12.0;
    ENSURE_NEAR(shape.volume * pow((double)shape.scale, 3.0) / expected, 1.0, 1e-3);
    ENSURE_NEAR(shape.centre.z, 0.5, 1e-5);
    // Twice the same ball is that ball.
    balls[1] = balls[0];
    ENSURE_OK(shape_from_balls(balls, 2, &shape));
    ENSURE_NEAR(shape.volume, 4.0 / 3.0 * M_PI, 5e-3);
    ENSURE_NEAR(shape.inertia[2], 8.0 / 15.0 * M_PI, 5e-3);
}

TEST(the_frame_is_that_of_the_mass)
{
    // A rod along a diagonal, away from the origin.
    ShapeBall balls[5];
    for (int i = 0; i < 5; i++) balls[i] = (ShapeBall){{5.0f + (float)i, 2.0f + (float)i, 1.0f + (float)i}, 1.0f};
    BallShape shape;
    ENSURE_OK(shape_from_balls(balls, 5, &shape));
    ENSURE_NEAR(shape.centre.x, 7.0, 1e-4);
    for (int i = 0; i < 5; i++) {
        Vec3 given = vec3_scale(vec3_sub(balls[i].at, shape.centre), 1.0f / shape.scale);
        Vec3 turned = quat_rotate(shape.from_given, given);
        ENSURE_NEAR(vec3_length(vec3_sub(turned, shape.balls[i].at)), 0.0, 1e-5);
    }
    double smallest = fmin(shape.inertia[0], fmin(shape.inertia[1], shape.inertia[2]));
    double largest = fmax(shape.inertia[0], fmax(shape.inertia[1], shape.inertia[2]));
    ENSURE(largest > 5.0 * smallest);
}

TEST(every_named_shape_is_sound)
{
    for (int i = 0; shape_names[i]; i++) {
        BallShape shape;
        ENSURE_OK(shape_by_name(shape_names[i], &shape));
        double mass_radius = pow(shape.volume * 3.0 / (4.0 * M_PI), 1.0 / 3.0);
        ENSURE(mass_radius > 0.5 && mass_radius <= 1.0001);
        for (int a = 0; a < 3; a++) ENSURE(shape.inertia[a] > 0.0 && shape.inertia[a] <= 8.0 / 15.0 * M_PI * 1.0001);
    }
    BallShape shape;
    ENSURE_FAILS(shape_by_name("potato", &shape), GRAIN_ERROR_ARGUMENT, "bean");
}

TEST(a_mesh_becomes_balls)
{
    static const float positions[] = {-2, -1, -1, 2, -1, -1, -2, 1, -1, 2, 1, -1,
                                      -2, -1, 1,  2, -1, 1,  -2, 1, 1,  2, 1, 1};
    static const int32_t triangles[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                        2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
    GrainMesh mesh = {positions, triangles, 8, 12};
    BallShape shape;
    ENSURE_OK(shape_from_mesh(&mesh, 12, &shape));
    ENSURE(shape.ball_count >= 4);
    double volume = shape.volume * pow((double)shape.scale, 3.0);
    ENSURE_NEAR(volume / 16.0, 0.8, 0.15); // balls do not reach the corners of a box
    ENSURE_NEAR(vec3_length(shape.centre), 0.0, 0.2);
    for (int i = 0; i < shape.ball_count; i++) ENSURE(shape.balls[i].radius * shape.scale < 1.05f); // none sticks out
}

// The public call gives the balls in the frame the shape was given in, about the centre of mass.
TEST(the_public_shape_fits_the_frames)
{
    GrainShape shape = {.struct_size = sizeof shape};
    for (int i = 0; shape_names[i]; i++) {
        ENSURE_OK(grain_shape_make(shape_names[i], NULL, 0, &shape));
        double reach = 0.0;
        for (int b = 0; b < shape.ball_count; b++) {
            const float *ball = shape.balls[b];
            reach = fmax(reach, (double)(vec3_length(vec3(ball[0], ball[1], ball[2])) + ball[3]));
        }
        ENSURE_NEAR(reach, 1.0, 1e-5);
    }
    ENSURE_OK(grain_shape_make("rod", NULL, 0, &shape));
    for (int b = 0; b < 4; b++)
        ENSURE_NEAR(shape.balls[b][0], (1.1 * (b - 1.5)) / 2.65, 1e-4); // along x, as in the table
    ENSURE_FAILS(grain_shape_make("mesh", NULL, 8, &shape), GRAIN_ERROR_ARGUMENT, "needs the mesh");
    ENSURE_FAILS(grain_shape_make(NULL, NULL, 8, &shape), GRAIN_ERROR_ARGUMENT, "name");
    ENSURE_FAILS(grain_shape_make("potato", NULL, 8, &shape), GRAIN_ERROR_ARGUMENT, "potato");
    shape.struct_size = 4;
    ENSURE_FAILS(grain_shape_make("rod", NULL, 8, &shape), GRAIN_ERROR_ABI, "GrainShape");
}
