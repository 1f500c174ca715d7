#pragma once
/// The quadratic B-spline over three nodes along each axis, and where a particle's first node is on its block's board.
/// For kernels.
#include "base/simd.h"
#include "sim/mpm/mpm.h"

// A node is a vector of its own, on every instruction set.
typedef float Float4 __attribute__((vector_size(16)));

SIMD_INLINE Float4 set4(float value) { return (Float4){value, value, value, value}; }

typedef struct Spline {
    float from[3];      ///< way from the first node to the particle, cells
    float weight[3][3]; ///< [axis][node]
    int first;          ///< place of the first node on the board
} Spline;

SIMD_INLINE Spline spline_at(const float position[3], const int32_t corner[3], float inverse_cell)
{
    Spline s;
    int place[3];
    for (int axis = 0; axis < 3; axis++) {
        // Board node 0 is one before the corner. A position on the board is above 0.5, so truncation rounds down.
        float at = position[axis] * inverse_cell - (float)(corner[axis] - 1);
        place[axis] = (int)(at - 0.5f);
        float f = at - (float)place[axis];
        s.from[axis] = f;
        s.weight[axis][0] = 0.5f * (1.5f - f) * (1.5f - f);
        s.weight[axis][1] = 0.75f - (f - 1.0f) * (f - 1.0f);
        s.weight[axis][2] = 0.5f * (f - 0.5f) * (f - 0.5f);
    }
    s.first = (place[2] * MPM_BOARD_SIDE + place[1]) * MPM_BOARD_SIDE + place[0];
    return s;
}
