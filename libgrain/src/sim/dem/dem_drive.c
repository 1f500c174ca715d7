// SPDX-License-Identifier: GPL-3.0-or-later
// Walls of colliders that move: where they are in each substep, and what they do to bodies.
//
// A wall is kept as it was when the lists were made. The ball's place is seen from the collider, as if that had stood
// still since: both its own way and the collider's are small numbers, so no digit of the overlap is lost.
#include "base/alloc.h"
#include "base/error.h"
#include "sim/dem/dem.h"
#include "sim/dem/dem_contacts.h"

#include <string.h>

// After this way over the collider, in radii, a ball looks at it again; as in dem_walls.c.
#define REFRESH_RADII 0.02f

static inline Vec3 read3(const float from[3]) { return vec3(from[0], from[1], from[2]); }
static inline void write3(float to[3], Vec3 v) { to[0] = v.x, to[1] = v.y, to[2] = v.z; }

static Vec3 from_double(Vec3d v) { return vec3((float)v.x, (float)v.y, (float)v.z); }

static void look_again(const RigidObject *object, const GrainSdf *sdf, Vec3 arm, Vec3 seen, DemWallHeld *held)
{
    Quatd facing = object->list_pose.facing;
    Vec3d own = quatd_rotate(quatd_conjugate(facing), vec3d_add(vec3d_from(arm), vec3d_from(seen)));
    Vec3 gradient;
    float distance = sdf_sample_point(sdf, from_double(vec3d_add(own, object->rest)), &gradient);
    if (!(vec3_dot(gradient, gradient) > 0.0f)) return; // the plane before is the best guess
    Vec3 normal = from_double(quatd_rotate(facing, vec3d_unit(vec3d_from(gradient))));
    write3(held->normal, normal);
    held->gap = distance;
    write3(held->sampled, seen);
}

static void set_wall(DemWalls *walls, int64_t wall, const DemBall *ball, Vec3 normal, float gap, Vec3 drive)
{
    walls->normal.x[wall] = normal.x, walls->normal.y[wall] = normal.y, walls->normal.z[wall] = normal.z;
    walls->sampled.x[wall] = ball->offset[0], walls->sampled.y[wall] = ball->offset[1];
    walls->sampled.z[wall] = ball->offset[2];
    walls->gap[wall] = gap;
    walls->drive.x[wall] = drive.x, walls->drive.y[wall] = drive.y, walls->drive.z[wall] = drive.z;
}

static void drive_wall(Dem *dem, int64_t wall, const RigidObject *object)
{
    DemWalls *walls = &dem->walls;
    DemWallHeld *held = &walls->held[wall];
    const DemBall *ball = &dem->balls[walls->ball[wall]];
    Vec3 offset = read3(ball->offset);
    if (object->given.motion.kind == MOTION_SHAPES) {
        Vec3 drive = read3(held->drive), normal = read3(held->normal);
        Vec3 seen = vec3_add_scaled(offset, drive, -(float)(dem->base.rigid->time - dem->base.rigid->listed_time));
        set_wall(walls, wall, ball, normal, held->gap + vec3_dot(seen, normal), drive);
        return;
    }
    Vec3 arm = from_double(vec3d_sub(vec3d_from(read3(ball->anchor)), object->list_pose.position));
    Vec3 moved = vec3_sub(offset, object->shift), from_pivot = vec3_add(arm, moved);
    Vec3 seen = vec3_add(moved, dem_turn_arm(vec3_scale(object->turned, -1.0f), from_pivot));
    Vec3 way = vec3_sub(seen, read3(held->sampled));
    float refresh = REFRESH_RADII * ball->radius;
    if (!(walls->collider[wall] & DEM_WALL_FIXED) && vec3_dot(way, way) > refresh * refresh) {
        look_again(object, object->given.sdf, arm, seen, held);
        way = vec3_sub(seen, read3(held->sampled));
    }
    Vec3 listed = read3(held->normal), normal = vec3_add(listed, dem_turn_arm(object->turned, listed));
    float gap = held->gap + vec3_dot(way, listed);
    Vec3 touch = vec3_add_scaled(from_pivot, normal, -gap);
    set_wall(walls, wall, ball, normal, gap,
             vec3_add(from_double(object->velocity), vec3_cross(from_double(object->spin), touch)));
}

