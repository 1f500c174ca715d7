// SPDX-License-Identifier: GPL-3.0-or-later
// Walls, props and bodies. Behind a wall the neighbourhood of a particle continues with material at rest against it:
// what that adds to the density, its gradient and the velocity gradient follows from the distance. The wall answers the
// stress of the particle, along it by no more than friction holds, and bodies take the opposite.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/sph/sph.h"

#include <math.h>
#include <string.h>

// How near, in radii, a centre comes to a wall: of a particle in a crowd, which pressure holds off, and of a lone one.
#define NEAREST_IN_CROWD 0.6f
#define NEAREST_ALONE 1.0f
// Part of the neighbourhood filled by a crowd.
#define CROWD 0.6f
// What lies right on a wall sees it as from this part of a spacing.
#define LEAST_DISTANCE 0.1f

// Part of the motion along a wall that it opposes: all of it where the particle's stress is held by friction, less the
// more it slides. What the wall does not hold must not strain the sand either: that would be energy from nowhere.
static float grip_of(const Sph *sph, int64_t i, const BlockContact *contact)
{
    float s[6], bulk = sph->field[SPH_MASS][i] * sph->rules.sound * sph->rules.sound / sph->rules.volume;
    for (int c = 0; c < 6; c++) s[c] = sph->field[SPH_SXX + c][i];
    Vec3 n = contact->normal;
    Vec3 traction = {s[0] * n.x + s[3] * n.y + s[4] * n.z, s[3] * n.x + s[1] * n.y + s[5] * n.z,
                     s[4] * n.x + s[5] * n.y + s[2] * n.z};
    float across = vec3_dot(traction, n), along = vec3_length(vec3_add_scaled(traction, n, -across));
    float most = contact->friction * (bulk * sph->field[SPH_STRAIN][i] - across);
    return most <= 0.0f ? 0.0f : along > most ? most / along : 1.0f;
}

// What the mirror image behind the wall adds to the velocity gradient.
static void add_strain(const Sph *sph, int64_t i, SphWalls *walls, const BlockContact *contact)
{
    Vec3 own = {sph->field[SPH_U][i], sph->field[SPH_V][i], sph->field[SPH_W][i]};
    Vec3 n = contact->normal, against = vec3_sub(contact->speed, own);
    float grip = grip_of(sph, i, contact), across = vec3_dot(against, n) * (1.0f - grip);
    Vec3 opposed = vec3_add_scaled(vec3_scale(against, grip), n, across);
    const float speed[3] = {opposed.x, opposed.y, opposed.z}, normal[3] = {n.x, n.y, n.z};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            walls->drive[3 * a + b][contact->lane] -= 2.0f * speed[a] * contact->slope * normal[b];
}

static void add_drive(SphWalls *walls, const BlockContact *contact)
{
    const float speed[3] = {contact->speed.x, contact->speed.y, contact->speed.z};
    const float normal[3] = {contact->normal.x, contact->normal.y, contact->normal.z};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) walls->drive[3 * a + b][contact->lane] -= speed[a] * contact->slope * normal[b];
}

static void add_to_walls(SphWalls *walls, const BlockContact *contact, float filled, float distance)
{
    int lane = contact->lane;
    const float n[3] = {contact->normal.x, contact->normal.y, contact->normal.z};
    float moment = 2.0f * distance * contact->slope;
    walls->filled[lane] += filled;
    walls->moment[0][lane] += moment * n[0] * n[0];
    walls->moment[1][lane] += moment * n[1] * n[1];
    walls->moment[2][lane] += moment * n[2] * n[2];
    walls->moment[3][lane] += moment * n[0] * n[1];
    walls->moment[4][lane] += moment * n[0] * n[2];
    walls->moment[5][lane] += moment * n[1] * n[2];
    for (int b = 0; b < 3; b++) walls->gradient[b][lane] -= contact->slope * n[b];
}

static void look_at(const Sph *sph, int64_t first, SphWalls *walls, BlockContact *contact)
{
    float seen = real_maxf(contact->distance, LEAST_DISTANCE * sph->rules.spacing);
    float filled = sph_spline_behind(seen, sph->rules.support, &contact->slope);
    add_to_walls(walls, contact, filled, seen);
    if (sph->model == SPH_ELASTOPLASTIC)
        add_strain(sph, first + contact->lane, walls, contact);
    else
        add_drive(walls, contact);
}

void sph_look_at_walls(Sph *sph, int64_t number)
{
    const Block *block = &sph->neighbours.block[number];
    SphWalls *walls = &sph->walls[number];
    if (block->contact_count > 0) memset(walls, 0, sizeof *walls);
    neighbours_meet_walls(&sph->neighbours, number);
    BlockContact *contacts = neighbours_contacts_of(&sph->neighbours, number);
    for (int k = 0; k < block->contact_count; k++) look_at(sph, number * BLOCK_LANES, walls, &contacts[k]);
}

