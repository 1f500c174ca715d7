// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// What is solid in a scene: walls that stand, props that move or bend as the artist says, and bodies that forces move.
/// Shared by all solvers. A solver lets its particles touch the objects, hands over what they do to bodies
/// (rigid_add_load), and lets rigid move them:
///
///     rigid_find_loads     bodies touch each other and the props: points of the cover of one against the surface of
///                          the other, with springs that remember
///     rigid_add_load       what sand does to bodies
///     rigid_move           bodies by their loads, props along their poses; velocities follow from the way they went
///
/// Everything is in double precision: a body of a tonne that rests on others sinks in by a millionth of its size, and
/// static friction lives in that millionth.
#include "sim/rigid/rigid_paint.h"
#include "sim/rigid/rigid_surface.h"
#include "sim/solver.h"

typedef struct RigidObject {
    SimCollider given;
    int32_t body;         ///< its number among the bodies, or -1
    int32_t is_held;      ///< by rigid_hold
    int32_t has_moved;    ///< its pose is not the one at time 0, or may become another: 0 for what stands
    Vec3d rest;           ///< m, the pivot at time 0
    Pose now, listed;     ///< of bodies the pivot is the centre of mass; listed: when the solver last made its lists
                          ///< (rigid_mark)
    Pose found;           ///< when its contacts with bodies were last looked for
    Vec3d velocity, spin; ///< over the last step
    double fastest;       ///< m/s: of any of its points, ever, by its poses and shapes
    double radius;        ///< m, from the pivot to the farthest point; planes: 0
    double margin;        ///< m: a point may go that far before the solver makes its lists again
    double found_margin;  ///< the same for contacts with bodies
    double bend_speed;    ///< m/s, of the fastest corner of a mesh that bends, in the present interval
    Vec3 shift, turned;   ///< since the lists were made: of the pivot; x, y, z of the quaternion
    double matrix[9];     ///< of now.facing
    RigidSurface surface; ///< in the coordinates of time 0; of a mesh that bends: where it was looked at last
    RigidPaint friction_paint, stickiness_paint; ///< what of the object's friction and stickiness there is where
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
    int32_t slot;       ///< triangle of the other's surface; -1 for planes
    Vec3d foot, normal; ///< m, a point of the plane; unit, outward
    Vec3d sampled;      ///< m, where the point was when the plane was found
    Vec3d drive;        ///< m/s, of the surface as it bends
    Vec3d shear;        ///< m, the tangential spring, along the world's axes
    double mass;        ///< kg, effective
    double friction;
} RigidContact;
#define RIGID_CONTACT_DOUBLES 19

/// What a contact does to its body.
typedef struct RigidPush {
    Vec3d force, at;
} RigidPush;

typedef struct RigidFound {
    int32_t point, other, slot;
    Vec3 foot, normal, sampled, drive;
} RigidFound;

/// An object a body comes near to.
typedef struct RigidNear {
    int32_t other, points; ///< points of the body near its surface
} RigidNear;

typedef struct RigidDef {
    const SimCollider *colliders;
    int collider_count;
    Vec3 gravity;     ///< m/s2; stickiness counts in what it is at the start
    double stiffness; ///< of contacts of bodies over effective mass, 1/s2
    double damping;   ///< likewise, 1/s
    float
        point_reach; ///< m: how far from the surface of another object a point of a cover takes notice of it, at least
    int threads;
} RigidDef;

typedef struct Rigid {
    RigidDef def;
    float weight;       ///< m/s2: what stickiness counts in
    double time;        ///< s
    double listed_time; ///< of the solver's lists
    double found_time;  ///< of the contacts of bodies
    int32_t must_find;
    int32_t is_held; ///< by rigid_hold
    int object_count, body_count;
    RigidObject *objects; ///< as many as colliders, in their order
    RigidBody *bodies;
    Vec3d *pull;       ///< m/s2, of each body: what force fields add to gravity
    int32_t is_pulled; ///< they ever did
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
    int32_t *along, *rank; ///< bodies in the order of where they begin along x; body -> its place in that
    double *begin;         ///< m, where each body begins
    double *packed;        ///< the objects' state as it is saved
} Rigid;

/// def->colliders and what they point to stay valid as long as the result lives.
GrainResult rigid_create(const RigidDef *def, Rigid **out);
void rigid_destroy(Rigid *rigid);

/// Contact forces of bodies with everything but particles. Clears the loads of the previous step.
GrainResult rigid_find_loads(Rigid *rigid, double seconds);
/// Adds a force, and a torque about its pivot, to an object. No effect on objects moved by animation.
void rigid_add_load(Rigid *rigid, int object, Vec3d force, Vec3d torque);
/// What force fields add to gravity for a body (RigidBody), m/s2, until the next call.
void rigid_pull(Rigid *rigid, int body, Vec3d acceleration);
/// Advances all objects. GRAIN_ERROR_DIVERGED names a body without a finite position.
GrainResult rigid_move(Rigid *rigid, double seconds);

/// Friction and stickiness of each object from now on, also of contacts of bodies.
void rigid_steer(Rigid *rigid, const SimGrip *grips);

/// Holds everything where it is at time 0, without speed, and time with it; or lets it go. Only before time has passed.
void rigid_hold(Rigid *rigid, int is_held);

/// The solver makes its lists for steps of this length. largest_margin (m): what it can look ahead.
void rigid_mark(Rigid *rigid, double seconds, double largest_margin);
/// Whether an object has gone farther since then than its margin.
int rigid_has_left(const Rigid *rigid);
/// m/s, of the fastest point there is or will be as far as that is known.
double rigid_speed(const Rigid *rigid);
/// 1/kg: of an object, for a contact at this place (coordinates of time 0). 0 for what no force moves. Where several
/// contacts share a body, each takes this times their number: together they swing no faster than one alone.
double rigid_inverse_mass(const Rigid *rigid, int object, Vec3d place);

/// Everything needed to go on bit for bit.
int rigid_save(const Rigid *rigid, Column *columns);
GrainResult rigid_load(Rigid *rigid, const Column *columns, int column_count);

/// Where the pivot of a body (SimBody) is now.
Vec3d rigid_body_pivot(const Rigid *rigid, int body);

/// m: how far an object may go before lists are made again, when the farthest is `largest`.
double rigid_margin(const RigidObject *object, double seconds, double largest);
/// The surface of a mesh that bends as it is at this time.
void rigid_bend(Rigid *rigid, RigidObject *object, double time);

// rigid_near.c
/// Which objects each body comes near to.
GrainResult rigid_find_near(Rigid *rigid);
/// m: how near a point of a body has to be to another object to be looked at.
double rigid_reach(const Rigid *rigid, const RigidObject *body, const RigidObject *other);
/// NULL when it does not.
RigidNear *rigid_near_to(const Rigid *rigid, int body, int other);
int rigid_is_in_box(const RigidSurface *surface, Vec3d at, double reach);

// rigid_contacts.c
/// m/s, of the surface where a plane touches it, as it bends.
Vec3 rigid_drive_at(const RigidObject *object, double time, const RigidPlane *plane);
GrainResult rigid_find_contacts(Rigid *rigid, double seconds);
/// Who else feels which contacts; after they have been found or loaded.
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
/// A place of the world in the object's coordinates of time 0.
static inline Vec3d rigid_to_rest(const RigidObject *object, Vec3d place)
{
    return vec3d_add(rigid_turn_back(object->matrix, vec3d_sub(place, object->now.position)), object->rest);
}
