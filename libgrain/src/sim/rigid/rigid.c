// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/rigid/rigid.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

// Steps that lists should last, as in dem_lists.c, and the least a point may move before they are made again, over the
// largest.
#define LIST_STEPS 40.0
#define LEAST_MARGIN 0.04
// A push at the end of a rod moves it four times as easily as one at its middle: it swings twice as fast there, which
// the step allows for. Only what is lighter still, like the tip of a needle, gets softer contacts.
#define LIGHTNESS_LIMIT 0.25
// Objects of one piece of work.
#define OBJECT_BLOCK 32
// Numbers of an object's state: three poses, velocity, spin, margins, speed of bending, angular momentum, is it free.
#define PACKED (3 * 7 + 3 + 3 + 3 + 3 + 1)

// --- life -----------------------------------------------------------------------------------------

static int needs_surface(const RigidDef *def, const SimCollider *collider)
{
    int has_bodies = 0;
    for (int i = 0; i < def->collider_count; i++) has_bodies |= def->colliders[i].body != NULL;
    return collider->mesh && (has_bodies || collider->motion.kind == MOTION_SHAPES);
}

static double radius_about(const GrainMesh *mesh, Vec3d pivot)
{
    double radius = 0.0;
    for (int64_t v = 0; mesh && v < mesh->vertex_count; v++) {
        const float *p = mesh->positions + 3 * v;
        radius = real_max(radius, vec3d_length(vec3d_sub(vec3d((double)p[0], (double)p[1], (double)p[2]), pivot)));
    }
    return radius;
}

static void matrix_from(Quatd q, double m[9])
{
    Vec3d x = quatd_rotate(q, vec3d(1, 0, 0)), y = quatd_rotate(q, vec3d(0, 1, 0)), z = quatd_rotate(q, vec3d(0, 0, 1));
    const double columns[9] = {x.x, y.x, z.x, x.y, y.y, z.y, x.z, y.z, z.z};
    memcpy(m, columns, sizeof columns);
}

// The pose its samples ask for, about the object's own pivot.
static Pose track_pose(const RigidObject *object, double seconds)
{
    Pose pose = motion_pose(&object->given.motion, seconds);
    Vec3d arm = vec3d_sub(object->rest, motion_pivot(&object->given.motion));
    pose.position = vec3d_add(pose.position, quatd_rotate(pose.facing, arm));
    return pose;
}

static GrainResult create_object(Rigid *rigid, int i)
{
    RigidObject *object = &rigid->objects[i];
    const SimCollider *given = &object->given;
    object->body = -1;
    object->has_moved = given->motion.kind != MOTION_STILL || given->body;
    object->rest = given->body ? given->body->centre : motion_pivot(&given->motion);
    object->radius = radius_about(given->mesh, object->rest);
    object->fastest = motion_fastest(&given->motion, given->mesh);
    object->now = object->list_pose = object->search_pose = (Pose){object->rest, quatd_identity()};
    matrix_from(object->now.facing, object->matrix);
    int threads = rigid->def.threads;
    TRY(rigid_paint_create(&object->friction_paint, given->friction_paint, given->mesh, given->sdf, threads));
    TRY(rigid_paint_create(&object->stickiness_paint, given->stickiness_paint, given->mesh, given->sdf, threads));
    if (!needs_surface(&rigid->def, given)) return GRAIN_OK;
    GrainResult result = rigid_surface_create(&object->surface, given->mesh, threads);
    return result == GRAIN_OK || !given->name ? result : fail_within(result, "object '%s'", given->name);
}

static int invert(const double m[9], double out[9])
{
    Vec3d a = {m[0], m[1], m[2]}, b = {m[3], m[4], m[5]}, c = {m[6], m[7], m[8]};
    double determinant = vec3d_dot(a, vec3d_cross(b, c));
    if (!(determinant > 0.0)) return 0;
    Vec3d rows[3] = {vec3d_cross(b, c), vec3d_cross(c, a), vec3d_cross(a, b)}; // columns of the inverse
    for (int i = 0; i < 3; i++) {
        out[i] = rows[i].x / determinant;
        out[3 + i] = rows[i].y / determinant;
        out[6 + i] = rows[i].z / determinant;
    }
    return 1;
}

