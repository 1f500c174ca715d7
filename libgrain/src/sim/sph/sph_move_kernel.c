// SPDX-License-Identifier: GPL-3.0-or-later
#define SIMD_FIXED_LANES 8
#include "sim/sph/sph.h"
#include "sim/sph/sph_step.h"

#include <math.h>

// Neighbours of a sleeper that go against each other this many times as fast as what is slow wake it.
#define WAKE_STIR 4.0f

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
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        FloatV own = simd_load(wet + i), gain = {0};
        for (int64_t k = sph->neighbours.block[block].list; k < sph->reached_end[block]; k++)
            gain += (own - wet[sph->reached[k]]) * simd_load(sph->slope + k * BLOCK_LANES);
        simd_store(sph->work[SPH_WET] + i, gain * scale);
    }
}

// Who of the elastoplastic sleeps from now on.
SIMD_INLINE IntV find_sleepers(Sph *sph, int64_t block)
{
    const SphRules *rules = &sph->rules;
    int64_t i = block * BLOCK_LANES;
    FloatV still = simd_load(sph->field[SPH_STILL] + i), stir = simd_load(sph->work[SPH_STIR] + i);
    FloatV speed = {0}, pull = {0}; // squared
    for (int axis = 0; axis < 3; axis++) {
        FloatV v = simd_load(sph->field[SPH_U + axis] + i);
        FloatV more = simd_load(sph->work[SPH_AX + axis] + i) - simd_load(sph->field[SPH_HELD_X + axis] + i);
        speed += v * v, pull += more * more;
    }
    IntV slept = still == INFINITY, may = simd_set1_int(sph->must_wake[block] ? 0 : -1);
    IntV sleeps_on = slept & may & (pull < rules->wake_pull * rules->wake_pull) & (stir < WAKE_STIR * rules->slow);
    IntV is_calm = ~slept & may & (speed < rules->slow * rules->slow);
    still = simd_select(is_calm, still + rules->dt, simd_set1(0.0f));
    IntV falls_asleep = is_calm & (still >= SPH_SLEEP_SECONDS), is_asleep = sleeps_on | falls_asleep;
    simd_store(sph->field[SPH_STILL] + i, simd_select(is_asleep, simd_set1(INFINITY), still));
    sph->is_awake[block] = simd_bits(is_asleep) != (1u << BLOCK_LANES) - 1u;
    for (int axis = 0; axis < 3 && simd_bits(falls_asleep); axis++) {
        FloatV now = simd_load(sph->work[SPH_AX + axis] + i), held = simd_load(sph->field[SPH_HELD_X + axis] + i);
        simd_store(sph->field[SPH_HELD_X + axis] + i, simd_select(falls_asleep, now, held));
    }
    return is_asleep;
}

void SIMD_NAME(sph_move)(Sph *sph, int64_t first, int64_t last)
{
    const SphRules *rules = &sph->rules;
    float sleep = rules->sleep_speed * rules->sleep_speed, wake = rules->wake_acceleration * rules->wake_acceleration;
    for (int64_t n = first; n < last; n++) {
        int64_t block = sph->active[n], i = block * BLOCK_LANES;
        FloatV v[3], speed = {0}, push = {0}, way = {0};
        for (int axis = 0; axis < 3; axis++) {
            FloatV a = simd_load(sph->work[SPH_AX + axis] + i);
            v[axis] = simd_load(sph->field[SPH_U + axis] + i) + rules->dt * a;
            speed += v[axis] * v[axis], push += a * a;
        }
        IntV is_asleep = rules->slow > 0.0f ? find_sleepers(sph, block) : (speed < sleep) & (push < wake);
        for (int axis = 0; axis < 3; axis++) {
            v[axis] = simd_select(is_asleep, simd_set1(0.0f), v[axis]);
            FloatV x = simd_load(sph->field[SPH_X + axis] + i) + rules->dt * v[axis];
            FloatV gone = x - simd_load(sph->neighbours.listed[axis] + i);
            simd_store(sph->field[SPH_U + axis] + i, v[axis]);
            simd_store(sph->field[SPH_X + axis] + i, x);
            way += gone * gone;
        }
        if (rules->diffusion > 0.0f)
            simd_store(sph->field[SPH_MOISTURE] + i,
                       simd_load(sph->field[SPH_MOISTURE] + i) + rules->dt * simd_load(sph->work[SPH_WET] + i));
        sph->neighbours.block[block].moved = largest(way);
        sph->neighbours.block[block].fastest = largest(simd_select(is_asleep, simd_set1(0.0f), speed));
    }
}
