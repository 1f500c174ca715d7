// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Which triangles may be the nearest in which block.
///
/// Triangles are put into a spatial order; neighbours that are small against a block form a cluster of up to eight, so
/// that a mesh of a million tiny triangles does not list each of them in each block around it.
#include "base/run.h"
#include "sdf/sdf.h"

#define SDF_CLUSTER_TRIANGLES 8

typedef struct SdfCandidates {
    int32_t *triangle;      ///< the mesh's triangles in spatial order
    int32_t *cluster_start; ///< cluster -> its first place in that order; cluster_count + 1 entries
    float *cluster_box;     ///< cluster -> low x y z, high x y z (voxels), a little too large rather than too small
    int64_t cluster_count;
    uint32_t *clusters;   ///< of each block, ascending
    int64_t *block_start; ///< block -> its first entry in clusters; block_count + 1 entries
} SdfCandidates;

/// Lists in each block the triangles that are at most `reach` voxels away from it, and sets block_count and block_key
/// of the sdf: those blocks that have any. Refuses, with the figure, what would not fit into memory.
GrainResult sdf_candidates_build(SdfCandidates *bins, GrainSdf *sdf, const GrainMesh *mesh, double reach, Run *run);
void sdf_candidates_free(SdfCandidates *bins);
