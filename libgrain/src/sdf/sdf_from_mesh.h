// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#include "base/run.h"
#include "sdf/sdf.h"

/// Fills a zeroed GrainSdf from a mesh that mesh_validate has passed and a checked def.
GrainResult sdf_from_mesh(GrainSdf *sdf, const GrainMesh *mesh, const GrainSdfDef *def, Run *run);
