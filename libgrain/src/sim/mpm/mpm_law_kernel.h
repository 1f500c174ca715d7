#pragma once
/// What the laws' kernels share. All laws are isotropic, so they work on the principal stretches alone.
#include "base/simd_math.h"
#include "sim/mpm/mpm_law.h"

typedef struct MpmMaterialV {
    FloatV shear, lame, damping, number[MPM_LAW_NUMBERS];
} MpmMaterialV;

typedef struct MpmStretch {
    FloatV squared[3]; ///< of the elastic principal stretches: the eigenvalues of MpmParticle.stretch
    FloatV stress[3];  ///< Kirchhoff, principal (Pa); a law's result
    FloatV plastic;    ///< MpmParticle.plastic
    IntV flows;        ///< a law's result: this one yields now
} MpmStretch;
