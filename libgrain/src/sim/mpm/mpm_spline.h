#pragma once
/// The quadratic B-spline over three nodes along each axis, and where a particle's first node is on its block's board.
/// For kernels.
#include "base/simd.h"
#include "sim/mpm/mpm.h"

// A node is a vector of its own, on every instruction set.
typedef float Float8 __attribute__((vector_size(32)));
typedef float Float4 __attribute__((vector_size(16)));

SIMD_INLINE Float4 set4(float value) { return (Float4){value, value, value, value}; }

SIMD_INLINE Float8 set8(float value) { return (Float8){0} + value; }

typedef int32_t Int4 __attribute__((vector_size(16)));

typedef struct Spline {
    Float4 from;      ///< way from the first node to the particle along x, y, z, cells
    Float4 weight[3]; ///< of the three nodes; along x, y, z
    int first;        ///< place of the first node on the board
} Spline;

/// Of four numbers each; the fourth (the particle's volume) is not used.
SIMD_INLINE Spline spline_at(const MpmParticle *particle, const int32_t corner[4], float inverse_cell)
{
    Spline s;
    Int4 first;
    memcpy(&first, corner, sizeof first);
    // Board node 0 is one before the corner. A position on the board is above 0.5, so truncation rounds down.
    Float4 at = *(const Float4 *)(const void *)particle * set4(inverse_cell) - __builtin_convertvector(first - 1, Float4);
    Int4 place = __builtin_convertvector(at - set4(0.5f), Int4);
    Float4 f = at - __builtin_convertvector(place, Float4), low = set4(1.5f) - f, middle = f - set4(1.0f),
           high = f - set4(0.5f);
    s.from = f;
    s.weight[0] = set4(0.5f) * low * low;
    s.weight[1] = set4(0.75f) - middle * middle;
    s.weight[2] = set4(0.5f) * high * high;
    s.first = (place[2] * MPM_BOARD_SIDE + place[1]) * MPM_BOARD_SIDE + place[0];
    return s;
}
