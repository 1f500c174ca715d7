// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/rigid/rigid_view.h"
#include "base/real.h"
#include "sdf/sdf.h"

#include <math.h>
#include <stddef.h>

// The surface as a mesh that bends has it.
static void view_bending(const Rigid *rigid, const RigidObject *object, const Vec3 *places, int count, float reach,
                         RigidView *view)
{
    for (int i = 0; i < count; i++) {
        RigidPlane plane;
        int found = rigid_surface_planes(&object->surface, places[i], reach, NULL, 0, &plane, 1);
        view->distance[i] = found ? plane.distance : reach;
        view->normal[i] = found ? plane.normal : vec3(0, 0, 0);
        view->speed[i] = found ? rigid_drive_at(object, rigid->listed_time, &plane) : vec3(0, 0, 0);
        view->friction[i] = view->pull[i] = 0.0f;
        if (!found) continue;
        float pull = rigid->weight * object->given.stickiness;
        view->friction[i] =
            rigid_paint_at_plane(&object->friction_paint, object->given.friction, &object->surface, &plane);
        view->pull[i] = rigid_paint_at_plane(&object->stickiness_paint, pull, &object->surface, &plane);
    }
}

void rigid_view(const Rigid *rigid, int number, const Vec3 *places, int count, float reach, RigidView *view)
{
    const RigidObject *object = &rigid->objects[number];
    const SimCollider *given = &object->given;
    if (given->motion.kind == MOTION_SHAPES) {
        view_bending(rigid, object, places, count, reach, view);
        return;
    }
    float x[RIGID_VIEW_CHUNK], y[RIGID_VIEW_CHUNK], z[RIGID_VIEW_CHUNK];
    float gx[RIGID_VIEW_CHUNK], gy[RIGID_VIEW_CHUNK], gz[RIGID_VIEW_CHUNK];
    x[0] = y[0] = z[0] = 0.0f; // the compiler cannot see that count is above 0
    for (int i = 0; i < count; i++) {
        Vec3d at = vec3d_from(places[i]);
        view->speed[i] = vec3(0, 0, 0);
        if (object->has_moved) { // to the coordinates of time 0
            Vec3d arm = vec3d_sub(at, object->now.position);
            view->speed[i] = vec3_from(vec3d_add(object->velocity, vec3d_cross(object->spin, arm)));
            at = vec3d_add(rigid_turn_back(object->matrix, arm), object->rest);
        }
        x[i] = (float)at.x, y[i] = (float)at.y, z[i] = (float)at.z;
    }
    if (given->sdf) sdf_sample(given->sdf, x, y, z, count, view->distance, gx, gy, gz);
    rigid_paint_sample(&object->friction_paint, given->friction, x, y, z, count, view->friction);
    rigid_paint_sample(&object->stickiness_paint, rigid->weight * given->stickiness, x, y, z, count, view->pull);
    for (int i = 0; i < count; i++) {
        Vec3 normal = given->plane_normal;
        if (given->sdf)
            normal = vec3_normalize(vec3(gx[i], gy[i], gz[i]), vec3(0, 0, 0));
        else
            view->distance[i] = vec3_dot(vec3_sub(vec3(x[i], y[i], z[i]), given->plane_point), normal);
        view->normal[i] = object->has_moved ? vec3_from(rigid_turn(object->matrix, vec3d_from(normal))) : normal;
    }
}

int rigid_may_reach(const Rigid *rigid, int number, Vec3d middle, double reach)
{
    const RigidObject *object = &rigid->objects[number];
    if (object->given.motion.kind == MOTION_SHAPES || !object->given.mesh) return 1; // planes are near everything
    Vec3d way = vec3d_sub(middle, object->now.position);
    if (vec3d_dot(way, way) >= (object->radius + reach) * (object->radius + reach)) return 0;
    if (!object->given.sdf) return 1;
    // The ball around the pivot is large when the pivot is far away: the box then says more.
    Vec3 low, high;
    sdf_bounds(object->given.sdf, &low, &high);
    Vec3d at = rigid_to_rest(object, middle);
    double x = real_max(real_max((double)low.x - at.x, at.x - (double)high.x), 0.0);
    double y = real_max(real_max((double)low.y - at.y, at.y - (double)high.y), 0.0);
    double z = real_max(real_max((double)low.z - at.z, at.z - (double)high.z), 0.0);
    return x * x + y * y + z * z < reach * reach;
}
