// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Sand: elastic in logarithmic strain; beyond the surface of Matsuoka and Nakai (1974), I1 I2 / I3 = K, it flows. A
/// circular cone (Drucker-Prager) lets columns sink in the middle, where they are pressed from above and free on two
/// sides, and carries slopes at rest that are too steep.
///
/// What flows along the principal directions of its stress and keeps its volume has two angles: in simple shear, as on
/// slopes, it flows at atan(sin a), a being the angle of its surface of yield, but at rest it bears slopes of up to a.
/// Columns of it bulge, heaps of it are domes. Grains slide in planes that are steepest against the pressure on them,
/// and then there is only one angle. Two kinds of flow have that:
///
/// - Firm sand dilates by the friction angle, in the plane that it is sheared in: along n^2, n being the direction of
///   the deviatoric stress. Dilating on all sides, sand that cannot give way across a slope would press there ever
///   more, and the surface of yield bears less where the middle stress is a large one: deep layers of friction 40 would
///   flow at 38. It does not last: sheared by a tenth, sand is loosened.
/// - Loosened sand keeps its volume, and its plastic strain is turned against its stress, the more the more its motion
///   is spin (Spencer 1964, double shearing; here with the spin of the material alone). With W the spin and a the
///   friction angle, beside the flow along n there is
///
///       sin a / sqrt(2) (W n - n W),
///
///   which in simple shear, where spin and strain are equal, turns the stress until the plane of shear is one of those
///   that grains slide in. Without spin, as between two plates, flow and stress have the same directions.
///
/// At rest loosened sand becomes firm again. In tension sand comes apart; the volume it gained doing so is given back
/// before it bears again, or heaps would grow with every grain that jumps (Klar et al. 2016, section 4.3.4); at most
/// MPM_SAND_GAIN of it, as what has flown far apart says nothing about how it will lie. plastic: from -1, firm, to 0,
/// loosened; above, that volume.
///
/// With principal stresses p (1 + t n_i), where the n_i add up to 0 and their squares to 1, the surface is
///
///     K d t^3 - (K - 3) / 2 t^2 + (K - 9) = 0,      d = n_1 n_2 n_3;      t = sqrt(2) sin a where d = 0.
///
/// The return to it keeps the principal directions, so they need not be known: all is done on the strain's parts, and
/// logarithm and exponential of the small change of shape are series of five powers. A third of the time of finding
/// eigenvectors.
///
/// number[0]: sine of the friction angle; number[1]: strain of the surface's tip (cohesion); number[2]: by how much
/// that tip is lower in loosened sand; number[3]: shear modulus * 2 over three times the bulk modulus
#include "sim/mpm/mpm_law_kernel.h"

// Where one principal stress would be 0, when the other two are equal.
#define MPM_SAND_FARTHEST 2.4f
#define MPM_SAND_GAIN 0.05f
// The most a particle is pressed together, as a logarithm of volume. Particles whose pressures differ in turn, as on a
// chequerboard, cancel on the nodes and are not pushed back: under a body that trembles they drift, until one is so
// stiff that the step is too long for it. Sand is never pressed by more than a few hundredths (sound is six times as
// fast as any impact).
#define MPM_SAND_PRESSED 0.15f
// Shear that loosens firm sand. Where it is slow, as on a slope that is tilted, this many times its elastic shear more:
// that must first turn its stress, which takes several times as much as the stress itself. A layer of 26 cells and
// friction 45 lost its firmness before, and flowed from 42.5 degrees on. s: slow is what takes longer for a shear of
// one; what is hit is loosened at once, or it would dilate without end.
#define MPM_SAND_LOOSENING 0.1f
#define MPM_SAND_TURNING 10.0f
#define MPM_SAND_SLOW 1.0f
// Seconds of rest that make it firm.
#define MPM_SAND_FIRMING 0.1f
// The most volume that sand gains in one step.
#define MPM_SAND_DILATION 0.02f
// The turning part of the flow is limited to this multiple of the one in simple shear. Sand that spins without flowing
// is not turned.
#define MPM_SAND_TURN 3.0f

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

// x (c0 + x (c1 + x (c2 + x (c3 + x c4)))): series of five powers.
SIMD_INLINE void sand_series(const FloatV x[6], const float c[5], FloatV sum[6])
{
    FloatV next[6];
    for (int i = 0; i < 6; i++) sum[i] = c[4] * x[i];
    for (int power = 3; power >= 0; power--) {
        for (int i = 0; i < 6; i++) next[i] = sum[i] + (i < 3 ? c[power] : 0.0f);
        symmetric_product(next, x, sum);
    }
}

// Half the logarithm of a stretch without change of volume, I + x. The series ends at an odd power: it rises
// everywhere, so even where x is too large for it, which only happens to what flows or comes apart, large stays large.
// This series and the next one must undo each other to roundings, as every step takes both: ending at the third power
// they changed the stress of sand at rest, and steep layers crept, the faster the shorter steps were.
SIMD_INLINE void sand_shape(const FloatV x[6], FloatV shape[6])
{
    static const float half_logarithm[5] = {0.5f, -0.25f, 1.0f / 6.0f, -0.125f, 0.1f};
    sand_series(x, half_logarithm, shape);
    FloatV third = (shape[0] + shape[1] + shape[2]) * (1.0f / 3.0f);
    for (int i = 0; i < 3; i++) shape[i] -= third;
}

