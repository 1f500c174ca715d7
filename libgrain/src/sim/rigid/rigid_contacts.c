// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies against each other and against the props: points of a body's cover, each with the plane that stands for the
// surface of the other object near it. The law is the linear one of grains: spring and damper along the normal, never
// pulling, and across it the damped spring that remembers and slips at the Coulomb limit.
//
// A body that lies on its face touches with hundreds of points, one that stands on a corner with one. The points
// between two objects share the stiffness that the masses ask for, so that a body swings as fast on a face as on a
// corner, and any number of points is stable at the same step.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/rigid/rigid.h"

#include <math.h>
#include <string.h>

// Of the spring across the normal, over that along it; as for grains (dem_law.c).
#define SHEAR (2.0 / 7.0)
// After this way over the other's surface, in reaches, a point looks at it again.
#define REFRESH 0.02

// Of point_reach: the least a body may move before contacts are found again. A heap of bodies would find them after
// every knock that one of them gets.
#define LEAST_MARGIN 0.15

// Contacts and bodies of one piece of work.
#define CONTACT_BLOCK 512
#define BODY_BLOCK 32

// Two objects never count as held apart by fewer points: the next one may come in at any moment.
#define LEAST_POINTS 3
// Contacts of bodies are this much stiffer than those of grains for the same mass, and swing the root of it faster: a
// tower of bodies must not buckle. Ten substeps to a contact are enough for it.
#define STIFFER 9.0

// --- finding --------------------------------------------------------------------------------------

typedef struct Finder {
    const Rigid *rigid;
    int body;
    RigidFound *found;
    int64_t count, room; // count runs on when there is no room
} Finder;

static Vec3d point_place(const Rigid *rigid, const RigidBody *body, int64_t point)
{
    const RigidObject *object = &rigid->objects[body->object];
    return vec3d_add(object->now.position, rigid_turn(object->matrix, body->arms[point]));
}

static Vec3 to_float(Vec3d v) { return vec3((float)v.x, (float)v.y, (float)v.z); }

Vec3 rigid_drive_at(const RigidObject *other, double time, const RigidPlane *plane)
{
    if (other->given.motion.kind != MOTION_SHAPES || other->is_held) return vec3(0, 0, 0);
    Vec3 corner[3], speed[3];
    int64_t triangle = other->surface.triangle[plane->leaf_triangle];
    motion_corners(&other->given.motion, time, other->given.mesh->triangles + 3 * triangle, corner, speed);
    Vec3 sum = vec3_scale(speed[0], 1.0f - plane->v - plane->w);
    return vec3_add_scaled(vec3_add_scaled(sum, speed[1], plane->v), speed[2], plane->w);
}

// The contact of the previous lists that this one continues, or NULL.
static const RigidContact *contact_before(const Rigid *rigid, int body, int64_t point, int other)
{
    int64_t low = rigid->first_contact[body], high = rigid->first_contact[body + 1];
    while (low < high) { // ascending by point, then by the other
        int64_t middle = (low + high) / 2;
        const RigidContact *contact = &rigid->contacts_before[middle];
        if (contact->point < point || (contact->point == point && contact->other < other))
            low = middle + 1;
        else
            high = middle;
    }
    if (low >= rigid->first_contact[body + 1]) return NULL;
    const RigidContact *contact = &rigid->contacts_before[low];
    return contact->point == point && contact->other == other ? contact : NULL;
}

// before: the contact it continues, or NULL.
static int plane_near(const RigidObject *other, Vec3d place, double reach, const RigidContact *before,
                      RigidPlane *plane)
{
    if (other->given.mesh) {
        Vec3 side = before ? to_float(before->normal) : vec3(0, 0, 0);
        return rigid_surface_plane(&other->surface, to_float(place), (float)reach, before ? before->leaf_triangle : -1,
                                   before ? &side : NULL, plane);
    }
    double gap =
        vec3d_dot(vec3d_sub(place, vec3d_from(other->given.plane_point)), vec3d_from(other->given.plane_normal));
    if (gap >= reach) return 0;
    *plane = (RigidPlane){.foot = other->given.plane_point, .normal = other->given.plane_normal, .leaf_triangle = -1};
    return 1;
}

static void look_at(Finder *finder, int64_t point, int other_number, double reach)
{
    const Rigid *rigid = finder->rigid;
    const RigidObject *other = &rigid->objects[other_number];
    Vec3d place = rigid_to_rest(other, point_place(rigid, &rigid->bodies[finder->body], point));
    if (other->given.mesh && !rigid_is_in_box(&other->surface, place, reach)) return;
    RigidPlane plane;
    if (!plane_near(other, place, reach, contact_before(rigid, finder->body, point, other_number), &plane)) return;
    if (finder->count < finder->room)
        finder->found[finder->count] = (RigidFound){.point = (int32_t)point,
                                                    .other = other_number,
                                                    .leaf_triangle = plane.leaf_triangle,
                                                    .foot = plane.foot,
                                                    .normal = plane.normal,
                                                    .sampled = to_float(place),
                                                    .drive = rigid_drive_at(other, rigid->time, &plane)};
    finder->count++;
}

