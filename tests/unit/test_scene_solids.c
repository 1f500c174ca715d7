// SPDX-License-Identifier: GPL-3.0-or-later
// Simulation and render grains meet the same colliders: friction and stickiness, keyed and painted, and where they are.
#include "grain/grain.h"
#include "scene/scene.h"
#include "scene/scene_solids.h"
#include "shared/meshes.h"
#include "sim/rigid/rigid.h"
#include "unit/test.h"

#include <math.h>

// A box whose lower half is smooth. Friction goes from 0.2 to 0.8 and stickiness from 0 to 2 over the first frame.
static GrainResult make_scene(int bends, GrainScene **out)
{
    static const float friction[2] = {0.2f, 0.8f}, stickiness[2] = {0, 2};
    static const float poses[14] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 1, 0, 0, 0};
    float paint[8], shapes[2 * 3 * 8];
    Shape shape = shape_box(-0.1f, -0.1f, -0.1f, 0.1f, 0.1f, 0.1f);
    GrainMesh mesh = shape_mesh(&shape);
    GrainObjectDef def;
    GrainAttributeDef attribute;
    GrainScene *scene = NULL;
    for (int v = 0; v < 8; v++) paint[v] = mesh.positions[3 * v + 2] > 0.0f;
    for (int k = 0; k < 2 * 3 * 8; k++) shapes[k] = mesh.positions[k % 24] + (k >= 24 && k % 3 == 0 ? 1.0f : 0.0f);
    GrainResult result = grain_scene_create(&scene);
#define STEP(call)                                                                                                     \
    if (result == GRAIN_OK) result = (call)
    STEP(grain_object_def_default(&def, sizeof def));
    STEP(grain_attribute_def_default(&attribute, sizeof attribute));
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.02));
    STEP(grain_scene_set_vector(scene, GRAIN_SCENE, "gravity", (double[]){0, 0, -10}));
    def.role = GRAIN_ROLE_SOURCE, def.name = "Sand", def.mesh = &mesh;
    STEP(grain_scene_add(scene, &def, NULL));
    def.role = GRAIN_ROLE_COLLIDER, def.name = "Box";
    if (bends)
        def.shapes = shapes, def.shape_count = 2;
    else
        def.poses = poses, def.pose_count = 2;
    STEP(grain_scene_add(scene, &def, NULL));
    STEP(grain_scene_set_curve(scene, 1, "friction", friction, 1, 2));
    STEP(grain_scene_set_curve(scene, 1, "stickiness", stickiness, 1, 2));
    attribute.name = "friction_paint", attribute.values = paint, attribute.count = 8;
    STEP(grain_scene_set_attribute(scene, 1, &attribute));
#undef STEP
    shape_free(&shape);
    *out = scene;
    return result;
}

static float painted_at(const UpsampleWalls *walls, float x, float z)
{
    float value, y = 0.0f;
    rigid_paint_sample(&walls->paint[0], 1.0f, &x, &y, &z, 1, &value);
    return value;
}

static void check_walls(int bends)
{
    GrainScene *scene;
    Job job;
    SceneWalls walls;
    SceneSolids solids;
    struct GrainFrame frame = {0};
    GrainRun run = {sizeof run, 1, NULL, NULL};
    ENSURE_OK(make_scene(bends, &scene));
    ENSURE_OK(scene_begin_job(scene, &job));
    ENSURE_OK(scene_walls_make(&walls, &job, NULL, &run));
    ENSURE_OK(scene_walls_frame(&walls, &frame, &frame, 0.0));
    const UpsampleWalls *now = scene_walls_at(&walls, 0.5 / job.fps);
    ENSURE_EQUAL(now->count, 1);
    ENSURE_NEAR(now->collider->friction, 0.5, 1e-6);
    ENSURE_NEAR(now->collider->stickiness, 1.0, 1e-6);
    ENSURE_NEAR(now->weight, 10.0, 1e-5); // gravity
    ENSURE(now->collider->sdf && now->paint[0].numbers && !now->paint[1].numbers);
    ENSURE_NEAR(painted_at(now, 0.0f, 0.11f), 1.0, 1e-3);
    ENSURE_NEAR(painted_at(now, 0.0f, -0.11f), 0.0, 1e-3);
    if (!bends) ENSURE(now->frame->is_moving && now->frame->position.x > 0.2f && now->frame->position.x < 0.8f);
    ENSURE_NEAR(scene_walls_at(&walls, 9.0)->collider->friction, 0.8, 1e-6); // what is keyed last holds
    // The simulation's colliders say the same.
    SimGrip grip;
    GrainSdf *const none[2] = {NULL, NULL};
    ENSURE_OK(scene_solids_make(&solids, &job, none, 1));
    ENSURE_EQUAL(solids.collider_count, 1);
    ENSURE_EQUAL(job_grips(&job, 0.5 / job.fps, &grip), 1);
    ENSURE_NEAR(grip.friction, 0.5, 1e-6);
    ENSURE(solids.colliders[0].friction_paint == job.objects[1].friction_paint.numbers);
    scene_solids_free(&solids);
    scene_walls_free(&walls);
    scene_end_job(&job);
    grain_scene_destroy(scene);
}

// Without gravity, too: what a surface pulls with is then a multiple of the Earth's.
TEST(stickiness_has_one_unit)
{
    GrainScene *scene;
    Job job;
    SceneWalls walls;
    Rigid *rigid;
    SceneSolids solids;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    GrainSdf *const none[2] = {NULL, NULL};
    for (int falls = 0; falls < 2; falls++) {
        ENSURE_OK(make_scene(1, &scene));
        ENSURE_OK(grain_scene_set_vector(scene, GRAIN_SCENE, "gravity", (double[]){0, 0, -3.0 * falls}));
        ENSURE_OK(scene_begin_job(scene, &job));
        ENSURE_OK(scene_walls_make(&walls, &job, NULL, &run));
        ENSURE_OK(scene_solids_make(&solids, &job, none, 1));
        RigidDef def = {.colliders = solids.colliders,
                        .collider_count = solids.collider_count,
                        .gravity = curve_constant(&job.gravity),
                        .threads = 1};
        ENSURE_OK(rigid_create(&def, &rigid));
        ENSURE(rigid->weight == (falls ? 3.0f : 9.81f) && walls.now.weight == rigid->weight);
        rigid_destroy(rigid);
        scene_solids_free(&solids);
        scene_walls_free(&walls);
        scene_end_job(&job);
        grain_scene_destroy(scene);
    }
}

TEST(grains_meet_moving_colliders_as_the_simulation_does) { check_walls(0); }
TEST(grains_meet_bending_colliders_as_the_simulation_does) { check_walls(1); }
