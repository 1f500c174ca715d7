// SPDX-License-Identifier: GPL-3.0-or-later
// Walls, props and bodies. Behind a wall the neighbourhood of a particle goes on with material at rest against it: what
// that adds to the density, its gradient and the velocity gradient follows from the distance. The wall answers the
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

static int lanes_of(const Sph *sph, int64_t block)
{
    int64_t left = sph->count - block * SPH_LANES;
    return left < SPH_LANES ? (int)left : SPH_LANES;
}

static void places_of(const Sph *sph, float *const axis[3], int64_t first, int count, Vec3 *places)
{
    for (int i = 0; i < count; i++)
        places[i] = vec3((float)((double)axis[0][first + i] + sph->origin[0]),
                         (float)((double)axis[1][first + i] + sph->origin[1]),
                         (float)((double)axis[2][first + i] + sph->origin[2]));
}

static int stands(const Sph *sph, int number) { return !sph->rigid->objects[number].has_moved; }

// --- what stands: found with the lists -------------------------------------------------------------

static int is_near(const Sph *sph, int64_t block, int number)
{
    Vec3 places[SPH_LANES] = {0};
    RigidView view;
    int lanes = lanes_of(sph, block), found = 0;
    float reach = sph->rules.support + 0.5f * sph->skin;
    places_of(sph, sph->listed, block * SPH_LANES, lanes, places);
    rigid_view(sph->rigid, number, places, lanes, reach, &view);
    const GrainSdf *sdf = sph->rigid->objects[number].given.sdf;
    if (sdf) reach = real_minf(reach, 0.99f * sdf_half_width(sdf)); // it knows no farther
    for (int i = 0; i < lanes; i++) found |= view.distance[i] < reach;
    return found;
}

GrainResult sph_find_near(Sph *sph)
{
    int objects = sph->rigid->object_count;
    // Room for all that can be; little of it is ever touched.
    TRY(alloc_grow((void **)&sph->near, &sph->near_capacity, sph->block_count * objects, sizeof *sph->near));
    PARALLEL_FOR(sph->threads, b, sph->block_count)
    {
        SphBlock *block = &sph->blocks[b];
        block->near = block->near_end = (int32_t)(b * objects);
        for (int c = 0; c < objects; c++)
            if (stands(sph, c) && is_near(sph, b, c)) sph->near[block->near_end++] = c;
    }
    return GRAIN_OK;
}

// --- in every step ---------------------------------------------------------------------------------

// Part of the motion along a wall that it opposes: all of it where the particle's stress is held by friction, less the
// more it slides. What the wall does not hold must not strain the sand either: that would be energy from nowhere.
static float grip_of(const Sph *sph, int64_t i, const SphContact *contact)
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
static void add_strain(const Sph *sph, int64_t i, SphWalls *walls, const SphContact *contact)
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

static void add_drive(SphWalls *walls, const SphContact *contact)
{
    const float speed[3] = {contact->speed.x, contact->speed.y, contact->speed.z};
    const float normal[3] = {contact->normal.x, contact->normal.y, contact->normal.z};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) walls->drive[3 * a + b][contact->lane] -= speed[a] * contact->slope * normal[b];
}

static void add_to_walls(SphWalls *walls, const SphContact *contact, float filled, float distance)
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

static void look_at(const Sph *sph, int64_t first, SphBlock *block, int number, const Vec3 *places, int lanes,
                    int met[SPH_LANES])
{
    RigidView view;
    float support = sph->rules.support, least = LEAST_DISTANCE * sph->rules.spacing;
    rigid_view(sph->rigid, number, places, lanes, support, &view);
    for (int i = 0; i < lanes; i++) {
        Vec3 normal = view.normal[i];
        if (view.distance[i] >= support || met[i] == SPH_WALLS || vec3_dot(normal, normal) < 0.5f) continue;
        SphContact *contact = &block->contact[block->contact_count++];
        met[i]++;
        *contact = (SphContact){.lane = i,
                                .object = number,
                                .distance = view.distance[i],
                                .normal = normal,
                                .speed = view.speed[i],
                                .friction = view.friction[i],
                                .pull = view.pull[i]};
        float seen = real_maxf(view.distance[i], least);
        float filled = sph_spline_behind(seen, support, &contact->slope);
        add_to_walls(&block->walls, contact, filled, seen);
        if (sph->model == SPH_ELASTOPLASTIC)
            add_strain(sph, first + i, &block->walls, contact);
        else
            add_drive(&block->walls, contact);
        block->meets_body |= sph->rigid->objects[number].body >= 0;
    }
}

