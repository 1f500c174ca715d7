// SPDX-License-Identifier: GPL-3.0-or-later
// The scheme of Ihmsen, Wahl and Teschner 2013. Numbers in brackets are the paper's formulae, put right where they are
// misprinted (docs/sph.md). Densities count as parts of the one at rest; (8) is taken at the rate the density has now,
// so that one velocity gradient gives both the density and the strain that a step would lead to.
#define SIMD_FIXED_LANES 8
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

// Sparser than this, sand is not a continuum: no pressure, and particles that come too close push each other.
#define SPARSE 0.6f
#define SPARSE_PUSH 0.005f // spacings in the square of a step

SIMD_INLINE FloatV none(void) { return simd_set1(0.0f); }

void SIMD_NAME(sph_ihmsen2013_begin)(Sph *sph, int64_t first, int64_t last)
{
    const float *x = sph->field[SPH_X], *y = sph->field[SPH_Y], *z = sph->field[SPH_Z];
    const float *u = sph->field[SPH_U], *v = sph->field[SPH_V], *w = sph->field[SPH_W];
    const float *wet = sph->field[SPH_MOISTURE], *before = sph->work[SPH_DENSE];
    const SphRules *rules = &sph->rules;
    float h = rules->support, inverse = 1.0f / h, apart = 0.01f * h * h, near = rules->spacing;
    float peak = rules->volume * sph_spline_peak(h), push = SPARSE_PUSH / (rules->dt * rules->dt);
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        FloatV xi = simd_load(x + i), yi = simd_load(y + i), zi = simd_load(z + i);
        FloatV ui = simd_load(u + i), vi = simd_load(v + i), wi = simd_load(w + i), damp = simd_load(wet + i);
        FloatV is_sparse = simd_select(simd_load(before + i) < SPARSE, simd_set1(push), none());
        FloatV cohesion = simd_load(sph->field[SPH_COHESION] + i);
        FloatV filled = none(), a[3] = {none(), none(), none()};
        int64_t reached = sph->neighbours.block[block].list;
        for (int64_t k = reached; k < sph->neighbours.block[block].list_end; k++) {
            int32_t j = sph->list[k];
            FloatV dx = xi - x[j], dy = yi - y[j], dz = zi - z[j];
            FloatV squared = dx * dx + dy * dy + dz * dz, r = simd_sqrt(squared), q = r * inverse;
            FloatV weight = sph_weight(q), slope = sph_slope(q);
            FloatV closing = (ui - u[j]) * dx + (vi - v[j]) * dy + (wi - w[j]) * dz;
            FloatV viscosity = rules->viscosity + (0.5f * rules->wet_viscosity) * (damp + wet[j]);
            filled += weight;
            sph->reached[reached] = j;
            simd_store(sph->slope + reached * BLOCK_LANES, slope);
            reached += simd_bits(q < 1.0f) != 0;
            // (20) between particles; (22); discrete forces
            FloatV along =
                peak * inverse * rules->sound * viscosity * slope * simd_min(closing, none()) / (squared + apart);
            along -= peak * weight * (cohesion + rules->wet_cohesion * (0.5f * (damp + wet[j])));
            if (before[j] < SPARSE) along += is_sparse * simd_max(near - r, none()) / (r + 0.01f * near);
            a[0] += along * dx, a[1] += along * dy, a[2] += along * dz;
        }
        sph_end_reached(sph, block, reached);
        filled *= peak;
        if (sph->neighbours.block[block].contact_count > 0) filled += simd_load(sph->walls[block].filled);
        simd_store(sph->field[SPH_FILLED] + i, filled);
        simd_store(sph->work[SPH_PRESSURE] + i, none());
        for (int c = 0; c < 6; c++) simd_store(sph->field[SPH_SXX + c] + i, none());
        for (int c = 0; c < 3; c++) {
            FloatV sum = a[c] + rules->gravity[c];
            simd_store(sph->work[SPH_OTHER_X + c] + i, sum);
            simd_store(sph->work[SPH_NEXT_U + c] + i, simd_load(sph->field[SPH_U + c] + i) + rules->dt * sum);
        }
    }
}

// grad v (3, 18), of the velocities that are expected.
SIMD_INLINE void gradient(const Sph *sph, int64_t block, FloatV g[9])
{
    const float *const velocity[3] = {sph->work[SPH_NEXT_U], sph->work[SPH_NEXT_V], sph->work[SPH_NEXT_W]};
    float h = sph->rules.support, scale = sph->rules.volume * sph_spline_peak(h) / (h * h), sum[9][BLOCK_LANES];
    SIMD_NAME(sph_sum_gradient)(sph, velocity, block, sum);
    for (int c = 0; c < 9; c++) g[c] = simd_load(sum[c]) * scale;
    if (sph->neighbours.block[block].contact_count == 0) return;
    const SphWalls *walls = &sph->walls[block];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            g[3 * a + b] += simd_load(walls->drive[3 * a + b]) -
                            simd_load(velocity[a] + block * BLOCK_LANES) * simd_load(walls->gradient[b]);
}

void SIMD_NAME(sph_ihmsen2013_correct)(Sph *sph, int64_t first, int64_t last)
{
    const SphRules *rules = &sph->rules;
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        FloatV g[9], s[6];
        gradient(sph, block, g);
        FloatV filled = simd_load(sph->field[SPH_FILLED] + i), divergence = g[0] + g[4] + g[8];
        FloatV next = filled - rules->dt * divergence;
        FloatV pressure = simd_load(sph->work[SPH_PRESSURE] + i);
        pressure += rules->pressure_scale * simd_max(next - 1.0f, none()); // (6)
        pressure = simd_select(next < SPARSE, none(), pressure);
        simd_store(sph->work[SPH_PRESSURE] + i, pressure);

        FloatV third = divergence * (1.0f / 3.0f), tangent = simd_load(sph->field[SPH_FRICTION] + i);
        const FloatV rate[6] = {g[0] - third,         g[4] - third,         g[8] - third,
                                0.5f * (g[1] + g[3]), 0.5f * (g[2] + g[6]), 0.5f * (g[5] + g[7])};
        FloatV most = pressure * (0.8164966f * tangent / simd_sqrt(1.0f + tangent * tangent)); // (13)
        for (int c = 0; c < 6; c++) {
            s[c] = simd_load(sph->field[SPH_SXX + c] + i) + rules->friction_scale * rate[c]; // (11)
            s[c] = simd_max(simd_min(s[c], most), -most);
            simd_store(sph->field[SPH_SXX + c] + i, s[c]);
        }
        FloatV each = 1.0f / (filled * filled);
        const FloatV stress[9] = {s[0] - pressure, s[3], s[4], s[3], s[1] - pressure, s[5], s[4], s[5],
                                  s[2] - pressure};
        for (int c = 0; c < 9; c++) simd_store(sph->work[SPH_B0 + c] + i, stress[c] * each);
    }
}

// (5, 10)
void SIMD_NAME(sph_ihmsen2013_force)(Sph *sph, int64_t first, int64_t last)
{
    float h = sph->rules.support, volume = sph->rules.volume, scale = volume * volume * sph_spline_peak(h) / (h * h);
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        float sum[3][BLOCK_LANES];
        SIMD_NAME(sph_sum_symmetric)(sph, block, sum);
        FloatV each = scale / simd_load(sph->field[SPH_MASS] + i);
        for (int c = 0; c < 3; c++)
            simd_store(sph->work[SPH_AX + c] + i, simd_load(sum[c]) * each + simd_load(sph->work[SPH_OTHER_X + c] + i));
    }
}
