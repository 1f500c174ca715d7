// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "mesh/mesh.h"

/// Sorts triangles by their centres along a space-filling curve (Morton 1966). wanted, unless NULL, marks the triangles
/// to include. Triangles without area come last, in the same order, so that a search finds the proper triangle whose
/// edge they lie on first. Free *order with alloc_free.
GrainResult mesh_order(const GrainMesh *mesh, const uint8_t *wanted, int threads, int32_t **order, int64_t *count);
