// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Mud: elastic up to a yield stress, beyond it flows like a thick liquid (Bingham). It has no tensile strength: pulled
/// apart it separates as sand does, and the volume gained is returned first.
///
/// number[0]: yield stress over 2 * shear modulus, as strain; number[1]: shear modulus over twice the viscosity (1/s)
#include "sim/mpm/mpm_law_kernel.h"

SIMD_INLINE MpmStretch mpm_law_mud(const MpmMaterialV *m, MpmStretch trial, FloatV seconds)
{
    FloatV zero = simd_set1(0.0f), give_back = trial.plastic * (1.0f / 3.0f), e[3];
    for (int i = 0; i < 3; i++) e[i] = 0.5f * simd_log(trial.squared[i]) + give_back;
    FloatV trace = e[0] + e[1] + e[2], third = trace * (1.0f / 3.0f), shape[3], norm = zero;
    for (int i = 0; i < 3; i++) shape[i] = e[i] - third, norm += shape[i] * shape[i];
    norm = simd_sqrt(norm) + 1e-20f;
    FloatV over = norm - m->number[0];
    IntV is_flowing = over > zero, is_apart = trace > zero;
    // What is over the yield stress decays at the rate that the viscosity allows.
    FloatV left = over / (1.0f + 2.0f * seconds * m->number[1]);
    FloatV keep = simd_select(is_flowing, (m->number[0] + left) / norm, simd_set1(1.0f));
    FloatV volume = simd_select(is_apart, zero, third);
    MpmStretch out = {.flows = is_flowing | is_apart};
    for (int i = 0; i < 3; i++) {
        e[i] = volume + keep * shape[i];
        out.squared[i] = simd_exp(2.0f * e[i]);
        out.stress[i] = 2.0f * m->shear * e[i] + 3.0f * m->lame * volume;
    }
    out.plastic = simd_select(is_apart, trace, zero);
    return out;
}
