// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A number painted on a mesh, evaluated near any place: for a mesh with a distance field, a field on the same voxels,
/// which is as fast to sample as the distance; for a deforming mesh, interpolated in the triangle that is touched.
#include "sdf/sdf.h"
#include "sim/rigid/rigid_surface.h"

typedef struct RigidPaint {
    const float *numbers; ///< of each vertex, borrowed; NULL: 1 everywhere
    const int32_t *triangles;
    GrainSdf field; ///< on the collider's voxels: the number at the nearest point of the surface
} RigidPaint;

/// sdf: of the mesh at rest, which must outlive the paint; NULL for a deforming mesh.
GrainResult rigid_paint_create(RigidPaint *paint, const float *numbers, const GrainMesh *mesh, const GrainSdf *sdf,
                               int threads);
void rigid_paint_free(RigidPaint *paint);
/// The number times `scale`, at places in the coordinates of time 0.
void rigid_paint_sample(const RigidPaint *paint, float scale, const float *x, const float *y, const float *z, int count,
                        float *out);
/// The same at the foot of a plane.
float rigid_paint_at_plane(const RigidPaint *paint, float scale, const RigidSurface *surface, const RigidPlane *plane);
