// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The connected surfaces (shells) of a mesh, and which of their triangles are flipped.
#include "mesh/mesh_topology.h"

typedef struct MeshShell {
    int64_t triangle_count;
    int64_t open_edges;
    int64_t crowded_edges;     ///< each counted once for each of its triangles
    int64_t flipped_triangles; ///< flipped relative to most of their neighbours
    int32_t orientable;        ///< 0: cannot be wound consistently (a Moebius strip)
    int32_t unused;
    double area;      ///< m^2
    double hole_area; ///< m^2, of the fans that close the holes
    double volume;    ///< m^3, holes closed by a fan; negative when inside out
} MeshShell;

typedef struct MeshShells {
    const MeshTopology *topology;
    MeshShell *shells;
    int64_t shell_count;
    int32_t *shell_of;  ///< triangle -> shell; -1 for triangles with a vertex twice
    uint8_t *flipped;   ///< triangle -> 1 if it must be flipped for a consistent winding
    uint8_t *open;      ///< corner -> 1 where the edge that starts there is open; NULL without open edges
    Vec3d *hole_centre; ///< vertex -> centre of the hole it borders; NULL without open edges
} MeshShells;

/// Shells are numbered by their first triangle.
GrainResult mesh_shells_find(MeshShells *shells, const MeshTopology *topology);
void mesh_shells_free(MeshShells *shells);

static inline int mesh_shell_is_closed(const MeshShell *shell)
{
    return shell->open_edges == 0 && shell->crowded_edges == 0 && shell->orientable;
}

/// Calls visit for every triangle, flipped if necessary, and for the fans that close the holes, so that the surface of
/// each shell is closed. relative_to is subtracted from all positions.
typedef void MeshVisitFn(void *user, int32_t shell, Vec3d a, Vec3d b, Vec3d c, int is_cap);
void mesh_shells_visit(const MeshShells *shells, Vec3d relative_to, MeshVisitFn *visit, void *user);
