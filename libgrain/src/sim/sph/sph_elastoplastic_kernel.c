// SPDX-License-Identifier: GPL-3.0-or-later
// The elastoplastic model. Velocity gradients are corrected to be exact for linear fields (Bonet and Lok 1999), and
// forces use the same corrections, so that one is the adjoint of the other and no energy comes from nowhere:
//
//     grad v_i = V sum_j (v_j - v_i) (L_i gradW_ij)^T        L_i = (V sum_j (x_j - x_i) gradW_ij^T)^-1
//     m_i a_i  = V^2 sum_j (sigma_i L_i + sigma_j L_j) gradW_ij
//
// The wall's material is the mirror image: as far behind the wall, moving against it the other way.
#define SIMD_FIXED_LANES 8
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

#include <math.h>

// Shear modulus over bulk modulus: Poisson's ratio 0.3.
#define SHEAR 0.4615f
// Damping of what is at rest, over density * sound * support: of volume, of shear. It stays within the cone.
#define VOLUME_DAMPING 0.1f
#define SHEAR_DAMPING 0.2f
// Where a neighbourhood is this small a part of a full one (determinant of its moments), gradients are not corrected;
// from the second part on they are, fully. Correcting more would make the fringe stiffer than the step allows: heaps
// then shiver and creep. Correcting less lets poured sand stay too loose.
#define CORRECT_FROM 0.2f
#define CORRECT_FULLY 0.5f
// What is denser than at rest by more than this was not stressed by it: a stress that grows until it is pushed apart.
#define CROWDED 1.08f
#define CROWDED_RATE 0.1f
// Sand that has come apart bears no pressure until it lacks no more than this of the density at rest, and has closed by
// this much again.
#define LOOSE 0.07f
#define GAP 0.005f

typedef struct Sums {
    FloatV gradient[9], moment[6], filled;
} Sums;

SIMD_INLINE FloatV clamp01(FloatV v) { return simd_min(simd_max(v, simd_set1(0.0f)), simd_set1(1.0f)); }

SIMD_INLINE void sum_gradients(Sph *sph, int64_t block, Sums *sums)
{
    const float *x = sph->field[SPH_X], *y = sph->field[SPH_Y], *z = sph->field[SPH_Z];
    const float *u = sph->field[SPH_U], *v = sph->field[SPH_V], *w = sph->field[SPH_W];
    int64_t i = block * BLOCK_LANES;
    FloatV xi = simd_load(x + i), yi = simd_load(y + i), zi = simd_load(z + i);
    FloatV ui = simd_load(u + i), vi = simd_load(v + i), wi = simd_load(w + i);
    float inverse = 1.0f / sph->rules.support;
    FloatV g[9] = {0}, m[6] = {0}, filled = {0};
    int64_t reached = sph->neighbours.block[block].list;
    for (int64_t k = reached; k < sph->neighbours.block[block].list_end; k++) {
        int32_t j = sph->list[k];
        FloatV dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
        FloatV q = simd_sqrt(dx * dx + dy * dy + dz * dz) * inverse;
        FloatV slope = sph_slope(q), gx = slope * dx, gy = slope * dy, gz = slope * dz;
        FloatV du = u[j] - ui, dv = v[j] - vi, dw = w[j] - wi;
        sph->reached[reached] = j;
        simd_store(sph->slope + reached * BLOCK_LANES, slope);
        reached += simd_bits(q < 1.0f) != 0;
        filled += sph_weight(q);
        g[0] += du * gx, g[1] += du * gy, g[2] += du * gz;
        g[3] += dv * gx, g[4] += dv * gy, g[5] += dv * gz;
        g[6] += dw * gx, g[7] += dw * gy, g[8] += dw * gz;
        m[0] -= dx * gx, m[1] -= dy * gy, m[2] -= dz * gz;
        m[3] -= dx * gy, m[4] -= dx * gz, m[5] -= dy * gz;
    }
    sph_end_reached(sph, block, reached);
    float peak = sph->rules.volume * sph_spline_peak(sph->rules.support), scale = peak * inverse * inverse;
    for (int c = 0; c < 9; c++) sums->gradient[c] = g[c] * scale;
    for (int c = 0; c < 6; c++) sums->moment[c] = m[c] * scale;
    sums->filled = filled * peak;
    const SphWalls *walls = &sph->walls[block];
    if (sph->neighbours.block[block].contact_count == 0) return;
    for (int c = 0; c < 9; c++) sums->gradient[c] += simd_load(walls->drive[c]);
    for (int c = 0; c < 6; c++) sums->moment[c] += simd_load(walls->moment[c]);
    sums->filled += simd_load(walls->filled);
}