static GrainResult create_body(Rigid *rigid, int number, int i)
{
    RigidObject *object = &rigid->objects[i];
    RigidBody *body = &rigid->bodies[number];
    const SimBody *given = object->given.body;
    object->body = number;
    *body = (RigidBody){.object = i, .inverse_mass = 1.0 / given->mass, .point_count = given->point_count};
    if (!(given->mass > 0.0) || !invert(given->inertia, body->inverse_inertia))
        return fail(GRAIN_ERROR_ARGUMENT, "body '%s' has no mass or no extent; give it a closed mesh",
                    object->given.name ? object->given.name : "?");
    body->arms = ALLOC(Vec3d, given->point_count);
    if (!body->arms) return GRAIN_ERROR_MEMORY;
    for (int64_t k = 0; k < given->point_count; k++) {
        const float *p = given->points + 3 * k;
        body->arms[k] = vec3d_sub(vec3d((double)p[0], (double)p[1], (double)p[2]), object->rest);
    }
    object->velocity = vec3d_from(given->velocity);
    object->spin = vec3d_from(given->spin);
    return GRAIN_OK;
}

// How fast a prop goes at time 0.
static void start_along_track(RigidObject *object)
{
    const Motion *motion = &object->given.motion;
    double seconds = motion->period / 64.0;
    if (motion->kind != MOTION_POSES || motion->sample_count < 2) return;
    Pose later = track_pose(object, seconds);
    object->velocity = vec3d_scale(vec3d_sub(later.position, object->now.position), 1.0 / seconds);
    object->spin = vec3d_scale(quatd_to_rotation(later.facing), 1.0 / seconds);
}

void rigid_hold(Rigid *rigid, int is_held)
{
    rigid->is_held = is_held;
    for (int i = 0; i < rigid->object_count; i++) {
        RigidObject *object = &rigid->objects[i];
        const SimBody *body = object->given.body;
        object->is_held = is_held;
        object->velocity = body && !is_held ? vec3d_from(body->velocity) : (Vec3d){0, 0, 0};
        object->spin = body && !is_held ? vec3d_from(body->spin) : (Vec3d){0, 0, 0};
        if (!is_held) start_along_track(object);
    }
}

static void release(RigidBody *body, const RigidObject *object)
{
    double inertia[9];
    memcpy(inertia, object->given.body->inertia, sizeof inertia);
    Vec3d own = rigid_turn(inertia, rigid_turn_back(object->matrix, object->spin));
    body->angular = rigid_turn(object->matrix, own);
    body->is_free = 1;
}

