// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A mesh as the distance to its surface: negative inside, positive outside, known in a narrow band.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSdf GrainSdf;

/// What a surface is taken for.
typedef enum GrainSdfKind {
    GRAIN_SDF_AUTO = 0,  ///< Closed and nearly closed surfaces are solid, others (planes, open bowls) are sheets.
    GRAIN_SDF_SOLID = 1, ///< Filled wherever the winding number says inside, however large the holes.
    GRAIN_SDF_SHELL = 2, ///< A sheet all over: a closed bottle stays hollow.
} GrainSdfKind;

typedef struct GrainSdfDef {
    uint32_t struct_size;
    float voxel_size;  ///< m, > 0
    float band_voxels; ///< Half width of the narrow band in voxels, [2, 16]. Default 3.
    float thickness;   ///< m, full thickness of the shell a sheet becomes, half of it to each side; up to 64 voxels.
                       ///< 0 (default): two voxels.
    int32_t kind;      ///< GrainSdfKind. Default GRAIN_SDF_AUTO.
    uint32_t reserved; ///< 0
} GrainSdfDef;
/// size is the caller's sizeof; nothing is written when it does not match. So for every _def_default.
GRAIN_API GrainResult grain_sdf_def_default(GrainSdfDef *def, uint32_t size);

/// On failure *out is NULL. So for every _create. Refused with the figure when the band would not fit into memory.
GRAIN_API GrainResult grain_sdf_create(const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                                       GrainSdf **out);
GRAIN_API void grain_sdf_destroy(GrainSdf *sdf);

/// Signed distances (m) and, unless NULL, gradients (xyz) at count positions (xyz). Beyond the band the distance is
/// held at plus or minus its half width and the gradient is 0.
GRAIN_API GrainResult grain_sdf_sample(const GrainSdf *sdf, const float *positions, int64_t count, float *distances,
                                       float *gradients, const GrainRun *run);

#ifdef __cplusplus
}
#endif