void sph_look_at_walls(const Sph *sph, int64_t number)
{
    SphBlock *block = &sph->blocks[number];
    int moving_near = 0;
    block->meets_body = 0;
    if (block->contact_count > 0) memset(&block->walls, 0, sizeof block->walls);
    block->contact_count = 0;
    Vec3d middle = {(double)block->middle[0] + sph->origin[0], (double)block->middle[1] + sph->origin[1],
                    (double)block->middle[2] + sph->origin[2]};
    double reach = (double)(block->reach + sph->rules.support + sph->skin);
    for (int c = 0; sph->has_moving && c < sph->rigid->object_count; c++)
        moving_near |= !stands(sph, c) && rigid_may_reach(sph->rigid, c, middle, reach);
    if (block->near == block->near_end && !moving_near) return;
    Vec3 places[SPH_LANES];
    int met[SPH_LANES] = {0}, lanes = lanes_of(sph, number);
    places_of(sph, sph->field, number * SPH_LANES, lanes, places);
    for (int32_t k = block->near; k < block->near_end; k++)
        look_at(sph, number * SPH_LANES, block, sph->near[k], places, lanes, met);
    for (int c = 0; moving_near && c < sph->rigid->object_count; c++)
        if (!stands(sph, c) && rigid_may_reach(sph->rigid, c, middle, reach))
            look_at(sph, number * SPH_LANES, block, c, places, lanes, met);
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
static void stick_to(Sph *sph, int64_t block, SphContact *contact)
{
    int64_t i = block * SPH_LANES + contact->lane;
    if (!(contact->pull > 0.0f) || contact->distance > RIGID_STICK_RADII * sph->def.largest_radius) return;
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
    SphBlock *block = &sph->blocks[number];
    for (int k = 0; k < block->contact_count; k++) {
        SphContact *contact = &block->contact[k];
        int64_t i = number * SPH_LANES + contact->lane;
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
    for (int k = 0; k < block->contact_count; k++) stick_to(sph, number, &block->contact[k]);
}

void sph_push_out(Sph *sph, int64_t number)
{
    SphBlock *block = &sph->blocks[number];
    float dt = sph->rules.dt;
    for (int k = 0; k < block->contact_count; k++) {
        SphContact *contact = &block->contact[k];
        int64_t i = number * SPH_LANES + contact->lane;
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
            float way = sph->field[SPH_X + axis][i] - sph->listed[axis][i];
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

// One after another, so that the bits do not depend on who was first.
void sph_load_bodies(Sph *sph)
{
    if (sph->rigid->body_count == 0) return;
    for (int64_t b = 0; b < sph->block_count; b++) {
        const SphBlock *block = &sph->blocks[b];
        if (!block->meets_body) continue;
        for (int k = 0; k < block->contact_count; k++) {
            const SphContact *contact = &block->contact[k];
            const RigidObject *object = &sph->rigid->objects[contact->object];
            if (object->body < 0) continue;
            int64_t i = b * SPH_LANES + contact->lane;
            Vec3d place = {(double)sph->field[SPH_X][i] + sph->origin[0], (double)sph->field[SPH_Y][i] + sph->origin[1],
                           (double)sph->field[SPH_Z][i] + sph->origin[2]};
            // On its surface, where the push acts.
            place = vec3d_sub(place, vec3d_scale(vec3d_from(contact->normal), (double)contact->distance));
            Vec3d push = vec3d_scale(vec3d_from(contact->push), -1.0);
            rigid_add_load(sph->rigid, contact->object, push,
                           vec3d_cross(vec3d_sub(place, object->now.position), push));
        }
    }
}