static int64_t find_for_body(const Rigid *rigid, int number)
{
    const RigidBody *body = &rigid->bodies[number];
    const RigidObject *own = &rigid->objects[body->object];
    Finder finder = {rigid, number, rigid->found + number * rigid->found_room, 0, rigid->found_room};
    for (int64_t point = 0; point < body->point_count; point++)
        for (int64_t k = rigid->near_first[number]; k < rigid->near_first[number + 1]; k++) {
            int other = rigid->near[k].other;
            look_at(&finder, point, other, rigid_reach(rigid, own, &rigid->objects[other]));
        }
    return finder.count;
}

static GrainResult find_all(Rigid *rigid, int64_t *total)
{
    for (;;) {
        TRY(alloc_grow((void **)&rigid->found, &rigid->found_capacity, rigid->found_room * rigid->body_count,
                       sizeof(RigidFound)));
        PARALLEL_BLOCKS(rigid->def.threads, b, rigid->body_count)
        {
            rigid->found_count[b] = find_for_body(rigid, (int)b);
        }
        int64_t most = 0;
        *total = 0;
        for (int b = 0; b < rigid->body_count; b++) {
            *total += rigid->found_count[b];
            most = rigid->found_count[b] > most ? rigid->found_count[b] : most;
        }
        if (most <= rigid->found_room) return GRAIN_OK;
        rigid->found_room = most + most / 2;
    }
}

GrainResult rigid_reserve_contacts(Rigid *rigid, int64_t count)
{
    TRY(alloc_grow((void **)&rigid->contacts, &rigid->contacts_capacity, count, sizeof(RigidContact)));
    TRY(alloc_grow((void **)&rigid->reaction, &rigid->reaction_capacity, count, sizeof(int32_t)));
    return alloc_grow((void **)&rigid->pushes, &rigid->pushes_capacity, count, sizeof(RigidPush));
}

static double friction_between(const SimCollider *a, const SimCollider *b)
{
    return sqrt((double)a->friction * (double)b->friction);
}

void rigid_steer(Rigid *rigid, const SimGrip *grips)
{
    for (int i = 0; i < rigid->object_count; i++) {
        SimCollider *given = &rigid->objects[i].given;
        given->friction = grips[i].friction, given->stickiness = grips[i].stickiness;
    }
    for (int64_t k = 0; k < rigid->contact_count; k++) {
        RigidContact *contact = &rigid->contacts[k];
        const RigidObject *own = &rigid->objects[rigid->bodies[contact->body].object];
        contact->friction = friction_between(&own->given, &rigid->objects[contact->other].given);
    }
}

// How many points stand between a body and another object, from both sides.
static int64_t points_between(const Rigid *rigid, int body, int other)
{
    const RigidNear *near = rigid_near_to(rigid, body, other), *back = NULL;
    if (rigid->objects[other].body >= 0)
        back = rigid_near_to(rigid, rigid->objects[other].body, rigid->bodies[body].object);
    int64_t points = (near ? near->points : 0) + (back ? back->points : 0);
    return points > LEAST_POINTS ? points : LEAST_POINTS;
}

// Effective mass for one contact of many.
static double mass_of(const Rigid *rigid, const RigidContact *contact)
{
    const RigidBody *body = &rigid->bodies[contact->body];
    Vec3d place = vec3d_add(rigid->objects[body->object].rest, body->arms[contact->point]);
    double inverse =
        rigid_inverse_mass(rigid, body->object, place) + rigid_inverse_mass(rigid, contact->other, contact->foot);
    return inverse > 0.0 ? 1.0 / (inverse * (double)points_between(rigid, contact->body, contact->other)) : 0.0;
}

static void fill_contact(const Rigid *rigid, int body, const RigidFound *found, RigidContact *contact)
{
    const RigidContact *before = contact_before(rigid, body, found->point, found->other);
    *contact = (RigidContact){.body = body,
                              .point = found->point,
                              .other = found->other,
                              .leaf_triangle = found->leaf_triangle,
                              .foot = vec3d_from(found->foot),
                              .normal = vec3d_unit(vec3d_from(found->normal)),
                              .sampled = vec3d_from(found->sampled),
                              .drive = vec3d_from(found->drive),
                              .shear = before ? before->shear : (Vec3d){0, 0, 0},
                              .friction = friction_between(&rigid->objects[rigid->bodies[body].object].given,
                                                           &rigid->objects[found->other].given)};
    rigid_near_to(rigid, body, found->other)->points++;
}

