// SPDX-License-Identifier: GPL-3.0-or-later
// Collisions of render grains: no grain enters a collider; free grains bounce, slide and come to rest on it.
#include "base/real.h"
#include "sim/rigid/rigid_view.h"
#include "upsample/upsample_inside.h"

#include <math.h>
#include <stddef.h>

// Share of its speed towards a wall a single grain keeps: sand hardly bounces.
#define RESTITUTION 0.15f
// m/s: slower bounces are none.
#define SLOWEST_BOUNCE 0.1f
// Over the grain's radius: closer than this to touching is touching, deeper than this is pushed out. A grain at rest is
// in between and stays where it is to the bit.
#define SLOP 0.02f
// Steps of a grain along and around walls within one substep, at most; what is left of its way then is dropped.
#define MOST_STEPS 12
#define MOST_PUSHES 6
// Along a wall a grain goes at most this far, in its own radii, before it looks again.
#define STRIDE 4.0f

typedef struct Wall {
    float distance;
    Vec3 normal, velocity; ///< unit, or 0 where the way out is unknown
} Wall;

static Vec3 to_own_space(const MotionFrame *frame, Vec3 p)
{
    return frame->is_moving ? quat_rotate(quat_conjugate(frame->rotation), vec3_sub(p, frame->position)) : p;
}

static Vec3 velocity_at(const MotionFrame *frame, Vec3 p)
{
    if (!frame->is_moving) return vec3(0, 0, 0);
    return vec3_add(frame->velocity, vec3_cross(frame->spin, vec3_sub(p, frame->position)));
}

// m, from the box around the field; 0 inside it.
static float distance_to_bounds(const GrainSdf *sdf, Vec3 p)
{
    Vec3 low, high, zero = {0, 0, 0};
    sdf_bounds(sdf, &low, &high);
    return vec3_length(vec3_max(vec3_max(vec3_sub(low, p), vec3_sub(p, high)), zero));
}

static float distance_to(const UpsampleWalls *walls, int number, Vec3 p, Vec3 *normal)
{
    const SimCollider *c = &walls->collider[number];
    const MotionFrame *frame = &walls->frame[number];
    Vec3 own = to_own_space(frame, p), slope;
    float distance;
    if (c->sdf) {
        distance = sdf_sample_point(c->sdf, own, &slope);
        if (distance >= sdf_half_width(c->sdf)) distance = real_maxf(distance, distance_to_bounds(c->sdf, own));
        slope = vec3_normalize(slope, vec3(0, 0, 0));
    } else {
        distance = vec3_dot(vec3_sub(own, c->plane_point), c->plane_normal);
        slope = c->plane_normal;
    }
    *normal = frame->is_moving ? quat_rotate(frame->rotation, slope) : slope;
    return distance;
}

// The colliders a grain asks: all of them, or those near its block.
typedef struct Asked {
    const UpsampleWalls *walls;
    const int *list; ///< NULL: 0, 1, 2, ...
    int count;
} Asked;

static Asked ask_all(const Upsampler *u) { return (Asked){&u->walls, NULL, u->walls.count}; }

static int asked_number(const Asked *asked, int i) { return asked->list ? asked->list[i] : i; }

static Wall nearest_wall(const Asked *asked, Vec3 p)
{
    Wall wall = {INFINITY, {0, 0, 0}, {0, 0, 0}};
    for (int i = 0; i < asked->count; i++) {
        int number = asked_number(asked, i);
        Vec3 normal;
        float distance = distance_to(asked->walls, number, p, &normal);
        if (distance >= wall.distance) continue;
        wall = (Wall){distance, normal, velocity_at(&asked->walls->frame[number], p)};
    }
    return wall;
}

// --- a block --------------------------------------------------------------------------------------

// Whether the collider may be nearer than range to some point of the ball.
static int is_near(const UpsampleWalls *walls, int number, Vec3 centre, float radius, float range, float seconds)
{
    const GrainSdf *sdf = walls->collider[number].sdf;
    const MotionFrame *frame = &walls->frame[number];
    Vec3 own = to_own_space(frame, centre), unused;
    if (frame->is_moving)
        range += seconds * (vec3_length(velocity_at(frame, centre)) + vec3_length(frame->spin) * (radius + range));
    if (!sdf) return distance_to(walls, number, centre, &unused) - radius < range;
    if (distance_to_bounds(sdf, own) - radius >= range) return 0;
    float distance = sdf_sample_point(sdf, own, &unused);
    // Half a voxel for what interpolation makes of distances.
    return distance - radius < range + 0.5f * sdf_voxel_size(sdf) || distance >= sdf_half_width(sdf);
}

