// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Samples the surface of an object from world positions: distance, normal and speed, for solvers that query it in
/// every step.
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

#define RIGID_VIEW_CHUNK 64

typedef struct RigidView {
    float distance[RIGID_VIEW_CHUNK];                       ///< m; at least reach if it is far away
    Vec3 normal[RIGID_VIEW_CHUNK], speed[RIGID_VIEW_CHUNK]; ///< unit, or 0 if unknown; m/s
    float friction[RIGID_VIEW_CHUNK],
        pull[RIGID_VIEW_CHUNK]; ///< at the nearest point: tangent; m/s2, pull of a sticky surface
} RigidView;

/// count <= RIGID_VIEW_CHUNK places. reach (m): beyond it the results may be inexact. Deforming meshes
/// are sampled as rigid_mark left them.
void rigid_view(const Rigid *rigid, int object, const Vec3 *places, int count, float reach, RigidView *view);
/// Largest radii: a particle whose centre is nearer to a sticky surface is held by it.
#define RIGID_STICK_RADII 1.5f
/// The velocity left against a sticky surface that removes up to `hold` (m/s) of the outward component; what remains of
/// `hold` limits friction on the tangential component.
static inline Vec3 rigid_stick(Vec3 velocity, Vec3 normal, float friction, float hold)
{
    float across = vec3_dot(velocity, normal), taken = real_minf(real_maxf(across, 0.0f), hold);
    Vec3 along = vec3_add_scaled(velocity, normal, -across);
    float speed = vec3_length(along), most = friction * (hold - taken);
    float part = speed > most ? 1.0f - most / speed : 0.0f;
    return vec3_add_scaled(vec3_scale(along, part), normal, across - taken);
}

/// Whether a moving object may come within reach of a ball (world coordinates).
int rigid_may_reach(const Rigid *rigid, int object, Vec3d middle, double reach);
