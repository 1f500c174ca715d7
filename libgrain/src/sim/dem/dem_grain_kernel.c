// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"
#include "sim/dem/dem_vec_simd.h"

#include <stddef.h>

#define FIELD(name) (offsetof(DemGrain, name) / sizeof(float))

// What the contacts do to some grains, one record a lane; and how they stand after the step.
typedef struct Lanes {
    float force[SIMD_LANES][4] __attribute__((aligned(16)));
    float torque[SIMD_LANES][4] __attribute__((aligned(16)));
    float turned[SIMD_LANES][4] __attribute__((aligned(16))); // and the quaternion's w as the fourth
} Lanes;

SIMD_INLINE void sum_load(const Dem *dem, int32_t first, int32_t last, float *force, float *torque)
{
    Float4 pushes = {0}, turns = {0};
    for (int32_t ball = first; ball < last; ball++) {
        int64_t row = dem->row[ball];
        Float4 push = float4_load(dem->push + 4 * row), arm = float4_load(dem->arms[row].now);
        pushes += push;
        turns += float4_load(dem->turn + 4 * row) + float4_cross(arm, push);
    }
    float4_store(force, pushes);
    float4_store(torque, turns);
}

// Spin from angular momentum for the way the grain faces half a step on, if it went on with this spin.
SIMD_INLINE Vec3V spin_halfway(QuatV turned, QuatV facing, Vec3V inverse_inertia, Vec3V momentum, Vec3V spin,
                               float seconds)
{
    QuatV ahead = {simd_set1(1.0f), vec3v_scale(spin, simd_set1(0.25f * seconds))};
    QuatV middle = quatv_normalize(quatv_multiply(quatv_multiply(ahead, turned), facing));
    Vec3V own = quatv_rotate(quatv_conjugate(middle), momentum);
    own = vec3v(own.x * inverse_inertia.x, own.y * inverse_inertia.y, own.z * inverse_inertia.z);
    return quatv_rotate(middle, own);
}

SIMD_INLINE FloatV fourth_of(Vec3V turned)
{
    return simd_sqrt(simd_max(1.0f - vec3v_dot(turned, turned), simd_set1(0.0f)));
}

SIMD_INLINE Vec3V turn_on(QuatV turned, Vec3V spin, float seconds)
{
    Vec3V half = vec3v_scale(spin, simd_set1(0.5f * seconds));
    FloatV squared = vec3v_dot(half, half);
    half = vec3v_scale(half, 1.0f - squared * (1.0f / 6.0f)); // sine and cosine of a tiny angle
    return vec3v_add(vec3v_add(vec3v_scale(turned.v, 1.0f - 0.5f * squared), vec3v_scale(half, turned.w)),
                     vec3v_cross(half, turned.v));
}

SIMD_INLINE Vec3V field(const Dem *dem, size_t first, const int32_t *grain, FloatV *fourth)
{
    FloatV out[4];
    simd_load_records((const float *)dem->grains + first, DEM_GRAIN_FLOATS, grain, out);
    if (fourth) *fourth = out[3];
    return vec3v(out[0], out[1], out[2]);
}

SIMD_INLINE Vec3V lanes_of(const float records[SIMD_LANES][4])
{
    int32_t lane[SIMD_LANES];
    for (int k = 0; k < SIMD_LANES; k++) lane[k] = k;
    FloatV out[4];
    simd_load_records(records[0], 4, lane, out);
    return vec3v(out[0], out[1], out[2]);
}

SIMD_INLINE void store_field(const Dem *dem, size_t first, const int32_t *grain, Vec3V v, FloatV fourth)
{
    float records[SIMD_LANES][4] __attribute__((aligned(64)));
    simd_store_records(records[0], v.x, v.y, v.z, fourth);
    for (int k = 0; k < SIMD_LANES; k++) float4_store((float *)&dem->grains[grain[k]] + first, float4_load(records[k]));
}

