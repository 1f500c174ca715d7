// SPDX-License-Identifier: GPL-3.0-or-later
// Walls, props and bodies stop particles within the step: what comes to a wall leaves it with the restitution of its
// approach, what is pressed against it stays, and friction holds it as long as it can. That is no spring, so no
// softness of the material lets it pass a wall, and a heap that friction holds does not creep.
#include "base/real.h"
#include "sim/meso/meso.h"

#include <math.h>

// Slower than this part of what gravity gives in a step, nothing bounces.
#define BOUNCE_STEPS 4.0f

void meso_meet_walls(Meso *meso, int64_t number)
{
    neighbours_meet_walls(&meso->neighbours, number);
    Block *block = &meso->neighbours.block[number];
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &neighbours_contacts_of(&meso->neighbours, number)[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        Vec3 v = {meso->field[MESO_U][i], meso->field[MESO_V][i], meso->field[MESO_W][i]};
        contact->approach = vec3_dot(vec3_sub(v, contact->speed), contact->normal);
    }
}

// Whether a contact will press, as far as that is known before the forces are.
static int presses(const Meso *meso, int64_t i, const BlockContact *contact)
{
    float nearest = meso->rules.wall * meso->field[MESO_RADIUS][i];
    return contact->distance + meso->rules.dt * contact->approach < 1.01f * nearest;
}

void meso_count_pressed(Meso *meso)
{
    const Neighbours *neighbours = &meso->neighbours;
    for (int b = 0; b < meso->base.rigid->body_count; b++) meso->pressed[b] = 0;
    for (int64_t b = 0; b < neighbours->block_count && meso->base.rigid->body_count > 0; b++) {
        const Block *block = &neighbours->block[b];
        for (int k = 0; block->meets_body && k < block->contact_count; k++) {
            const BlockContact *contact = &neighbours_contacts_of(neighbours, b)[k];
            int32_t body = meso->base.rigid->objects[contact->object].body;
            if (body >= 0) meso->pressed[body] += presses(meso, b * BLOCK_LANES + contact->lane, contact);
        }
    }
}

// Part of the change that the particle takes, where the other part is the body's.
static float share_of(const Meso *meso, int64_t i, const BlockContact *contact)
{
    const RigidObject *object = &meso->base.rigid->objects[contact->object];
    if (object->body < 0) return 1.0f;
    Vec3d place = rigid_to_rest(object, neighbours_place_of(&meso->neighbours, i));
    int64_t sharers = meso->pressed[object->body] > 1 ? meso->pressed[object->body] : 1;
    double other = (double)sharers * rigid_inverse_mass(meso->base.rigid, contact->object, place);
    return (float)(1.0 / (1.0 + (double)meso->field[MESO_MASS][i] * other));
}

// The speed off the wall that the step shall end with, given the one it would end with.
static float wanted_speed(const Meso *meso, const BlockContact *contact, float gap, float speed)
{
    float dt = meso->rules.dt, gravity = vec3_length(meso->base.def.gravity);
    float bounce =
        contact->approach < -BOUNCE_STEPS * gravity * dt ? -meso->base.def.restitution * contact->approach : 0.0f;
    float wanted = gap > 0.0f ? -gap / dt : 0.0f; // just to the wall
    return real_maxf(real_maxf(wanted, bounce), speed);
}

// Viscous force of a wall within reach: along its normal, as between particles along the line of centres.
static Vec3 slow_down(const Meso *meso, int64_t i, const BlockContact *contact, Vec3 v)
{
    const MesoRules *rules = &meso->rules;
    float mass = meso->field[MESO_MASS][i], radius = meso->field[MESO_RADIUS][i];
    if (!(rules->wall_viscosity > 0.0f) || contact->distance > rules->wall_viscous * radius) return v;
    // As its mirror image would: twice as near, twice as fast.
    float rate = rules->dt * rules->wall_viscosity * 4.0f * radius / mass,
          speed = vec3_dot(vec3_sub(v, contact->speed), contact->normal);
    float change = -share_of(meso, i, contact) * speed * rate / (1.0f + rate);
    return vec3_add_scaled(v, contact->normal, change);
}