// Distances and normals at the grains of a block.
typedef struct Samples {
    float d[UPSAMPLE_BLOCK + 32], nx[UPSAMPLE_BLOCK + 32], ny[UPSAMPLE_BLOCK + 32], nz[UPSAMPLE_BLOCK + 32];
} Samples;

// Beyond the band the field knows no distance, but the box around it does.
static void extend_distances(const GrainSdf *sdf, const float *x, const float *y, const float *z, int count, float *d)
{
    for (int i = 0; i < count; i++)
        if (d[i] >= sdf_half_width(sdf)) d[i] = real_maxf(d[i], distance_to_bounds(sdf, vec3(x[i], y[i], z[i])));
}

static void sample_field(const GrainSdf *sdf, const float *x, const float *y, const float *z, int count, Samples *out)
{
    sdf_sample(sdf, x, y, z, count, out->d, out->nx, out->ny, out->nz);
    extend_distances(sdf, x, y, z, count, out->d);
}

// Normals of fields are left in the collider's own space, and as long as they are.
static void sample_block(const UpsampleWalls *walls, int number, const float *x, const float *y, const float *z,
                         int count, Samples *out)
{
    const GrainSdf *sdf = walls->collider[number].sdf;
    const MotionFrame *frame = &walls->frame[number];
    if (!sdf) {
        for (int i = 0; i < count; i++) {
            Vec3 normal;
            out->d[i] = distance_to(walls, number, vec3(x[i], y[i], z[i]), &normal);
            out->nx[i] = normal.x, out->ny[i] = normal.y, out->nz[i] = normal.z;
        }
        return;
    }
    if (!frame->is_moving) {
        sample_field(sdf, x, y, z, count, out);
        return;
    }
    float own[3][UPSAMPLE_BLOCK] = {{0}}; // the compiler does not know that a block has grains
    for (int i = 0; i < count; i++) {
        Vec3 place = to_own_space(frame, vec3(x[i], y[i], z[i]));
        own[0][i] = place.x, own[1][i] = place.y, own[2][i] = place.z;
    }
    sample_field(sdf, own[0], own[1], own[2], count, out);
}

static void take_nearer(const UpsampleWalls *all, int number, const float *x, const float *y, const float *z, int count,
                        BlockWalls *walls)
{
    const MotionFrame *frame = &all->frame[number];
    Samples s;
    sample_block(all, number, x, y, z, count, &s);
    for (int i = 0; i < count; i++) {
        if (s.d[i] >= walls->distance[i]) continue;
        Vec3 normal = {s.nx[i], s.ny[i], s.nz[i]}, velocity = velocity_at(frame, vec3(x[i], y[i], z[i]));
        if (frame->is_moving && all->collider[number].sdf)
            normal = quat_rotate(frame->rotation, vec3_normalize(normal, vec3(0, 0, 0)));
        walls->distance[i] = s.d[i];
        walls->nx[i] = normal.x, walls->ny[i] = normal.y, walls->nz[i] = normal.z;
        walls->vx[i] = velocity.x, walls->vy[i] = velocity.y, walls->vz[i] = velocity.z;
        walls->nearest[i] = number;
    }
}

int upsample_find_walls(const Upsampler *u, const BlockBox *box, const float *x, const float *y, const float *z,
                        int count, float range, float seconds, BlockWalls *walls)
{
    Vec3 low = {box->low[0], box->low[1], box->low[2]}, high = {box->high[0], box->high[1], box->high[2]};
    Vec3 centre = vec3_scale(vec3_add(low, high), 0.5f);
    float radius = 0.5f * vec3_length(vec3_sub(high, low));
    int found = 0;
    for (int c = 0; c < u->walls.count; c++) {
        if (!is_near(&u->walls, c, centre, radius, range, seconds)) continue;
        for (int i = 0; found == 0 && i < count + 32; i++) {
            walls->distance[i] = 1e30f, walls->nearest[i] = -1;
            walls->nx[i] = walls->ny[i] = walls->nz[i] = walls->vx[i] = walls->vy[i] = walls->vz[i] = 0.0f;
        }
        if (found < UPSAMPLE_NEAR_WALLS) walls->near[found] = c;
        found++;
        take_nearer(&u->walls, c, x, y, z, count, walls);
    }
    walls->near_count = found <= UPSAMPLE_NEAR_WALLS ? found : -1;
    walls->range = range;
    return found > 0;
}

