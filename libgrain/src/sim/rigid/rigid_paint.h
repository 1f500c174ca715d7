// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A number painted on a mesh, as it is near any place: of a mesh with a distance field a field of the same voxels, so
/// that it is read as quickly as a distance; of a mesh that bends, from the triangle that is touched.
#include "sdf/sdf.h"
#include "sim/rigid/rigid_surface.h"

typedef struct RigidPaint {
    const float *numbers; ///< of each vertex, borrowed; NULL: 1 all over
    const int32_t *triangles;
    GrainSdf field; ///< the collider's, with own values: what is painted at the nearest point of the surface
} RigidPaint;

/// sdf: of the mesh at rest, NULL for one that bends; it has to stay as long as the paint does.
GrainResult rigid_paint_create(RigidPaint *paint, const float *numbers, const GrainMesh *mesh, const GrainSdf *sdf,
                               int threads);
void rigid_paint_free(RigidPaint *paint);
/// Times `scale`, at places in the coordinates of time 0.
void rigid_paint_sample(const RigidPaint *paint, float scale, const float *x, const float *y, const float *z, int count,
                        float *out);
/// The same where a plane touches the surface.
float rigid_paint_at_plane(const RigidPaint *paint, float scale, const RigidSurface *surface, const RigidPlane *plane);
