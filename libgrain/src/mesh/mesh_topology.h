// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Adjacency of triangles. No edges are stored: a neighbour is found by looking at the corners around a vertex, about
/// six of them.
///
/// A corner is 3 * triangle + 0..2. It also names the edge that starts there and runs to the triangle's next corner.
#include "mesh/mesh.h"

typedef struct MeshTopology {
    const GrainMesh *mesh;
    const int32_t *vertex; ///< of each corner: that of the mesh or, after welding, the lowest one at the same position
    int64_t vertex_count;
    int32_t *corner_start; ///< vertex -> its first entry in corners; vertex_count + 1 entries
    int32_t *corners;      ///< the corners around each vertex, ascending; triangles with a vertex twice are left out
    int64_t open_edges;    ///< with one triangle
    int64_t crowded_edges; ///< with three or more
    int64_t flipped_edges; ///< with two triangles that run the same way: one of them is flipped
    int32_t *welded;       ///< storage of vertex after welding
} MeshTopology;

/// The mesh must have passed mesh_validate and outlive the topology. With weld set, vertices at exactly the same
/// position are merged if the mesh is open otherwise, which closes surfaces that an exporter split along their seams.
GrainResult mesh_topology_build(MeshTopology *topology, const GrainMesh *mesh, int weld, int threads);
void mesh_topology_free(MeshTopology *topology);

/// Whether every edge has two triangles with consistent winding.
static inline int mesh_is_closed(const MeshTopology *topology)
{
    return topology->open_edges + topology->crowded_edges + topology->flipped_edges == 0;
}

static inline int32_t mesh_next_corner(int32_t corner) { return corner % 3 == 2 ? corner - 2 : corner + 1; }
static inline int32_t mesh_previous_corner(int32_t corner) { return corner % 3 == 0 ? corner + 2 : corner - 1; }

/// The other triangle at the edge that starts at this corner.
typedef struct MeshNeighbour {
    int32_t edge;      ///< the other triangle's corner where its copy of the edge starts; -1: none, or more than one
    int32_t same_way;  ///< its copy runs the same way: one of the two triangles is turned
    int32_t triangles; ///< how many triangles share the edge, this one included
} MeshNeighbour;
MeshNeighbour mesh_neighbour(const MeshTopology *topology, int32_t corner);

/// The edges from a vertex to higher ones, sorted: the other end in the upper half of the word, and in the lower half
/// the corner where a triangle's copy of the edge starts. An edge is a run of equal upper halves, a triangle each.
/// buffer has room for 2 * mesh_corner_count(topology, vertex) words; returns how many are used.
int64_t mesh_edges_at(const MeshTopology *topology, int32_t vertex, uint64_t *buffer);
static inline int64_t mesh_corner_count(const MeshTopology *topology, int64_t vertex)
{
    return topology->corner_start[vertex + 1] - topology->corner_start[vertex];
}
/// Most corners any vertex has.
int64_t mesh_most_corners(const MeshTopology *topology);

/// For each vertex the lowest vertex at exactly the same place; *count gets how many are not their own. Free with
/// alloc_free.
GrainResult mesh_weld(const GrainMesh *mesh, int threads, int32_t **same_as, int64_t *count);
