// Walls, props and bodies stop particles within the step: what comes to a wall leaves it with the restitution of its
// approach, what is pressed against it stays, and friction holds it as long as it can. That is no spring, so no
// softness of the material lets it pass a wall, and a heap that friction holds does not creep.
#include "sim/meso/meso.h"

#include <math.h>

// Slower than this part of what gravity gives in a step, nothing bounces.
#define BOUNCE_STEPS 4.0f

void meso_meet_walls(Meso *meso, int64_t number)
{
    blocks_meet_walls(&meso->blocks, number);
    Block *block = &meso->blocks.block[number];
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &block->contact[k];
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
    const Blocks *blocks = &meso->blocks;
    for (int b = 0; b < meso->rigid->body_count; b++) meso->pressed[b] = 0;
    for (int64_t b = 0; b < blocks->block_count && meso->rigid->body_count > 0; b++) {
        const Block *block = &blocks->block[b];
        for (int k = 0; block->meets_body && k < block->contact_count; k++) {
            const BlockContact *contact = &block->contact[k];
            int32_t body = meso->rigid->objects[contact->object].body;
            if (body >= 0) meso->pressed[body] += presses(meso, b * BLOCK_LANES + contact->lane, contact);
        }
    }
}

// Part of the change that the particle takes, where the other part is the body's.
static float share_of(const Meso *meso, int64_t i, const BlockContact *contact)
{
    const RigidObject *object = &meso->rigid->objects[contact->object];
    if (object->body < 0) return 1.0f;
    Vec3d place = rigid_to_rest(object, blocks_place_of(&meso->blocks, i));
    int64_t sharers = meso->pressed[object->body] > 1 ? meso->pressed[object->body] : 1;
    double other = (double)sharers * rigid_inverse_mass(meso->rigid, contact->object, place);
    return (float)(1.0 / (1.0 + (double)meso->field[MESO_MASS][i] * other));
}

// The speed off the wall that the step shall end with, given the one it would end with.
static float wanted_speed(const Meso *meso, const BlockContact *contact, float gap, float speed)
{
    float dt = meso->rules.dt, gravity = vec3_length(meso->def.gravity);
    float bounce = contact->approach < -BOUNCE_STEPS * gravity * dt ? -meso->def.restitution * contact->approach : 0.0f;
    float wanted = gap > 0.0f ? -gap / dt : 0.0f; // just to the wall
    return fmaxf(fmaxf(wanted, bounce), speed);
}

// Viscous force of a wall within reach: along its normal, as between particles along the line of centres.
static Vec3 slow_down(const Meso *meso, int64_t i, BlockContact *contact, Vec3 v)
{
    const MesoRules *rules = &meso->rules;
    float mass = meso->field[MESO_MASS][i], radius = meso->field[MESO_RADIUS][i];
    if (!(rules->wall_viscosity > 0.0f) || contact->distance > rules->wall_viscous * radius) return v;
    // As its mirror image would: twice as near, twice as fast.
    float rate = rules->dt * rules->wall_viscosity * 4.0f * radius / mass, speed = vec3_dot(vec3_sub(v, contact->speed), contact->normal);
    float change = -share_of(meso, i, contact) * speed * rate / (1.0f + rate);
    contact->push = vec3_scale(contact->normal, change * mass / rules->dt);
    return vec3_add_scaled(v, contact->normal, change);
}

static Vec3 stop(Meso *meso, int64_t i, BlockContact *contact, Vec3 v)
{
    float mass = meso->field[MESO_MASS][i], dt = meso->rules.dt;
    float gap = contact->distance - meso->rules.wall * meso->field[MESO_RADIUS][i];
    Vec3 n = contact->normal, against = vec3_sub(v, contact->speed);
    float speed = vec3_dot(against, n);
    if (gap + dt * speed >= 0.0f) return v;
    float share = share_of(meso, i, contact), off = wanted_speed(meso, contact, gap, speed) - speed;
    Vec3 along = vec3_add_scaled(against, n, -speed);
    float sliding = vec3_length(along), most = meso->rigid->objects[contact->object].given.friction * off;
    float held = sliding > most ? most / sliding : 1.0f;
    Vec3 change = vec3_scale(vec3_add_scaled(vec3_scale(n, off), along, -held), share);
    contact->push = vec3_add_scaled(contact->push, change, mass / dt);
    if (gap < 0.0f) { // what is inside is put outside without speed
        meso->field[MESO_X][i] -= gap * n.x;
        meso->field[MESO_Y][i] -= gap * n.y;
        meso->field[MESO_Z][i] -= gap * n.z;
    }
    return vec3_add(v, change);
}

void meso_stop_at_walls(Meso *meso, int64_t number)
{
    Block *block = &meso->blocks.block[number];
    for (int k = 0; k < block->contact_count; k++) {
        BlockContact *contact = &block->contact[k];
        int64_t i = number * BLOCK_LANES + contact->lane;
        float *const *next = meso->work + MESO_NEXT_U;
        Vec3 v = {next[0][i], next[1][i], next[2][i]};
        contact->push = vec3(0, 0, 0);
        v = stop(meso, i, contact, slow_down(meso, i, contact, v));
        next[0][i] = v.x, next[1][i] = v.y, next[2][i] = v.z;
    }
}
