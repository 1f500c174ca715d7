// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The contact laws for SIMD_LANES contacts at once; included by the kernels only.
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"
#include "sim/dem/dem_vec_simd.h"

/// Zero where the mask is not set.
SIMD_INLINE FloatV keep(IntV mask, FloatV v) { return (FloatV)(mask & (IntV)v); }
SIMD_INLINE Vec3V vec3v_keep(IntV mask, Vec3V v) { return (Vec3V){keep(mask, v.x), keep(mask, v.y), keep(mask, v.z)}; }
SIMD_INLINE Vec3V vec3v_load(const DemVectors *from, int64_t i)
{
    return (Vec3V){simd_load(from->x + i), simd_load(from->y + i), simd_load(from->z + i)};
}
SIMD_INLINE void vec3v_store(const DemVectors *to, int64_t i, Vec3V v)
{
    simd_store(to->x + i, v.x), simd_store(to->y + i, v.y), simd_store(to->z + i, v.z);
}

/// Some contacts. The first partner is the one forces act on; the normal points to it from the second.
typedef struct ContactV {
    IntV touching;
    Vec3V normal;
    FloatV overlap;
    Vec3V velocity;                    ///< of the first against the second where they touch
    Vec3V spin;                        ///< of the first against the second
    FloatV mass, inverse_mass, radius; ///< effective
    FloatV stiffness, damping;         ///< as in DemMix, and so on
    FloatV friction, rolling_friction, cohesion;
} ContactV;

typedef struct ResponseV {
    Vec3V force;  ///< on the first
    Vec3V shear;  ///< its part across the normal
    Vec3V torque; ///< of rolling, on the first
} ResponseV;

/// What the materials of the partners make of it. mix: one number a lane, or NULL when there is only one kind of grain.
SIMD_INLINE void contact_mix(const DemWork *work, const int32_t *mix, ContactV *contact)
{
    if (!mix) {
        const DemMix *only = &work->law.first;
        contact->stiffness = simd_set1(only->stiffness), contact->damping = simd_set1(only->damping);
        contact->friction = simd_set1(only->friction);
        contact->rolling_friction = simd_set1(only->rolling_friction);
        contact->cohesion = simd_set1(only->cohesion);
        return;
    }
    const float *first = &work->mixes->mix[0].stiffness;
    IntV at;
    memcpy(&at, mix, sizeof at);
    at *= DEM_MIX_FLOATS;
    contact->stiffness = simd_gather(first, at), contact->damping = simd_gather(first + 1, at);
    contact->friction = simd_gather(first + 2, at), contact->rolling_friction = simd_gather(first + 3, at);
    contact->cohesion = simd_gather(first + 4, at);
}

// Stiffness and damping in the present state.
SIMD_INLINE void spring_and_damper(const DemLaw *law, const ContactV *contact, float seconds, FloatV *k, FloatV *c)
{
    if (law->normal == DEM_NORMAL_LINEAR) {
        *k = contact->mass * contact->stiffness;
        *c = contact->mass * contact->damping;
        return;
    }
    FloatV depth = simd_max(contact->radius * contact->overlap, simd_set1(0.0f));
    *k = contact->stiffness * simd_sqrt(depth);
    *c = law->normal == DEM_NORMAL_HERTZ         ? contact->damping * *k
         : law->normal == DEM_NORMAL_HERTZ_TSUJI ? contact->damping * simd_sqrt(contact->mass * *k)
                                                 : contact->damping * contact->mass;
    // dem_law_for_step: 1 / (1 + x) to the third order, as a division would hold everything up; x is 0.05 to 0.2
    FloatV x = simd_min(*c * contact->inverse_mass * (0.5f * seconds), simd_set1(0.5f));
    FloatV part = 1.0f - x * (1.0f - x * (1.0f - x));
    *k *= part;
    *c *= part;
}

