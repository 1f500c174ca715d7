// SPDX-License-Identifier: GPL-3.0-or-later
// What is painted on colliders, what sticky ones take, and props that are held.
#include "grain/grain.h"
#include "shared/meshes.h"
#include "sim/rigid/rigid.h"
#include "sim/rigid/rigid_view.h"
#include "unit/test.h"

#include <math.h>

static GrainSdf *field_of(const GrainMesh *mesh)
{
    GrainSdfDef def;
    GrainSdf *sdf = NULL;
    grain_sdf_def_default(&def, sizeof def);
    def.voxel_size = 0.1f;
    def.band_voxels = 4.0f;
    return grain_sdf_create(mesh, &def, NULL, &sdf) == GRAIN_OK ? sdf : NULL;
}

// Painted from 0 at x = -1 to 1 at x = 1: above a face that is a straight line, which trilinear interpolation keeps.
// 1e-5: float.
TEST(paint_above_a_face_is_that_of_its_nearest_point)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&shape);
    float numbers[8];
    ENSURE_EQUAL(mesh.vertex_count, 8);
    for (int v = 0; v < 8; v++) numbers[v] = 0.5f + 0.5f * mesh.positions[3 * v];
    GrainSdf *sdf = field_of(&mesh);
    ENSURE(sdf);
    RigidPaint paint, bent, none;
    RigidSurface surface;
    ENSURE_OK(rigid_surface_create(&surface, &mesh, 1));
    ENSURE_OK(rigid_paint_create(&paint, numbers, &mesh, sdf, 2));
    ENSURE_OK(rigid_paint_create(&bent, numbers, &mesh, NULL, 1));
    ENSURE_OK(rigid_paint_create(&none, NULL, &mesh, sdf, 1));
    for (int i = 0; i < 500; i++) {
        Vec3 place = {0.7f * sinf(1.7f * (float)i), 0.7f * cosf(0.9f * (float)i), 1.0f + 0.2f * sinf(2.3f * (float)i)};
        float expected = 2.0f * (0.5f + 0.5f * place.x), found, plain;
        RigidPlane plane;
        rigid_paint_sample(&paint, 2.0f, &place.x, &place.y, &place.z, 1, &found);
        ENSURE_NEAR(found, expected, 1e-5);
        ENSURE_EQUAL(rigid_surface_plane(&surface, place, 1.0f, -1, NULL, &plane), 1);
        ENSURE_NEAR(rigid_paint_at_plane(&bent, 2.0f, &surface, &plane), expected, 1e-5);
        rigid_paint_sample(&none, 2.0f, &place.x, &place.y, &place.z, 1, &plain);
        ENSURE(plain == 2.0f && rigid_paint_at_plane(&none, 2.0f, &surface, &plane) == 2.0f);
    }
    rigid_paint_free(&paint), rigid_paint_free(&bent), rigid_paint_free(&none);
    rigid_surface_free(&surface);
    grain_sdf_destroy(sdf);
    shape_free(&shape);
}

// What leaves is held up to the limit, and what is left of that, times friction, holds what slides.
TEST(a_sticky_surface_takes_as_much_as_it_can_hold)
{
    Vec3 up = {0, 0, 1}, still = rigid_stick(vec3(0.1f, 0, 0.2f), up, 0.5f, 0.5f);
    ENSURE_NEAR(vec3_length(still), 0.0, 1e-7); // 0.2 of 0.5 to hold it, 0.3 * 0.5 are more than 0.1
    Vec3 slides = rigid_stick(vec3(1.0f, 0, 0.2f), up, 0.5f, 0.5f);
    ENSURE_NEAR(slides.x, 0.85, 1e-6);
    ENSURE_NEAR(slides.z, 0.0, 1e-7);
    Vec3 leaves = rigid_stick(vec3(1.0f, 0, 2.0f), up, 0.5f, 0.5f); // all of it is spent on what leaves
    ENSURE_NEAR(leaves.x, 1.0, 1e-6);
    ENSURE_NEAR(leaves.z, 1.5, 1e-6);
    Vec3 comes = rigid_stick(vec3(0.1f, 0, -2.0f), up, 0.5f, 0.5f); // what comes is none of its business
    ENSURE_NEAR(comes.x, 0.0, 1e-7);
    ENSURE_NEAR(comes.z, -2.0, 1e-6);
}

TEST(what_is_held_stands_without_speed_and_then_goes_its_way)
{
    Shape shape = shape_box(-1, -1, -1, 1, 1, 1);
    GrainMesh mesh = shape_mesh(&shape);
    const float poses[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0, 0, 1, 0, 0, 0};
    SimCollider collider = {.mesh = &mesh, .motion = motion_of_poses(poses, 3, 0.1), .friction = 0.5f, .name = "Lid"};
    RigidDef def = {
        .colliders = &collider, .collider_count = 1, .gravity = {0, 0, -10}, .point_reach = 0.1f, .threads = 1};
    Rigid *rigid;
    ENSURE_OK(rigid_create(&def, &rigid));
    Vec3d before = rigid->objects[0].velocity;
    ENSURE(before.x > 5.0);
    rigid_hold(rigid, 1);
    for (int i = 0; i < 10; i++) ENSURE_OK(rigid_move(rigid, 0.01));
    ENSURE(rigid->time == 0.0 && rigid->objects[0].now.position.x == 0.0 && rigid->objects[0].velocity.x == 0.0);
    rigid_hold(rigid, 0);
    ENSURE(rigid->objects[0].velocity.x == before.x);
    ENSURE_OK(rigid_move(rigid, 0.1));
    ENSURE_NEAR(rigid->objects[0].now.position.x, 1.0, 1e-6);
    rigid_steer(rigid, &(SimGrip){0.25f, 3.0f});
    ENSURE(rigid->objects[0].given.friction == 0.25f && rigid->objects[0].given.stickiness == 3.0f);
    rigid_destroy(rigid);
    shape_free(&shape);
}
