// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Signed distance fields: the distance to the surface of a mesh, negative inside and positive outside, stored in a
/// narrow band around the surface. grain/output.h reads and writes them as OpenVDB level sets.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSdf GrainSdf;

/// How to tell inside from outside.
typedef enum GrainSdfKind {
    GRAIN_SDF_AUTO = 0,  ///< Closed and nearly closed shells are solid; others, such as planes and bowls, are sheets.
    GRAIN_SDF_SOLID = 1, ///< Inside is where the generalised winding number says so, however large the holes.
    GRAIN_SDF_SHELL = 2, ///< Every surface is a sheet: a closed bottle stays hollow.
} GrainSdfKind;

typedef struct GrainSdfDef {
    uint32_t struct_size;
    float voxel_size;  ///< m, > 0
    float band_voxels; ///< Half width of the narrow band in voxels, [2, 16]. Default 3.
    float thickness;   ///< m, thickness given to sheets, half to each side; at most 64 voxels. 0 (default): two voxels.
    int32_t kind;      ///< GrainSdfKind. Default GRAIN_SDF_AUTO.
    uint32_t reserved; ///< 0
} GrainSdfDef;
/// `size` is the caller's sizeof(GrainSdfDef). If it differs from the library's, nothing is written. The same holds for
/// every _def_default.
GRAIN_API GrainResult grain_sdf_def_default(GrainSdfDef *def, uint32_t size);

/// On failure *out is NULL. The same holds for every function that creates an object. Fails with GRAIN_ERROR_MEMORY and
/// the size needed if the band does not fit into memory.
GRAIN_API GrainResult grain_sdf_create(const GrainMesh *mesh, const GrainSdfDef *def, const GrainRun *run,
                                       GrainSdf **out);
/// Accepts NULL, like every _destroy.
GRAIN_API void grain_sdf_destroy(GrainSdf *sdf);

/// Samples `count` positions (xyz). `distances` receives one number per position (m), `gradients` three, unless it is
/// NULL. Outside the band the distance is clamped to plus or minus the half width, and the gradient is 0.
GRAIN_API GrainResult grain_sdf_sample(const GrainSdf *sdf, const float *positions, int64_t count, float *distances,
                                       float *gradients, const GrainRun *run);

#ifdef __cplusplus
}
#endif