// How hard the partners push each other apart, without cohesion.
SIMD_INLINE FloatV normal_push(const DemLaw *law, const ContactV *contact, FloatV separation_speed, FloatV k, FloatV c,
                               float seconds)
{
    FloatV damping = c * separation_speed;
    if (law->normal == DEM_NORMAL_LINEAR || law->normal == DEM_NORMAL_HERTZ_DASHPOT) {
        // A contact that began in this substep is damped for the part of the kick it lasts. Without that, restitution
        // depends by 0.02 on where in the substep it began.
        FloatV sunk_in = separation_speed * -seconds;
        IntV is_new = (contact->overlap < sunk_in) & contact->touching;
        if (simd_bits(is_new)) damping = simd_select(is_new, damping * (0.5f + contact->overlap / sunk_in), damping);
    }
    return simd_max(k * contact->overlap - damping, simd_set1(0.0f)); // damping must not pull
}

// A damped spring that slips where its force would be above limit. `stretch` is the spring's own, with this step's way.
SIMD_INLINE Vec3V spring_force(Vec3V *stretch, Vec3V velocity, FloatV k, FloatV c, FloatV limit)
{
    Vec3V force = vec3v_add(vec3v_scale(*stretch, -k), vec3v_scale(velocity, -c));
    FloatV squared = vec3v_dot(force, force);
    IntV slips = squared > limit * limit;
    if (simd_bits(slips)) {
        FloatV part = simd_select(slips, limit / simd_sqrt(squared), simd_set1(1.0f));
        force = vec3v_scale(force, part);
        *stretch = vec3v_scale(*stretch, part);
    }
    return force;
}

// The shear laws that remember nothing.
SIMD_INLINE Vec3V sliding_force(const DemLaw *law, Vec3V slide, FloatV mass, FloatV limit)
{
    FloatV viscosity = mass * law->viscosity;
    if (law->shear == DEM_SHEAR_NONE) viscosity = simd_set1(0.0f);
    if (law->shear == DEM_SHEAR_SLIDING || law->shear == DEM_SHEAR_COULOMB) {
        FloatV speed = simd_sqrt(vec3v_dot(slide, slide)) + 1e-12f, most = limit / speed;
        viscosity = law->shear == DEM_SHEAR_COULOMB ? most : simd_min(viscosity, most);
    }
    return vec3v_scale(slide, -viscosity);
}

// The springs are stretched on by what this step brings; or, for gives_rates, taken as they are and replaced by how
// fast they stretch.
SIMD_INLINE ResponseV contact_response(const DemLaw *law, const ContactV *contact, Vec3V *shear, Vec3V *roll,
                                       int has_spring, int resists_rolling, float seconds, int gives_rates)
{
    ResponseV response;
    Vec3V normal = contact->normal;
    FloatV separation_speed = vec3v_dot(contact->velocity, normal), k, c;
    spring_and_damper(law, contact, seconds, &k, &c);
    FloatV push = normal_push(law, contact, separation_speed, k, c, seconds), limit = push * contact->friction;
    Vec3V slide = vec3v_sub(contact->velocity, vec3v_scale(normal, separation_speed));
    if (has_spring) {
        // The contact turns with the grains: what is stretched stays across the normal.
        if (!gives_rates) *shear = vec3v_add(*shear, vec3v_scale(slide, simd_set1(seconds)));
        *shear = vec3v_across(*shear, normal);
        response.shear = spring_force(shear, slide, k * law->shear_stiffness, c * law->shear_damping, limit);
        if (gives_rates) *shear = slide;
    } else {
        response.shear = sliding_force(law, slide, contact->mass, limit);
    }
    if (resists_rolling) {
        // Rolling and twisting alike, as the way of a point at the effective radius.
        Vec3V rolling = vec3v_scale(contact->spin, contact->radius);
        if (!gives_rates) *roll = vec3v_add(*roll, vec3v_scale(rolling, simd_set1(seconds)));
        response.torque = vec3v_scale(spring_force(roll, rolling, k * law->roll_stiffness, c * law->roll_damping,
                                                   push * contact->rolling_friction),
                                      contact->radius);
        if (gives_rates) *roll = rolling;
    }
    if (law->is_cohesive) push -= contact->mass * contact->cohesion;
    response.force = vec3v_add(vec3v_scale(normal, push), response.shear);
    return response;
}