// The grains themselves. Angular momentum is what is stepped on; the spin follows by the implicit midpoint rule
// (Fincham 1992), in two rounds from the spin before: with one, a rod in flight gains 2e-4 of its energy in a second.
SIMD_INLINE void move_grains(const Dem *dem, const int32_t *grain, Lanes *lanes, float seconds)
{
    FloatV inverse_mass, radius, facing_z, none;
    Vec3V offset = field(dem, FIELD(offset), grain, &inverse_mass);
    Vec3V velocity = field(dem, FIELD(velocity), grain, &radius);
    Vec3V momentum = field(dem, FIELD(momentum), grain, &none), spin = field(dem, FIELD(spin), grain, NULL);
    QuatV turned = {.v = field(dem, FIELD(turned), grain, NULL)}, facing;
    turned.w = fourth_of(turned.v);
    Vec3V facing_wxy = field(dem, FIELD(facing), grain, &facing_z);
    facing = (QuatV){facing_wxy.x, {facing_wxy.y, facing_wxy.z, facing_z}};
    Vec3V inverse_inertia = field(dem, FIELD(inverse_inertia), grain, NULL);

    FloatV step = simd_set1(seconds);
    Vec3 g = dem->base.def.gravity;
    Vec3V gravity = {simd_set1(g.x), simd_set1(g.y), simd_set1(g.z)};
    Vec3V pull = vec3v_add(gravity, vec3v_scale(lanes_of(lanes->force), inverse_mass));
    velocity = vec3v_add(velocity, vec3v_scale(pull, step));
    momentum = vec3v_add(momentum, vec3v_scale(lanes_of(lanes->torque), step));
    spin = spin_halfway(turned, facing, inverse_inertia, momentum, spin, seconds);
    spin = spin_halfway(turned, facing, inverse_inertia, momentum, spin, seconds);
    offset = vec3v_add(offset, vec3v_scale(velocity, step));
    Vec3V turned_on = turn_on(turned, spin, seconds);

    FloatV zero = simd_set1(0.0f);
    store_field(dem, FIELD(offset), grain, offset, inverse_mass);
    store_field(dem, FIELD(velocity), grain, velocity, radius);
    store_field(dem, FIELD(momentum), grain, momentum, zero);
    store_field(dem, FIELD(spin), grain, spin, zero);
    store_field(dem, FIELD(turned), grain, turned_on, zero);
    simd_store_records(lanes->turned[0], turned_on.x, turned_on.y, turned_on.z, fourth_of(turned_on));
}

// As dem_carry_balls, to the bit.
SIMD_INLINE int32_t carry(const Dem *dem, const DemGrain *grain, Float4 turned, int32_t first, int32_t last)
{
    Float4 offset = float4_load(grain->offset), velocity = float4_load(grain->velocity),
           spin = float4_load(grain->spin);
    Float4 w = float4_set1(turned[3]);
    int32_t left = 0;
    for (int32_t ball = first; ball < last; ball++) {
        int64_t row = dem->row[ball];
        DemArm *arm = &dem->arms[row];
        DemBall *b = &dem->balls[row];
        Float4 listed = float4_load(arm->listed), cross = float4_cross(turned, listed);
        Float4 way = (cross * w + float4_cross(turned, cross)) * 2.0f, now = listed + way;
        Float4 at = (offset + way) + float4_load(arm->rounding);
        float4_store(arm->now, now);
        float4_store(b->offset, float4_keep_fourth(at, float4_load(b->offset)));
        float4_store(b->velocity, float4_keep_fourth(velocity + float4_cross(spin, now), float4_load(b->velocity)));
        float4_store(b->spin, float4_keep_fourth(spin, float4_load(b->spin)));
        left |= !(float4_dot3(at, at) <= b->skin_squared);
    }
    return left;
}

// The balls of a grain stand in the order of their cells, here and there in memory. Asked for some grains ahead, they
// are there when their turn comes; waiting for them was half of a step with 200,000 balls.
SIMD_INLINE void ask_for(const Dem *dem, int64_t grain)
{
    int32_t id = dem->grain_id[grain];
    for (int32_t ball = dem->grain_first[id]; ball < dem->grain_first[id + 1]; ball++) {
        int64_t row = dem->row[ball];
        __builtin_prefetch(dem->push + 4 * row);
        __builtin_prefetch(dem->turn + 4 * row);
        __builtin_prefetch(&dem->arms[row], 1);
        __builtin_prefetch(dem->arms[row].rounding, 1);
        __builtin_prefetch(&dem->balls[row], 1);
    }
}

int32_t SIMD_NAME(dem_grains)(const Dem *given, int64_t first, int64_t last, float seconds)
{
    Dem own = *given; // as in DemWork
    const Dem *dem = &own;
    int32_t left = 0;
    for (int64_t begin = first; begin < last; begin += SIMD_LANES) {
        for (int64_t ahead = begin + SIMD_LANES; ahead < begin + 2 * SIMD_LANES && ahead < dem->grain_count; ahead++)
            ask_for(dem, ahead);
        Lanes lanes;
        int32_t grain[SIMD_LANES], first_ball[SIMD_LANES], last_ball[SIMD_LANES];
        int here = last - begin < SIMD_LANES ? (int)(last - begin) : SIMD_LANES;
        for (int k = 0; k < SIMD_LANES; k++) {
            grain[k] = (int32_t)(k < here ? begin + k : last - 1); // lanes too many do the same as the last
            int32_t id = dem->grain_id[grain[k]];
            first_ball[k] = dem->grain_first[id], last_ball[k] = dem->grain_first[id + 1];
            sum_load(dem, first_ball[k], last_ball[k], lanes.force[k], lanes.torque[k]);
        }
        move_grains(dem, grain, &lanes, seconds);
        for (int k = 0; k < here; k++)
            left |= carry(dem, &dem->grains[grain[k]], float4_load(lanes.turned[k]), first_ball[k], last_ball[k]);
    }
    return left;
}
