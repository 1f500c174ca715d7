// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Meshes as they come from the artist: checked before anything else looks at them.
#include "base/vec.h"
#include "grain/mesh.h"

/// Arrays there, at least one triangle, finite coordinates, indices in range; otherwise a text that says which.
GrainResult mesh_validate(const GrainMesh *mesh);
/// Only the arrays and counts, not what stands in them; a mesh without triangles passes.
GrainResult mesh_validate_arrays(const GrainMesh *mesh);
/// As mesh_validate, on several threads.
GrainResult mesh_validate_on(const GrainMesh *mesh, int threads);

static inline Vec3 mesh_vertex(const GrainMesh *mesh, int64_t triangle, int corner)
{
    const float *p = mesh->positions + 3 * (int64_t)mesh->triangles[3 * triangle + corner];
    return vec3(p[0], p[1], p[2]);
}

/// Box around the vertices that triangles use.
void mesh_bounds(const GrainMesh *mesh, int threads, Vec3 *low, Vec3 *high);
