// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The generalised winding number (Jacobson, Kavan, Sorkine-Hornung 2013): how often a surface winds around a point. It
/// is 1 inside a closed, outward mesh, 0 outside, and between them near the holes of an open mesh; crossing and
/// overlapping surfaces add up. Distant groups of triangles are approximated by a dipole and a quadrupole (Barill,
/// Dickson, Schmidt, Levin, Jacobson 2018).
#include "base/simd.h"
#include "mesh/mesh.h"

/// Triangles of a leaf, and children of a node.
#define WINDING_FANOUT 8

typedef struct WindingNode {
    float x, y, z;       ///< middle, weighted by area
    float reach_squared; ///< beyond this distance the sums below replace the triangles
    float nx, ny, nz;    ///< sum of area * normal
    float xx, yy, zz;    ///< sum of area * (middle of triangle - middle) * normal, symmetric part
    float xy, yz, zx;    ///< off the diagonal, twice
    float unused[3];
} WindingNode;

typedef struct MeshWinding {
    Vec3d centre; ///< all coordinates below are counted from here
    double scale; ///< and divided by this, so that huge and tiny meshes stay in float's range
    int64_t triangle_count;
    float *corners; ///< 9 for each triangle, in an order where neighbours are near
    int32_t level_count;
    int64_t level_start[12]; ///< first node of a level; level 0 has the leaves
    WindingNode *nodes;
} MeshWinding;

/// flipped, unless NULL, marks triangles to flip; wanted, unless NULL, those to include.
GrainResult mesh_winding_build(MeshWinding *winding, const GrainMesh *mesh, const uint8_t *flipped,
                               const uint8_t *wanted, int threads);
void mesh_winding_free(MeshWinding *winding);

/// On the middles of some triangles: the mean of just above and just below each. One half on the surface of a solid, 0
/// on a lone sheet, -1/2 on a solid that is inside out.
void mesh_winding_on(const MeshWinding *winding, const GrainMesh *mesh, const int32_t *triangles, int64_t count,
                     int threads, float *number);

/// At points counted from centre and divided by scale. One thread.
SIMD_KERNEL(void, mesh_winding_at,
            (const MeshWinding *winding, const float *x, const float *y, const float *z, int64_t count, float *number))