static GrainResult create_inside(Rigid *rigid, const RigidDef *def)
{
    rigid->def = *def;
    rigid->weight = sim_grip_unit(def->gravity);
    rigid->must_find = 1;
    rigid->found_room = 256;
    rigid->object_count = def->collider_count;
    rigid->objects = ALLOC_ZEROED(RigidObject, def->collider_count);
    if (!rigid->objects) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < def->collider_count; i++) {
        rigid->objects[i].given = def->colliders[i];
        rigid->body_count += def->colliders[i].body != NULL;
    }
    rigid->bodies = ALLOC_ZEROED(RigidBody, rigid->body_count);
    rigid->pull = ALLOC_ZEROED(Vec3d, rigid->body_count);
    rigid->first_contact = ALLOC_ZEROED(int64_t, rigid->body_count + 1);
    rigid->found_count = ALLOC_ZEROED(int64_t, rigid->body_count + 1);
    rigid->packed = ALLOC_ZEROED(double, PACKED * def->collider_count);
    rigid->near_first = ALLOC_ZEROED(int64_t, rigid->body_count + 1);
    rigid->reaction_first = ALLOC_ZEROED(int64_t, rigid->body_count + 2);
    rigid->along = ALLOC(int32_t, rigid->body_count);
    rigid->rank = ALLOC(int32_t, rigid->body_count);
    rigid->begin = ALLOC(double, rigid->body_count);
    if (!rigid->bodies || !rigid->pull || !rigid->first_contact || !rigid->found_count || !rigid->packed ||
        !rigid->near_first || !rigid->reaction_first || !rigid->along || !rigid->rank || !rigid->begin)
        return GRAIN_ERROR_MEMORY;
    for (int b = 0; b < rigid->body_count; b++) rigid->along[b] = b;
    int number = 0;
    for (int i = 0; i < def->collider_count; i++) {
        TRY(create_object(rigid, i));
        if (def->colliders[i].body) TRY(create_body(rigid, number++, i));
        start_along_track(&rigid->objects[i]);
    }
    for (int b = 0; b < rigid->body_count; b++) {
        const RigidObject *object = &rigid->objects[rigid->bodies[b].object];
        if (object->given.body->release <= 0.0) release(&rigid->bodies[b], object);
    }
    rigid->def.colliders = NULL; // the caller's; RigidObject.given is what counts
    return GRAIN_OK;
}

GrainResult rigid_create(const RigidDef *def, Rigid **out)
{
    *out = NULL;
    Rigid *rigid = ALLOC_ZEROED(Rigid, 1);
    if (!rigid) return GRAIN_ERROR_MEMORY;
    GrainResult result = create_inside(rigid, def);
    if (result == GRAIN_OK)
        *out = rigid;
    else
        rigid_destroy(rigid);
    return result;
}

