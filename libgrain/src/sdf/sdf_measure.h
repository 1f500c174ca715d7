#pragma once
/// Exact distances from the voxels of one block to the triangles listed for it.
///
/// A block's 512 voxels are taken as 64 packets of 2 x 2 x 2, the eight lanes of a vector. A triangle is turned into
/// seven functions that are linear in space, all distances in voxels:
///
///     h           height above its plane
///     t0 t1 t2    how far along each edge
///     s0 s1 s2    how far beyond each edge, in the plane: all <= 0 above the triangle
///
/// so that the squared distance is h^2 plus, unless all s are <= 0, the least over the edges of s^2 and what t
/// overshoots the edge by, squared. Constants come from doubles: a large triangle is as exact as a small one.
#include "base/simd.h"
#include "grain/mesh.h"

/// Triangles taken at once: their functions fit into the second-level cache.
#define MEASURE_CHUNK 1536
#define MEASURE_GROUPS (MEASURE_CHUNK / 8)
/// A block with no more triangles than this keeps each function at all eight lanes of a packet.
#define MEASURE_FEW 64

enum { MEASURE_H, MEASURE_T0, MEASURE_T1, MEASURE_T2, MEASURE_S0, MEASURE_S1, MEASURE_S2, MEASURE_FUNCTIONS = 8 };

/// Eight triangles. Functions are constant + x * gx + y * gy + z * gz with x, y, z counted from the block's first
/// voxel.
typedef struct MeasureGroup {
    float constant[MEASURE_FUNCTIONS][8], gx[MEASURE_FUNCTIONS][8], gy[MEASURE_FUNCTIONS][8], gz[MEASURE_FUNCTIONS][8];
    float length[3][8]; ///< of the edges
    float above[8]; ///< above the triangle when the largest s is at most this: 0, or less than any where it has no area
    float middle[3][8]; ///< of a ball around the triangle
    float radius[8];
} MeasureGroup;

/// One triangle of a short list: its functions at the eight lanes of the packet at (0, 0, 0), and how they change.
typedef struct MeasureNear {
    float lane[MEASURE_FUNCTIONS][8];
    float gx[8], gy[8], gz[8]; ///< by function
} MeasureNear;

typedef struct MeasureScratch {
    MeasureGroup groups[MEASURE_GROUPS];
    MeasureNear near[MEASURE_FEW];
    float low[3][MEASURE_GROUPS], high[3][MEASURE_GROUPS]; ///< boxes around the groups
    float largest[MEASURE_GROUPS];                         ///< radius of its largest triangle
} MeasureScratch;

/// What is known of a block's voxels, in packets: voxel (x, y, z) is at sdf_measure_index.
typedef struct MeasureState {
    float squared[512];   ///< voxels^2; starts at the band's half width squared
    int32_t nearest[512]; ///< place in the block's list, or -1: nothing within the band
    float side[512];      ///< height above the nearest triangle; 0 where its edge or corner is nearest
} MeasureState;

static inline int sdf_measure_index(int x, int y, int z)
{
    return (((z >> 1) * 4 + (y >> 1)) * 4 + (x >> 1)) * 8 + (z & 1) * 4 + (y & 1) * 2 + (x & 1);
}

typedef struct MeasureMesh {
    const float *positions;
    const int32_t *triangles;
    const uint8_t *flipped; ///< NULL, or triangles whose winding is to be turned
    double origin[3], voxels_per_metre;
} MeasureMesh;

/// Clears the state for a band of this half width (voxels).
SIMD_KERNEL(void, sdf_measure_begin, (MeasureState * state, float band))
/// Takes up to MEASURE_CHUNK triangles into account; first_place is the place of the first one in the block's list.
/// The result does not depend on the order of chunks or on how triangles are grouped: among equally near ones, the
/// lowest place wins.
SIMD_KERNEL(void, sdf_measure_add,
            (const MeasureMesh *mesh, const int32_t corner[3], const int32_t *triangles, int32_t count,
             int32_t first_place, MeasureScratch *scratch, MeasureState *state))
