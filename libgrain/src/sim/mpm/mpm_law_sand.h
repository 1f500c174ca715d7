#pragma once
/// Sand: elastic in logarithmic strain; beyond the surface of Matsuoka and Nakai (1974), I1 I2 / I3 = K, it flows without
/// a change of volume. K is set so that a slope, which shears in its plane, flows at the friction angle phi. A circular
/// cone (Drucker-Prager) set the same way lets columns sink in the middle, where they are pressed from above and free on
/// two sides, and carries slopes at rest that are too steep. In tension sand comes apart; the volume it gained doing so
/// (plastic) is given back before it bears again, or heaps would grow with every grain that jumps (Klar et al. 2016,
/// section 4.3.4); at most MPM_SAND_GAIN of it, as what has flown far apart says nothing about how it will lie.
///
/// With principal stresses p (1 + t n_i), where the n_i add up to 0 and their squares to 1, the surface is
///
///     K d t^3 - (K - 3) / 2 t^2 + (K - 9) = 0,      d = n_1 n_2 n_3.
///
/// number[0]: K; number[1]: strain of the surface's tip (cohesion); number[2]: t for d = 0, in-plane shear;
/// number[3]: shear modulus * 2 over three times the bulk modulus
#include "sim/mpm/mpm_law_kernel.h"

// Where one principal stress would be 0, when the other two are equal.
#define MPM_SAND_FARTHEST 2.4f
#define MPM_SAND_GAIN 0.05f

// The smallest root, from d = 0's by Newton's method: the curve bends one way between them.
SIMD_INLINE FloatV sand_limit(const MpmMaterialV *m, FloatV d)
{
    FloatV t = m->number[2], third = m->number[0] * d, second = 0.5f * (m->number[0] - 3.0f), first = m->number[0] - 9.0f;
    for (int i = 0; i < 4; i++) {
        FloatV value = (third * t - second) * t * t + first, slope = (3.0f * third * t - 2.0f * second) * t;
        t = simd_min(simd_max(t - value / simd_min(slope, simd_set1(-1e-3f)), simd_set1(0.0f)),
                     simd_set1(MPM_SAND_FARTHEST));
    }
    return t;
}

SIMD_INLINE MpmStretch mpm_law_sand(const MpmMaterialV *m, MpmStretch trial)
{
    FloatV zero = simd_set1(0.0f), give_back = trial.plastic * (1.0f / 3.0f), e[3];
    for (int i = 0; i < 3; i++) e[i] = 0.5f * simd_log(trial.squared[i]) + give_back;
    FloatV tip = m->number[1], trace = e[0] + e[1] + e[2] - 3.0f * tip, third = (e[0] + e[1] + e[2]) * (1.0f / 3.0f);
    FloatV shape[3], norm = zero;
    for (int i = 0; i < 3; i++) shape[i] = e[i] - third, norm += shape[i] * shape[i];
    norm = simd_sqrt(norm) + 1e-12f;
    // Pressed is positive in the formula, stretched is positive here.
    FloatV d = -(shape[0] / norm) * (shape[1] / norm) * (shape[2] / norm);
    FloatV most = sand_limit(m, d) * -trace; // of m->number[3] * norm
    IntV is_apart = trace >= zero, is_flowing = m->number[3] * norm > most;
    FloatV keep = simd_select(is_flowing, most / (m->number[3] * norm), simd_set1(1.0f));
    MpmStretch out = {.flows = is_apart | is_flowing};
    FloatV sum = zero;
    for (int i = 0; i < 3; i++) {
        e[i] = simd_select(is_apart, tip, third + keep * shape[i]);
        sum += e[i];
        out.squared[i] = simd_exp(2.0f * e[i]);
    }
    out.plastic = simd_select(is_apart, simd_min(trace, simd_set1(MPM_SAND_GAIN)), zero);
    for (int i = 0; i < 3; i++) out.stress[i] = 2.0f * m->shear * e[i] + m->lame * sum;
    return out;
}
