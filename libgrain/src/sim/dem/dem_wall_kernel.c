// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/dem/dem_contact_simd.h"
#include "sim/dem/dem_contacts.h"

#include <stddef.h>

#define FIELD(name) (offsetof(DemBall, name) / sizeof(float))

// The wall is a partner of endless mass (save where it belongs to a body) and radius. It stands second in its record,
// the ball first; but as the ball finds the record among its shared ones, force and torque are stored with the sign
// they have for a second partner.
SIMD_INLINE void wall_lanes(const DemWork *work, int64_t wall, int64_t record, int resists_rolling, int moves)
{
    const DemWalls *walls = &work->walls;
    const float *balls = (const float *)work->balls;
    const int32_t *index = walls->ball + wall;
    FloatV zero = simd_set1(0.0f);

    FloatV at[4], v[4], w[4];
    simd_load_records(balls + FIELD(offset), DEM_BALL_FLOATS, index, at);
    simd_load_records(balls + FIELD(velocity), DEM_BALL_FLOATS, index, v);
    simd_load_records(balls + FIELD(spin), DEM_BALL_FLOATS, index, w);
    ContactV contact;
    contact.normal = vec3v_load(&walls->normal, wall);
    Vec3V moved = vec3v_sub(vec3v(at[0], at[1], at[2]), vec3v_load(&walls->sampled, wall));
    FloatV distance = simd_load(walls->gap + wall) + vec3v_dot(moved, contact.normal);
    contact.overlap = at[3] - distance;
    contact.touching = contact.overlap > 0.0f;
    contact.radius = at[3];
    contact.inverse_mass = v[3];
    contact.mass = 1.0f / v[3];
    contact.spin = vec3v(w[0], w[1], w[2]);
    FloatV lever = simd_max(distance, zero); // to where ball and wall meet
    contact.velocity =
        vec3v_sub(vec3v(v[0], v[1], v[2]), vec3v_cross(vec3v_scale(contact.spin, lever), contact.normal));
    if (moves) {
        contact.velocity = vec3v_sub(contact.velocity, vec3v_load(&walls->drive, wall));
        contact.inverse_mass = v[3] + simd_load(walls->partner + wall);
        contact.mass = 1.0f / contact.inverse_mass;
    }
    contact_mix(work, walls->mix ? walls->mix + wall : NULL, &contact);
    contact.friction = simd_load(walls->friction + wall);
    if (walls->pull) contact.cohesion += simd_load(walls->pull + wall);

    Vec3V shear = vec3v_load(&walls->shear, wall), roll = {zero, zero, zero};
    if (resists_rolling) roll = vec3v_load(&walls->roll, wall);
    int has_spring = work->law.shear == DEM_SHEAR_SPRING;
    ResponseV response = contact_response(&work->law, &contact, &shear, &roll, has_spring, resists_rolling,
                                          work->seconds, work->gives_rates);
    Vec3V force = vec3v_keep(contact.touching, response.force);
    Vec3V moment =
        vec3v_keep(contact.touching, vec3v_scale(vec3v_cross(contact.normal, response.shear), lever / at[3]));
    simd_store_records(work->force + 4 * record, -force.x, -force.y, -force.z, zero);
    simd_store_records(work->moment + 4 * record, moment.x, moment.y, moment.z, zero);
    vec3v_store(&walls->shear, wall, vec3v_keep(contact.touching, shear));
    if (resists_rolling) {
        Vec3V torque = vec3v_keep(contact.touching, response.torque);
        simd_store_records(work->torque + 4 * record, -torque.x, -torque.y, -torque.z, zero);
        vec3v_store(&walls->roll, wall, vec3v_keep(contact.touching, roll));
    }
}

void SIMD_NAME(dem_walls)(const DemWork *given, int64_t first, int64_t last, int64_t first_record)
{
    DemWork own = *given, *work = &own;
    own.law.is_cohesive |= own.walls.pull != NULL;
    for (int64_t wall = first; wall < last; wall += SIMD_LANES)
        wall_lanes(work, wall, first_record + wall, work->torque != NULL, work->walls.partner != NULL);
}
