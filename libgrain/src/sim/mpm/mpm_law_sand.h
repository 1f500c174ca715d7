#pragma once
/// Sand: elastic in logarithmic strain, and a Drucker-Prager cone that lets it flow without a change of volume. The cone
/// is set so that a slope, which shears in plane strain, flows at the friction angle phi: sqrt(J2) <= tan(phi) p. In
/// tension it comes apart; the volume it gained doing so (plastic) is given back before it bears again, or heaps would
/// grow with every grain that jumps (Klar et al. 2016, section 4.3.4).
///
/// number[0]: largest |deviatoric strain| over -(trace of strain); number[1]: strain of the cone's tip (cohesion)
#include "sim/mpm/mpm_law_kernel.h"

SIMD_INLINE MpmStretch mpm_law_sand(const MpmMaterialV *m, MpmStretch trial)
{
    FloatV zero = simd_set1(0.0f);
    FloatV give_back = trial.plastic * (1.0f / 3.0f);
    FloatV e[3];
    for (int i = 0; i < 3; i++) e[i] = 0.5f * simd_log(trial.squared[i]) + give_back;
    FloatV tip = m->number[1], trace = e[0] + e[1] + e[2] - 3.0f * tip, third = (e[0] + e[1] + e[2]) * (1.0f / 3.0f);
    FloatV shape[3], norm = zero;
    for (int i = 0; i < 3; i++) shape[i] = e[i] - third, norm += shape[i] * shape[i];
    norm = simd_sqrt(norm) + 1e-20f;
    FloatV over = norm + m->number[0] * trace;
    IntV is_apart = trace >= zero, is_flowing = over > zero;
    FloatV keep = simd_select(is_flowing, 1.0f - over / norm, simd_set1(1.0f));
    MpmStretch out = {.flows = is_apart | is_flowing};
    FloatV sum = zero;
    for (int i = 0; i < 3; i++) {
        e[i] = simd_select(is_apart, tip, third + keep * shape[i]);
        sum += e[i];
        out.squared[i] = simd_exp(2.0f * e[i]);
    }
    out.plastic = simd_select(is_apart, trace, zero);
    for (int i = 0; i < 3; i++) out.stress[i] = 2.0f * m->shear * e[i] + m->lame * sum;
    return out;
}
