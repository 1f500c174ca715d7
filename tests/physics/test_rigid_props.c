// SPDX-License-Identifier: GPL-3.0-or-later
// Props that move and bend: nothing leaks, and what touches them is carried along.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/rigid_scene.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

// Grains on a turntable go round with it: each with the speed of the spot it lies on, which is only so if a collider's
// velocity includes its turning, and static friction holds.
TEST(grains_ride_on_a_turntable)
{
    RigidScene scene;
    int table;
    enum { SAMPLES = 61 };
    double rate = 2.0; // rad/s; 0.1 m out that pulls with 0.4 m/s2, far below friction
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.rolling_friction = 0.3f;
    ENSURE_OK(rigid_scene_add_prop(&scene, shape_box(-0.15f, -0.15f, -0.05f, 0.15f, 0.15f, 0.0f), 0.6f, &table));
    float *poses = rigid_scene_add_poses(&scene, table, vec3(0, 0, 0), SAMPLES, 1.0 / 30.0);
    for (int k = 0; k < SAMPLES; k++) {
        poses[7 * k + 3] = (float)cos(0.5 * rate * k / 30.0);
        poses[7 * k + 6] = (float)sin(0.5 * rate * k / 30.0);
    }
    for (int i = 0; i < 10; i++)
        ENSURE_OK(particles_add(&scene.sand.start, vec3(0.01f * (float)(i + 1), 0.0f, 0.005f),
                                vec3(0.0f, (float)rate * 0.01f * (float)(i + 1), 0.0f), 0.0045f));
    ENSURE_OK(scene_create(&scene.sand, 1));
    ENSURE_OK(scene_run(&scene.sand, 1.5));
    Particles now = {0};
    ENSURE_OK(dem_solver.read(scene.sand.dem, &now));
    for (int i = 0; i < 10; i++) {
        double radius = hypot((double)now.position[i].x, (double)now.position[i].y);
        // It settles by half a millimetre first, and may roll by a tenth of its size while doing so.
        ENSURE_NEAR(radius, 0.01 * (i + 1), 1e-3);
        ENSURE_NEAR(vec3_length(now.velocity[i]), rate * radius, 0.01 * rate * radius);
        double angle = atan2((double)now.position[i].y, (double)now.position[i].x);
        ENSURE_NEAR(angle, rate * 1.5, 0.15);
    }
    particles_free(&now);
    rigid_scene_end(&scene);
}

// A hollow box shaken at 1.5 m/s and 12 g, turning as it goes, with corners that move at 3 m/s: of the grains in it
// none gets through a wall.
TEST(a_shaken_box_leaks_nothing)
{
    RigidScene scene;
    int tray;
    enum { SAMPLES = 400 };
    Vec3 low = {-0.04f, -0.04f, 0.0f}, high = {0.04f, 0.04f, 0.2f};
    Shape inside = shape_box(low.x, low.y, low.z, high.x, high.y, high.z);
    shape_turn_inside_out(&inside);
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.expected_speed = 4.0f;
    Shape outside =
        shape_box(low.x - 0.01f, low.y - 0.01f, low.z - 0.01f, high.x + 0.01f, high.y + 0.01f, high.z + 0.01f);
    ENSURE_OK(rigid_scene_add_prop(&scene, shape_join(outside, inside), 0.5f, &tray));
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.038f, -0.038f, 0.001f), vec3(0.038f, 0.038f, 0.1f), 0.1f, 0.1f));
    float *poses = rigid_scene_add_poses(&scene, tray, vec3(0, 0, 0), SAMPLES, 2e-3);
    for (int k = 0; k < SAMPLES; k++) {
        double phase = 2.0 * M_PI * 12.0 * 2e-3 * k;
        poses[7 * k] = 0.02f * (float)sin(phase);
        poses[7 * k + 1] = 0.01f * (float)sin(1.3 * phase);
        poses[7 * k + 2] = 0.005f * (float)sin(0.7 * phase);
        poses[7 * k + 3] = (float)cos(0.1 * sin(0.9 * phase));
        poses[7 * k + 5] = (float)sin(0.1 * sin(0.9 * phase));
    }
    ENSURE_OK(scene_create(&scene.sand, 1));
    for (int part = 0; part < 8; part++) {
        ENSURE_OK(scene_run(&scene.sand, 0.1));
        ENSURE_EQUAL(rigid_scene_count_inside(&scene, tray, low, high), scene.sand.dem->count);
    }
    rigid_scene_end(&scene);
}

