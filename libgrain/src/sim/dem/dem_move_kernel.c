#include "sim/dem/dem.h"

// A record of four floats is a vector of its own here, on every instruction set.
typedef float Float4 __attribute__((vector_size(16)));

SIMD_INLINE Float4 load4(const float *from) { return *(const Float4 *)from; }
SIMD_INLINE Float4 set4(float value) { return (Float4){value, value, value, value}; }

SIMD_INLINE int32_t move_balls(Dem *dem, int64_t first, int64_t last, float seconds, int resists_rolling)
{
    const int32_t *own = dem->pairs.own, *shared_start = dem->shared_start, *shared = dem->shared;
    const float *force = dem->force, *moment = dem->moment, *torque = dem->torque;
    const Vec3 gravity = dem->def.gravity;
    // The fourth numbers (radius, inverse mass, ...) stay as they are.
    const Float4 fall = {gravity.x * seconds, gravity.y * seconds, gravity.z * seconds, 0.0f};
    const Float4 step = {seconds, seconds, seconds, 0.0f};
    int32_t left = 0;
    for (int64_t i = first; i < last; i++) {
        Float4 push = {0}, turn = {0}, roll = {0};
        for (int64_t pair = own[i]; pair < own[i + 1]; pair++) {
            push += load4(force + 4 * pair);
            turn += load4(moment + 4 * pair);
            if (resists_rolling) roll += load4(torque + 4 * pair);
        }
        for (int64_t entry = shared_start[i]; entry < shared_start[i + 1]; entry++) {
            int64_t record = shared[entry];
            push -= load4(force + 4 * record);
            turn += load4(moment + 4 * record);
            if (resists_rolling) roll -= load4(torque + 4 * record);
        }
        DemBall *ball = &dem->balls[i];
        Float4 *offset = (Float4 *)ball->offset, *velocity = (Float4 *)ball->velocity, *spin = (Float4 *)ball->spin;
        *velocity += push * set4(ball->inverse_mass * seconds) + fall;
        *spin += (roll - turn * set4(ball->radius)) * set4(ball->inverse_inertia * seconds);
        *offset += *velocity * step;
        Float4 squares = *offset * *offset;
        // This way round a ball that is nowhere (NaN) has left too, and is found when the lists are made.
        left |= !(squares[0] + squares[1] + squares[2] <= ball->skin_squared);
    }
    return left;
}

int32_t SIMD_NAME(dem_move)(Dem *dem, int64_t first, int64_t last, float seconds)
{
    return dem->torque ? move_balls(dem, first, last, seconds, 1) : move_balls(dem, first, last, seconds, 0);
}
