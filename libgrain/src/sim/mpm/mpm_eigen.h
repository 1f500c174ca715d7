// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Eigenvalues and eigenvectors of symmetric 3 x 3 matrices, one in each lane, by Jacobi's method. Three rounds reach
/// float precision; they are written out because a loop over them keeps the compiler from holding all in registers.
#include "base/simd.h"

#ifdef SIMD_SUFFIX

typedef struct Eigen {
    FloatV value[3];
    FloatV vector[3][3]; ///< [row][which]
} Eigen;

// Turns axes p and q so that their entry becomes 0; r is the third axis.
#define EIGEN_ROTATE(pp, qq, pq, rp, rq, p, q)                                                                         \
    {                                                                                                                  \
        FloatV difference = (qq) - (pp), twice = (pq) + (pq);                                                          \
        FloatV sign = (FloatV)(((IntV)difference & (int32_t)0x80000000) | 0x3f800000);                                 \
        FloatV t =                                                                                                     \
            twice * sign / (simd_abs(difference) + simd_sqrt(difference * difference + twice * twice) + 1e-30f);       \
        FloatV c = 1.0f / simd_sqrt(t * t + 1.0f), s = t * c;                                                          \
        (pp) -= t * (pq);                                                                                              \
        (qq) += t * (pq);                                                                                              \
        (pq) = (pq)*0.0f;                                                                                              \
        FloatV turned = c * (rp)-s * (rq);                                                                             \
        (rq) = s * (rp) + c * (rq);                                                                                    \
        (rp) = turned;                                                                                                 \
        for (int row = 0; row < 3; row++) {                                                                            \
            FloatV old = e.vector[row][p];                                                                             \
            e.vector[row][p] = c * old - s * e.vector[row][q];                                                         \
            e.vector[row][q] = s * old + c * e.vector[row][q];                                                         \
        }                                                                                                              \
    }

#define EIGEN_ROUND                                                                                                    \
    EIGEN_ROTATE(xx, yy, xy, xz, yz, 0, 1)                                                                             \
    EIGEN_ROTATE(xx, zz, xz, xy, yz, 0, 2)                                                                             \
    EIGEN_ROTATE(yy, zz, yz, xy, xz, 1, 2)

SIMD_INLINE Eigen eigen_of(FloatV xx, FloatV yy, FloatV zz, FloatV xy, FloatV xz, FloatV yz)
{
    FloatV zero = simd_set1(0.0f), one = simd_set1(1.0f);
    Eigen e = {.vector = {{one, zero, zero}, {zero, one, zero}, {zero, zero, one}}};
    EIGEN_ROUND
    EIGEN_ROUND
    EIGEN_ROUND
    e.value[0] = xx, e.value[1] = yy, e.value[2] = zz;
    return e;
}

/// The matrix with these eigenvectors and other eigenvalues: xx, yy, zz, xy, xz, yz.
SIMD_INLINE void eigen_compose(const Eigen *e, const FloatV value[3], FloatV out[6])
{
    static const int row[6] = {0, 1, 2, 0, 0, 1}, column[6] = {0, 1, 2, 1, 2, 2};
    for (int i = 0; i < 6; i++)
        out[i] = e->vector[row[i]][0] * e->vector[column[i]][0] * value[0] +
                 e->vector[row[i]][1] * e->vector[column[i]][1] * value[1] +
                 e->vector[row[i]][2] * e->vector[column[i]][2] * value[2];
}

#endif