// --- one grain ------------------------------------------------------------------------------------

typedef enum Painted { FRICTION, STICKINESS } Painted;

// Of the surface where a grain touches it.
static float painted(const UpsampleWalls *walls, int number, Painted what, float value, Vec3 position)
{
    const RigidPaint *paint = walls->paint ? &walls->paint[2 * number + (int)what] : NULL;
    if (!paint || !paint->numbers || value == 0.0f) return value;
    Vec3 own = to_own_space(&walls->frame[number], position);
    rigid_paint_sample(paint, value, &own.x, &own.y, &own.z, 1, &value);
    return value;
}

// The grain's velocity after touching: no longer into the wall, and slowed along it by Coulomb's friction.
static Vec3 bounce_off(const Wall *wall, Vec3 velocity, float friction)
{
    Vec3 slip = vec3_sub(velocity, wall->velocity);
    float towards = -vec3_dot(slip, wall->normal);
    if (towards <= 0.0f) return velocity;
    Vec3 along = vec3_add_scaled(slip, wall->normal, towards);
    float bounce = towards > SLOWEST_BOUNCE ? RESTITUTION * towards : 0.0f;
    float speed = vec3_length(along), slowed = friction * (towards + bounce);
    along = speed > slowed ? vec3_scale(along, 1.0f - slowed / speed) : vec3(0, 0, 0);
    return vec3_add(wall->velocity, vec3_add_scaled(along, wall->normal, bounce));
}

// seconds: for which a sticky wall pulls.
static Vec3 touch(const UpsampleWalls *walls, int number, const Wall *wall, Vec3 position, Vec3 velocity, float seconds)
{
    const SimCollider *c = &walls->collider[number];
    float friction = painted(walls, number, FRICTION, c->friction, position);
    velocity = bounce_off(wall, velocity, friction);
    float held = seconds * painted(walls, number, STICKINESS, walls->weight * c->stickiness, position);
    if (held == 0.0f) return velocity;
    return vec3_add(wall->velocity, rigid_stick(vec3_sub(velocity, wall->velocity), wall->normal, friction, held));
}

// Room that is left between a grain and the colliders that are not asked, for it to go on in: what a block's list
// leaves out stays at least the list's range away from all places of the block's grains, however it moves meanwhile. A
// grain that has used it up asks all colliders again. So the list changes the time it takes and no bit of the result.
static float room_left(float range, float way, float radius) { return range - way - radius * (1.0f + 3.0f * SLOP); }

// Returns 1 when the grain is out of all that is asked, 0 when there is no way out; adds to the way it went.
static int push_out(const Asked *asked, Vec3 *position, float radius, float *way)
{
    for (int push = 0; push < MOST_PUSHES; push++) {
        Wall wall = nearest_wall(asked, *position);
        if (wall.distance >= radius * (1.0f - SLOP)) return 1;
        if (vec3_dot(wall.normal, wall.normal) == 0.0f) return 0;
        *position = vec3_add_scaled(*position, wall.normal, radius - wall.distance);
        *way += radius - wall.distance;
    }
    return nearest_wall(asked, *position).distance > 0.0f;
}

int upsample_push_out(const Upsampler *u, Vec3 *position, float radius)
{
    Asked all = ask_all(u);
    float way = 0.0f;
    return push_out(&all, position, radius, &way);
}

typedef struct Moved {
    Vec3 position, velocity;
    float way;     ///< m, that it has gone
    float fastest; ///< m/s, that it was since the step began
} Moved;

