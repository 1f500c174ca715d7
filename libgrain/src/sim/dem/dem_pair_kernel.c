// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem_contact_simd.h"
#include "sim/dem/dem_contacts.h"

#include <stddef.h>

#define FIELD(name) (offsetof(DemBall, name) / sizeof(float))

SIMD_INLINE void store_nothing(const DemWork *work, int64_t pair, int has_spring, int resists_rolling)
{
    FloatV zero = simd_set1(0.0f);
    Vec3V zeros = {zero, zero, zero};
    simd_store_records(work->force + 4 * pair, zero, zero, zero, zero);
    simd_store_records(work->moment + 4 * pair, zero, zero, zero, zero);
    if (has_spring) vec3v_store(&work->pairs.shear, pair, zeros);
    if (!resists_rolling) return;
    simd_store_records(work->torque + 4 * pair, zero, zero, zero, zero);
    vec3v_store(&work->pairs.roll, pair, zeros);
}

SIMD_INLINE void pair_lanes(const DemWork *work, int64_t pair, int has_spring, int resists_rolling, int gives_rates)
{
    const DemPairs *pairs = &work->pairs;
    const float *balls = (const float *)work->balls;
    const int32_t *index_a = pairs->a + pair, *index_b = pairs->b + pair;
    FloatV zero = simd_set1(0.0f);

    FloatV a[4], b[4]; // offset and radius
    simd_load_records(balls + FIELD(offset), DEM_BALL_FLOATS, index_a, a);
    simd_load_records(balls + FIELD(offset), DEM_BALL_FLOATS, index_b, b);
    Vec3V apart = vec3v_add(vec3v_load(&pairs->apart, pair), vec3v(a[0] - b[0], a[1] - b[1], a[2] - b[2]));
    FloatV squared = vec3v_dot(apart, apart), reach = a[3] + b[3];
    ContactV contact;
    contact.touching = squared < reach * reach;
    if (!simd_bits(contact.touching)) {
        store_nothing(work, pair, has_spring, resists_rolling);
        return;
    }
    // Concentric balls have no normal; a distance above 0 keeps the numbers finite and the force at 0.
    squared = simd_max(squared, simd_set1(1e-30f));
    FloatV distance = simd_sqrt(squared), inverse_reach = 1.0f / reach;
    FloatV inverse = distance * (1.0f / squared); // root and quotients side by side, none waiting for another
    FloatV lever = distance * inverse_reach;      // the levers must add up to the distance, or spin comes from nowhere
    contact.normal = vec3v_scale(apart, inverse);
    contact.overlap = reach - distance;
    contact.radius = a[3] * b[3] * inverse_reach;

    FloatV va[4], vb[4], wa[4], wb[4];
    simd_load_records(balls + FIELD(velocity), DEM_BALL_FLOATS, index_a, va);
    simd_load_records(balls + FIELD(velocity), DEM_BALL_FLOATS, index_b, vb);
    simd_load_records(balls + FIELD(spin), DEM_BALL_FLOATS, index_a, wa);
    simd_load_records(balls + FIELD(spin), DEM_BALL_FLOATS, index_b, wb);
    contact.inverse_mass = va[3] + vb[3];
    contact.mass = 1.0f / contact.inverse_mass;
    FloatV lever_a = a[3] * lever, lever_b = b[3] * lever;
    Vec3V turning =
        vec3v(wa[0] * lever_a + wb[0] * lever_b, wa[1] * lever_a + wb[1] * lever_b, wa[2] * lever_a + wb[2] * lever_b);
    contact.velocity =
        vec3v_sub(vec3v(va[0] - vb[0], va[1] - vb[1], va[2] - vb[2]), vec3v_cross(turning, contact.normal));
    contact_mix(work, pairs->mix ? pairs->mix + pair : NULL, &contact);
    if (resists_rolling) contact.spin = vec3v(wa[0] - wb[0], wa[1] - wb[1], wa[2] - wb[2]);

    Vec3V shear = {zero, zero, zero}, roll = {zero, zero, zero};
    if (has_spring) shear = vec3v_load(&pairs->shear, pair);
    if (resists_rolling) roll = vec3v_load(&pairs->roll, pair);
    ResponseV response =
        contact_response(&work->law, &contact, &shear, &roll, has_spring, resists_rolling, work->seconds, gives_rates);
    Vec3V force = vec3v_keep(contact.touching, response.force);
    Vec3V moment = vec3v_keep(contact.touching, vec3v_scale(vec3v_cross(contact.normal, response.shear), lever));
    simd_store_records(work->force + 4 * pair, force.x, force.y, force.z, zero);
    simd_store_records(work->moment + 4 * pair, moment.x, moment.y, moment.z, zero);
    if (has_spring) vec3v_store(&pairs->shear, pair, vec3v_keep(contact.touching, shear));
    if (resists_rolling) {
        Vec3V torque = vec3v_keep(contact.touching, response.torque);
        simd_store_records(work->torque + 4 * pair, torque.x, torque.y, torque.z, zero);
        vec3v_store(&pairs->roll, pair, vec3v_keep(contact.touching, roll));
    }
}

// Four loops, so that each holds only what it needs.
SIMD_INLINE void all_lanes(const DemWork *work, int64_t first, int64_t last, int gives_rates)
{
    int has_spring = work->law.shear == DEM_SHEAR_SPRING, resists_rolling = work->torque != NULL;
    if (has_spring && resists_rolling)
        for (int64_t pair = first; pair < last; pair += SIMD_LANES) pair_lanes(work, pair, 1, 1, gives_rates);
    else if (has_spring)
        for (int64_t pair = first; pair < last; pair += SIMD_LANES) pair_lanes(work, pair, 1, 0, gives_rates);
    else if (resists_rolling)
        for (int64_t pair = first; pair < last; pair += SIMD_LANES) pair_lanes(work, pair, 0, 1, gives_rates);
    else
        for (int64_t pair = first; pair < last; pair += SIMD_LANES) pair_lanes(work, pair, 0, 0, gives_rates);
}

void SIMD_NAME(dem_pairs)(const DemWork *given, int64_t first, int64_t last)
{
    DemWork own = *given;
    if (own.gives_rates)
        all_lanes(&own, first, last, 1);
    else
        all_lanes(&own, first, last, 0);
}