// The inverse of the moments, or part of it where there are too few neighbours: xx, yy, zz, xy, xz, yz.
SIMD_INLINE void correction(const FloatV m[6], FloatV l[6])
{
    FloatV xx = m[1] * m[2] - m[5] * m[5], xy = m[4] * m[5] - m[3] * m[2], xz = m[3] * m[5] - m[4] * m[1];
    FloatV yy = m[0] * m[2] - m[4] * m[4], yz = m[3] * m[4] - m[0] * m[5], zz = m[0] * m[1] - m[3] * m[3];
    FloatV determinant = m[0] * xx + m[3] * xy + m[4] * xz;
    FloatV part = clamp01((determinant - CORRECT_FROM) * (1.0f / (CORRECT_FULLY - CORRECT_FROM)));
    FloatV scale = part / simd_max(determinant, simd_set1(CORRECT_FROM)), rest = 1.0f - part;
    l[0] = xx * scale + rest, l[1] = yy * scale + rest, l[2] = zz * scale + rest;
    l[3] = xy * scale, l[4] = xz * scale, l[5] = yz * scale;
}

SIMD_INLINE FloatV shear_size(const FloatV s[6])
{
    return simd_sqrt(0.5f * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2]) + s[3] * s[3] + s[4] * s[4] + s[5] * s[5]);
}

SIMD_INLINE void shrink_to(FloatV s[6], FloatV most)
{
    FloatV size = shear_size(s), keep = simd_select(size > most, most / size, simd_set1(1.0f));
    for (int c = 0; c < 6; c++) s[c] *= keep;
}

// Stress at the end of the step, and the one that acts, which damping is part of.
SIMD_INLINE FloatV update_stress(Sph *sph, int64_t i, const FloatV g[9], FloatV filled, FloatV s[6], FloatV acting[6])
{
    const SphRules *rules = &sph->rules;
    float dt = rules->dt, square = rules->sound * rules->sound / rules->volume;
    FloatV zero = simd_set1(0.0f), mass = simd_load(sph->field[SPH_MASS] + i), bulk = mass * square;
    FloatV friction = simd_load(sph->field[SPH_FRICTION] + i);
    FloatV tension =
        simd_load(sph->field[SPH_COHESION] + i) + rules->wet_cohesion * simd_load(sph->field[SPH_MOISTURE] + i);
    FloatV divergence = g[0] + g[4] + g[8], third = divergence * (1.0f / 3.0f);

    // What sleeps keeps its stress.
    IntV is_asleep = simd_load(sph->field[SPH_STILL] + i) == INFINITY;
    FloatV kept = simd_load(sph->field[SPH_STRAIN] + i), strain = kept;
    strain -= dt * divergence * (1.0f + strain);
    strain += (CROWDED_RATE * dt * rules->sound / rules->support) * simd_max(filled - CROWDED, zero);
    FloatV least = -tension / bulk, loose = simd_min(filled - (1.0f - LOOSE), zero) - GAP;
    strain = simd_select(is_asleep, kept, simd_max(strain, simd_min(least, loose)));
    simd_store(sph->field[SPH_STRAIN] + i, strain);
    FloatV pressure = bulk * strain;
    IntV is_apart = strain <= least;

    FloatV dev[6] = {g[0] - third,         g[4] - third,         g[8] - third,
                     0.5f * (g[1] + g[3]), 0.5f * (g[2] + g[6]), 0.5f * (g[5] + g[7])};
    FloatV oxy = 0.5f * (g[1] - g[3]), oxz = 0.5f * (g[2] - g[6]), oyz = 0.5f * (g[5] - g[7]);
    for (int c = 0; c < 6; c++) s[c] = simd_load(sph->field[SPH_SXX + c] + i);
    // Turned with the material (Jaumann).
    FloatV turn[6] = {2.0f * (oxy * s[3] + oxz * s[4]),
                      2.0f * (oyz * s[5] - oxy * s[3]),
                      -2.0f * (oxz * s[4] + oyz * s[5]),
                      oxy * (s[1] - s[0]) + oxz * s[5] + oyz * s[4],
                      oxy * s[5] + oxz * (s[2] - s[0]) - oyz * s[3],
                      oyz * (s[2] - s[1]) - oxy * s[4] - oxz * s[3]};
    for (int c = 0; c < 6; c++) s[c] += dt * (2.0f * SHEAR * bulk * dev[c] + turn[c]);
    shrink_to(s, simd_select(is_apart, zero, friction * simd_max(pressure + tension, zero)));
    for (int c = 0; c < 6; c++) {
        s[c] = simd_select(is_asleep, simd_load(sph->field[SPH_SXX + c] + i), s[c]);
        simd_store(sph->field[SPH_SXX + c] + i, s[c]);
    }

    // bulk / sound = density * sound
    FloatV damping = bulk * (rules->support / rules->sound);
    damping = simd_select(is_asleep, zero, damping);
    FloatV acts = pressure - VOLUME_DAMPING * damping * divergence;
    acts = simd_select(is_apart, zero, simd_max(acts, -tension));
    for (int c = 0; c < 6; c++) acting[c] = s[c] + 2.0f * SHEAR_DAMPING * damping * dev[c];
    shrink_to(acting, simd_select(is_apart, zero, friction * (simd_min(simd_max(pressure, -tension), acts) + tension)));
    return acts;
}