// Friction takes what slides, as long as what presses the particle on allows.
static Vec3 rub(BlockContact *contact, Vec3 v, float share)
{
    Vec3 against = vec3_sub(v, contact->speed),
         along = vec3_add_scaled(against, contact->normal, -vec3_dot(against, contact->normal));
    float most = contact->friction * contact->off - contact->slid;
    float sliding = vec3_length(along), taken = real_minf(sliding, real_maxf(most, 0.0f));
    contact->slid += taken;
    return taken > 0.0f ? vec3_add_scaled(v, along, -share * taken / sliding) : v;
}

static Vec3 stop(Meso *meso, int64_t i, BlockContact *contact, Vec3 v)
{
    float dt = meso->rules.dt, gap = contact->distance - meso->rules.wall * meso->field[MESO_RADIUS][i];
    Vec3 n = contact->normal;
    float speed = vec3_dot(vec3_sub(v, contact->speed), n);
    if (gap + dt * speed >= 0.0f && !contact->holds) return v;
    float share = share_of(meso, i, contact), off = wanted_speed(meso, contact, gap, speed) - speed;
    contact->holds = 1;
    contact->off += off;
    if (gap < 0.0f) { // what is inside is put outside without speed
        meso->field[MESO_X][i] -= gap * n.x;
        meso->field[MESO_Y][i] -= gap * n.y;
        meso->field[MESO_Z][i] -= gap * n.z;
        contact->distance -= gap;
    }
    return rub(contact, vec3_add_scaled(v, n, share * off), share);
}

// After the implicit solution: what the wall kept counts as pressure. Where it is a pull, the particle may go.
static Vec3 settle(const Meso *meso, int64_t block, int64_t i, BlockContact *contact, Vec3 v)
{
    float mass = meso->field[MESO_MASS][i];
    contact->off -= contact->kept / mass;
    if (contact->off < 0.0f) {
        float free = -contact->off / (1.0f + meso->rules.dt * meso->notes[block].damping_rate);
        contact->off = 0.0f;
        v = vec3_add_scaled(v, contact->normal, free);
    }
    contact->kept = 0.0f;
    return v;
}

void meso_hold_at_walls(Meso *meso, int64_t number)
{
    Block *block = &meso->neighbours.block[number];
    float *const *next = meso->work + MESO_NEXT_U;
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &neighbours_contacts_of(&meso->neighbours, number)[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        Vec3 before = {next[0][i], next[1][i], next[2][i]}, v = before;
        if (contact->holds)
            v = settle(meso, number, i, contact, v);
        else
            v = slow_down(meso, i, contact, v);
        v = stop(meso, i, contact, v);
        contact->push = vec3_add_scaled(contact->push, vec3_sub(v, before), meso->field[MESO_MASS][i] / meso->rules.dt);
        next[0][i] = v.x, next[1][i] = v.y, next[2][i] = v.z;
    }
}

void meso_stick_to_walls(Meso *meso, int64_t number)
{
    Block *block = &meso->neighbours.block[number];
    BlockContact *contacts = neighbours_contacts_of(&meso->neighbours, number);
    float *const *next = meso->work + MESO_NEXT_U;
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &contacts[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        if (!(contact->pull > 0.0f) || contact->distance > RIGID_STICK_RADII * meso->base.def.largest_radius) continue;
        Vec3 before = {next[0][i], next[1][i], next[2][i]}, against = vec3_sub(before, contact->speed);
        Vec3 held = rigid_stick(against, contact->normal, contact->friction, meso->rules.dt * contact->pull);
        Vec3 change = vec3_scale(vec3_sub(held, against), share_of(meso, i, contact));
        contact->push = vec3_add_scaled(contact->push, change, meso->field[MESO_MASS][i] / meso->rules.dt);
        next[0][i] += change.x, next[1][i] += change.y, next[2][i] += change.z;
    }
}

void meso_keep_at_walls(Meso *meso, int64_t number)
{
    Block *block = &meso->neighbours.block[number];
    float *const *left = meso->work + MESO_LEFT_U;
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &neighbours_contacts_of(&meso->neighbours, number)[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        Vec3 n = contact->normal;
        if (!contact->holds) continue;
        float kept = left[0][i] * n.x + left[1][i] * n.y + left[2][i] * n.z;
        left[0][i] -= kept * n.x, left[1][i] -= kept * n.y, left[2][i] -= kept * n.z;
        contact->kept += kept;
    }
}