// exp(2 * shape) * volume
SIMD_INLINE void sand_stretch(const FloatV shape[6], FloatV volume, FloatV out[6])
{
    static const float exponential[5] = {2.0f, 2.0f, 4.0f / 3.0f, 2.0f / 3.0f, 4.0f / 15.0f};
    sand_series(shape, exponential, out);
    for (int i = 0; i < 6; i++) out[i] = (out[i] + (i < 3 ? 1.0f : 0.0f)) * volume;
}

SIMD_INLINE FloatV sand_norm(const FloatV a[6])
{
    return simd_sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] + 2.0f * (a[3] * a[3] + a[4] * a[4] + a[5] * a[5])) +
           1e-12f;
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

// W n - n W, and its norm. spin: xy, xz, yz of W.
SIMD_INLINE FloatV sand_turn(const FloatV n[6], const FloatV spin[3], FloatV turn[6])
{
    turn[0] = 2.0f * (spin[0] * n[3] + spin[1] * n[4]);
    turn[1] = 2.0f * (spin[2] * n[5] - spin[0] * n[3]);
    turn[2] = -2.0f * (spin[1] * n[4] + spin[2] * n[5]);
    turn[3] = spin[0] * (n[1] - n[0]) + spin[1] * n[5] + spin[2] * n[4];
    turn[4] = spin[1] * (n[2] - n[0]) + spin[0] * n[5] - spin[2] * n[3];
    turn[5] = spin[2] * (n[2] - n[1]) - spin[0] * n[4] - spin[1] * n[3];
    return sand_norm(turn);
}

// spin: xy, xz, yz of the velocity gradient's antisymmetric part, 1/s.
SIMD_INLINE void mpm_law_sand(const MpmMaterialV *m, FloatV squeeze, FloatV seconds, const FloatV spin[3],
                              MpmState *state)
{
    FloatV zero = simd_set1(0.0f), one = simd_set1(1.0f), sine = m->number[0], shape[6];
    FloatV firm = simd_max(-state->plastic, zero), gained = simd_max(state->plastic, zero);
    FloatV all = simd_max(sand_strain(state->stretch, squeeze, shape) + gained, simd_set1(-MPM_SAND_PRESSED));
    FloatV tip = m->number[1], beyond = all - 3.0f * tip, norm = sand_norm(shape);
    FloatV unit[6], shrink = 1.0f / norm, turn[6];
    for (int i = 0; i < 6; i++) unit[i] = shape[i] * shrink;
    // Pressed is positive in the formula, stretched is positive here.
    FloatV limit = sand_limit(sine, -symmetric_determinant(unit)), dilation = 1.41421356f * firm * sine;
    FloatV most = limit * simd_max(-beyond - 3.0f * (one - firm) * m->number[2], zero), strained = m->number[3] * norm;
    IntV is_apart = beyond >= zero, is_flowing = strained > most;
    // What flows loses shape until it is on the surface, which it comes nearer to also as dilation presses it.
    FloatV flow = simd_select(is_flowing, (strained - most) / (m->number[3] + limit * dilation), zero);
    flow = simd_select(is_apart, norm, simd_min(flow, norm));
    FloatV turned = sand_turn(unit, spin, turn);
    turned =
        simd_min(0.70710678f * sine * seconds, MPM_SAND_TURN * sine / simd_sqrt(one - sine * sine) * flow / turned);
    turned = simd_select(is_apart, zero, turned * (one - firm));
    FloatV widened = simd_select(is_apart, zero, simd_min(dilation * flow, simd_set1(MPM_SAND_DILATION))), square[6];
    symmetric_product(unit, unit, square);
    all -= widened;
    FloatV sheared = 1.41421356f * flow, turning = MPM_SAND_TURNING * norm / (one + MPM_SAND_SLOW * sheared / seconds);
    firm -=
        sheared / (MPM_SAND_LOOSENING + turning) - simd_select(is_flowing, zero, seconds * (1.0f / MPM_SAND_FIRMING));
    firm = simd_min(simd_max(firm, zero), one);
    FloatV third = simd_select(is_apart, tip, all * (1.0f / 3.0f)), keep = one - flow * shrink;
    for (int i = 0; i < 6; i++)
        shape[i] = shape[i] * keep - turned * turn[i] - widened * (square[i] - (i < 3 ? 1.0f / 3.0f : 0.0f));
    sand_stretch(shape, simd_exp(2.0f * third), state->stretch);
    FloatV pressure = (2.0f * m->shear + 3.0f * m->lame) * third;
    for (int i = 0; i < 6; i++) state->stress[i] = 2.0f * m->shear * shape[i] + (i < 3 ? pressure : zero);
    state->plastic = simd_select(is_apart, simd_min(beyond, simd_set1(MPM_SAND_GAIN)), -firm);
    state->flows = is_apart | is_flowing;
}
