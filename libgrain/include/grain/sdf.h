// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Signed distance fields of meshes: negative inside, positive outside, stored in a narrow band.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSdf GrainSdf;

/// How a surface is interpreted.
typedef enum GrainSdfKind {
    GRAIN_SDF_AUTO = 0,  ///< Closed and nearly closed surfaces are solid; others (planes, open bowls) are sheets.
    GRAIN_SDF_SOLID = 1, ///< Inside is where the winding number says so, however large the holes are.
    GRAIN_SDF_SHELL = 2, ///< Every surface is a sheet: a closed bottle stays hollow.
} GrainSdfKind;

typedef struct GrainSdfDef {
    uint32_t struct_size;
    float voxel_size;  ///< m, > 0
    float band_voxels; ///< Half width of the narrow band in voxels, [2, 16]. Default 3.
    float thickness;   ///< m, thickness given to a sheet, half of it to each side; up to 64 voxels.
                       ///< 0 (default): two voxels.
    int32_t kind;      ///< GrainSdfKind. Default GRAIN_SDF_AUTO.
    uint32_t reserved; ///< 0
} GrainSdfDef;
/// size is the caller's sizeof(GrainSdfDef); nothing is written if it does not match. The same holds for every
/// _def_default.
GRAIN_API GrainResult grain_sdf_def_default(GrainSdfDef *def, uint32_t size);

/// On failure *out is NULL; the same holds for every _create. Fails with GRAIN_ERROR_MEMORY and the size needed if the
/// band does not fit into memory.
GRAIN_API GrainResult grain_sdf_create(const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                                       GrainSdf **out);
GRAIN_API void grain_sdf_destroy(GrainSdf *sdf);

/// Signed distances (m) and, unless NULL, gradients (xyz) at count positions (xyz). Beyond the band, the distance is
/// clamped to plus or minus half the width of the band, and the gradient is 0.
GRAIN_API GrainResult grain_sdf_sample(const GrainSdf *sdf, const float *positions, int64_t count, float *distances,
                                       float *gradients, const GrainRun *run);

#ifdef __cplusplus
}
#endif