// Walls without thickness: a bucket of single faces holds sand at rest, on the move, and while it bends.
TEST(a_bucket_of_single_faces_leaks_nothing)
{
    enum { STANDING, MOVING, BENDING, KINDS, SAMPLES = 61 };
    for (int kind = 0; kind < KINDS; kind++) {
        RigidScene scene;
        int bucket;
        rigid_scene_begin(&scene, 0.005f);
        Shape shape = shape_bucket();
        shape_move(&shape, 0.05f, 0, 0, 0.05f);
        ENSURE_OK(rigid_scene_add_prop(&scene, shape, 0.5f, &bucket));
        ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.04f, -0.04f, 0.01f), vec3(0.04f, 0.04f, 0.07f), 0.1f, 0.1f));
        scene.sand.def.expected_speed = 1.5f;
        const GrainMesh *mesh = &scene.mesh[bucket];
        float *samples = kind == MOVING    ? rigid_scene_add_poses(&scene, bucket, vec3(0, 0, 0), SAMPLES, 0.01)
                         : kind == BENDING ? rigid_scene_add_shapes(&scene, bucket, SAMPLES, 0.01)
                                           : NULL;
        for (int k = 0; k < SAMPLES && kind == MOVING; k++) samples[7 * k] = 0.01f * (float)sin(0.6 * k); // 0.6 m/s
        for (int k = 0; k < SAMPLES && kind == BENDING; k++)
            for (int64_t v = 0; v < mesh->vertex_count; v++) {
                float *p = samples + 3 * (k * mesh->vertex_count + v), swing = 0.01f * (float)sin(0.5 * k);
                p[0] += swing + 0.1f * swing * p[2] / 0.05f;
                p[2] += p[1] * 0.2f * (float)sin(0.3 * k); // the floor rocks and shears
            }
        ENSURE_OK(scene_create(&scene.sand, 1));
        ENSURE_OK(scene_run(&scene.sand, 0.6));
        const float *now = kind == BENDING ? samples + 3 * 60 * mesh->vertex_count : mesh->positions;
        float lowest = 1e9f;
        for (int64_t v = 0; v < mesh->vertex_count; v++) lowest = fminf(lowest, now[3 * v + 2]);
        // All grains are above the floor and between walls that have moved by 2 cm at most.
        Vec3 low = {-0.075f, -0.075f, lowest}, high = {0.075f, 0.075f, 1.0f};
        ENSURE_EQUAL(rigid_scene_count_inside(&scene, bucket, low, high), scene.sand.dem->count);
        rigid_scene_end(&scene);
    }
}

// A blade as wide as the tray goes through its sand at 0.5 m/s: it heaps the sand up before it, and leaves none behind.
TEST(a_blade_pushes_sand)
{
    RigidScene scene;
    int tray, blade;
    enum { SAMPLES = 11 };
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.rolling_friction = 0.2f;
    ENSURE_OK(rigid_scene_add_prop(
        &scene, rigid_scene_tray(vec3(-0.15f, -0.03f, 0.0f), vec3(0.15f, 0.03f, 0.3f), 0.02f), 0.5f, &tray));
    ENSURE_OK(rigid_scene_add_prop(&scene, shape_box(-0.15f, -0.03f, 0.001f, -0.142f, 0.03f, 0.29f), 0.5f, &blade));
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.135f, -0.029f, 0.0f), vec3(0.149f, 0.029f, 0.025f), 0.05f, 0.1f));
    float *poses = rigid_scene_add_poses(&scene, blade, vec3(0, 0, 0), SAMPLES, 0.04);
    for (int k = 0; k < SAMPLES; k++) poses[7 * k] = 0.02f * (float)k;
    ENSURE_OK(scene_create(&scene.sand, 1));
    ENSURE_OK(scene_run(&scene.sand, 0.4));
    double highest = 0.0;
    for (int64_t i = 0; i < scene.sand.dem->count; i++) {
        Vec3 at = scene_position(&scene.sand, i);
        ENSURE(at.x > -0.142f + 0.2f && at.z > 0.0f && fabsf(at.y) < 0.03f);
        highest = fmax(highest, (double)at.z);
    }
    ENSURE(highest > 0.04); // it was 0.02
    rigid_scene_end(&scene);
}

// A sheet that bulges up under a layer of sand carries it: every grain above the middle rises by what the sheet rises.
TEST(a_bending_sheet_carries_sand)
{
    RigidScene scene;
    int sheet;
    enum { SAMPLES = 21 };
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.rolling_friction = 0.3f;
    Shape shape = shape_plane(12);
    shape_move(&shape, 0.1f, 0, 0, 0.0f);
    ENSURE_OK(rigid_scene_add_prop(&scene, shape, 0.8f, &sheet));
    float *shapes = rigid_scene_add_shapes(&scene, sheet, SAMPLES, 0.02);
    const GrainMesh *mesh = &scene.mesh[sheet];
    for (int k = 0; k < SAMPLES; k++)
        for (int64_t v = 0; v < mesh->vertex_count; v++) {
            float *p = shapes + 3 * (k * mesh->vertex_count + v), squared = p[0] * p[0] + p[1] * p[1];
            p[2] = 0.03f * (0.5f - 0.5f * cosf((float)M_PI * (float)k / (SAMPLES - 1))) * expf(-squared / 0.0128f);
        }
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.06f, -0.06f, 0.0005f), vec3(0.06f, 0.06f, 0.025f), 0.05f, 0.1f));
    ENSURE_OK(scene_create(&scene.sand, 1));
    double before = 1e9, lowest_gap = 1e9;
    for (int64_t i = 0; i < scene.sand.dem->count; i++) before = fmin(before, (double)scene_position(&scene.sand, i).z);
    ENSURE_OK(scene_run(&scene.sand, 0.6));
    for (int64_t i = 0; i < scene.sand.dem->count; i++) {
        Vec3 at = scene_position(&scene.sand, i);
        if (fabsf(at.x) > 0.1f || fabsf(at.y) > 0.1f) continue; // fell off the rim
        double surface = 0.03 * exp(-((double)at.x * (double)at.x + (double)at.y * (double)at.y) / 0.0128);
        lowest_gap = fmin(lowest_gap, (double)at.z - surface);
    }
    // Radii are 4.5 to 5.5 mm; the sheet's facets lie up to half a millimetre below the surface they stand for.
    ENSURE(lowest_gap > 0.0035);
    ENSURE(scene_mean_speed(&scene.sand) < 1e-3);
    rigid_scene_end(&scene);
}
