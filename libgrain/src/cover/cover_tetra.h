// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Marching tetrahedra (Treece, Prager & Gee 1999): the surface where a distance field has a given value, as triangles.
#include "sdf/sdf.h"

/// Calls visit with the triangles of one block, in an order where neighbours follow each other. Positions are in the
/// field's own coordinates. Cells that reach out of the band are left out: their values are not distances.
typedef void CoverTriangleFn(void *user, const Vec3 corner[3]);
void cover_tetra_visit(const GrainSdf *sdf, int64_t block, float level, CoverTriangleFn *visit, void *user);
