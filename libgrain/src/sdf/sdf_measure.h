// SPDX-License-Identifier: GPL-3.0-or-later
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

/// Triangles taken at once: what is known of them fits into the second-level cache.
#define MEASURE_GROUPS 160

enum { MEASURE_H, MEASURE_S0, MEASURE_S1, MEASURE_S2, MEASURE_T0, MEASURE_T1, MEASURE_T2, MEASURE_FUNCTIONS = 8 };
/// The first four, which do not fall short of the distance, are enough to pass a triangle over.
#define MEASURE_BOUNDS 4

/// Eight triangles. Functions are constant + x * gx + y * gy + z * gz with x, y, z counted from the block's first
/// voxel.
typedef struct MeasureGroup {
    float constant[MEASURE_FUNCTIONS][8], gx[MEASURE_FUNCTIONS][8], gy[MEASURE_FUNCTIONS][8], gz[MEASURE_FUNCTIONS][8];
    float spread[MEASURE_BOUNDS][8]; ///< how much a function changes from the middle of a packet to its voxels, at most
    float length[3][8];              ///< of the edges
    float above[8]; ///< above the triangle when the largest s is at most this: 0; a little less for a thin triangle,
                    ///< whose corners floats cannot tell; less than any s if it has no area
} MeasureGroup;

/// One triangle, once a packet has asked for it: how its functions differ from the packet's middle to its eight voxels.
typedef struct MeasureNear {
    float lane[MEASURE_FUNCTIONS - 1][8];
} MeasureNear;

/// The triangles at hand, in groups of up to eight that are near each other.
typedef struct MeasureScratch {
    int32_t group_count;
    int32_t place[MEASURE_GROUPS][8];                      ///< in the spatial order
    uint8_t used[MEASURE_GROUPS];                          ///< how many of the eight
    float low[3][MEASURE_GROUPS], high[3][MEASURE_GROUPS]; ///< boxes around the groups, from the block's first voxel

    // Made when a packet first asks.
    uint8_t has_group[MEASURE_GROUPS], has_near[MEASURE_GROUPS][8];
    MeasureGroup groups[MEASURE_GROUPS];
    MeasureNear near[MEASURE_GROUPS][8];
} MeasureScratch;

/// What is known of a block's voxels, in packets: voxel (x, y, z) is at sdf_measure_index.
typedef struct MeasureState {
    float squared[512];   ///< voxels^2; starts at the band's half width squared
    int32_t nearest[512]; ///< place in the spatial order, or -1: nothing within the band
    float side[512];      ///< height above the nearest triangle; 0 where its edge or corner is nearest
} MeasureState;

static inline int sdf_measure_index(int x, int y, int z)
{
    return (((z >> 1) * 4 + (y >> 1)) * 4 + (x >> 1)) * 8 + (z & 1) * 4 + (y & 1) * 2 + (x & 1);
}

typedef struct MeasureMesh {
    const int32_t *order; ///< the mesh's triangles in spatial order
    const float *positions;
    const int32_t *triangles;
    const uint8_t *flipped; ///< NULL, or triangles whose winding is to be turned
    double origin[3], voxels_per_metre;
} MeasureMesh;

/// Clears the state for a band of this half width (voxels).
SIMD_KERNEL(void, sdf_measure_begin, (MeasureState * state, float band))
/// Takes the triangles in scratch into account; group_count, place, used and the boxes are the caller's to fill. The
/// result does not depend on how triangles are grouped: among equally near ones, the lowest place wins.
SIMD_KERNEL(void, sdf_measure_add,
            (const MeasureMesh *mesh, const int32_t corner[3], MeasureScratch *scratch, MeasureState *state))
/// Writes the distances times voxel to a block's values, SDF_FAR where none was found, with the sign of side. Returns
/// in unsigned_voxels, as bits by sdf_measure_index, those found with side 0.
SIMD_KERNEL(void, sdf_measure_end, (const MeasureState *state, float voxel, float *values, uint64_t unsigned_voxels[8]))
