// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders near blocks: static ones are found with the lists, moving ones in every step.
#include "base/alloc.h"
#include "base/real.h"
#include "sim/neighbours/neighbours.h"

#include <math.h>

// A ball around the block's particles.
static void enclose(const Neighbours *n, int64_t number)
{
    Block *block = &n->block[number];
    int64_t begin = number * BLOCK_LANES, end = begin + neighbours_lanes_of(n, number);
    float squared = 0.0f;
    for (int axis = 0; axis < 3; axis++) {
        float low = INFINITY, high = -INFINITY;
        for (int64_t i = begin; i < end; i++)
            low = real_minf(low, n->listed[axis][i]), high = real_maxf(high, n->listed[axis][i]);
        block->middle[axis] = 0.5f * (low + high);
        squared += 0.25f * (high - low) * (high - low);
    }
    block->reach = sqrtf(squared);
}

static int stands(const Neighbours *n, int object) { return !n->base->rigid->objects[object].has_moved; }

static void places_of(const Neighbours *n, float *const axis[3], int64_t first, int count, Vec3 *places)
{
    for (int i = 0; i < count; i++) {
        const float place[3] = {axis[0][first + i], axis[1][first + i], axis[2][first + i]};
        places[i] = solver_base_place(n->base, place);
    }
}

static int is_near(const Neighbours *n, int64_t block, int object)
{
    const Rigid *rigid = n->base->rigid;
    Vec3 places[BLOCK_LANES] = {0};
    RigidView view;
    int lanes = neighbours_lanes_of(n, block), found = 0;
    float reach = n->wall_reach + 0.5f * n->skin;
    places_of(n, n->listed, block * BLOCK_LANES, lanes, places);
    rigid_view(rigid, object, places, lanes, reach, &view);
    const GrainSdf *sdf = rigid->objects[object].given.sdf;
    if (sdf) reach = real_minf(reach, 0.99f * sdf_half_width(sdf)); // it is exact no farther
    for (int i = 0; i < lanes; i++) found |= view.distance[i] < reach;
    return found;
}

GrainResult neighbours_find_objects(Neighbours *n)
{
    int objects = n->base->rigid->object_count;
    // Room for all possible entries; little of it is ever touched.
    TRY(alloc_grow((void **)&n->near, &n->near_capacity, n->block_count * objects, sizeof *n->near));
    PARALLEL_FOR(n->base->threads, b, n->block_count)
    {
        Block *block = &n->block[b];
        enclose(n, b);
        block->near = block->near_end = b * objects;
        for (int c = 0; c < objects; c++)
            if (stands(n, c) && is_near(n, b, c)) n->near[block->near_end++] = c;
    }
    return GRAIN_OK;
}

// --- in every step -----------------------------------------------------------------------------------

int neighbours_may_meet(const Neighbours *n, const Block *block, int object)
{
    Vec3d middle = {(double)block->middle[0] + n->base->origin[0], (double)block->middle[1] + n->base->origin[1],
                    (double)block->middle[2] + n->base->origin[2]};
    return rigid_may_reach(n->base->rigid, object, middle, (double)(block->reach + n->wall_reach + n->skin));
}

static void meet(const Neighbours *n, Block *block, int object, const Vec3 *places, int lanes, int met[BLOCK_LANES])
{
    const Rigid *rigid = n->base->rigid;
    BlockContact *contacts = neighbours_contacts_of(n, block - n->block);
    RigidView view;
    rigid_view(rigid, object, places, lanes, n->wall_reach, &view);
    for (int i = 0; i < lanes; i++) {
        Vec3 normal = view.normal[i];
        if (view.distance[i] >= n->wall_reach || met[i] == BLOCK_WALLS || vec3_dot(normal, normal) < 0.5f) continue;
        met[i]++;
        contacts[block->contact_count++] = (BlockContact){.lane = i,
                                                          .object = object,
                                                          .distance = view.distance[i],
                                                          .normal = normal,
                                                          .speed = view.speed[i],
                                                          .friction = view.friction[i],
                                                          .pull = view.pull[i]};
        block->meets_body |= rigid->objects[object].body >= 0;
    }
}

void neighbours_meet_walls(const Neighbours *n, int64_t number)
{
    Block *block = &n->block[number];
    int moving_near = 0, objects = n->base->has_moving ? n->base->rigid->object_count : 0;
    block->meets_body = block->contact_count = 0;
    for (int c = 0; c < objects; c++) moving_near |= !stands(n, c) && neighbours_may_meet(n, block, c);
    if (block->near == block->near_end && !moving_near) return;
    Vec3 places[BLOCK_LANES];
    int met[BLOCK_LANES] = {0}, lanes = neighbours_lanes_of(n, number);
    places_of(n, n->field, number * BLOCK_LANES, lanes, places);
    for (int64_t k = block->near; k < block->near_end; k++) meet(n, block, n->near[k], places, lanes, met);
    for (int c = 0; moving_near && c < objects; c++)
        if (!stands(n, c) && neighbours_may_meet(n, block, c)) meet(n, block, c, places, lanes, met);
}

void neighbours_load_bodies(const Neighbours *n)
{
    Rigid *rigid = n->base->rigid;
    for (int64_t b = 0; b < n->block_count && rigid->body_count > 0; b++) {
        const Block *block = &n->block[b];
        for (int k = 0; block->meets_body && k < block->contact_count; k++) {
            const BlockContact *contact = &neighbours_contacts_of(n, b)[k];
            const RigidObject *object = &rigid->objects[contact->object];
            if (object->body < 0) continue;
            // On its surface, where the push acts.
            Vec3d place = vec3d_sub(neighbours_place_of(n, b * BLOCK_LANES + contact->lane),
                                    vec3d_scale(vec3d_from(contact->normal), (double)contact->distance));
            Vec3d push = vec3d_scale(vec3d_from(contact->push), -1.0);
            rigid_add_load(rigid, contact->object, push, vec3d_cross(vec3d_sub(place, object->now.position), push));
        }
    }
}