void rigid_destroy(Rigid *rigid)
{
    if (!rigid) return;
    for (int i = 0; rigid->objects && i < rigid->object_count; i++) {
        rigid_surface_free(&rigid->objects[i].surface);
        rigid_paint_free(&rigid->objects[i].friction_paint);
        rigid_paint_free(&rigid->objects[i].stickiness_paint);
    }
    for (int b = 0; rigid->bodies && b < rigid->body_count; b++) alloc_free(rigid->bodies[b].arms);
    rigid_free_contacts(rigid);
    void *arrays[] = {rigid->objects, rigid->bodies,     rigid->first_contact,  rigid->found_count,
                      rigid->packed,  rigid->near_first, rigid->reaction_first, rigid->along,
                      rigid->rank,    rigid->begin,      rigid->pull,           rigid};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

// --- step -----------------------------------------------------------------------------------------

GrainResult rigid_find_loads(Rigid *rigid, double seconds)
{
    for (int b = 0; b < rigid->body_count; b++) rigid->bodies[b].force = rigid->bodies[b].torque = (Vec3d){0, 0, 0};
    if (rigid->body_count == 0 || rigid->is_held) return GRAIN_OK;
    if (rigid->must_find) TRY(rigid_find_contacts(rigid, seconds));
    rigid_push_contacts(rigid, seconds);
    return GRAIN_OK;
}

void rigid_add_load(Rigid *rigid, int object, Vec3d force, Vec3d torque)
{
    int32_t number = rigid->objects[object].body;
    if (number < 0) return;
    RigidBody *body = &rigid->bodies[number];
    body->force = vec3d_add(body->force, force);
    body->torque = vec3d_add(body->torque, torque);
}

void rigid_pull(Rigid *rigid, int body, Vec3d acceleration)
{
    rigid->pull[body] = acceleration;
    rigid->is_pulled = 1;
}

// Spin from angular momentum as it faces half a step on, if it went on with this spin.
static Vec3d spin_halfway(const RigidBody *body, const RigidObject *object, Vec3d spin, double seconds)
{
    Quatd facing = quatd_multiply(quatd_from_rotation(vec3d_scale(spin, 0.5 * seconds)), object->now.facing);
    Vec3d own = quatd_rotate(quatd_conjugate(facing), body->angular);
    return quatd_rotate(facing, rigid_turn(body->inverse_inertia, own));
}

static void move_body(const Rigid *rigid, RigidBody *body, RigidObject *object, double seconds)
{
    Vec3d pull = vec3d_add(vec3d_from(rigid->def.gravity), vec3d_scale(body->force, body->inverse_mass));
    pull = vec3d_add(pull, rigid->pull[object->body]);
    object->velocity = vec3d_add(object->velocity, vec3d_scale(pull, seconds));
    body->angular = vec3d_add(body->angular, vec3d_scale(body->torque, seconds));
    // The implicit midpoint rule for the gyroscopic term: angular momentum is the state, so nothing can feed it.
    Vec3d spin = object->spin;
    for (int round = 0; round < 3; round++) spin = spin_halfway(body, object, spin, seconds);
    object->spin = spin;
    object->now.position = vec3d_add(object->now.position, vec3d_scale(object->velocity, seconds));
    Quatd turn = quatd_from_rotation(vec3d_scale(spin, seconds));
    object->now.facing = quatd_normalize(quatd_multiply(turn, object->now.facing));
}

static void move_along_track(RigidObject *object, double time, double seconds)
{
    if (object->given.motion.kind != MOTION_POSES) return; // a body that is held
    Pose next = track_pose(object, time + seconds);
    object->velocity = vec3d_scale(vec3d_sub(next.position, object->now.position), 1.0 / seconds);
    Quatd turn = quatd_multiply(next.facing, quatd_conjugate(object->now.facing));
    object->spin = vec3d_scale(quatd_to_rotation(turn), 1.0 / seconds);
    object->now = next;
}

// What follows from where it is now.
static void settle(RigidObject *object)
{
    matrix_from(object->now.facing, object->matrix);
    Vec3d shift = vec3d_sub(object->now.position, object->list_pose.position);
    object->shift = vec3((float)shift.x, (float)shift.y, (float)shift.z);
    Quatd turned = quatd_multiply(object->now.facing, quatd_conjugate(object->list_pose.facing));
    float sign = turned.w < 0.0 ? -1.0f : 1.0f;
    object->turned = vec3(sign * (float)turned.x, sign * (float)turned.y, sign * (float)turned.z);
}

static double way_since(const RigidObject *object, Pose then)
{
    Quatd turned = quatd_multiply(object->now.facing, quatd_conjugate(then.facing));
    double chord = 2.0 * sqrt(turned.x * turned.x + turned.y * turned.y + turned.z * turned.z);
    return vec3d_length(vec3d_sub(object->now.position, then.position)) + object->radius * chord;
}

// Since then, by more than the margin or past a sample.
static int has_bent(const Rigid *rigid, const RigidObject *object, double then, double margin)
{
    const Motion *motion = &object->given.motion;
    return motion->kind == MOTION_SHAPES && (object->bend_speed * (rigid->time - then) > margin ||
                                             motion_interval(motion, then) != motion_interval(motion, rigid->time));
}

// Moves one object on; returns whether contacts have to be found again.
static int move_object(Rigid *rigid, RigidObject *object, double seconds)
{
    RigidBody *body = object->body >= 0 ? &rigid->bodies[object->body] : NULL;
    int must_find = 0;
    if (body && !body->is_free && rigid->time >= object->given.body->release) {
        release(body, object);
        must_find = 1; // its contacts have to learn what it weighs
    }
    if (body && body->is_free)
        move_body(rigid, body, object, seconds);
    else
        move_along_track(object, rigid->time, seconds);
    settle(object);
    return must_find | (rigid->body_count > 0 && way_since(object, object->search_pose) > object->search_margin);
}

GrainResult rigid_move(Rigid *rigid, double seconds)
{
    int32_t must_find = 0, lost = -1;
    if (rigid->is_held) return GRAIN_OK;
    PARALLEL_STRIPS(rigid->def.threads, block, parallel_block_count(rigid->object_count, OBJECT_BLOCK))
    {
        int64_t end = parallel_block_end(block, OBJECT_BLOCK, rigid->object_count);
        for (int64_t i = block * OBJECT_BLOCK; i < end; i++) {
            RigidObject *object = &rigid->objects[i];
            if (!object->has_moved || object->given.motion.kind == MOTION_SHAPES) continue;
            if (move_object(rigid, object, seconds)) __atomic_store_n(&must_find, 1, __ATOMIC_RELAXED);
            if (!(vec3d_length(object->now.position) < HUGE_VAL)) __atomic_store_n(&lost, (int32_t)i, __ATOMIC_RELAXED);
        }
    }
    if (lost >= 0)
        return fail(GRAIN_ERROR_DIVERGED,
                    "the simulation diverged: the position of body '%s' is not a number; it was pressed too deep into "
                    "another object: check that it does not start inside one",
                    rigid->objects[lost].given.name ? rigid->objects[lost].given.name : "?");
    rigid->must_find |= must_find;
    rigid->time += seconds;
    for (int i = 0; i < rigid->object_count && rigid->body_count > 0; i++)
        rigid->must_find |= has_bent(rigid, &rigid->objects[i], rigid->found_time, rigid->objects[i].search_margin);
    return GRAIN_OK;
}

// --- lists ----------------------------------------------------------------------------------------

double rigid_margin(const RigidObject *object, double seconds, double largest)
{
    if (!object->has_moved) return 0.0;
    double speed = vec3d_length(object->velocity) + object->radius * vec3d_length(object->spin);
    if (object->given.motion.kind == MOTION_SHAPES) speed = object->bend_speed;
    return real_min(real_max(speed * LIST_STEPS * seconds, LEAST_MARGIN * largest), largest);
}

void rigid_bend(Rigid *rigid, RigidObject *object, double time)
{
    const SimCollider *given = &object->given;
    RigidSurface *surface = &object->surface;
    double fastest = 0.0;
    for (int64_t leaf_triangle = 0; leaf_triangle < surface->tree.triangle_count; leaf_triangle++) {
        Vec3 speed[3];
        motion_corners(&given->motion, time, given->mesh->triangles + 3 * (int64_t)surface->triangle[leaf_triangle],
                       surface->corners + 3 * leaf_triangle, speed);
        for (int c = 0; c < 3; c++) fastest = real_max(fastest, (double)vec3_length(speed[c]));
    }
    object->bend_speed = fastest;
    rigid_surface_refit(surface, rigid->def.threads);
}

void rigid_mark(Rigid *rigid, double seconds, double largest_margin)
{
    rigid->listed_time = rigid->time;
    for (int i = 0; i < rigid->object_count; i++) {
        RigidObject *object = &rigid->objects[i];
        object->list_pose = object->now;
        if (object->has_moved) settle(object);
        if (object->given.motion.kind == MOTION_SHAPES) rigid_bend(rigid, object, rigid->time);
        object->margin = rigid_margin(object, seconds, largest_margin);
    }
}

double rigid_speed(const Rigid *rigid)
{
    double fastest = 0.0;
    for (int i = 0; i < rigid->object_count; i++) {
        const RigidObject *object = &rigid->objects[i];
        double speed = vec3d_length(object->velocity) + object->radius * vec3d_length(object->spin);
        fastest = real_max(fastest, object->body >= 0 ? real_max(speed, object->fastest) : object->fastest);
    }
    return fastest;
}

// How a unit push at the arm accelerates that point: 1/m + the turning it causes. The largest sum of a row is a bound
// for every direction.
static double lightness(const RigidBody *body, Vec3d arm)
{
    const Vec3d axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    double largest = 0.0;
    for (int a = 0; a < 3; a++) {
        Vec3d turning = rigid_turn(body->inverse_inertia, vec3d_cross(arm, axes[a]));
        Vec3d moved = vec3d_cross(turning, arm);
        moved = vec3d_add(moved, vec3d_scale(axes[a], body->inverse_mass));
        largest = real_max(largest, fabs(moved.x) + fabs(moved.y) + fabs(moved.z));
    }
    return largest;
}

double rigid_inverse_mass(const Rigid *rigid, int object_number, Vec3d place)
{
    const RigidObject *object = &rigid->objects[object_number];
    if (object->body < 0 || !rigid->bodies[object->body].is_free) return 0.0;
    const RigidBody *body = &rigid->bodies[object->body];
    return real_max(body->inverse_mass, LIGHTNESS_LIMIT * lightness(body, vec3d_sub(place, object->rest)));
}

int rigid_has_left(const Rigid *rigid)
{
    for (int i = 0; i < rigid->object_count; i++) {
        const RigidObject *object = &rigid->objects[i];
        if (!object->has_moved) continue;
        if (has_bent(rigid, object, rigid->listed_time, object->margin)) return 1;
        if (object->given.motion.kind != MOTION_SHAPES && way_since(object, object->list_pose) > object->margin)
            return 1;
    }
    return 0;
}

// --- saving ---------------------------------------------------------------------------------------

// Copies between an object's state and the numbers at `to`, either way; returns the place behind them.
typedef double *PackFn(double *to, double *value, int count);
static double *pack(double *to, double *value, int count)
{
    memcpy(to, value, (size_t)count * sizeof *to);
    return to + count;
}
static double *unpack(double *to, double *value, int count)
{
    memcpy(value, to, (size_t)count * sizeof *to);
    return to + count;
}

static void exchange(RigidObject *object, RigidBody *body, double *to, PackFn *copy)
{
    Pose *poses[] = {&object->now, &object->list_pose, &object->search_pose};
    for (int i = 0; i < 3; i++) to = copy(copy(to, &poses[i]->position.x, 3), &poses[i]->facing.w, 4);
    to = copy(copy(to, &object->velocity.x, 3), &object->spin.x, 3);
    to = copy(copy(to, &object->margin, 1), &object->search_margin, 1);
    to = copy(to, &object->bend_speed, 1);
    if (!body) return;
    double is_free = (double)body->is_free;
    copy(copy(to, &body->angular.x, 3), &is_free, 1);
    body->is_free = is_free > 0.0;
}

static RigidBody *body_of(const Rigid *rigid, const RigidObject *object)
{
    return object->body >= 0 ? &rigid->bodies[object->body] : NULL;
}

const ColumnRule rigid_column_rules[] = {{"rigid.time", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_FINITE}}, NULL},
                                         {"rigid.listed_time", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_FINITE}}, NULL},
                                         {"rigid.found_time", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_FINITE}}, NULL},
                                         {"rigid.must_find", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
                                         {"rigid.objects",
                                          GRAIN_F64,
                                          PACKED,
                                          COLUMN_ANY_LENGTH,
                                          {{3, COLUMN_PLACE},
                                           {4, COLUMN_TURN},
                                           {3, COLUMN_PLACE},
                                           {4, COLUMN_TURN},
                                           {3, COLUMN_PLACE},
                                           {4, COLUMN_TURN},
                                           {6, COLUMN_FINITE},
                                           {3, COLUMN_NOT_NEGATIVE},
                                           {4, COLUMN_FINITE}},
                                          NULL},
                                         // The first two doubles are four integers, which load_contacts checks.
                                         {"rigid.contacts",
                                          GRAIN_F64,
                                          RIGID_CONTACT_DOUBLES,
                                          COLUMN_ANY_LENGTH,
                                          {{2, COLUMN_ANY}, {RIGID_CONTACT_DOUBLES - 2, COLUMN_FINITE}},
                                          NULL},
                                         {"rigid.pull", GRAIN_F64, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}}, NULL},
                                         {NULL}};

