// SPDX-License-Identifier: GPL-3.0-or-later
// Bodies that sand and other bodies move.
#include "base/alloc.h"
#include "grain/grain.h"
#include "shared/rigid_scene.h"
#include "unit/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Ten boxes on each other, each a little off the one below. 1 % of the height of 1 m is asked for. Friction that creeps
// would turn and shift the boxes more and more: between the first second, when they have taken up the weight, and the
// tenth, none may turn by more than a thousandth, or end up elsewhere than where the tower's own swaying takes it.
TEST(ten_boxes_stand_on_each_other_for_ten_seconds)
{
    RigidScene scene;
    int box[10];
    Vec3d turned[10];
    double worst = 0.0;
    rigid_scene_begin(&scene, 0.01f);
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    for (int i = 0; i < 10; i++) {
        Vec3 middle = {0.01f * (float)(i % 3), 0.008f * (float)(i % 2), 0.1f * (0.5f + (float)i)};
        ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_box(middle, 0.1f), 500.0, 0.5f, 0.02f, &box[i]));
    }
    ENSURE_OK(scene_create(&scene.sand, 1));
    for (int second = 0; second < 10; second++) {
        ENSURE_OK(scene_run(&scene.sand, 1.0));
        for (int i = 0; i < 10; i++) {
            const RigidObject *object = rigid_scene_object(&scene, box[i]);
            worst = fmax(worst, vec3d_length(vec3d_sub(object->now.position, object->rest)));
            Vec3d now = quatd_to_rotation(object->now.facing);
            if (second == 0) turned[i] = now;
            ENSURE(fabs(now.z - turned[i].z) < 1e-3);
        }
    }
    ENSURE(worst < 0.003); // 0.3 %
    rigid_scene_end(&scene);
}

// A box on a slope below its friction angle stays where it is; above, it slides by g (sin - mu cos).
TEST(a_box_sticks_and_slides_by_coulombs_law)
{
    for (int steep = 0; steep < 2; steep++) {
        RigidScene scene;
        int box;
        float angle = steep ? 0.6f : 0.4f, friction = 0.5f; // atan(0.5) is 0.464
        rigid_scene_begin(&scene, 0.01f);
        scene.sand.def.gravity = vec3(9.81f * sinf(angle), 0.0f, -9.81f * cosf(angle));
        scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), friction);
        ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_box(vec3(0, 0, 0.05f), 0.1f), 500.0, friction, 0.02f, &box));
        ENSURE_OK(scene_create(&scene.sand, 1));
        ENSURE_OK(scene_run(&scene.sand, 0.5));
        const RigidObject *object = rigid_scene_object(&scene, box);
        double before = object->now.position.x;
        double speed = object->velocity.x, pull = 9.81 * (sin((double)angle) - (double)friction * cos((double)angle));
        ENSURE_OK(scene_run(&scene.sand, 0.5));
        if (steep) // 2 %: it rocks a little while it starts
            ENSURE_NEAR(object->velocity.x - speed, 0.5 * pull, 0.02 * 0.5 * pull);
        else // a hundred-thousandth of its size; it has settled, so it must not move at all
            ENSURE_NEAR(object->now.position.x, before, 1e-6);
        rigid_scene_end(&scene);
    }
}

// Collisions with loose grains in empty space: momentum is kept to what float can hold of the grains' share.
TEST(sand_and_bodies_keep_their_momentum)
{
    RigidScene scene;
    int ball, box;
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.gravity = vec3(0, 0, 0);
    scene.sand.def.rolling_friction = 0.2f;
    ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(vec3(0, 0, 0.12f), 0.04f), 1500.0, 0.6f, 0.005f, &ball));
    ENSURE_OK(
        rigid_scene_add_body(&scene, rigid_scene_box(vec3(0.02f, 0.01f, -0.1f), 0.08f), 300.0, 0.6f, 0.005f, &box));
    scene.body[ball].velocity = vec3(0.0f, 0.1f, -1.0f);
    scene.body[ball].spin = vec3(0.0f, 20.0f, 0.0f);
    scene.body[box].velocity = vec3(0.0f, 0.0f, 0.5f);
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.06f, -0.06f, -0.03f), vec3(0.06f, 0.06f, 0.06f), 0.05f, 0.1f));
    ENSURE_OK(scene_create(&scene.sand, 1));
    SceneTotals before = rigid_scene_totals(&scene);
    ENSURE_OK(scene_run(&scene.sand, 0.15));
    SceneTotals after = rigid_scene_totals(&scene);
    ENSURE(fabs(rigid_scene_object(&scene, ball)->velocity.z + 1.0) > 0.3); // it has hit
    double off = 0.0, turned = 0.0;
    for (int a = 0; a < 3; a++) {
        off = fmax(off, fabs(after.momentum[a] - before.momentum[a]) / before.mass_speed);
        turned = fmax(turned, fabs(after.angular[a] - before.angular[a]) / before.lever_speed);
    }
    // A float's last digit is 6e-8 of it; a thousand grains' errors cancel to 1e-8.
    ENSURE(off < 6e-8 && turned < 6e-8);
    rigid_scene_end(&scene);
}

