#pragma once
/// Sand: elastic in logarithmic strain; beyond the surface of Matsuoka and Nakai (1974), I1 I2 / I3 = K, it flows. A
/// circular cone (Drucker-Prager) lets columns sink in the middle, where they are pressed from above and free on two
/// sides, and carries slopes at rest that are too steep.
///
/// What flows without a change of volume has two angles: in simple shear, as on slopes, it flows at atan(sin a), a
/// being the angle of its surface of yield, but at rest it bears slopes of up to a. What dilates by the same angle a
/// has one. So sand is firm at first, yields at the friction angle and dilates; sheared by a tenth it is loosened,
/// dilates no more, and its surface of yield has become so much steeper that slopes flow at nearly the same angle as
/// before (Taylor 1948):
///
///     tan(slope) = sin a cos b / (1 - sin a sin b),      b the angle of dilation.
///
/// At rest it becomes firm again. In tension sand comes apart; the volume it gained doing so is given back before it
/// bears again, or heaps would grow with every grain that jumps (Klar et al. 2016, section 4.3.4); at most
/// MPM_SAND_GAIN of it, as what has flown far apart says nothing about how it will lie. plastic: from -1, firm, to 0,
/// loosened; above, that volume.
///
/// With principal stresses p (1 + t n_i), where the n_i add up to 0 and their squares to 1, the surface is
///
///     K d t^3 - (K - 3) / 2 t^2 + (K - 9) = 0,      d = n_1 n_2 n_3;      t = sqrt(2) sin a where d = 0.
///
/// The flow keeps the principal directions, so they need not be known: all is done on the strain's parts, and logarithm
/// and exponential of the small change of shape are short series. A third of the time of finding eigenvectors.
///
/// number[0]: tangent of the slope that flows, loosened; number[1]: strain of the surface's tip (cohesion); number[2]:
/// tangent of the slope that flows, firm; number[3]: shear modulus * 2 over three times the bulk modulus; number[4]:
/// sine of the angle of dilation, firm
#include "sim/mpm/mpm_law_kernel.h"

// Where one principal stress would be 0, when the other two are equal.
#define MPM_SAND_FARTHEST 2.4f
#define MPM_SAND_GAIN 0.05f
// The most a particle is pressed together, as a logarithm of volume. Particles whose pressures differ in turn, as on a
// chequerboard, cancel on the nodes and are not pushed back: under a body that trembles they drift, until one is so
// stiff that the step is too long for it. Sand is never pressed by more than a few hundredths (sound is six times as
// fast as any impact).
#define MPM_SAND_PRESSED 0.15f
// Sine of the steepest yield that the law can tell from a steeper one.
#define MPM_SAND_STEEPEST 0.98f
// Shear that loosens firm sand, and seconds of rest that make it firm. The first is several times what the elastic
// strain of a layer asks for when it is tilted: that must not loosen it. It dilates by some hundredths meanwhile.
#define MPM_SAND_LOOSENING 0.1f
#define MPM_SAND_FIRMING 0.1f
// The most volume that sand gains in one step.
#define MPM_SAND_DILATION 0.02f

// The smallest root, from d = 0's by Newton's method: the curve bends one way between them.
SIMD_INLINE FloatV sand_limit(FloatV sine, FloatV d)
{
    FloatV squared = sine * sine, k = (9.0f - 3.0f * squared) / (1.0f - squared);
    FloatV t = 1.41421356f * sine, third = k * d, second = 0.5f * (k - 3.0f), first = k - 9.0f;
    for (int i = 0; i < 4; i++) {
        FloatV value = (third * t - second) * t * t + first, slope = (3.0f * third * t - 2.0f * second) * t;
        t = simd_min(simd_max(t - value / simd_min(slope, simd_set1(-1e-3f)), simd_set1(0.0f)),
                     simd_set1(MPM_SAND_FARTHEST));
    }
    return t;
}

// Half the logarithm of a stretch without change of volume, I + x. The series ends at an odd power: it rises
// everywhere, so even where x is too large for it, which only happens to what flows or comes apart, large stays large.
SIMD_INLINE void sand_shape(const FloatV x[6], FloatV shape[6])
{
    FloatV square[6], cube[6];
    symmetric_product(x, x, square);
    symmetric_product(square, x, cube);
    for (int i = 0; i < 6; i++) shape[i] = 0.5f * x[i] - 0.25f * square[i] + (1.0f / 6.0f) * cube[i];
    FloatV third = (shape[0] + shape[1] + shape[2]) * (1.0f / 3.0f);
    for (int i = 0; i < 3; i++) shape[i] -= third;
}

