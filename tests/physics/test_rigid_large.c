// The scenes of Bell, Yu and Mucha 2005 at their own size: splash, avalanche against boxes; and a heap of rings.
// Nothing blows up and nothing leaks.
#include "base/alloc.h"
#include "grain/grain.h"
#include "physics/rigid_scene.h"
#include "unit/test.h"

#include <math.h>

static RigidScene scene; // too large for the stack

// The fastest grain and body (m/s).
static double fastest(void)
{
    const Dem *dem = scene.sand.dem;
    double most = 0.0;
    for (int64_t i = 0; i < dem->count; i++) {
        const float *v = dem->balls[i].velocity;
        most = fmax(most, (double)vec3_length(vec3(v[0], v[1], v[2])));
    }
    for (int b = 0; b < dem->rigid->body_count; b++)
        most = fmax(most, vec3d_length(dem->rigid->objects[dem->rigid->bodies[b].object].velocity));
    return most;
}

static int64_t count_below(float height)
{
    int64_t count = 0;
    for (int64_t i = 0; i < scene.sand.dem->count; i++) count += scene_position(&scene.sand, i).z < height;
    return count;
}

HEAVY_TEST(a_large_splash)
{
    int tray, ball;
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.expected_speed = 4.0f, scene.sand.def.rolling_friction = 0.2f;
    ENSURE_OK(rigid_scene_add_prop(&scene, rigid_scene_tray(vec3(-0.2f, -0.2f, 0.0f), vec3(0.2f, 0.2f, 0.6f), 0.02f),
                                   0.5f, &tray));
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.198f, -0.198f, 0.001f), vec3(0.198f, 0.198f, 0.21f), 0.05f, 0.1f));
    ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_ball(vec3(0, 0, 0.28f), 0.06f), 2500.0, 0.5f, 0.005f, &ball));
    scene.body[ball].velocity = vec3(0, 0, -4.0f);
    ENSURE_OK(scene_create(&scene.sand, 0));
    ENSURE(scene.sand.dem->count > 20000);
    for (int part = 0; part < 8; part++) {
        ENSURE_OK(scene_run(&scene.sand, 0.05));
        ENSURE(fastest() < 12.0); // a light grain leaves at up to twice the speed of the ball, and some pass it on
        ENSURE_EQUAL(count_below(0.002f), 0);
    }
    ENSURE(vec3d_length(rigid_scene_object(&scene, ball)->velocity) < 0.5);
    rigid_scene_end(&scene);
}

// Sand slides down a slope of 40 degrees against four boxes and carries them along.
HEAVY_TEST(an_avalanche_against_boxes)
{
    int box[4];
    float angle = 0.7f;
    rigid_scene_begin(&scene, 0.01f);
    scene.sand.def.gravity = vec3(9.81f * sinf(angle), 0, -9.81f * cosf(angle));
    scene.sand.def.expected_speed = 4.0f, scene.sand.def.rolling_friction = 0.1f;
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    scene_add_plane(&scene.sand, vec3(0, -0.3f, 0), vec3(0, 1, 0), 0.3f);
    scene_add_plane(&scene.sand, vec3(0, 0.3f, 0), vec3(0, -1, 0), 0.3f);
    for (int i = 0; i < 4; i++) {
        Vec3 middle = {0.8f, -0.2f + 0.133f * (float)i, 0.061f};
        ENSURE_OK(rigid_scene_add_body(&scene, rigid_scene_box(middle, 0.12f), 400.0, 1.2f, 0.01f, &box[i]));
    }
    ENSURE_OK(scene_fill_box(&scene.sand, vec3(-0.6f, -0.29f, 0.005f), vec3(0.4f, 0.29f, 0.25f), 0.05f, 0.1f));
    ENSURE_OK(scene_create(&scene.sand, 0));
    ENSURE(scene.sand.dem->count > 10000);
    for (int part = 0; part < 8; part++) {
        ENSURE_OK(scene_run(&scene.sand, 0.1));
        ENSURE(fastest() < 10.0); // 0.8 s down this slope without any friction: 5 m/s
        ENSURE_EQUAL(count_below(0.002f), 0);
    }
    for (int i = 0; i < 4; i++) ENSURE(rigid_scene_object(&scene, box[i])->now.position.x > 0.85);
    rigid_scene_end(&scene);
}

// Three hundred rings fall in a heap on a ball.
HEAVY_TEST(a_heap_of_rings)
{
    int number;
    rigid_scene_begin(&scene, 0.005f);
    scene.sand.def.expected_speed = 3.0f;
    scene_add_plane(&scene.sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    ENSURE_OK(rigid_scene_add_prop(&scene, rigid_scene_ball(vec3(0, 0, 0.1f), 0.1f), 0.5f, &number));
    for (int i = 0; i < 300; i++) {
        Shape ring = shape_torus(8, 16, 0.25);
        shape_move(&ring, 0.02f, 0.065f * (float)(i % 5 - 2) + 0.001f * (float)(i % 7),
                   0.065f * (float)(i / 5 % 5 - 2) + 0.001f * (float)(i % 3), 0.24f + 0.016f * (float)(i / 25));
        ENSURE_OK(rigid_scene_add_body(&scene, ring, 2000.0, 0.5f, 0.004f, &number));
    }
    ENSURE_OK(scene_create(&scene.sand, 0));
    const Rigid *rigid = scene.sand.dem->rigid;
    for (int part = 0; part < 5; part++) {
        ENSURE_OK(scene_run(&scene.sand, 0.05));
        ENSURE(fastest() < 6.0); // a fall of 0.9 m: 4.2 m/s
        for (int b = 0; b < rigid->body_count; b++)
            ENSURE(rigid->objects[rigid->bodies[b].object].now.position.z > 0.003);
    }
    rigid_scene_end(&scene);
}
