#define SIMD_FIXED_LANES 8
#include "sim/sph/sph.h"

// A lane's largest value; lanes of no particle stand still.
static float largest(FloatV v)
{
    float most = v[0];
    for (int lane = 1; lane < SIMD_LANES; lane++) most = v[lane] > most ? v[lane] : most;
    return most;
}

// The Laplacian of Brookshaw 1985: what one gains another loses.
void SIMD_NAME(sph_soak)(Sph *sph, int64_t first, int64_t last)
{
    const float *wet = sph->field[SPH_MOISTURE];
    float h = sph->rules.support,
          scale = 2.0f * sph->rules.diffusion * sph->rules.volume * sph_spline_peak(h) / (h * h);
    for (int64_t block = first; block < last; block++) {
        int64_t i = block * SPH_LANES;
        FloatV own = simd_load(wet + i), gain = {0};
        for (int64_t k = sph->blocks[block].list; k < sph->blocks[block + 1].list; k++)
            gain += (own - wet[sph->list[k]]) * simd_load(sph->slope + k * SPH_LANES);
        simd_store(sph->work[SPH_WET] + i, gain * scale);
    }
}

void SIMD_NAME(sph_move)(Sph *sph, int64_t first, int64_t last)
{
    const SphRules *rules = &sph->rules;
    float sleep = rules->sleep_speed * rules->sleep_speed, wake = rules->wake_acceleration * rules->wake_acceleration;
    for (int64_t block = first; block < last; block++) {
        int64_t i = block * SPH_LANES;
        FloatV v[3], speed = {0}, push = {0}, way = {0};
        for (int axis = 0; axis < 3; axis++) {
            FloatV a = simd_load(sph->work[SPH_AX + axis] + i);
            v[axis] = simd_load(sph->field[SPH_U + axis] + i) + rules->dt * a;
            speed += v[axis] * v[axis], push += a * a;
        }
        IntV is_asleep = (speed < sleep) & (push < wake);
        for (int axis = 0; axis < 3; axis++) {
            v[axis] = simd_select(is_asleep, simd_set1(0.0f), v[axis]);
            FloatV x = simd_load(sph->field[SPH_X + axis] + i) + rules->dt * v[axis];
            FloatV gone = x - simd_load(sph->listed[axis] + i);
            simd_store(sph->field[SPH_U + axis] + i, v[axis]);
            simd_store(sph->field[SPH_X + axis] + i, x);
            way += gone * gone;
        }
        if (rules->diffusion > 0.0f)
            simd_store(sph->field[SPH_MOISTURE] + i,
                       simd_load(sph->field[SPH_MOISTURE] + i) + rules->dt * simd_load(sph->work[SPH_WET] + i));
        sph->blocks[block].moved = largest(way);
        sph->blocks[block].fastest = largest(speed);
    }
}