// Of a force, what a wall can give: it never pulls, and along it holds by friction alone.
static Vec3 limit_push(Vec3 force, Vec3 normal, float friction)
{
    float press = vec3_dot(force, normal);
    if (press <= 0.0f) return vec3(0, 0, 0);
    Vec3 along = vec3_add_scaled(force, normal, -press);
    float length = vec3_length(along), most = friction * press;
    return vec3_add_scaled(vec3_scale(normal, press), along, length > most ? most / length : 1.0f);
}

// A sticky wall holds a particle near it: the velocity this step would end with does not leave it.
static void stick_to(Sph *sph, int64_t block, BlockContact *contact)
{
    int64_t i = block * BLOCK_LANES + contact->lane;
    if (!(contact->pull > 0.0f) || contact->distance > RIGID_STICK_RADII * sph->base.def.largest_radius) return;
    float dt = sph->rules.dt, against[3];
    const float wall[3] = {contact->speed.x, contact->speed.y, contact->speed.z};
    for (int c = 0; c < 3; c++) against[c] = sph->field[SPH_U + c][i] + dt * sph->work[SPH_AX + c][i] - wall[c];
    Vec3 before = {against[0], against[1], against[2]};
    Vec3 change = vec3_sub(rigid_stick(before, contact->normal, contact->friction, dt * contact->pull), before);
    sph->work[SPH_AX][i] += change.x / dt;
    sph->work[SPH_AY][i] += change.y / dt;
    sph->work[SPH_AZ][i] += change.z / dt;
    contact->push = vec3_add_scaled(contact->push, change, sph->field[SPH_MASS][i] / dt);
}

void sph_press_walls(Sph *sph, int64_t number)
{
    const Block *block = &sph->neighbours.block[number];
    BlockContact *contacts = neighbours_contacts_of(&sph->neighbours, number);
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &contacts[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        Vec3 n = contact->normal;
        float stress[9];
        for (int c = 0; c < 9; c++) stress[c] = sph->work[SPH_B0 + c][i];
        float scale = -sph->rules.wall_share * sph->rules.volume * contact->slope;
        Vec3 force = {scale * (stress[0] * n.x + stress[1] * n.y + stress[2] * n.z),
                      scale * (stress[3] * n.x + stress[4] * n.y + stress[5] * n.z),
                      scale * (stress[6] * n.x + stress[7] * n.y + stress[8] * n.z)};
        contact->push = limit_push(force, n, contact->friction);
        float inverse = 1.0f / sph->field[SPH_MASS][i];
        sph->work[SPH_AX][i] += contact->push.x * inverse;
        sph->work[SPH_AY][i] += contact->push.y * inverse;
        sph->work[SPH_AZ][i] += contact->push.z * inverse;
    }
    for (int k = 0; k < block->contact_count; k++) stick_to(sph, number, &contacts[k]);
}

void sph_push_out(Sph *sph, int64_t number)
{
    Block *block = &sph->neighbours.block[number];
    BlockContact *contacts = neighbours_contacts_of(&sph->neighbours, number);
    float dt = sph->rules.dt;
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &contacts[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        if (isinf(sph->field[SPH_STILL][i])) continue;
        Vec3 v = {sph->field[SPH_U][i], sph->field[SPH_V][i], sph->field[SPH_W][i]};
        Vec3 n = contact->normal, against = vec3_sub(v, contact->speed);
        float into = vec3_dot(against, n), distance = contact->distance + dt * into;
        float nearest = sph->field[SPH_FILLED][i] < CROWD ? NEAREST_ALONE : NEAREST_IN_CROWD;
        float deep = nearest * sph->field[SPH_RADIUS][i] - distance;
        if (deep <= 0.0f) continue;
        sph->field[SPH_X][i] += deep * n.x;
        sph->field[SPH_Y][i] += deep * n.y;
        sph->field[SPH_Z][i] += deep * n.z;
        float gone = 0.0f;
        for (int axis = 0; axis < 3; axis++) {
            float way = sph->field[SPH_X + axis][i] - sph->neighbours.listed[axis][i];
            gone += way * way;
        }
        block->moved = real_maxf(block->moved, gone);
        if (into >= 0.0f) continue;
        Vec3 change = limit_push(vec3_scale(against, -1.0f), n, contact->friction);
        sph->field[SPH_U][i] += change.x;
        sph->field[SPH_V][i] += change.y;
        sph->field[SPH_W][i] += change.z;
        contact->push = vec3_add_scaled(contact->push, change, sph->field[SPH_MASS][i] / dt);
    }
}