int rigid_save(const Rigid *rigid, Column *columns)
{
    for (int i = 0; i < rigid->object_count; i++)
        exchange(&rigid->objects[i], body_of(rigid, &rigid->objects[i]), rigid->packed + PACKED * i, pack);
    columns[0] = (Column){"rigid.time", GRAIN_F64, 1, 1, &rigid->time};
    columns[1] = (Column){"rigid.listed_time", GRAIN_F64, 1, 1, &rigid->listed_time};
    columns[2] = (Column){"rigid.found_time", GRAIN_F64, 1, 1, &rigid->found_time};
    columns[3] = (Column){"rigid.must_find", GRAIN_I32, 1, 1, &rigid->must_find};
    columns[4] = (Column){"rigid.objects", GRAIN_F64, PACKED, rigid->object_count, rigid->packed};
    columns[5] = (Column){"rigid.contacts", GRAIN_F64, RIGID_CONTACT_DOUBLES, rigid->contact_count, rigid->contacts};
    columns[6] = (Column){"rigid.pull", GRAIN_F64, 3, rigid->body_count, rigid->pull};
    return rigid->is_pulled ? 7 : 6;
}

static int leaf_exists(const RigidObject *object, int32_t leaf_triangle)
{
    return leaf_triangle >= -1 && leaf_triangle < (object->given.mesh ? object->surface.tree.triangle_count : 0);
}

