#pragma once
/// Triangle meshes as they come from the artist.
#include "grain/run.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Borrowed for the length of the call; the library copies what it keeps.
typedef struct GrainMesh {
    const float *positions;   ///< m, xyz, 3 * vertex_count
    const int32_t *triangles; ///< 3 * triangle_count, outward winding
    int64_t vertex_count, triangle_count;
} GrainMesh;

#ifdef __cplusplus
}
#endif
