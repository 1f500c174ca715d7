// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A triangle mesh for exact contact queries: the nearest point to a place, and the side the place is on.
#include "base/vec.h"
#include "grain/mesh.h"
#include "mesh/mesh_tree.h"

typedef struct RigidSurface {
    MeshTree tree;
    int32_t *triangle; ///< leaf triangle -> the mesh's triangle
    Vec3 *corners;     ///< three to a leaf triangle
    int32_t is_closed; ///< has an inside
    Vec3 low, high;    ///< box around it
} RigidSurface;

/// A plane that approximates the surface near a place.
typedef struct RigidPlane {
    Vec3 foot, normal; ///< the surface's point; unit, towards the outside or, of a sheet, the side the place is on
    float distance;    ///< along the normal; below 0 behind the surface
    int32_t leaf_triangle;
    float v, w; ///< place of the foot in its triangle: a + v (b - a) + w (c - a)
} RigidPlane;

#define RIGID_MAX_PLANES 3

GrainResult rigid_surface_create(RigidSurface *surface, const GrainMesh *mesh, int threads);
void rigid_surface_free(RigidSurface *surface);
/// After corners have been changed.
void rigid_surface_refit(RigidSurface *surface, int threads);
/// Planes that approximate the surface within reach of a place: the nearest first, then those of other walls that meet
/// there, `room` at most. Returns their number. sides: normals of the planes found there before; a sheet has no inside,
/// so they say on which side of it the place was.
int rigid_surface_planes(const RigidSurface *surface, Vec3 place, float reach, const Vec3 *sides, int side_count,
                         RigidPlane *planes, int room);
/// Only the nearest plane, which is faster; guess: the leaf triangle of one found nearby before, or -1. Returns 0 if
/// nothing is within reach.
int rigid_surface_plane(const RigidSurface *surface, Vec3 place, float reach, int32_t guess, const Vec3 *side,
                        RigidPlane *plane);