void dem_drive_walls(Dem *dem, int64_t first, int64_t last)
{
    for (int64_t wall = first; wall < last; wall++) {
        const RigidObject *object = &dem->base.rigid->objects[dem->walls.collider[wall] & ~DEM_WALL_FIXED];
        if (object->has_moved) drive_wall(dem, wall, object);
    }
}

static int32_t body_of(const Dem *dem, int64_t wall)
{
    return dem->base.rigid->objects[dem->walls.collider[wall] & ~DEM_WALL_FIXED].body;
}

// What a body's mass counts for in each of its walls.
static void share_masses(Dem *dem)
{
    for (int64_t k = 0; k < dem->loaded_count; k++) {
        int32_t wall = dem->loaded[k];
        int collider = dem->walls.collider[wall] & ~DEM_WALL_FIXED;
        const RigidObject *object = &dem->base.rigid->objects[collider];
        const DemWallHeld *held = &dem->walls.held[wall];
        Vec3 foot = vec3_add_scaled(read3(dem->balls[dem->walls.ball[wall]].anchor), read3(held->normal), -held->gap);
        Vec3d apart = vec3d_sub(vec3d_from(foot), object->list_pose.position);
        Vec3d rest = vec3d_add(quatd_rotate(quatd_conjugate(object->list_pose.facing), apart), object->rest);
        dem->walls.partner[wall] =
            (float)((double)dem->pressed[object->body] * rigid_inverse_mass(dem->base.rigid, collider, rest));
    }
}

GrainResult dem_list_loads(Dem *dem)
{
    dem->loaded_count = 0;
    if (dem->base.rigid->body_count == 0) return GRAIN_OK;
    TRY(alloc_grow((void **)&dem->pressed, &dem->pressed_capacity, dem->base.rigid->body_count, sizeof(int32_t)));
    memset(dem->pressed, 0, (size_t)dem->base.rigid->body_count * sizeof(int32_t));
    TRY(alloc_grow((void **)&dem->loaded, &dem->loaded_capacity, dem->walls.count, sizeof(int32_t)));
    for (int64_t wall = 0; wall < dem->walls.count; wall++) {
        int32_t body = body_of(dem, wall);
        if (body < 0) continue;
        dem->loaded[dem->loaded_count++] = (int32_t)wall;
        dem->pressed[body]++;
    }
    share_masses(dem);
    return GRAIN_OK;
}

void dem_load_bodies(Dem *dem)
{
    int64_t first_record = dem_round_up(dem->pairs.count);
    for (int64_t k = 0; k < dem->loaded_count; k++) { // in the order of the walls, not of threads
        int32_t wall = dem->loaded[k];
        int64_t record = 4 * (first_record + wall);
        int collider = dem->walls.collider[wall] & ~DEM_WALL_FIXED;
        const DemBall *ball = &dem->balls[dem->walls.ball[wall]];
        // Records hold what acts on the wall, and the moment for a lever of 1.
        Vec3d force = vec3d_from(read3(dem->force + record));
        Vec3d place = vec3d_add(vec3d_from(read3(ball->anchor)), vec3d_from(read3(ball->offset)));
        Vec3d arm = vec3d_sub(place, dem->base.rigid->objects[collider].now.position);
        Vec3d torque = vec3d_scale(vec3d_from(read3(dem->moment + record)), (double)ball->radius);
        torque = vec3d_add(torque, vec3d_cross(arm, force));
        if (dem->torque) torque = vec3d_add(torque, vec3d_from(read3(dem->torque + record)));
        rigid_add_load(dem->base.rigid, collider, force, torque);
    }
}
