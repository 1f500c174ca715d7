// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Vectors and rotations of SIMD_LANES things at once; and records of four floats, one thing at a time. For kernels
/// only.
#include "base/simd.h"

typedef struct Vec3V {
    FloatV x, y, z;
} Vec3V;

SIMD_INLINE Vec3V vec3v(FloatV x, FloatV y, FloatV z) { return (Vec3V){x, y, z}; }
SIMD_INLINE Vec3V vec3v_add(Vec3V a, Vec3V b) { return (Vec3V){a.x + b.x, a.y + b.y, a.z + b.z}; }
SIMD_INLINE Vec3V vec3v_sub(Vec3V a, Vec3V b) { return (Vec3V){a.x - b.x, a.y - b.y, a.z - b.z}; }
SIMD_INLINE Vec3V vec3v_scale(Vec3V a, FloatV s) { return (Vec3V){a.x * s, a.y * s, a.z * s}; }
SIMD_INLINE FloatV vec3v_dot(Vec3V a, Vec3V b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
SIMD_INLINE Vec3V vec3v_cross(Vec3V a, Vec3V b)
{
    return (Vec3V){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
/// What is left of a across the unit vector normal.
SIMD_INLINE Vec3V vec3v_across(Vec3V a, Vec3V normal)
{
    return vec3v_sub(a, vec3v_scale(normal, vec3v_dot(a, normal)));
}

/// A rotation for each lane.
typedef struct QuatV {
    FloatV w;
    Vec3V v;
} QuatV;

/// First b, then a.
SIMD_INLINE QuatV quatv_multiply(QuatV a, QuatV b)
{
    return (QuatV){a.w * b.w - vec3v_dot(a.v, b.v),
                   vec3v_add(vec3v_add(vec3v_scale(b.v, a.w), vec3v_scale(a.v, b.w)), vec3v_cross(a.v, b.v))};
}
SIMD_INLINE QuatV quatv_normalize(QuatV q)
{
    FloatV scale = 1.0f / simd_sqrt(q.w * q.w + vec3v_dot(q.v, q.v));
    return (QuatV){q.w * scale, vec3v_scale(q.v, scale)};
}
SIMD_INLINE QuatV quatv_conjugate(QuatV q) { return (QuatV){q.w, {-q.v.x, -q.v.y, -q.v.z}}; }
SIMD_INLINE Vec3V quatv_rotate(QuatV q, Vec3V a)
{
    Vec3V twice = vec3v_scale(vec3v_cross(q.v, a), simd_set1(2.0f));
    return vec3v_add(vec3v_add(a, vec3v_scale(twice, q.w)), vec3v_cross(q.v, twice));
}

/// A record of four floats is a vector of its own here, on every instruction set.
typedef float Float4 __attribute__((vector_size(16)));

SIMD_INLINE Float4 float4_load(const float *from) { return *(const Float4 *)from; }
SIMD_INLINE void float4_store(float *to, Float4 v) { *(Float4 *)to = v; }
SIMD_INLINE Float4 float4_set1(float value) { return (Float4){value, value, value, value}; }
/// Of the first three; the fourth is 0 where the fourths are finite.
SIMD_INLINE Float4 float4_cross(Float4 a, Float4 b)
{
    Float4 a_yzx = __builtin_shufflevector(a, a, 1, 2, 0, 3), a_zxy = __builtin_shufflevector(a, a, 2, 0, 1, 3);
    Float4 b_yzx = __builtin_shufflevector(b, b, 1, 2, 0, 3), b_zxy = __builtin_shufflevector(b, b, 2, 0, 1, 3);
    return a_yzx * b_zxy - a_zxy * b_yzx;
}
SIMD_INLINE float float4_dot3(Float4 a, Float4 b)
{
    Float4 product = a * b;
    return product[0] + product[1] + product[2];
}
/// The first three of a, the fourth of b.
SIMD_INLINE Float4 float4_keep_fourth(Float4 a, Float4 b) { return __builtin_shufflevector(a, b, 0, 1, 2, 7); }
