// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Triangle meshes, and the checks that everything else relies on.
#include "base/run.h"
#include "base/vec.h"
#include "grain/mesh.h"

/// m. Coordinates beyond this count as not finite: near the end of float's range (3.4e38), sums and sizes leave it.
#define MESH_FARTHEST 1e37f

/// Checks that there are arrays and triangles, that coordinates are finite and indices in range.
GrainResult mesh_validate(const GrainMesh *mesh);
/// Checks only the arrays and counts, not their contents. A mesh without triangles passes.
GrainResult mesh_validate_arrays(const GrainMesh *mesh);
/// Like mesh_validate, on several threads.
GrainResult mesh_validate_on(const GrainMesh *mesh, int threads);

static inline Vec3 mesh_vertex(const GrainMesh *mesh, int64_t triangle, int corner)
{
    const float *p = mesh->positions + 3 * (int64_t)mesh->triangles[3 * triangle + corner];
    return vec3(p[0], p[1], p[2]);
}

static inline int mesh_is_place(const float *p)
{
    return fabsf(p[0]) <= MESH_FARTHEST && fabsf(p[1]) <= MESH_FARTHEST && fabsf(p[2]) <= MESH_FARTHEST; // no NaN is
}

// The work of the public calls; arguments are checked.
/// mesh_check.c
GrainResult mesh_check(const GrainMesh *mesh, Run *run, GrainMeshReport *report);
/// mesh_report.c
void mesh_report_text(const GrainMeshReport *report, char *buffer, int64_t size);
/// mesh_mass.c
GrainResult mesh_mass(const GrainMesh *mesh, double density, GrainMassProperties *out);

/// Bounding box of the vertices used by triangles.
void mesh_bounds(const GrainMesh *mesh, int threads, Vec3 *low, Vec3 *high);
