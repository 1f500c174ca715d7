#pragma once
/// A mesh as the distance to its surface: negative inside, positive outside, known in a narrow band.
#include "grain/mesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSdf GrainSdf;

typedef struct GrainSdfDef {
    uint32_t struct_size;
    float voxel_size;  ///< m, > 0
    float band_voxels; ///< Half width of the narrow band in voxels, [2, 16]. Default 3.
    float thickness;   ///< m, full thickness of the shell an open sheet or a plane becomes. 0 (default): two voxels.
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