// --- in sand --------------------------------------------------------------------------------------

static const Vec3 tray_low = {-0.05f, -0.05f, 0.0f}, tray_high = {0.05f, 0.05f, 0.2f};

static GrainResult begin_tray(RigidScene *scene, float depth, int *tray)
{
    rigid_scene_begin(scene, 0.005f);
    scene->sand.def.rolling_friction = 0.2f;
    GrainResult result = rigid_scene_add_prop(scene, rigid_scene_tray(tray_low, tray_high, 0.02f), 0.5f, tray);
    if (result != GRAIN_OK) return result;
    return scene_fill_box(&scene->sand, vec3(-0.048f, -0.048f, 0.001f), vec3(0.048f, 0.048f, depth), 0.05f, 0.1f);
}

static int64_t count_in_tray(const RigidScene *scene, int tray)
{
    return rigid_scene_count_inside(scene, tray, tray_low, vec3(tray_high.x, tray_high.y, 1e9f));
}

// Balls of rising density laid on sand: all are carried, and the heavier the deeper they sink in.
TEST(sand_carries_a_heavy_ball_at_a_depth)
{
    const double densities[] = {300.0, 2000.0, 8000.0};
    double depth[3];
    for (int k = 0; k < 3; k++) {
        RigidScene scene;
        int tray, ball;
        ENSURE_OK(begin_tray(&scene, 0.08f, &tray));
        ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(vec3(0, 0, 0.11f), 0.02f), densities[k], 0.5f, 0.005f,
                                       &ball));
        ENSURE_OK(scene_create(&scene.sand, 1));
        ENSURE_OK(scene_run(&scene.sand, 0.7));
        const RigidObject *object = rigid_scene_object(&scene, ball);
        double surface = 2.0 * rigid_scene_mean_height(&scene); // of the sand, roughly
        depth[k] = surface - (object->now.position.z - 0.02);
        ENSURE(vec3d_length(object->velocity) < 0.01); // at rest
        ENSURE(object->now.position.z > 0.03);         // carried: a centimetre of sand and more below it
        ENSURE_EQUAL(count_in_tray(&scene, tray), scene.sand.dem->count);
        rigid_scene_end(&scene);
    }
    ENSURE(depth[0] < depth[1] && depth[1] < depth[2]);
}

// No grain starts inside this ball.
static void dig_out(Particles *start, Vec3 middle, float radius)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < start->count; i++) {
        if (vec3_length(vec3_sub(start->position[i], middle)) < radius + start->radius[i]) continue;
        start->position[kept] = start->position[i], start->radius[kept++] = start->radius[i];
    }
    start->count = kept;
}

// Two balls buried in a tray that is shaken sideways at 1.6 g: the light one comes up and lies on the sand, the heavy
// one stays below.
TEST(in_shaken_sand_the_light_rises_and_the_heavy_sinks)
{
    for (int heavy = 0; heavy < 2; heavy++) {
        RigidScene scene;
        int tray, ball;
        enum { SAMPLES = 1600 };
        Vec3 middle = {0, 0, 0.04f};
        ENSURE_OK(begin_tray(&scene, 0.12f, &tray));
        scene.sand.def.friction = 0.4f, scene.sand.def.rolling_friction = 0.05f;
        ENSURE_OK(
            rigid_scene_add_body(&scene, rigid_scene_ball(middle, 0.02f), heavy ? 8000.0 : 200.0, 0.4f, 0.004f, &ball));
        dig_out(&scene.sand.start, middle, 0.02f);
        float *poses = rigid_scene_add_poses(&scene, tray, vec3(0, 0, 0), SAMPLES, 1e-3);
        for (int k = 0; k < SAMPLES; k++) poses[7 * k] = 4e-3f * (float)sin(2.0 * M_PI * 10.0 * 1e-3 * k);
        ENSURE_OK(scene_create(&scene.sand, 1));
        ENSURE_OK(scene_run(&scene.sand, 1.6));
        double height = rigid_scene_object(&scene, ball)->now.position.z;
        double surface = 2.0 * rigid_scene_mean_height(&scene);
        if (heavy)
            ENSURE(height < 0.04);
        else
            ENSURE(height > surface); // more than half of it is out
        ENSURE_EQUAL(count_in_tray(&scene, tray), scene.sand.dem->count);
        rigid_scene_end(&scene);
    }
}

