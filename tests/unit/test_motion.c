// SPDX-License-Identifier: GPL-3.0-or-later
#include "motion/curve.h"
#include "motion/motion.h"
#include "test.h"

#include <math.h>
#include <string.h>

TEST(poses_run_smoothly_through_their_samples_and_never_past_one)
{
    enum { SAMPLES = 9 };
    float poses[7 * SAMPLES];
    const float x[SAMPLES] = {0, 1, 2, 3, 4, 4, 4, 4, 4};
    for (int k = 0; k < SAMPLES; k++) {
        const float pose[7] = {x[k], 0, 0, cosf(0.1f * (float)k), 0, 0, sinf(0.1f * (float)k)};
        memcpy(poses + 7 * k, pose, sizeof pose);
    }
    Motion motion = motion_of_poses(poses, SAMPLES, 0.5);
    double before = 0.0, speed_before = 2.0;
    for (int i = 0; i <= 800; i++) {
        double time = 0.005 * i;
        Pose pose = motion_pose(&motion, time);
        double fraction = time / 0.5;
        if (i % 100 == 0) ENSURE_NEAR(pose.position.x, (double)x[i / 100], 1e-6);
        ENSURE(pose.position.x >= before - 1e-12 && pose.position.x <= 4.0 + 1e-12);
        double speed = i ? (pose.position.x - before) / 0.005 : 2.0;
        ENSURE(fabs(speed - speed_before) < 0.15); // no jumps: from 2 m/s to rest within one sample
        ENSURE_NEAR(quatd_to_rotation(pose.facing).z, 0.2 * fraction, 1e-6);
        before = pose.position.x, speed_before = speed;
    }
    ENSURE_NEAR(motion_fastest(&motion, NULL), 1.5 * 2.0, 1e-6);
}

TEST(a_pose_carries_points_about_its_pivot)
{
    const float half = 0.70710678f;
    const float poses[] = {1, 0, 0, 1, 0, 0, 0, 3, 0, 0, half, 0, 0, half}; // a quarter turn about z, 2 m along x
    Motion motion = motion_of_poses(poses, 2, motion_period(25.0, 4));
    ENSURE_NEAR(motion.period, 0.01, 1e-15);
    Vec3d point = motion_carry(&motion, vec3(2, 0, 5), 0.01);
    ENSURE_NEAR(point.x, 3.0, 1e-6);
    ENSURE_NEAR(point.y, 1.0, 1e-6);
    ENSURE_NEAR(point.z, 5.0, 1e-6);
    Vec3 direction = motion_turn(&motion, vec3(0, 1, 0), 7.0); // long after the last sample, which is held
    ENSURE_NEAR(direction.x, -1.0, 1e-6);
    ENSURE_NEAR(direction.y, 0.0, 1e-6);
    ENSURE_NEAR(motion_pivot(&motion).x, 1.0, 0.0);
}

TEST(what_stands_still_stays_where_it_is)
{
    Motion still = {0};
    Vec3d point = motion_carry(&still, vec3(2, 3, 4), 9.0);
    Pose pose = motion_pose(&still, 9.0);
    ENSURE(point.x == 2.0 && point.y == 3.0 && point.z == 4.0);
    ENSURE(pose.facing.w == 1.0 && pose.position.x == 0.0);
    ENSURE(motion_fastest(&still, NULL) == 0.0);
}

TEST(shapes_move_along_straight_lines_between_samples)
{
    const float shapes[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, /* next */ 0, 0, 3, 1, 0, 0, 0, 1, 0};
    const int32_t triangle[3] = {0, 1, 2};
    Motion motion = motion_of_shapes(shapes, 3, 2, 0.5);
    Vec3 corner[3], speed[3];
    motion_corners(&motion, 0.125, triangle, corner, speed);
    ENSURE_NEAR(corner[0].z, 0.75, 1e-6);
    ENSURE_NEAR(speed[0].z, 6.0, 1e-6);
    ENSURE(corner[1].x == 1.0f && speed[1].x == 0.0f);
    motion_corners(&motion, 8.0, triangle, corner, speed);
    ENSURE(corner[0].z == 3.0f && speed[0].z == 0.0f);
    ENSURE_NEAR(motion_fastest(&motion, NULL), 6.0, 1e-6);
    ENSURE(motion_shape(&motion, 1)->z == 3.0f);
}

TEST(the_nearest_sample_is_one_there_is)
{
    const float shapes[9] = {0};
    Motion motion = motion_of_shapes(shapes, 1, 3, 0.5);
    const struct {
        double seconds;
        int64_t nearest, interval;
    } cases[] = {{-1.0, 0, 0}, {0.2, 0, 0}, {0.25, 1, 0}, {0.74, 1, 1}, {0.76, 2, 1}, {1.0, 2, 2}, {9.0, 2, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ENSURE_EQUAL(motion_nearest(&motion, cases[i].seconds), cases[i].nearest);
        ENSURE_EQUAL(motion_interval(&motion, cases[i].seconds), cases[i].interval);
    }
}

TEST(curves_hold_their_ends_and_run_straight_between_samples)
{
    const float samples[] = {1, 0, 0, 3, 0, 4};
    Curve constant = {.constant = {2.5f}, .components = 1}, curve = {.samples = samples, .count = 2, .components = 3};
    ENSURE(curve_number(&constant, 100.0) == 2.5f);
    ENSURE(curve_vector(&curve, -1.0).x == 1.0f && curve_vector(&curve, 5.0).x == 3.0f);
    ENSURE_NEAR(curve_vector(&curve, 0.25).z, 1.0, 1e-6);
    ENSURE_NEAR(curve_largest(&curve), 5.0, 1e-6);
}