static GrainResult load_contacts(Rigid *rigid, const Column *columns, int column_count)
{
    const Column *saved = column_find(columns, column_count, "rigid.contacts");
    rigid->contact_count = saved ? saved->count : 0;
    TRY(rigid_reserve_contacts(rigid, rigid->contact_count));
    TRY(column_copy(columns, column_count, "rigid.contacts", GRAIN_F64, RIGID_CONTACT_DOUBLES, rigid->contact_count,
                    rigid->contacts));
    int64_t at = 0;
    for (int b = 0; b < rigid->body_count; b++) {
        rigid->first_contact[b] = at;
        for (; at < rigid->contact_count && rigid->contacts[at].body == b; at++) {
            const RigidContact *contact = &rigid->contacts[at];
            if (contact->point < 0 || contact->point >= rigid->bodies[b].point_count || contact->other < 0 ||
                contact->other >= rigid->object_count ||
                !leaf_exists(&rigid->objects[contact->other], contact->leaf_triangle))
                return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has a contact that belongs to no object");
        }
    }
    rigid->first_contact[rigid->body_count] = at;
    if (at != rigid->contact_count) return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's contacts are not in order");
    rigid_list_reactions(rigid);
    return GRAIN_OK;
}

GrainResult rigid_load(Rigid *rigid, const Column *columns, int column_count)
{
    Column own[8];
    rigid->is_pulled = column_find(columns, column_count, "rigid.pull") != NULL;
    int count = rigid_save(rigid, own);
    for (int i = 0; i < count; i++) {
        if (i == 5) continue; // contacts: as many as there were then
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    }
    for (int i = 0; i < rigid->object_count; i++) {
        RigidObject *object = &rigid->objects[i];
        if (object->given.motion.kind == MOTION_SHAPES) rigid_bend(rigid, object, rigid->listed_time);
        exchange(object, body_of(rigid, object), rigid->packed + PACKED * i, unpack);
        settle(object);
    }
    return load_contacts(rigid, columns, column_count);
}

Vec3d rigid_body_pivot(const Rigid *rigid, int body)
{
    const RigidObject *object = &rigid->objects[rigid->bodies[body].object];
    Vec3d arm = vec3d_sub(object->given.body->pivot, object->rest);
    return vec3d_add(object->now.position, quatd_rotate(object->now.facing, arm));
}
