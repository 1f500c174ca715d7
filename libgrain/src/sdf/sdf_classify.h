// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What of a mesh bounds a volume, and what is only a sheet.
#include "base/run.h"
#include "mesh/mesh_shells.h"
#include "mesh/mesh_winding.h"
#include "sdf/sdf.h"

typedef struct SdfClassified {
    MeshTopology topology;
    MeshShells shells; ///< only looked for when the mesh is not closed as it is
    uint8_t *is_sheet; ///< triangle -> 1; NULL when there are no sheets
    int64_t solid_triangles, sheet_triangles;
    int solids_closed; ///< all that is not a sheet is closed, with shells.flipped turned
} SdfClassified;

GrainResult sdf_classify(SdfClassified *parts, const GrainMesh *mesh, GrainSdfKind kind, Run *run);
void sdf_classified_free(SdfClassified *parts);

/// Triangles to be turned, or NULL.
static inline const uint8_t *sdf_classified_flipped(const SdfClassified *parts) { return parts->shells.flipped; }
/// Of all that is not a sheet.
GrainResult sdf_classified_winding(const SdfClassified *parts, MeshWinding *winding, int threads);
