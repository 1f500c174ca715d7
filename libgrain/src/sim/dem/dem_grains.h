// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grains of several balls that move as one (dem_grains.c).
#include "base/real.h"
#include "base/vec.h"
#include "particles/particles.h"

typedef struct Dem Dem;

/// A grain of several balls that move as one. Its balls follow it; contacts only ever see balls.
///
/// What it has turned since the lists were made is kept apart from how it faced then, as its way is from its anchor: so
/// that the tiny turns of a grain at rest are not lost in rounding.
typedef struct DemGrain {
    float offset[3], inverse_mass;
    float velocity[3], radius;          ///< radius: of the ball around it
    float momentum[3], unused_a;        ///< kg m2/s, angular, in the world's axes
    float turned[3], unused_b;          ///< x, y, z of the quaternion of what it has turned since the lists were made
    float spin[3], unused_c;            ///< rad/s
    float inverse_inertia[3], unused_d; ///< about its principal axes
    float facing[4];                    ///< w, x, y, z: from principal axes to the world when the lists were made
    float anchor[3], unused_e;
} DemGrain;
#define DEM_GRAIN_FLOATS 32

/// Where a ball is on its grain, from the grain's centre, in the world's axes (m).
typedef struct DemArm {
    float listed[3], unused_a; ///< when the lists were made
    float now[3], unused_b;
    float rounding[3], unused_c; ///< anchor of the grain + listed - anchor of the ball
} DemArm;

/// How many balls and grains of several balls these particles are, numbered from SolverBase.born on.
void dem_count_grains(const Dem *dem, const Particles *born, int64_t *balls, int64_t *grains);
/// Balls and grains as they start, behind those there are; kinds: of each, or NULL.
void dem_start_grains(Dem *dem, const Particles *born, const uint8_t *kinds);
/// The present state becomes the one that turns and offsets are counted from; anchors of their balls follow.
void dem_anchor_grains(Dem *dem);
/// Grains of particles that are gone leave; their balls are gone already.
void dem_remove_grains(Dem *dem, const uint8_t *gone);
/// After the balls have been sorted: grains in the order of their first ball, and where each ball is on its grain.
void dem_sort_grains(Dem *dem);
void dem_place_arms(Dem *dem);
/// How the shape as it was given has to be turned to face as grain g does now.
Quat dem_grain_orientation(const Dem *dem, int64_t g);
void dem_free_grains(Dem *dem);

/// How a vector changes when it is turned by the quaternion with these x, y, z. No digit is lost however small the
/// turn.
static inline Vec3 dem_turn_arm(Vec3 turned, Vec3 arm)
{
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    Vec3 cross = vec3_cross(turned, arm);
    return vec3_scale(vec3_add(vec3_scale(cross, w), vec3_cross(turned, cross)), 2.0f);
}
