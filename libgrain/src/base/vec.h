// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Small vectors and quaternions. Float for state, double (Vec3d, poses) where positions are summed or far from the
/// origin.
#include "base/real.h"

#include <math.h>

typedef struct Vec3 {
    float x, y, z;
} Vec3;

static inline Vec3 vec3(float x, float y, float z) { return (Vec3){x, y, z}; }
static inline Vec3 vec3_add(Vec3 a, Vec3 b) { return (Vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Vec3 vec3_sub(Vec3 a, Vec3 b) { return (Vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec3 vec3_scale(Vec3 a, float s) { return (Vec3){a.x * s, a.y * s, a.z * s}; }
static inline Vec3 vec3_add_scaled(Vec3 a, Vec3 b, float s) { return vec3_add(a, vec3_scale(b, s)); }
static inline float vec3_dot(Vec3 a, Vec3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline float vec3_length(Vec3 a) { return sqrtf(vec3_dot(a, a)); }
static inline Vec3 vec3_cross(Vec3 a, Vec3 b)
{
    return (Vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline Vec3 vec3_min(Vec3 a, Vec3 b)
{
    return (Vec3){a.x < b.x ? a.x : b.x, a.y < b.y ? a.y : b.y, a.z < b.z ? a.z : b.z};
}
static inline Vec3 vec3_max(Vec3 a, Vec3 b)
{
    return (Vec3){a.x > b.x ? a.x : b.x, a.y > b.y ? a.y : b.y, a.z > b.z ? a.z : b.z};
}
static inline int vec3_is_finite(Vec3 a) { return isfinite(a.x) && isfinite(a.y) && isfinite(a.z); }
/// Unit vector along a, or fallback if a is 0 or not finite.
static inline Vec3 vec3_normalize(Vec3 a, Vec3 fallback)
{
    float length = vec3_length(a);
    return length > 0.0f && isfinite(length) ? vec3_scale(a, 1.0f / length) : fallback;
}

typedef struct Vec3d {
    double x, y, z;
} Vec3d;

static inline Vec3d vec3d(double x, double y, double z) { return (Vec3d){x, y, z}; }
static inline Vec3d vec3d_from(Vec3 a) { return (Vec3d){(double)a.x, (double)a.y, (double)a.z}; }
static inline Vec3 vec3_from(Vec3d a) { return (Vec3){(float)a.x, (float)a.y, (float)a.z}; }
static inline Vec3d vec3d_add(Vec3d a, Vec3d b) { return (Vec3d){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline Vec3d vec3d_sub(Vec3d a, Vec3d b) { return (Vec3d){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline Vec3d vec3d_scale(Vec3d a, double s) { return (Vec3d){a.x * s, a.y * s, a.z * s}; }
static inline double vec3d_dot(Vec3d a, Vec3d b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
static inline double vec3d_length(Vec3d a) { return sqrt(vec3d_dot(a, a)); }
static inline Vec3d vec3d_cross(Vec3d a, Vec3d b)
{
    return (Vec3d){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// Unit vector along a, or 0 if a is 0.
static inline Vec3d vec3d_unit(Vec3d a)
{
    double length = vec3d_length(a);
    return vec3d_scale(a, length > 0.0 ? 1.0 / length : 0.0);
}

/// Rotation w + xi + yj + zk; unit length unless said otherwise.
typedef struct Quat {
    float w, x, y, z;
} Quat;

static inline Quat quat_identity(void) { return (Quat){1.0f, 0.0f, 0.0f, 0.0f}; }
/// First b, then a.
static inline Quat quat_multiply(Quat a, Quat b)
{
    return (Quat){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                  a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline Quat quat_conjugate(Quat q) { return (Quat){q.w, -q.x, -q.y, -q.z}; }
static inline Quat quat_normalize(Quat q)
{
    float length = sqrtf(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 0.0f)) return quat_identity();
    float s = 1.0f / length;
    return (Quat){q.w * s, q.x * s, q.y * s, q.z * s};
}
static inline Vec3 quat_rotate(Quat q, Vec3 v)
{
    Vec3 axis = {q.x, q.y, q.z};
    Vec3 t = vec3_scale(vec3_cross(axis, v), 2.0f);
    return vec3_add(vec3_add_scaled(v, t, q.w), vec3_cross(axis, t));
}

typedef struct Quatd {
    double w, x, y, z;
} Quatd;

static inline Quatd quatd_identity(void) { return (Quatd){1.0, 0.0, 0.0, 0.0}; }
/// First b, then a.
static inline Quatd quatd_multiply(Quatd a, Quatd b)
{
    return (Quatd){a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                   a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
static inline Quatd quatd_conjugate(Quatd q) { return (Quatd){q.w, -q.x, -q.y, -q.z}; }
static inline Quatd quatd_normalize(Quatd q)
{
    double length = sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(length > 0.0)) return quatd_identity();
    double s = 1.0 / length;
    return (Quatd){q.w * s, q.x * s, q.y * s, q.z * s};
}
static inline Vec3d quatd_rotate(Quatd q, Vec3d v)
{
    Vec3d axis = {q.x, q.y, q.z};
    Vec3d t = vec3d_scale(vec3d_cross(axis, v), 2.0);
    return vec3d_add(vec3d_add(v, vec3d_scale(t, q.w)), vec3d_cross(axis, t));
}
/// Rotates by |rotation| radians about the direction of rotation.
static inline Quatd quatd_from_rotation(Vec3d rotation)
{
    double angle = vec3d_length(rotation);
    double s = angle > 1e-4 ? real_sin(0.5 * angle) / angle : 0.5 - angle * angle * (1.0 / 48.0);
    return quatd_normalize((Quatd){real_cos(0.5 * angle), rotation.x * s, rotation.y * s, rotation.z * s});
}
/// The inverse: a rotation vector of at most half a turn.
static inline Vec3d quatd_to_rotation(Quatd q)
{
    double sign = q.w < 0.0 ? -1.0 : 1.0, sine = sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
    double factor = sine > 1e-9 ? 2.0 * real_atan2(sine, sign * q.w) / sine : 2.0;
    return vec3d_scale((Vec3d){q.x, q.y, q.z}, sign * factor);
}