// Touches every wall in reach, in a corner more than one; returns how much of `left` seconds it can go on before one
// may be in the way. held: s, for which sticky walls pull.
static float touch_walls(const Asked *asked, Moved *grain, float radius, float left, float held)
{
    float time = left;
    grain->fastest = vec3_length(grain->velocity);
    for (int k = 0; k < asked->count; k++) {
        int number = asked_number(asked, k);
        Wall wall;
        wall.distance = distance_to(asked->walls, number, grain->position, &wall.normal);
        wall.velocity = velocity_at(&asked->walls->frame[number], grain->position);
        float gap = wall.distance - radius, stride = gap;
        if (gap <= SLOP * radius) {
            grain->velocity = touch(asked->walls, number, &wall, grain->position, grain->velocity, held);
            grain->fastest = real_maxf(grain->fastest, vec3_length(grain->velocity));
            stride = STRIDE * radius;
            if (gap < -SLOP * radius) {
                grain->position = vec3_add_scaled(grain->position, wall.normal, -gap);
                grain->way -= gap;
            }
        }
        float speed = vec3_length(vec3_sub(grain->velocity, wall.velocity));
        if (speed * time > stride) time = stride / speed;
    }
    return time;
}

// Steps as long as the nearest wall is away: no wall is ever jumped over, however thin. Returns 0 where the walls asked
// are not all that the grain may have met.
static int move_grain(const Asked *asked, float range, Moved *grain, float radius, float seconds)
{
    float left = seconds;
    for (int step = 0; step < MOST_STEPS && left > 0.0f; step++) {
        float time = touch_walls(asked, grain, radius, left, step == 0 ? seconds : 0.0f);
        if (room_left(range, grain->way, radius) < grain->fastest * left) return 0;
        grain->position = vec3_add_scaled(grain->position, grain->velocity, time);
        grain->way += vec3_length(grain->velocity) * time;
        left -= time;
    }
    return 1;
}

// Where the coarse particle is: never inside a collider, so it is the way out for a grain that a moving one swallowed.
static Vec3 parent_position(const Upsampler *u, uint32_t number)
{
    int64_t coarse, layer;
    upsample_identity(u, number, &coarse, &layer);
    if (coarse >= u->field.present) return vec3(0, 0, 0);
    return vec3(u->field.x[coarse], u->field.y[coarse], u->field.z[coarse]);
}

// Returns 0 where colliders that were not asked may have changed what came out.
static int move_and_push(const Asked *asked, float range, Moved *grain, float radius, float seconds, int *is_out)
{
    if (!move_grain(asked, range, grain, radius, seconds)) return 0;
    *is_out = push_out(asked, &grain->position, radius, &grain->way);
    return room_left(range, grain->way, radius) > 0.0f;
}

// Around and along the walls, with the grain's own radius.
static void move_near_wall(const Upsampler *u, const BlockWalls *walls, uint32_t number, Vec3 *position, Vec3 *velocity,
                           float seconds)
{
    int64_t coarse, layer;
    upsample_identity(u, number, &coarse, &layer);
    float radius = upsample_radius_of(u, coarse, layer);
    Moved start = {*position, *velocity, 0.0f, 0.0f}, grain = start;
    Asked near = {&u->walls, walls->near, walls->near_count}, all = ask_all(u);
    int is_out = 0;
    if (near.count < 0 || !move_and_push(&near, walls->range, &grain, radius, seconds, &is_out)) {
        grain = start;
        move_and_push(&all, INFINITY, &grain, radius, seconds, &is_out);
    }
    *position = is_out ? grain.position : parent_position(u, number);
    *velocity = is_out ? grain.velocity : vec3(0, 0, 0);
}

float upsample_move_among_walls(Upsampler *u, int64_t first, int count, float seconds, const BlockWalls *walls)
{
    GrainColumns *g = &u->grains;
    float largest = u->grain_radius * (1.0f + u->def.size_spread), fastest = 0.0f;
    for (int i = 0; i < count; i++) {
        int64_t p = first + i;
        Vec3 position = {g->x[p], g->y[p], g->z[p]}, velocity = {g->vx[p], g->vy[p], g->vz[p]};
        Vec3 slip = vec3_sub(velocity, vec3(walls->vx[i], walls->vy[i], walls->vz[i]));
        if (walls->distance[i] - vec3_length(slip) * seconds > largest * (1.0f + SLOP))
            position = vec3_add_scaled(position, velocity, seconds);
        else
            move_near_wall(u, walls, g->number[p], &position, &velocity, seconds);
        fastest = real_maxf(fastest, vec3_length(velocity));
        g->x[p] = position.x, g->y[p] = position.y, g->z[p] = position.z;
        g->vx[p] = velocity.x, g->vy[p] = velocity.y, g->vz[p] = velocity.z;
    }
    return fastest;
}
