// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Where the surface of an object is, seen from places of the world: distance, normal and speed, for solvers that ask
/// anew in every step.
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

#define RIGID_VIEW_CHUNK 64

typedef struct RigidView {
    float distance[RIGID_VIEW_CHUNK];                       ///< m; at least reach where it is far away
    Vec3 normal[RIGID_VIEW_CHUNK], speed[RIGID_VIEW_CHUNK]; ///< unit, or 0 where nothing is known; m/s
    float friction[RIGID_VIEW_CHUNK],
        pull[RIGID_VIEW_CHUNK]; ///< of the surface there: tangent; m/s2, by which it is sticky
} RigidView;

/// count <= RIGID_VIEW_CHUNK places. reach (m): farther away nothing needs to be known. Bending meshes are seen as
/// rigid_mark left them.
void rigid_view(const Rigid *rigid, int object, const Vec3 *places, int count, float reach, RigidView *view);
/// Largest radii: a particle whose centre is nearer to a sticky surface is held by it.
#define RIGID_STICK_RADII 1.5f
/// What is left of a velocity against a sticky surface that takes up to `hold` (m/s) of what leaves it, and with what
/// it has left of that, by friction, of what goes along it.
static inline Vec3 rigid_stick(Vec3 velocity, Vec3 normal, float friction, float hold)
{
    float across = vec3_dot(velocity, normal), taken = real_minf(real_maxf(across, 0.0f), hold);
    Vec3 along = vec3_add_scaled(velocity, normal, -across);
    float speed = vec3_length(along), most = friction * (hold - taken);
    float part = speed > most ? 1.0f - most / speed : 0.0f;
    return vec3_add_scaled(vec3_scale(along, part), normal, across - taken);
}

/// Whether an object that moves may come within reach of a ball (world coordinates).
int rigid_may_reach(const Rigid *rigid, int object, Vec3d middle, double reach);