// A ball hits a bed at 3 m/s: grains fly, the ball stops in the bed, nothing leaks and nothing gains energy.
TEST(splash)
{
    RigidScene scene;
    int tray, ball;
    ENSURE_OK(begin_tray(&scene, 0.06f, &tray));
    scene.sand.def.expected_speed = 3.0f;
    ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(vec3(0, 0, 0.1f), 0.02f), 2500.0, 0.5f, 0.005f, &ball));
    scene.body[ball].velocity = vec3(0.3f, 0, -3.0f);
    ENSURE_OK(scene_create(&scene.sand, 1));
    const RigidObject *object = rigid_scene_object(&scene, ball);
    double mass = scene.body[ball].mass, energy = 0.5 * mass * 9.09 + mass * 9.81 * 0.1, most = 0.0;
    for (int part = 0; part < 20; part++) {
        ENSURE_OK(scene_run(&scene.sand, 0.02));
        most = fmax(most, scene_kinetic_energy(&scene.sand));
    }
    ENSURE(most < energy && most > 0.02 * energy);
    ENSURE(vec3d_length(object->velocity) < 0.3 && object->now.position.z > 0.019);
    int64_t below = rigid_scene_count_inside(&scene, tray, vec3(-1e9f, -1e9f, -1e9f), vec3(1e9f, 1e9f, 0.0f));
    for (int64_t i = 0; i < scene.sand.dem->count; i++) { // those that flew over the rim are allowed to be below
        Vec3 at = scene_position(&scene.sand, i);
        if (at.z < 0.0f && fabsf(at.x) < 0.07f && fabsf(at.y) < 0.07f) ENSURE(at.z < -0.02f);
    }
    ENSURE(below < scene.sand.dem->count / 20);
    rigid_scene_end(&scene);
}

// Boxes and rings fall in a heap on a plane together with grains: shapes with corners and with holes.
TEST(boxes_and_rings_come_to_rest)
{
    RigidScene scene;
    int number[6];
    rigid_scene_begin(&scene, 0.005f);
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    for (int i = 0; i < 6; i++) {
        Shape shape;
        if (i % 2) {
            shape = shape_torus(16, 24, 0.3);
            shape_move(&shape, 0.03f, 0.004f * (float)i, -0.003f * (float)i, 0.05f + 0.05f * (float)i);
        } else {
            shape = rigid_scene_box(vec3(0.003f * (float)i, 0.005f * (float)i, 0.05f + 0.05f * (float)i), 0.04f);
        }
        ENSURE_OK(rigid_scene_add_body(&scene, shape, 1000.0, 0.5f, 0.005f, &number[i]));
        scene.body[number[i]].spin = vec3(2.0f, (float)i, 0.0f);
    }
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.05f, -0.05f, 0.4f), vec3(0.05f, 0.05f, 0.44f), 0.2f, 0.1f));
    ENSURE_OK(scene_create(&scene.sand, 1));
    ENSURE_OK(scene_run(&scene.sand, 1.5));
    for (int i = 0; i < 6; i++) {
        const RigidObject *object = rigid_scene_object(&scene, number[i]);
        ENSURE(object->now.position.z > 0.008 && object->now.position.z < 0.3);
        ENSURE(vec3d_length(object->velocity) < 0.05);
    }
    for (int64_t i = 0; i < scene.sand.dem->count; i++) ENSURE(scene_position(&scene.sand, i).z > 0.004f);
    rigid_scene_end(&scene);
}

// Held where its poses take it until it is let go; then it flies on with the speed it had.
TEST(a_body_flies_on_when_it_is_let_go)
{
    RigidScene scene;
    int ball;
    rigid_scene_begin(&scene, 0.01f);
    ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(vec3(0, 0, 1), 0.05f), 500.0, 0.5f, 0.02f, &ball));
    float *poses = rigid_scene_add_poses(&scene, ball, vec3(0, 0, 1), 11, 0.05);
    for (int k = 0; k < 11; k++) poses[7 * k] = 0.1f * (float)k; // 2 m/s
    scene.body[ball].release = 0.25;
    ENSURE_OK(scene_create(&scene.sand, 1));
    ENSURE_OK(scene_run(&scene.sand, 0.25));
    const RigidObject *object = rigid_scene_object(&scene, ball);
    ENSURE_NEAR(object->now.position.x, 0.5, 1e-6);
    ENSURE_NEAR(object->now.position.z, 1.0, 1e-6);
    ENSURE_OK(scene_run(&scene.sand, 0.2));
    ENSURE_NEAR(object->now.position.x, 0.9, 1e-4);
    ENSURE_NEAR(object->now.position.z, 1.0 - 0.5 * 9.81 * 0.2 * 0.2,
                2e-3); // one substep of 0.16 ms and the order of the scheme
    rigid_scene_end(&scene);
}

