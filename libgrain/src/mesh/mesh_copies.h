// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Faces that a converter or a Boolean operation has left in a mesh more than once, the same way around.
#include "mesh/mesh_topology.h"

/// The mesh's triangles without those that are there already, in their order: *triangles, *count; free with alloc_free.
/// NULL where there is nothing to drop. Of a mesh whose edges all are passed as often one way as the other nothing is
/// dropped: there, two bodies share a face. A face and its back are not the same, and stay.
GrainResult mesh_drop_copies(const MeshTopology *topology, int threads, int32_t **triangles, int64_t *count);
