#pragma once
/// Where the surface of an object is, seen from places of the world: distance, normal and speed, for solvers that ask
/// anew in every step.
#include "sim/rigid/rigid.h"

#define RIGID_VIEW_CHUNK 64

typedef struct RigidView {
    float distance[RIGID_VIEW_CHUNK];                       ///< m; at least reach where it is far away
    Vec3 normal[RIGID_VIEW_CHUNK], speed[RIGID_VIEW_CHUNK]; ///< unit, or 0 where nothing is known; m/s
} RigidView;

/// count <= RIGID_VIEW_CHUNK places. reach (m): farther away nothing needs to be known. Bending meshes are seen as
/// rigid_mark left them.
void rigid_view(const Rigid *rigid, int object, const Vec3 *places, int count, float reach, RigidView *view);
/// Whether an object that moves may come within reach of a ball (world coordinates).
int rigid_may_reach(const Rigid *rigid, int object, Vec3d middle, double reach);
