// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/vec.h"
#include "grain/grain.h"
#include "unit/test.h"

#include <string.h>

#define ENSURE_VEC(value, ex, ey, ez, tolerance)                                                                       \
    do {                                                                                                               \
        Vec3 ensure_vec = (value);                                                                                     \
        ENSURE_NEAR(ensure_vec.x, ex, tolerance);                                                                      \
        ENSURE_NEAR(ensure_vec.y, ey, tolerance);                                                                      \
        ENSURE_NEAR(ensure_vec.z, ez, tolerance);                                                                      \
    } while (0)

TEST(cross_is_right_handed) { ENSURE_VEC(vec3_cross(vec3(1, 0, 0), vec3(0, 1, 0)), 0, 0, 1, 0); }

TEST(normalize_falls_back_where_there_is_no_direction)
{
    ENSURE_VEC(vec3_normalize(vec3(0, 0, 0), vec3(0, 0, 1)), 0, 0, 1, 0);
    ENSURE_VEC(vec3_normalize(vec3(0, -2, 0), vec3(0, 0, 1)), 0, -1, 0, 0);
}

static Quat quat_about(Vec3 rotation)
{
    Quatd q = quatd_from_rotation(vec3d_from(rotation));
    return (Quat){(float)q.w, (float)q.x, (float)q.y, (float)q.z};
}

TEST(quarter_turn_about_z)
{
    Quat q = quat_about(vec3(0, 0, 1.57079633f));
    ENSURE_VEC(quat_rotate(q, vec3(1, 0, 0)), 0, 1, 0, 1e-6);
    ENSURE_VEC(quat_rotate(quat_conjugate(q), vec3(0, 1, 0)), 1, 0, 0, 1e-6);
}

// First b, then a: about x, then about z takes y to z and leaves it there.
TEST(product_turns_by_the_right_factor_first)
{
    Quat about_x = quat_about(vec3(1.57079633f, 0, 0)), about_z = quat_about(vec3(0, 0, 1.57079633f));
    ENSURE_VEC(quat_rotate(quat_multiply(about_z, about_x), vec3(0, 1, 0)), 0, 0, 1, 1e-6);
}

// 10,000 substeps of 0.1 mrad are one radian; float rounding adds at most 1e4 * 6e-8.
TEST(tiny_turns_add_up)
{
    Quat q = quat_identity(), step = quat_about(vec3(1e-4f, 0, 0));
    for (int i = 0; i < 10000; i++) q = quat_normalize(quat_multiply(step, q));
    ENSURE_VEC(quat_rotate(q, vec3(0, 1, 0)), 0, cos(1.0), sin(1.0), 6e-4);
}
