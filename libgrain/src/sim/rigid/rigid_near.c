// SPDX-License-Identifier: GPL-3.0-or-later
// Which bodies come near to which objects. Bodies are swept along x: whoever begins before another has ended there may
// touch it. The order hardly changes from one time to the next, so it is mended rather than made.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>

// Of point_reach: how deep a point may be inside another object and still be found, beyond what both may move.
#define NOTICE 0.5

double rigid_reach(const Rigid *rigid, const RigidObject *body, const RigidObject *other)
{
    return body->search_margin + other->search_margin + NOTICE * (double)rigid->def.point_reach;
}

int rigid_is_in_box(const RigidSurface *surface, Vec3d at, double reach)
{
    const Vec3 low = surface->low, high = surface->high;
    return at.x > (double)low.x - reach && at.x < (double)high.x + reach && at.y > (double)low.y - reach &&
           at.y < (double)high.y + reach && at.z > (double)low.z - reach && at.z < (double)high.z + reach;
}

// Whether the ball around a body comes near the other object.
static int may_touch(const Rigid *rigid, const RigidObject *body, const RigidObject *other)
{
    double reach = rigid_reach(rigid, body, other) + body->radius, far = reach + other->radius;
    Vec3d apart = vec3d_sub(body->now.position, other->now.position);
    if (other->given.mesh && other->given.motion.kind != MOTION_SHAPES && vec3d_dot(apart, apart) > far * far) return 0;
    Vec3d centre = rigid_to_rest(other, body->now.position);
    if (!other->given.mesh)
        return vec3d_dot(vec3d_sub(centre, vec3d_from(other->given.plane_point)),
                         vec3d_from(other->given.plane_normal)) < reach;
    return rigid_is_in_box(&other->surface, centre, reach);
}

static const RigidObject *object_of(const Rigid *rigid, int32_t body)
{
    return &rigid->objects[rigid->bodies[body].object];
}

// Half of what a body may take up along an axis until contacts are found again.
static double half_length(const Rigid *rigid, const RigidObject *object)
{
    return object->radius + object->search_margin + 0.5 * NOTICE * (double)rigid->def.point_reach;
}

// Puts the bodies in the order of where they begin. Returns the greatest length of one.
static double sweep(Rigid *rigid)
{
    double longest = 0.0;
    for (int b = 0; b < rigid->body_count; b++) {
        const RigidObject *object = object_of(rigid, b);
        double half = half_length(rigid, object);
        rigid->begin[b] = object->now.position.x - half;
        longest = real_max(longest, 2.0 * half);
    }
    for (int i = 1; i < rigid->body_count; i++) {
        int32_t body = rigid->along[i];
        int place = i;
        for (; place > 0 && rigid->begin[rigid->along[place - 1]] > rigid->begin[body]; place--)
            rigid->along[place] = rigid->along[place - 1];
        rigid->along[place] = body;
    }
    for (int i = 0; i < rigid->body_count; i++) rigid->rank[rigid->along[i]] = i;
    return longest;
}

// Objects near body b, whose list begins at near_first[b].
static GrainResult add_near(Rigid *rigid, int b, int64_t *count, int32_t other)
{
    if (other == rigid->bodies[b].object || !may_touch(rigid, object_of(rigid, b), &rigid->objects[other]))
        return GRAIN_OK;
    TRY(alloc_grow((void **)&rigid->near, &rigid->near_capacity, *count + 1, sizeof(RigidNear)));
    int64_t place = (*count)++;
    for (; place > rigid->near_first[b] && rigid->near[place - 1].other > other; place--)
        rigid->near[place] = rigid->near[place - 1];
    rigid->near[place] = (RigidNear){.other = other};
    return GRAIN_OK;
}

GrainResult rigid_find_near(Rigid *rigid)
{
    double longest = sweep(rigid);
    int64_t count = 0;
    for (int b = 0; b < rigid->body_count; b++) {
        rigid->near_first[b] = count;
        double begin = rigid->begin[b], end = begin + 2.0 * half_length(rigid, object_of(rigid, b));
        for (int i = 0; i < rigid->object_count; i++)
            if (rigid->objects[i].body < 0) TRY(add_near(rigid, b, &count, i));
        for (int i = rigid->rank[b] - 1; i >= 0 && rigid->begin[rigid->along[i]] >= begin - longest; i--)
            TRY(add_near(rigid, b, &count, rigid->bodies[rigid->along[i]].object));
        for (int i = rigid->rank[b] + 1; i < rigid->body_count && rigid->begin[rigid->along[i]] <= end; i++)
            TRY(add_near(rigid, b, &count, rigid->bodies[rigid->along[i]].object));
    }
    rigid->near_first[rigid->body_count] = count;
    return GRAIN_OK;
}

RigidNear *rigid_near_to(const Rigid *rigid, int body, int other)
{
    int64_t low = rigid->near_first[body], high = rigid->near_first[body + 1];
    while (low < high) {
        int64_t middle = (low + high) / 2;
        if (rigid->near[middle].other < other)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rigid->near_first[body + 1] && rigid->near[low].other == other ? &rigid->near[low] : NULL;
}