// --- the same bits --------------------------------------------------------------------------------

static GrainResult begin_mixed(RigidScene *scene, int threads)
{
    int tray, ball, box;
    GrainResult result = begin_tray(scene, 0.05f, &tray);
    if (result == GRAIN_OK)
        result = scene_fill_box(&scene->sand, vec3(-0.04f, -0.04f, 0.12f), vec3(0.04f, 0.04f, 0.2f), 0.1f, 0.1f);
    if (result == GRAIN_OK)
        result =
            rigid_scene_add_body(scene, rigid_scene_ball(vec3(0.01f, 0, 0.075f), 0.015f), 2500.0, 0.5f, 0.005f, &ball);
    if (result == GRAIN_OK)
        result = rigid_scene_add_body(scene, rigid_scene_box(vec3(0.006f, 0.003f, 0.101f), 0.02f), 900.0, 0.5f, 0.005f,
                                      &box);
    float *poses = rigid_scene_add_poses(scene, tray, vec3(0, 0, 0), 40, 0.01);
    for (int k = 0; k < 40; k++) poses[7 * k] = 0.01f * (float)sin(0.7 * k);
    int sheet;
    Shape shape = shape_plane(6); // sags in the middle of the tray, with sand above and below it
    shape_move(&shape, 0.03f, 0, 0, 0.11f);
    if (result == GRAIN_OK) result = rigid_scene_add_prop(scene, shape, 0.5f, &sheet);
    if (result != GRAIN_OK) return result;
    float *shapes = rigid_scene_add_shapes(scene, sheet, 40, 0.01);
    for (int64_t i = 0; i < 40 * scene->mesh[sheet].vertex_count; i++)
        shapes[3 * i + 2] -=
            0.001f * (float)(i / scene->mesh[sheet].vertex_count) * (1.0f - fabsf(shapes[3 * i]) / 0.03f);
    return result == GRAIN_OK ? scene_create(&scene->sand, threads) : result;
}

static int same_state(const RigidScene *first, const RigidScene *second)
{
    const Dem *a = first->sand.dem, *b = second->sand.dem;
    const Rigid *ra = a->base.rigid, *rb = b->base.rigid;
    if (a->walls.count != b->walls.count || ra->contact_count != rb->contact_count) return 0;
    for (int i = 0; i < ra->object_count; i++)
        if (memcmp(&ra->objects[i].now, &rb->objects[i].now, sizeof ra->objects[i].now) != 0) return 0;
    return memcmp(a->balls, b->balls, (size_t)a->count * sizeof *a->balls) == 0 &&
           memcmp(a->walls.shear.x, b->walls.shear.x, (size_t)a->walls.count * sizeof(float)) == 0 &&
           memcmp(ra->contacts, rb->contacts, (size_t)ra->contact_count * sizeof *ra->contacts) == 0;
}

MARKED_TEST(any_number_of_threads, TEST_THREADS)
{
    RigidScene one, more;
    ENSURE_OK(begin_mixed(&one, 1));
    ENSURE_OK(scene_run(&one.sand, 0.14));
    ENSURE(one.sand.dem->base.rigid->contact_count > 0 && one.sand.dem->loaded_count > 5);
    for (int threads = 2; threads <= 3; threads++) {
        ENSURE_OK(begin_mixed(&more, threads));
        more.sand.dem->base.threads = more.sand.dem->base.rigid->def.threads = threads; // however few grains there are
        ENSURE_OK(scene_run(&more.sand, 0.14));
        ENSURE(same_state(&one, &more));
        rigid_scene_end(&more);
    }
    rigid_scene_end(&one);
}

TEST(over_saving_and_loading)
{
    RigidScene through, saved, loaded;
    ENSURE_OK(begin_mixed(&through, 1));
    ENSURE_OK(begin_mixed(&saved, 1));
    double seconds = dem_solver.largest_step(through.sand.dem) * 0.9;
    for (int step = 0; step < 2100; step++) ENSURE_OK(dem_solver.step(through.sand.dem, seconds));
    for (int step = 0; step < 1717; step++) ENSURE_OK(dem_solver.step(saved.sand.dem, seconds));
    ENSURE_OK(begin_mixed(&loaded, 1));
    Column columns[SOLVER_MAX_COLUMNS];
    int count = dem_solver.save(saved.sand.dem, columns);
    ENSURE(count <= SOLVER_MAX_COLUMNS - 3);
    ENSURE_OK(dem_solver.load(loaded.sand.dem, columns, count));
    for (int step = 1717; step < 2100; step++) ENSURE_OK(dem_solver.step(loaded.sand.dem, seconds));
    ENSURE(same_state(&through, &loaded));
    rigid_scene_end(&through);
    rigid_scene_end(&saved);
    rigid_scene_end(&loaded);
}
