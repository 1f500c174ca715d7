// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "mesh/mesh.h"

/// Triangles along a curve that keeps neighbours together (Morton 1966), by their middles. wanted, unless NULL, marks
/// those that take part. Triangles without an area come last, in the same order: where they lie on the edge of a proper
/// one, the proper one is found first. Free *order with alloc_free.
GrainResult mesh_order(const GrainMesh *mesh, const uint8_t *wanted, int threads, int32_t **order, int64_t *count);
