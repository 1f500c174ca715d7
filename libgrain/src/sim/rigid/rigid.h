// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The colliders and rigid bodies of a scene, shared by all solvers: static colliders, colliders moved or deformed by
/// animation, and bodies moved by forces. In each step a solver computes the contacts of its particles and calls
///
///     rigid_find_loads     contacts of bodies with each other and with colliders: points of one cover against the
///                          surface of the other, with tangential springs that persist between steps
///     rigid_add_load       forces of the sand on bodies
///     rigid_move           moves bodies by their loads and colliders along their poses; velocities are the resulting
///                          differences
///
/// Everything is in double precision: a body of a tonne at rest on others penetrates them by a millionth of its size,
/// and static friction is resolved within that millionth.
#include "sim/rigid/rigid_paint.h"
#include "sim/rigid/rigid_surface.h"
#include "sim/solver.h"

typedef struct RigidObject {
    SimCollider given;
    int32_t body;         ///< its number among the bodies, or -1
    int32_t is_held;      ///< by rigid_hold
    int32_t has_moved;    ///< its pose differs from that of time 0 or may change: 0 for static colliders
    Vec3d rest;           ///< m, the pivot at time 0
    Pose now;             ///< the pivot of a body is its centre of mass
    Pose list_pose;       ///< when the solver last made its lists (rigid_mark)
    Pose search_pose;     ///< when its contacts with bodies were last searched
    Vec3d velocity, spin; ///< over the last step
    double fastest;       ///< m/s: bound over all its points and the whole shot, from poses and shapes
    double radius;        ///< m, from the pivot to the farthest point; planes: 0
    double margin;        ///< m: how far a point may move before the solver must make its lists again
    double search_margin; ///< the same for contacts with bodies
    double bend_speed;    ///< m/s, of the fastest corner of a deforming mesh in the current interval
    Vec3 shift, turned;   ///< since the lists were made: of the pivot; x, y, z of the quaternion
    double matrix[9];     ///< of now.facing
    RigidSurface surface; ///< in the coordinates of time 0; of a deforming mesh: when last updated
    RigidPaint friction_paint, stickiness_paint; ///< factors of its friction and stickiness over the surface
} RigidObject;

typedef struct RigidBody {
    int32_t object;
    int32_t is_free;           ///< after its release
    double inverse_mass;       ///< 1/kg
    double inverse_inertia[9]; ///< in the axes of time 0
    Vec3d angular;             ///< kg m2/s, about the centre, along the world's axes
    Vec3d force, torque;       ///< N, N m: loads of this step
    Vec3d *arms;               ///< m, points of the cover from the centre, in the axes of time 0
    int64_t point_count;
} RigidBody;

/// A point of a body near the surface of another object. The plane is in that object's coordinates of time 0.
typedef struct RigidContact {
    int32_t body, point, other;
    int32_t leaf_triangle; ///< of the other's surface; -1 for planes
    Vec3d foot, normal;    ///< m, a point of the plane; unit, outward
    Vec3d sampled;         ///< m, where the point was when the plane was found
    Vec3d drive;           ///< m/s, of the surface as it bends
    Vec3d shear;           ///< m, the tangential spring, along the world's axes
    double mass;           ///< kg, effective
    double friction;
} RigidContact;
#define RIGID_CONTACT_DOUBLES 19

/// The force of a contact on its body, and where it acts.
typedef struct RigidPush {
    Vec3d force, at;
} RigidPush;

typedef struct RigidFound {
    int32_t point, other, leaf_triangle;
    Vec3 foot, normal, sampled, drive;
} RigidFound;

/// An object near a body.
typedef struct RigidNear {
    int32_t other, points; ///< points of the body near its surface
} RigidNear;

typedef struct RigidDef {
    const SimCollider *colliders;
    int collider_count;
    Vec3 gravity;      ///< m/s2; the initial value is the unit of stickiness
    double stiffness;  ///< of contacts of bodies over effective mass, 1/s2
    double damping;    ///< likewise, 1/s
    float point_reach; ///< m: least distance at which a point of a cover notices the surface of another object
    int threads;
} RigidDef;

typedef struct Rigid {
    RigidDef def;
    float weight;       ///< m/s2: the unit of stickiness
    double time;        ///< s
    double listed_time; ///< of the solver's lists
    double found_time;  ///< of the contacts of bodies
    int32_t must_find;
    int32_t is_held; ///< by rigid_hold
    int object_count, body_count;
    RigidObject *objects; ///< as many as colliders, in their order
    RigidBody *bodies;
    Vec3d *pull;       ///< m/s2, of each body: acceleration by force fields
    int32_t is_pulled; ///< whether fields have acted on bodies
    RigidContact *contacts, *contacts_before;
    int64_t contact_count, contacts_capacity, before_capacity;
    int64_t *first_contact; ///< body -> its first; body_count + 1 entries
    RigidPush *pushes;
    int64_t pushes_capacity;
    RigidFound *found; ///< found_room for each body
    int64_t found_room, found_capacity;
    int64_t *found_count; ///< of each body
    RigidNear *near;      ///< body by body, ascending by the other
    int64_t *near_first;  ///< body -> its first; body_count + 1 entries
    int32_t *reaction;    ///< contacts with a body as the other, body by body, ascending
    int64_t *reaction_first;
    int64_t near_capacity, reaction_capacity;
    int32_t *along, *rank; ///< bodies sorted by where they begin along x; body -> its index in `along`
    double *begin;         ///< m, where each body begins
    double *packed;        ///< the objects' state as saved to checkpoints
} Rigid;

