// SPDX-License-Identifier: GPL-3.0-or-later
// Surfaces, tracks and bodies in flight, without any sand.
#include "grain/grain.h"
#include "shared/meshes.h"
#include "sim/rigid/rigid.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Distances to a box are known exactly, edges and corners included.
TEST(distance_to_a_box_is_exact_with_its_sign)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&shape);
    RigidSurface surface;
    ENSURE_OK(rigid_surface_create(&surface, &mesh, 1));
    ENSURE(surface.is_closed);
    for (int i = 0; i < 4000; i++) {
        // Many of them right beside an edge, where a face seen from its rim could mistake outside for inside.
        double x = 1.0 + 0.3 * sin(1.7 * i), y = (i % 4 == 0) ? 1.0 - 1e-6 * (i % 7) : 0.2 + sin(0.9 * i);
        double z = (i % 3 == 0) ? 1.0 + 1e-6 * (i % 5 - 2) : 0.3 + cos(2.3 * i);
        double ox = fmax(fabs(x) - 1.0, 0.0), oy = fmax(fabs(y) - 1.0, 0.0), oz = fmax(fabs(z) - 1.0, 0.0);
        double inside = fmin(fmax(fmax(fabs(x), fabs(y)), fabs(z)) - 1.0, 0.0);
        double expected = sqrt(ox * ox + oy * oy + oz * oz) + inside;
        Vec3 place = {(float)x, (float)y, (float)z};
        RigidPlane plane[2];
        ENSURE_EQUAL(rigid_surface_planes(&surface, place, 2.0f, NULL, 0, &plane[0], 1), 1);
        ENSURE_EQUAL(rigid_surface_plane(&surface, place, 2.0f, i % 13 - 1, NULL, &plane[1]), 1);
        for (int k = 0; k < 2; k++) {
            ENSURE_NEAR(plane[k].distance, expected, 5e-3 * fabs(expected) + 2e-6);
            ENSURE_NEAR(vec3_length(plane[k].normal), 1.0, 1e-5);
        }
    }
    rigid_surface_free(&surface);
    shape_free(&shape);
}

// On a mesh with hollows the plane that is found from a guess is the one found among all triangles within reach: the
// distance, and which side. 0.2 %: triangles that are equally near up to that count as equal.
TEST(the_nearest_plane_does_not_depend_on_the_guess)
{
    Shape shape = shape_torus(12, 32, 0.25);
    GrainMesh mesh = shape_mesh(&shape);
    RigidSurface surface;
    ENSURE_OK(rigid_surface_create(&surface, &mesh, 1));
    int inside = 0, outside = 0;
    for (int i = 0; i < 4000; i++) {
        Vec3 place = {1.4f * sinf(1.7f * (float)i), 1.4f * sinf(0.9f * (float)i), 0.4f * sinf(2.3f * (float)i)};
        float reach = i % 3 == 0 ? 0.05f : 0.5f;
        RigidPlane expected, plane;
        int is_near = rigid_surface_planes(&surface, place, reach, NULL, 0, &expected, 1);
        ENSURE_EQUAL(rigid_surface_plane(&surface, place, reach, i % 701 - 1, NULL, &plane), is_near);
        if (!is_near) continue;
        ENSURE_NEAR(plane.distance, expected.distance, 2e-3 * fabs((double)expected.distance) + 1e-5);
        inside += plane.distance<0.0f, outside += plane.distance> 0.0f;
    }
    ENSURE(inside > 100 && outside > 1000);
    rigid_surface_free(&surface);
    shape_free(&shape);
}

TEST(a_corner_is_three_walls_and_a_sheet_has_two_sides)
{
    Shape bucket = shape_bucket();
    GrainMesh mesh = shape_mesh(&bucket);
    RigidSurface surface;
    RigidPlane planes[RIGID_MAX_PLANES];
    ENSURE_OK(rigid_surface_create(&surface, &mesh, 1));
    ENSURE(!surface.is_closed);
    ENSURE_EQUAL(rigid_surface_planes(&surface, vec3(0.9f, 0.85f, -0.8f), 0.5f, NULL, 0, planes, RIGID_MAX_PLANES), 3);
    for (int i = 0; i < 3; i++) ENSURE(planes[i].distance > 0.05f);
    // Just outside, though known to come from inside: behind the wall.
    Vec3 side = {-1, 0, 0}, place = {1.02f, 0, 0};
    ENSURE_EQUAL(rigid_surface_planes(&surface, place, 0.1f, &side, 1, planes, 1), 1);
    ENSURE_NEAR(planes[0].distance, -0.02, 1e-6);
    ENSURE_NEAR(planes[0].normal.x, -1.0, 1e-6);
    ENSURE_EQUAL(rigid_surface_planes(&surface, place, 0.1f, NULL, 0, planes, 1), 1);
    ENSURE_NEAR(planes[0].distance, 0.02, 1e-6);
    rigid_surface_free(&surface);
    shape_free(&bucket);
}

// An asymmetric body tumbles freely, turning about its unstable middle axis: angular momentum is the state and cannot
// drift; its energy must not either.
TEST(a_tumbling_body_keeps_its_energy)
{
    Shape shape = shape_box(-0.5f, -0.3f, -0.1f, 0.5f, 0.3f, 0.1f);
    GrainMesh mesh = shape_mesh(&shape);
    GrainMassProperties mass = {.struct_size = sizeof mass};
    ENSURE_OK(grain_mesh_mass(&mesh, 1000.0, &mass));
    SimBody body = {.mass = mass.mass, .spin = {0.01f, 10.0f, 0.02f}};
    memcpy(body.inertia, mass.inertia, sizeof mass.inertia);
    SimCollider collider = {.mesh = &mesh, .body = &body};
    RigidDef def = {.colliders = &collider,
                    .collider_count = 1,
                    .stiffness = 1e6,
                    .damping = 100.0,
                    .point_reach = 0.01f,
                    .threads = 1};
    Rigid *rigid;
    ENSURE_OK(rigid_create(&def, &rigid));
    Vec3d angular = rigid->bodies[0].angular;
    double energy = vec3d_dot(angular, rigid->objects[0].spin), worst = 0.0;
    int has_flipped = 0;
    for (int step = 0; step < 20000; step++) {
        ENSURE_OK(rigid_find_loads(rigid, 5e-4));
        ENSURE_OK(rigid_move(rigid, 5e-4));
        worst = fmax(worst, fabs(vec3d_dot(rigid->bodies[0].angular, rigid->objects[0].spin) / energy - 1.0));
        Vec3d axis = rigid_turn(rigid->objects[0].matrix, vec3d(0, 1, 0));
        has_flipped |= axis.y < -0.9; // Dzhanibekov
    }
    ENSURE(has_flipped);
    ENSURE(worst < 1e-4); // (spin * step)^2 is 2.5e-5
    ENSURE_NEAR(vec3d_length(vec3d_sub(rigid->bodies[0].angular, angular)), 0.0, 1e-9);
    rigid_destroy(rigid);
    shape_free(&shape);
}

TEST(a_body_without_mass_is_refused)
{
    SimBody body = {.mass = 0.0};
    SimCollider collider = {.body = &body, .name = "Leaf"};
    RigidDef def = {.colliders = &collider, .collider_count = 1, .threads = 1};
    Rigid *rigid;
    ENSURE_FAILS(rigid_create(&def, &rigid), GRAIN_ERROR_ARGUMENT, "Leaf");
}
