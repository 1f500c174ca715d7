#include "sim/dem/dem.h"

static inline Vec3 read3(const float from[3]) { return vec3(from[0], from[1], from[2]); }
static inline void write3(float to[3], Vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

typedef struct Load {
    Vec3 force, torque;
} Load;

static inline Load load_of(const Dem *dem, int32_t first, int32_t last)
{
    Load load = {{0, 0, 0}, {0, 0, 0}};
    for (int32_t ball = first; ball < last; ball++) {
        int64_t place = dem->place[ball];
        Vec3 push = read3(dem->push + 4 * place), arm = read3(dem->arms[place].now);
        load.force = vec3_add(load.force, push);
        load.torque = vec3_add(load.torque, vec3_add(read3(dem->turn + 4 * place), vec3_cross(arm, push)));
    }
    return load;
}

// Spin from angular momentum for the way the grain faces half a step on, if it went on with this spin.
static inline Vec3 spin_halfway(const DemGrain *grain, Vec3 momentum, Vec3 spin, float seconds)
{
    Vec3 turned = read3(grain->turned), half = vec3_scale(spin, 0.25f * seconds);
    float w = sqrtf(fmaxf(1.0f - vec3_dot(turned, turned), 0.0f));
    Quat middle = quat_multiply((Quat){1.0f, half.x, half.y, half.z}, (Quat){w, turned.x, turned.y, turned.z});
    Quat facing = {grain->facing[0], grain->facing[1], grain->facing[2], grain->facing[3]};
    facing = quat_normalize(quat_multiply(middle, facing));
    Vec3 own = quat_rotate(quat_conjugate(facing), momentum);
    own = vec3(own.x * grain->inverse_inertia[0], own.y * grain->inverse_inertia[1], own.z * grain->inverse_inertia[2]);
    return quat_rotate(facing, own);
}

// The implicit midpoint rule (Fincham 1992) by two rounds from the spin before: with one, a rod in flight gains 2e-4 of
// its energy in a second.
static inline Vec3 spin_of(const DemGrain *grain, Vec3 momentum, float seconds)
{
    Vec3 guess = spin_halfway(grain, momentum, read3(grain->spin), seconds);
    return spin_halfway(grain, momentum, guess, seconds);
}

static inline Vec3 turn_on(Vec3 turned, Vec3 spin, float seconds)
{
    Vec3 half = vec3_scale(spin, 0.5f * seconds);
    float squared = vec3_dot(half, half), w = sqrtf(fmaxf(1.0f - vec3_dot(turned, turned), 0.0f));
    half = vec3_scale(half, 1.0f - squared * (1.0f / 6.0f)); // sine and cosine of a tiny angle
    return vec3_add(vec3_add_scaled(vec3_scale(turned, 1.0f - 0.5f * squared), half, w), vec3_cross(half, turned));
}

static inline int32_t carry_balls(const Dem *dem, const DemGrain *grain, int32_t first, int32_t last)
{
    Vec3 turned = read3(grain->turned), offset = read3(grain->offset), velocity = read3(grain->velocity),
         spin = read3(grain->spin);
    int32_t left = 0;
    for (int32_t ball = first; ball < last; ball++) {
        int64_t place = dem->place[ball];
        DemArm *arm = &dem->arms[place];
        DemBall *b = &dem->balls[place];
        Vec3 listed = read3(arm->listed), way = dem_turn_arm(turned, listed), now = vec3_add(listed, way);
        Vec3 at = vec3_add(vec3_add(offset, way), read3(arm->rounding));
        write3(arm->now, now);
        write3(b->offset, at);
        write3(b->velocity, vec3_add(velocity, vec3_cross(spin, now)));
        write3(b->spin, spin);
        left |= !(vec3_dot(at, at) <= b->skin_squared);
    }
    return left;
}

int32_t SIMD_NAME(dem_grains)(const Dem *dem, int64_t first, int64_t last, float seconds)
{
    int32_t left = 0;
    for (int64_t g = first; g < last; g++) {
        DemGrain *grain = &dem->grains[g];
        int32_t id = dem->grain_id[g], first_ball = dem->grain_first[id], last_ball = dem->grain_first[id + 1];
        Load load = load_of(dem, first_ball, last_ball);
        Vec3 pull = vec3_add_scaled(dem->def.gravity, load.force, grain->inverse_mass);
        Vec3 velocity = vec3_add_scaled(read3(grain->velocity), pull, seconds);
        Vec3 momentum = vec3_add_scaled(read3(grain->momentum), load.torque, seconds);
        Vec3 spin = spin_of(grain, momentum, seconds);
        write3(grain->velocity, velocity);
        write3(grain->momentum, momentum);
        write3(grain->spin, spin);
        write3(grain->offset, vec3_add_scaled(read3(grain->offset), velocity, seconds));
        write3(grain->turned, turn_on(read3(grain->turned), spin, seconds));
        left |= carry_balls(dem, grain, first_ball, last_ball);
    }
    return left;
}