// With the previous contacts, which first_contact still indexes.
static void fill_contacts(Rigid *rigid)
{
    int64_t first = 0;
    for (int b = 0; b < rigid->body_count; b++) {
        int64_t count = rigid->found_count[b];
        rigid->found_count[b] = first;
        first += count;
    }
    rigid->found_count[rigid->body_count] = first;
    PARALLEL_STRIPS(rigid->def.threads, b, rigid->body_count)
    {
        const RigidFound *found = rigid->found + b * rigid->found_room;
        for (int64_t c = rigid->found_count[b]; c < rigid->found_count[b + 1]; c++)
            fill_contact(rigid, (int)b, found++, &rigid->contacts[c]);
    }
    memcpy(rigid->first_contact, rigid->found_count, (size_t)(rigid->body_count + 1) * sizeof(int64_t));
    rigid->contact_count = first;
    PARALLEL_STRIPS(rigid->def.threads, b, rigid->body_count)
    {
        for (int64_t c = rigid->first_contact[b]; c < rigid->first_contact[b + 1]; c++)
            rigid->contacts[c].mass = mass_of(rigid, &rigid->contacts[c]);
    }
}

void rigid_list_reactions(Rigid *rigid)
{
    // Counted two places on, a body's counter is one place on its first entry, and runs up to where they end.
    int64_t *counter = rigid->reaction_first + 2, *next = rigid->reaction_first + 1;
    memset(rigid->reaction_first, 0, (size_t)(rigid->body_count + 2) * sizeof *counter);
    for (int64_t c = 0; c < rigid->contact_count; c++) {
        int32_t other = rigid->objects[rigid->contacts[c].other].body;
        if (other >= 0) counter[other]++;
    }
    for (int b = 1; b < rigid->body_count; b++) next[b] += next[b - 1];
    for (int64_t c = 0; c < rigid->contact_count; c++) {
        int32_t other = rigid->objects[rigid->contacts[c].other].body;
        if (other >= 0) rigid->reaction[next[other]++] = (int32_t)c;
    }
}

GrainResult rigid_find_contacts(Rigid *rigid, double seconds)
{
    RigidContact *contacts = rigid->contacts;
    int64_t capacity = rigid->contacts_capacity, total;
    rigid->contacts = rigid->contacts_before, rigid->contacts_capacity = rigid->before_capacity;
    rigid->contacts_before = contacts, rigid->before_capacity = capacity;
    rigid->found_time = rigid->time;
    for (int i = 0; i < rigid->object_count; i++) {
        RigidObject *object = &rigid->objects[i];
        object->search_pose = object->now;
        if (object->given.motion.kind == MOTION_SHAPES) rigid_bend(rigid, object, rigid->time);
        double reach = (double)rigid->def.point_reach;
        object->search_margin =
            object->has_moved ? real_max(rigid_margin(object, seconds, reach), LEAST_MARGIN * reach) : 0.0;
    }
    TRY(rigid_find_near(rigid));
    TRY(find_all(rigid, &total));
    TRY(rigid_reserve_contacts(rigid, total));
    fill_contacts(rigid);
    rigid_list_reactions(rigid);
    rigid->must_find = 0;
    return GRAIN_OK;
}

void rigid_free_contacts(Rigid *rigid)
{
    alloc_free(rigid->contacts);
    alloc_free(rigid->contacts_before);
    alloc_free(rigid->pushes);
    alloc_free(rigid->found);
    alloc_free(rigid->near);
    alloc_free(rigid->reaction);
}

// --- pushing --------------------------------------------------------------------------------------

typedef struct Law {
    double stiffness, damping, seconds;
} Law;

// The point has gone on over the surface: the plane where it is now. While it cannot have come as far as the surface
// since it looked, the plane before does.
static void look_again(const Rigid *rigid, RigidContact *contact, Vec3d place, Vec3d way)
{
    const RigidObject *other = &rigid->objects[contact->other];
    double squared = vec3d_dot(way, way), refresh = REFRESH * (double)rigid->def.point_reach;
    if (squared <= refresh * refresh) return;
    if (!other->given.mesh || other->given.motion.kind == MOTION_SHAPES)
        return; // one plane for all; found again soon anyway
    double gap = vec3d_dot(vec3d_sub(contact->sampled, contact->foot), contact->normal);
    if (gap > 0.0 && gap * gap > squared) return;
    double reach = rigid_reach(rigid, &rigid->objects[rigid->bodies[contact->body].object], other);
    RigidPlane plane;
    contact->sampled = place;
    if (!plane_near(other, place, 2.0 * reach, contact, &plane)) return;
    contact->foot = vec3d_from(plane.foot);
    contact->normal = vec3d_unit(vec3d_from(plane.normal));
    contact->leaf_triangle = plane.leaf_triangle;
}