// exp(2 * shape) * volume
SIMD_INLINE void sand_stretch(const FloatV shape[6], FloatV volume, FloatV out[6])
{
    FloatV x[6], square[6], cube[6];
    for (int i = 0; i < 6; i++) x[i] = shape[i] + shape[i];
    symmetric_product(x, x, square);
    symmetric_product(square, x, cube);
    for (int i = 0; i < 6; i++)
        out[i] = ((i < 3 ? 1.0f : 0.0f) + x[i] + 0.5f * square[i] + (1.0f / 6.0f) * cube[i]) * volume;
}

// The strain's parts: logarithm of volume, and shape.
SIMD_INLINE FloatV sand_strain(const FloatV stretch[6], FloatV squeeze, FloatV shape[6])
{
    FloatV squared = simd_min(simd_max(symmetric_determinant(stretch), simd_set1(1e-12f)), simd_set1(1e12f));
    FloatV trace = 0.5f * simd_log(squared), even = simd_exp(trace * (-2.0f / 3.0f)), x[6];
    for (int i = 0; i < 6; i++) {
        x[i] = stretch[i] * even - (i < 3 ? 1.0f : 0.0f);
        x[i] = simd_min(simd_max(x[i], simd_set1(-8.0f)), simd_set1(8.0f));
    }
    sand_shape(x, shape);
    return trace - squeeze;
}

// Where sand yields, and how it moves then.
typedef struct SandYield {
    FloatV limit;    // of the deviatoric stress over the pressure
    FloatV dilation; // volume gained, over the norm of the plastic strain
} SandYield;

SIMD_INLINE SandYield sand_yield(const MpmMaterialV *m, FloatV firm, FloatV d)
{
    FloatV dilation = firm * m->number[4], slope = m->number[0] + firm * (m->number[2] - m->number[0]);
    FloatV sine = slope / (simd_sqrt(1.0f - dilation * dilation) + slope * dilation);
    return (SandYield){sand_limit(simd_min(sine, simd_set1(MPM_SAND_STEEPEST)), d), 1.41421356f * dilation};
}

SIMD_INLINE void mpm_law_sand(const MpmMaterialV *m, FloatV squeeze, FloatV seconds, MpmState *state)
{
    FloatV zero = simd_set1(0.0f), one = simd_set1(1.0f), tip = m->number[1], shape[6];
    FloatV firm = simd_max(-state->plastic, zero), gained = simd_max(state->plastic, zero);
    FloatV all = simd_max(sand_strain(state->stretch, squeeze, shape) + gained, simd_set1(-MPM_SAND_PRESSED));
    FloatV trace = all - 3.0f * tip;
    FloatV norm = shape[0] * shape[0] + shape[1] * shape[1] + shape[2] * shape[2] +
                  2.0f * (shape[3] * shape[3] + shape[4] * shape[4] + shape[5] * shape[5]);
    norm = simd_sqrt(norm) + 1e-12f;
    FloatV unit[6], shrink = 1.0f / norm;
    for (int i = 0; i < 6; i++) unit[i] = shape[i] * shrink;
    // Pressed is positive in the formula, stretched is positive here.
    SandYield yield = sand_yield(m, firm, -symmetric_determinant(unit));
    FloatV most = yield.limit * -trace, strained = m->number[3] * norm;
    IntV is_apart = trace >= zero, is_flowing = strained > most;
    // What flows loses shape until it is on the surface, which it comes nearer to also as dilation presses it.
    FloatV flow = simd_select(is_flowing, (strained - most) / (m->number[3] + yield.limit * yield.dilation), zero);
    flow = simd_select(is_apart, norm, simd_min(flow, norm));
    all -= simd_select(is_apart, zero, simd_min(yield.dilation * flow, simd_set1(MPM_SAND_DILATION)));
    firm -=
        (1.41421356f / MPM_SAND_LOOSENING) * flow - simd_select(is_flowing, zero, seconds * (1.0f / MPM_SAND_FIRMING));
    firm = simd_min(simd_max(firm, zero), one);
    FloatV third = simd_select(is_apart, tip, all * (1.0f / 3.0f)), keep = one - flow * shrink;
    for (int i = 0; i < 6; i++) shape[i] *= keep;
    sand_stretch(shape, simd_exp(2.0f * third), state->stretch);
    FloatV pressure = (2.0f * m->shear + 3.0f * m->lame) * third;
    for (int i = 0; i < 6; i++) state->stress[i] = 2.0f * m->shear * shape[i] + (i < 3 ? pressure : zero);
    state->plastic = simd_select(is_apart, simd_min(trace, simd_set1(MPM_SAND_GAIN)), -firm);
    state->flows = is_apart | is_flowing;
}