/// What def->colliders point to must outlive the result.
GrainResult rigid_create(const RigidDef *def, Rigid **out);
void rigid_destroy(Rigid *rigid);

/// Contact forces of bodies with bodies and colliders. Clears the loads of the previous step.
GrainResult rigid_find_loads(Rigid *rigid, double seconds);
/// Adds a force, and a torque about its pivot, to an object. No effect on objects moved by animation.
void rigid_add_load(Rigid *rigid, int object, Vec3d force, Vec3d torque);
/// Sets the acceleration (m/s2) of a body by force fields until the next call.
void rigid_pull(Rigid *rigid, int body, Vec3d acceleration);
/// Advances all objects. GRAIN_ERROR_DIVERGED names a body without a finite position.
GrainResult rigid_move(Rigid *rigid, double seconds);

/// Sets friction and stickiness of each object, also for contacts between bodies.
void rigid_steer(Rigid *rigid, const SimGrip *grips);

/// Holds all objects at rest at time 0 and stops the clock, or releases them. Only before the first step.
void rigid_hold(Rigid *rigid, int is_held);

/// Notes that the solver makes its lists now, for steps of this length. largest_margin (m): how far the lists reach.
void rigid_mark(Rigid *rigid, double seconds, double largest_margin);
/// Whether an object has moved farther than its margin since rigid_mark.
int rigid_has_left(const Rigid *rigid);
/// m/s, of the fastest point, including known future motion.
double rigid_speed(const Rigid *rigid);
/// 1/kg: effective inverse mass of an object for a contact at this place (coordinates of time 0); 0 for colliders. If
/// several contacts share a body, each multiplies it by their number, so that together they oscillate no faster than
/// one alone.
double rigid_inverse_mass(const Rigid *rigid, int object, Vec3d place);

/// Everything needed to continue bit for bit, and what its columns may hold.
extern const ColumnRule rigid_column_rules[];
int rigid_save(const Rigid *rigid, Column *columns);
GrainResult rigid_load(Rigid *rigid, const Column *columns, int column_count);

/// Where the pivot of a body (SimBody) is now.
Vec3d rigid_body_pivot(const Rigid *rigid, int body);

/// m: how far an object may move before lists are made again, at most `largest`.
double rigid_margin(const RigidObject *object, double seconds, double largest);
/// Updates the surface of a deforming mesh to this time.
void rigid_bend(Rigid *rigid, RigidObject *object, double time);

// rigid_near.c
/// Finds the objects near each body.
GrainResult rigid_find_near(Rigid *rigid);
/// m: distance within which a point of a body is tested against another object.
double rigid_reach(const Rigid *rigid, const RigidObject *body, const RigidObject *other);
/// NULL if they are not near each other.
RigidNear *rigid_near_to(const Rigid *rigid, int body, int other);
int rigid_is_in_box(const RigidSurface *surface, Vec3d at, double reach);

// rigid_contacts.c
/// m/s, of the surface where a plane touches it, as it bends.
Vec3 rigid_drive_at(const RigidObject *object, double time, const RigidPlane *plane);
GrainResult rigid_find_contacts(Rigid *rigid, double seconds);
/// Lists the contacts in which a body is the other object; call after contacts were found or loaded.
void rigid_list_reactions(Rigid *rigid);
GrainResult rigid_reserve_contacts(Rigid *rigid, int64_t count);
void rigid_push_contacts(Rigid *rigid, double seconds);
void rigid_free_contacts(Rigid *rigid);

// --- small geometry -----------------------------------------------------------------------------

static inline Vec3d rigid_turn(const double matrix[9], Vec3d v)
{
    return (Vec3d){matrix[0] * v.x + matrix[1] * v.y + matrix[2] * v.z,
                   matrix[3] * v.x + matrix[4] * v.y + matrix[5] * v.z,
                   matrix[6] * v.x + matrix[7] * v.y + matrix[8] * v.z};
}
static inline Vec3d rigid_turn_back(const double matrix[9], Vec3d v)
{
    return (Vec3d){matrix[0] * v.x + matrix[3] * v.y + matrix[6] * v.z,
                   matrix[1] * v.x + matrix[4] * v.y + matrix[7] * v.z,
                   matrix[2] * v.x + matrix[5] * v.y + matrix[8] * v.z};
}
/// A world position in the object's coordinates of time 0.
static inline Vec3d rigid_to_rest(const RigidObject *object, Vec3d place)
{
    return vec3d_add(rigid_turn_back(object->matrix, vec3d_sub(place, object->now.position)), object->rest);
}