static Vec3d velocity_at(const RigidObject *object, Vec3d place)
{
    return vec3d_add(object->velocity, vec3d_cross(object->spin, vec3d_sub(place, object->now.position)));
}

static Vec3d shear_force(RigidContact *contact, Vec3d slide, Vec3d normal, double k, double c, double limit,
                         double seconds)
{
    Vec3d stretch = vec3d_add(contact->shear, vec3d_scale(slide, seconds));
    stretch = vec3d_sub(stretch, vec3d_scale(normal, vec3d_dot(stretch, normal)));
    Vec3d force = vec3d_add(vec3d_scale(stretch, -k), vec3d_scale(slide, -c));
    double size = vec3d_length(force);
    if (size > limit) {
        double part = limit / size;
        force = vec3d_scale(force, part);
        stretch = vec3d_scale(stretch, part);
    }
    contact->shear = stretch;
    return force;
}

static RigidPush push_of(const Rigid *rigid, RigidContact *contact, const Law *law)
{
    const RigidBody *body = &rigid->bodies[contact->body];
    const RigidObject *own = &rigid->objects[body->object], *other = &rigid->objects[contact->other];
    RigidPush push = {.at = point_place(rigid, body, contact->point)};
    Vec3d place = rigid_to_rest(other, push.at);
    place = vec3d_sub(place, vec3d_scale(contact->drive, rigid->time - rigid->found_time));
    look_again(rigid, contact, place, vec3d_sub(place, contact->sampled));
    double overlap = -vec3d_dot(vec3d_sub(place, contact->foot), contact->normal);
    if (!(overlap > 0.0)) {
        contact->shear = (Vec3d){0, 0, 0};
        return push;
    }
    Vec3d normal = rigid_turn(other->matrix, contact->normal);
    Vec3d velocity = vec3d_sub(velocity_at(own, push.at), vec3d_add(velocity_at(other, push.at), contact->drive));
    double separation = vec3d_dot(velocity, normal);
    double k = contact->mass * law->stiffness, c = contact->mass * law->damping;
    double pressure = real_max(k * overlap - c * separation, 0.0); // damping must not pull
    Vec3d slide = vec3d_sub(velocity, vec3d_scale(normal, separation));
    push.force = shear_force(contact, slide, normal, SHEAR * k, SHEAR * c, pressure * contact->friction, law->seconds);
    push.force = vec3d_add(push.force, vec3d_scale(normal, pressure));
    return push;
}

static void add_push(Rigid *rigid, int object, const RigidPush *push, double sign)
{
    if (push->force.x == 0.0 && push->force.y == 0.0 && push->force.z == 0.0) return;
    Vec3d force = vec3d_scale(push->force, sign);
    rigid_add_load(rigid, object, force, vec3d_cross(vec3d_sub(push->at, rigid->objects[object].now.position), force));
}

static void sum_pushes(Rigid *rigid, int b)
{
    int object = rigid->bodies[b].object;
    for (int64_t c = rigid->first_contact[b]; c < rigid->first_contact[b + 1]; c++)
        add_push(rigid, object, &rigid->pushes[c], 1.0);
    for (int64_t k = rigid->reaction_first[b]; k < rigid->reaction_first[b + 1]; k++)
        add_push(rigid, object, &rigid->pushes[rigid->reaction[k]], -1.0);
}

void rigid_push_contacts(Rigid *rigid, double seconds)
{
    // As in dem_law_for_step: damping for the speed in the middle of the kick.
    double stiffness = STIFFER * rigid->def.stiffness, damping = sqrt(STIFFER) * rigid->def.damping;
    double part = 1.0 / (1.0 + 0.5 * seconds * damping);
    Law law = {stiffness * part, damping * part, seconds};
    PARALLEL_STRIPS(rigid->def.threads, block, parallel_block_count(rigid->contact_count, CONTACT_BLOCK))
    {
        int64_t end = parallel_block_end(block, CONTACT_BLOCK, rigid->contact_count);
        for (int64_t c = block * CONTACT_BLOCK; c < end; c++)
            rigid->pushes[c] = push_of(rigid, &rigid->contacts[c], &law);
    }
    PARALLEL_STRIPS(rigid->def.threads, block, parallel_block_count(rigid->body_count, BODY_BLOCK))
    {
        int64_t end = parallel_block_end(block, BODY_BLOCK, rigid->body_count);
        for (int64_t b = block * BODY_BLOCK; b < end; b++) sum_pushes(rigid, (int)b);
    }
}
