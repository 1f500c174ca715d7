// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Grains of several balls that move as one (dem_grains.c).
#include "base/real.h"
#include "base/vec.h"
#include "particles/particles.h"

typedef struct Dem Dem;

/// A grain of several balls that move as one. Its balls follow it; contacts only ever see balls.
///
/// Its rotation since the lists were made is stored apart from its orientation at that time, as its offset is from its
/// anchor, so that the tiny rotations of a grain at rest are not lost in rounding.
typedef struct DemGrain {
    float offset[3], inverse_mass;
    float velocity[3], radius;          ///< radius: of the ball around it
    float momentum[3], unused_a;        ///< kg m2/s, angular, in the world's axes
    float turned[3], unused_b;          ///< x, y, z of the quaternion of its rotation since the lists were made
    float spin[3], unused_c;            ///< rad/s
    float inverse_inertia[3], unused_d; ///< about its principal axes
    float facing[4];                    ///< w, x, y, z: from principal axes to the world when the lists were made
    float anchor[3], unused_e;
} DemGrain;
#define DEM_GRAIN_FLOATS 32

/// Position of a ball relative to the centre of its grain, along the world axes (m).
typedef struct DemArm {
    float listed[3], unused_a; ///< when the lists were made
    float now[3], unused_b;
    float rounding[3], unused_c; ///< anchor of the grain + listed - anchor of the ball
} DemArm;

/// Number of balls, and of grains of several balls, that these particles have; they are numbered from SolverBase.born.
void dem_count_grains(const Dem *dem, const Particles *born, int64_t *balls, int64_t *grains);
/// Appends the balls and grains of new particles; kinds: the material of each, or NULL.
void dem_start_grains(Dem *dem, const Particles *born, const uint8_t *kinds);
/// Makes the current state the one that rotations and offsets are relative to; anchors of the balls follow.
void dem_anchor_grains(Dem *dem);
/// Removes the grains of removed particles, after their balls.
void dem_remove_grains(Dem *dem, const uint8_t *gone);
/// After the balls were sorted: sorts the grains by their first ball, and updates the arms of the balls.
void dem_sort_grains(Dem *dem);
void dem_place_arms(Dem *dem);
/// The rotation from the given shape to the current orientation of grain g.
Quat dem_grain_orientation(const Dem *dem, int64_t g);
void dem_free_grains(Dem *dem);

/// The change of a vector by the rotation with these x, y, z of its quaternion. Exact for arbitrarily small rotations.
static inline Vec3 dem_turn_arm(Vec3 turned, Vec3 arm)
{
    float w = sqrtf(real_maxf(1.0f - vec3_dot(turned, turned), 0.0f));
    Vec3 cross = vec3_cross(turned, arm);
    return vec3_scale(vec3_add(vec3_scale(cross, w), vec3_cross(turned, cross)), 2.0f);
}
