// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Meshes as they come from the artist: checked before anything else looks at them.
#include "base/run.h"
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

// The work of the public calls; arguments are checked.
/// mesh_check.c
GrainResult mesh_check(const GrainMesh *mesh, Run *run, GrainMeshReport *report);
/// mesh_report.c
void mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size);
/// mesh_mass.c
GrainResult mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out);

/// Box around the vertices that triangles use.
void mesh_bounds(const GrainMesh *mesh, int threads, Vec3 *low, Vec3 *high);