void SIMD_NAME(sph_elastoplastic_stress)(Sph *sph, int64_t first, int64_t last)
{
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        Sums sums;
        FloatV l[6], g[9], s[6], acting[6];
        sum_gradients(sph, block, &sums);
        simd_store(sph->field[SPH_FILLED] + i, sums.filled);
        correction(sums.moment, l);
        for (int a = 0; a < 3; a++) {
            const FloatV *row = &sums.gradient[3 * a];
            g[3 * a] = row[0] * l[0] + row[1] * l[3] + row[2] * l[4];
            g[3 * a + 1] = row[0] * l[3] + row[1] * l[1] + row[2] * l[5];
            g[3 * a + 2] = row[0] * l[4] + row[1] * l[5] + row[2] * l[2];
        }
        FloatV stir = {0};
        for (int c = 0; c < 9; c++) stir += g[c] * g[c];
        simd_store(sph->work[SPH_STIR] + i, sph->rules.support * simd_sqrt(stir));
        FloatV p = update_stress(sph, i, g, sums.filled, s, acting);
        FloatV full[9] = {acting[0] - p, acting[3], acting[4], acting[3],    acting[1] - p,
                          acting[5],     acting[4], acting[5], acting[2] - p};
        for (int a = 0; a < 3; a++) {
            const FloatV *row = &full[3 * a];
            simd_store(sph->work[SPH_B0 + 3 * a] + i, row[0] * l[0] + row[1] * l[3] + row[2] * l[4]);
            simd_store(sph->work[SPH_B0 + 3 * a + 1] + i, row[0] * l[3] + row[1] * l[1] + row[2] * l[5]);
            simd_store(sph->work[SPH_B0 + 3 * a + 2] + i, row[0] * l[4] + row[1] * l[5] + row[2] * l[2]);
        }
    }
}

void SIMD_NAME(sph_elastoplastic_force)(Sph *sph, int64_t first, int64_t last)
{
    float h = sph->rules.support, volume = sph->rules.volume, scale = volume * volume * sph_spline_peak(h) / (h * h);
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        float sum[3][BLOCK_LANES];
        SIMD_NAME(sph_sum_stress)(sph, block, sum);
        FloatV each = scale / simd_load(sph->field[SPH_MASS] + i);
        for (int c = 0; c < 3; c++)
            simd_store(sph->work[SPH_AX + c] + i, simd_load(sum[c]) * each + sph->rules.gravity[c]);
    }
}
