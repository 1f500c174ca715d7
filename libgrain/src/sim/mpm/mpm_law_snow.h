// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Snow after Stomakhin et al. 2013: it takes a little compression and less stretch, beyond that it packs or breaks,
/// and what was packed is harder. plastic is the logarithm of the volume lost for good: above 0 it has broken apart.
///
/// number[0], [1]: critical compression and stretch; number[2]: hardening
#include "sim/mpm/mpm_law_kernel.h"

// Packing hardens by e^xi at most so much: stiffer, and the step would have to follow.
#define MPM_SNOW_HARDEST 4.0f

SIMD_INLINE MpmStretch mpm_law_snow(const MpmMaterialV *m, MpmStretch trial)
{
    FloatV one = simd_set1(1.0f), low = one - m->number[0], high = one + m->number[1], before = one, after = one;
    FloatV s[3];
    for (int i = 0; i < 3; i++) {
        s[i] = simd_sqrt(trial.squared[i]);
        before *= s[i];
        s[i] = simd_min(simd_max(s[i], low), high);
        after *= s[i];
    }
    MpmStretch out = {.flows = simd_abs(before - after) > simd_set1(1e-6f)};
    out.plastic = simd_min(simd_max(trial.plastic + simd_log(before / after), simd_set1(-0.5f)), simd_set1(1.0f));
    FloatV packed = one - simd_exp(out.plastic);
    FloatV hard = simd_min(simd_exp(m->number[2] * packed), simd_set1(MPM_SNOW_HARDEST));
    for (int i = 0; i < 3; i++) {
        out.squared[i] = s[i] * s[i];
        // Kirchhoff stress of the fixed corotated energy
        out.stress[i] = hard * (2.0f * m->shear * s[i] * (s[i] - 1.0f) + m->lame * after * (after - 1.0f));
    }
    return out;
}
