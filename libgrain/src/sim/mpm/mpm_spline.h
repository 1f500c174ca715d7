// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The quadratic B-spline over three nodes along each axis, and where a particle's first node is on its block's tile.
/// For kernels.
#include "base/simd.h"
#include "sim/mpm/mpm.h"

// A node is a vector of its own, on every instruction set.
typedef float Float4 __attribute__((vector_size(16)));
typedef int32_t Int4 __attribute__((vector_size(16)));

SIMD_INLINE Float4 set4(float value) { return (Float4){value, value, value, value}; }

/// Four nodes along x: the three that a particle reaches, and one more that weighs nothing. In as many parts as the
/// instruction set has vectors for.
#if defined(__AVX512F__)
#define ROW_PARTS 1
#elif defined(__AVX2__)
#define ROW_PARTS 2
#else
#define ROW_PARTS 4
#endif
typedef float RowPart __attribute__((vector_size(64 / ROW_PARTS)));
typedef struct Row {
    RowPart part[ROW_PARTS];
} Row;

SIMD_INLINE Row row_load(const Float4 *nodes)
{
    Row row;
    for (int i = 0; i < ROW_PARTS; i++) memcpy(&row.part[i], nodes + i * (4 / ROW_PARTS), sizeof row.part[i]);
    return row;
}

SIMD_INLINE void row_store(Float4 *nodes, Row row)
{
    for (int i = 0; i < ROW_PARTS; i++) memcpy(nodes + i * (4 / ROW_PARTS), &row.part[i], sizeof row.part[i]);
}

SIMD_INLINE Row row_add(Row a, Row b)
{
    for (int i = 0; i < ROW_PARTS; i++) a.part[i] += b.part[i];
    return a;
}

SIMD_INLINE Row row_multiply(Row a, Row b)
{
    for (int i = 0; i < ROW_PARTS; i++) a.part[i] *= b.part[i];
    return a;
}

SIMD_INLINE Row row_scale(Row a, float factor)
{
    for (int i = 0; i < ROW_PARTS; i++) a.part[i] *= factor;
    return a;
}

#define ROW_ZERO ((Row){{{0}}})

/// The same for all four nodes.
SIMD_INLINE Row row_of(Float4 node)
{
#if ROW_PARTS == 1
    return (Row){{(RowPart)_mm512_broadcast_f32x4((__m128)node)}};
#elif ROW_PARTS == 2
    RowPart twice = (RowPart)_mm256_set_m128((__m128)node, (__m128)node);
    return (Row){{twice, twice}};
#else
    return (Row){{node, node, node, node}};
#endif
}

/// One number for each node.
SIMD_INLINE Row row_along(Float4 n)
{
#if ROW_PARTS == 1
    const __m512i whose = _mm512_set_epi32(3, 3, 3, 3, 2, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0, 0);
    return (Row){{(RowPart)_mm512_permutexvar_ps(whose, _mm512_castps128_ps512((__m128)n))}};
#elif ROW_PARTS == 2
    const __m256i first = _mm256_set_epi32(1, 1, 1, 1, 0, 0, 0, 0), second = _mm256_set_epi32(3, 3, 3, 3, 2, 2, 2, 2);
    __m256 wide = _mm256_castps128_ps256((__m128)n);
    return (Row){{(RowPart)_mm256_permutevar8x32_ps(wide, first), (RowPart)_mm256_permutevar8x32_ps(wide, second)}};
#else
    return (Row){{set4(n[0]), set4(n[1]), set4(n[2]), set4(n[3])}};
#endif
}

/// 0, 1 or 2.
SIMD_INLINE Float4 row_node(Row row, int number)
{
#if ROW_PARTS == 1
    __m512 r = (__m512)row.part[0];
    return (Float4)(number == 0   ? _mm512_castps512_ps128(r)
                    : number == 1 ? _mm512_extractf32x4_ps(r, 1)
                                  : _mm512_extractf32x4_ps(r, 2));
#elif ROW_PARTS == 2
    __m256 r = (__m256)row.part[number / 2];
    return (Float4)(number % 2 ? _mm256_extractf128_ps(r, 1) : _mm256_castps256_ps128(r));
#else
    return row.part[number];
#endif
}

SIMD_INLINE Float4 row_sum(Row row) { return row_node(row, 0) + row_node(row, 1) + row_node(row, 2); }

typedef struct Spline {
    Float4 from;      ///< way from the first node to the particle along x, y, z, cells
    Float4 weight[3]; ///< of the three nodes; along x, y, z
    int first;        ///< place of the first node on the tile
} Spline;

/// Of four numbers each; the fourth (the particle's volume) is not used.
SIMD_INLINE Spline spline_at(const MpmParticle *particle, const int32_t corner[4], float inverse_cell)
{
    Spline s;
    Int4 first;
    memcpy(&first, corner, sizeof first);
    // Tile node 0 is one before the corner. A position on the tile is above 0.5, so truncation rounds down.
    Float4 at =
        *(const Float4 *)(const void *)particle * set4(inverse_cell) - __builtin_convertvector(first - 1, Float4);
    Int4 place = __builtin_convertvector(at - set4(0.5f), Int4);
    Float4 f = at - __builtin_convertvector(place, Float4), low = set4(1.5f) - f, middle = f - set4(1.0f),
           high = f - set4(0.5f);
    s.from = f;
    s.weight[0] = set4(0.5f) * low * low;
    s.weight[1] = set4(0.75f) - middle * middle;
    s.weight[2] = set4(0.5f) * high * high;
    s.first = (place[2] * MPM_TILE_SIDE + place[1]) * MPM_TILE_SIDE + place[0];
    return s;
}

/// Weights along x, 0 for the fourth node.
SIMD_INLINE Row spline_row(const Spline *s)
{
    return row_along((Float4){s->weight[0][0], s->weight[1][0], s->weight[2][0], 0.0f});
}

/// The particle's velocity gradient along one axis as momentum over a cell, and the push of its stress.
SIMD_INLINE Float4 spline_column(const MpmParticle *p, int axis, float mass_cell, float push)
{
    const Float4 columns[3] = {*(const Float4 *)(const void *)&p->column[0],
                               *(const Float4 *)(const void *)&p->column[1],
                               *(const Float4 *)(const void *)&p->column[2]};
    const Float4 shear = *(const Float4 *)(const void *)p->shear_stress; // xy, xz, yz
    Float4 stress = axis == 0   ? (Float4){columns[0][3], shear[0], shear[1], 0.0f}
                    : axis == 1 ? (Float4){shear[0], columns[1][3], shear[2], 0.0f}
                                : (Float4){shear[1], shear[2], columns[2][3], 0.0f};
    Float4 gradient = columns[axis];
    gradient[3] = 0.0f;
    return gradient * set4(mass_cell) + stress * set4(push);
}
