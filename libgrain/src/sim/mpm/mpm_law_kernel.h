// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What the laws' kernels share. All laws are isotropic: they keep the principal directions. Those that need the
/// principal stretches one by one are given them.
#include "base/simd_math.h"
#include "sim/mpm/mpm_law.h"

typedef struct MpmMaterialV {
    FloatV shear, lame, damping, number[MPM_LAW_NUMBERS];
} MpmMaterialV;

/// Of a particle; symmetric matrices are xx, yy, zz, xy, xz, yz.
typedef struct MpmState {
    FloatV stretch[6], stress[6]; ///< MpmParticle.stretch; Kirchhoff stress, Pa: a law's result
    FloatV plastic;               ///< MpmParticle.plastic
    IntV flows;                   ///< a law's result: this one yields now
} MpmState;

typedef struct MpmStretch {
    FloatV squared[3]; ///< of the elastic principal stretches: the eigenvalues of MpmParticle.stretch
    FloatV stress[3];  ///< Kirchhoff, principal (Pa); a law's result
    FloatV plastic;    ///< MpmParticle.plastic
    IntV flows;        ///< a law's result: this one yields now
} MpmStretch;

/// Of symmetric matrices that commute, so that the product is one too: xx, yy, zz, xy, xz, yz.
SIMD_INLINE void symmetric_product(const FloatV a[6], const FloatV b[6], FloatV out[6])
{
    out[0] = a[0] * b[0] + a[3] * b[3] + a[4] * b[4];
    out[1] = a[3] * b[3] + a[1] * b[1] + a[5] * b[5];
    out[2] = a[4] * b[4] + a[5] * b[5] + a[2] * b[2];
    out[3] = a[0] * b[3] + a[3] * b[1] + a[4] * b[5];
    out[4] = a[0] * b[4] + a[3] * b[5] + a[4] * b[2];
    out[5] = a[3] * b[4] + a[1] * b[5] + a[5] * b[2];
}

SIMD_INLINE FloatV symmetric_determinant(const FloatV a[6])
{
    return a[0] * (a[1] * a[2] - a[5] * a[5]) - a[3] * (a[3] * a[2] - a[5] * a[4]) + a[4] * (a[3] * a[5] - a[1] * a[4]);
}
