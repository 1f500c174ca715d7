// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Which side of the surface a voxel is on: by the normal at the nearest point, or by the winding number.
#include "mesh/mesh_topology.h"
#include "mesh/mesh_winding.h"
#include "sdf/sdf_tree.h"

typedef struct SdfSigner {
    const GrainSdf *sdf;
    const MeshTopology *topology; ///< for normals: closed and, with flipped, consistent
    const uint8_t *flipped;       ///< NULL, or triangles to be turned
    const MeshWinding *winding;
    int closed; ///< the winding number changes only where the surface is
} SdfSigner;

/// The normals found last: neighbouring voxels ask for the same ones. Zeroed at the start.
typedef struct SdfNormals {
    struct {
        Vec3d normal;
        uint32_t key; ///< 1 + 2 * corner, and 1 more for the corner itself rather than the edge that starts there
        int32_t known;
    } entry[64];
} SdfNormals;

/// -1 inside, 1 outside, 0 where the normal does not tell. `place` is in voxels, `triangle` the nearest one.
int sdf_side_by_normal(const SdfSigner *signer, SdfNormals *normals, int32_t triangle, Vec3d place);

/// Gives the known voxels of a block (not SDF_FAR, whatever their sign) the side the winding number says.
void sdf_sign_by_winding(const SdfSigner *signer, int64_t block);
/// How many voxels of a block are on another side than the winding number says, those not counted that lie on the
/// surface but for rounding.
int64_t sdf_count_wrong_sides(const SdfSigner *signer, int64_t block);
/// As SdfJudge asks; user is an SdfSigner.
void sdf_judge_by_winding(const void *user, const float *x, const float *y, const float *z, int64_t count,
                          uint8_t *inside);
