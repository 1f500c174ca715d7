#include "sim/dem/dem_grain_motion.h"

// The implicit midpoint rule (Fincham 1992) by two rounds from the spin before: with one, a rod in flight gains 2e-4 of
// its energy in a second.
static inline Vec3 spin_of(const DemGrain *grain, Vec3 momentum, float seconds)
{
    Vec3 guess = dem_spin_ahead(grain, momentum, dem_read3(grain->spin), seconds);
    return dem_spin_ahead(grain, momentum, guess, seconds);
}

static inline Vec3 turn_on(Vec3 turned, Vec3 spin, float seconds)
{
    Vec3 half = vec3_scale(spin, 0.5f * seconds);
    float squared = vec3_dot(half, half), w = sqrtf(fmaxf(1.0f - vec3_dot(turned, turned), 0.0f));
    half = vec3_scale(half, 1.0f - squared * (1.0f / 6.0f)); // sine and cosine of a tiny angle
    return vec3_add(vec3_add_scaled(vec3_scale(turned, 1.0f - 0.5f * squared), half, w), vec3_cross(half, turned));
}

int32_t SIMD_NAME(dem_grains)(const Dem *dem, int64_t first, int64_t last, float seconds)
{
    int32_t left = 0;
    for (int64_t g = first; g < last; g++) {
        DemGrain *grain = &dem->grains[g];
        int32_t id = dem->grain_id[g], first_ball = dem->grain_first[id], last_ball = dem->grain_first[id + 1];
        DemLoad load = dem_load_of(dem, first_ball, last_ball);
        Vec3 pull = vec3_add_scaled(dem->def.gravity, load.force, grain->inverse_mass);
        Vec3 velocity = vec3_add_scaled(dem_read3(grain->velocity), pull, seconds);
        Vec3 momentum = vec3_add_scaled(dem_read3(grain->momentum), load.torque, seconds);
        Vec3 spin = spin_of(grain, momentum, seconds);
        dem_write3(grain->velocity, velocity);
        dem_write3(grain->momentum, momentum);
        dem_write3(grain->spin, spin);
        dem_write3(grain->offset, vec3_add_scaled(dem_read3(grain->offset), velocity, seconds));
        dem_write3(grain->turned, turn_on(dem_read3(grain->turned), spin, seconds));
        left |= dem_carry_balls(dem, grain, first_ball, last_ball);
    }
    return left;
}
