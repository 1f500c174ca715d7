// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Rigid motion of a grain of several balls, for the integrators: the load on its balls, its spin, the motion of its
/// balls.
#include "base/real.h"
#include "sim/dem/dem.h"

static inline Vec3 dem_read3(const float from[3]) { return vec3(from[0], from[1], from[2]); }
static inline void dem_write3(float to[3], Vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

typedef struct DemLoad {
    Vec3 force, torque;
} DemLoad;

static inline DemLoad dem_load_of(const Dem *dem, int32_t first, int32_t last)
{
    DemLoad load = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t ball = first; ball < last; ball++) {
        int64_t row = dem->row[ball];
        Vec3 push = dem_read3(dem->push + 4 * row), arm = dem_read3(dem->arms[row].now);
        load.force = vec3_add(load.force, push);
        load.torque = vec3_add(load.torque, vec3_add(dem_read3(dem->turn + 4 * row), vec3_cross(arm, push)));
    }
    return load;
}

/// Spin from angular momentum, for the orientation half a step ahead, predicted with the given spin.
static inline Vec3 dem_spin_ahead(const DemGrain *grain, Vec3 momentum, Vec3 spin, float seconds)
{
    Vec3 turned = dem_read3(grain->turned), half = vec3_scale(spin, 0.25f * seconds);
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    Quat middle = quat_multiply((Quat){1.0f, half.x, half.y, half.z}, (Quat){w, turned.x, turned.y, turned.z});
    Quat facing = {grain->facing[0], grain->facing[1], grain->facing[2], grain->facing[3]};
    facing = quat_normalize(quat_multiply(middle, facing));
    Vec3 own = quat_rotate(quat_conjugate(facing), momentum);
    own = vec3(own.x * grain->inverse_inertia[0], own.y * grain->inverse_inertia[1], own.z * grain->inverse_inertia[2]);
    return quat_rotate(facing, own);
}

/// Moves the balls with their grain. Returns whether one of them left its skin.
static inline int32_t dem_carry_balls(const Dem *dem, const DemGrain *grain, int32_t first, int32_t last)
{
    Vec3 turned = dem_read3(grain->turned), offset = dem_read3(grain->offset), velocity = dem_read3(grain->velocity),
         spin = dem_read3(grain->spin);
    int32_t left = 0;
    for (int32_t ball = first; ball < last; ball++) {
        int64_t row = dem->row[ball];
        DemArm *arm = &dem->arms[row];
        DemBall *b = &dem->balls[row];
        Vec3 listed = dem_read3(arm->listed), way = dem_turn_arm(turned, listed), now = vec3_add(listed, way);
        Vec3 at = vec3_add(vec3_add(offset, way), dem_read3(arm->rounding));
        dem_write3(arm->now, now);
        dem_write3(b->offset, at);
        dem_write3(b->velocity, vec3_add(velocity, vec3_cross(spin, now)));
        dem_write3(b->spin, spin);
        left |= !(vec3_dot(at, at) <= b->skin_squared);
    }
    return left;
}
