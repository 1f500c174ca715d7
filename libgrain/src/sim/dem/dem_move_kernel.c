// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"
#include "sim/dem/dem_vec_simd.h"

typedef struct Sums {
    Float4 push, turn, roll;
} Sums;

SIMD_INLINE void add_own(const Dem *dem, int64_t record, Sums *sums, int resists_rolling)
{
    sums->push += float4_load(dem->force + 4 * record);
    sums->turn += float4_load(dem->moment + 4 * record);
    if (resists_rolling) sums->roll += float4_load(dem->torque + 4 * record);
}

SIMD_INLINE void add_shared(const Dem *dem, int64_t record, Sums *sums, int resists_rolling)
{
    sums->push -= float4_load(dem->force + 4 * record);
    sums->turn += float4_load(dem->moment + 4 * record);
    if (resists_rolling) sums->roll -= float4_load(dem->torque + 4 * record);
}

// Four of each come without a question: a wrong guess of how many there are costs more than adding zeros.
SIMD_INLINE Sums sum_records(const Dem *dem, int64_t ball, int resists_rolling)
{
    Sums sums = {0};
    int64_t own = dem->pairs.own[ball], own_end = dem->pairs.own[ball + 1], none = dem->record_count;
    for (int k = 0; k < 4; k++) add_own(dem, own + k < own_end ? own + k : none, &sums, resists_rolling);
    for (own += 4; own < own_end; own++) add_own(dem, own, &sums, resists_rolling);
    int64_t entry = dem->shared_start[ball], end = dem->shared_start[ball + 1];
    for (; entry < end; entry += DEM_SHARED_MULTIPLE)
        for (int k = 0; k < DEM_SHARED_MULTIPLE; k++) add_shared(dem, dem->shared[entry + k], &sums, resists_rolling);
    return sums;
}

SIMD_INLINE int32_t move_balls(const Dem *dem, int64_t first, int64_t last, float seconds, int resists_rolling,
                               int has_grains)
{
    const Vec3 gravity = dem->base.def.gravity;
    // The fourth numbers (radius, inverse mass, ...) stay as they are.
    const Float4 fall = {gravity.x * seconds, gravity.y * seconds, gravity.z * seconds, 0.0f};
    const Float4 step = {seconds, seconds, seconds, 0.0f};
    int32_t left = 0;
    for (int64_t i = first; i < last; i++) {
        Sums sums = sum_records(dem, i, resists_rolling);
        DemBall *ball = &dem->balls[i];
        Float4 *offset = (Float4 *)ball->offset, *velocity = (Float4 *)ball->velocity, *spin = (Float4 *)ball->spin;
        Float4 turn = sums.roll - sums.turn * float4_set1(ball->radius);
        if (has_grains && ball->inverse_inertia == 0.0f) { // dem_grains moves it
            *(Float4 *)(dem->push + 4 * i) = sums.push;
            *(Float4 *)(dem->turn + 4 * i) = turn;
            continue;
        }
        Float4 moved = *velocity + (sums.push * float4_set1(ball->inverse_mass * seconds) + fall);
        *spin += turn * float4_set1(ball->inverse_inertia * seconds);
        *velocity = moved;
        *offset += moved * step;
        Float4 squares = *offset * *offset;
        // This way round a ball that is nowhere (NaN) has left too, and is found when the lists are made.
        left |= !(squares[0] + squares[1] + squares[2] <= ball->skin_squared);
    }
    return left;
}

int32_t SIMD_NAME(dem_move)(const Dem *given, int64_t first, int64_t last, float seconds)
{
    Dem own = *given; // as in DemWork
    if (own.grain_count > 0)
        return own.torque ? move_balls(&own, first, last, seconds, 1, 1) : move_balls(&own, first, last, seconds, 0, 1);
    return own.torque ? move_balls(&own, first, last, seconds, 1, 0) : move_balls(&own, first, last, seconds, 0, 0);
}
