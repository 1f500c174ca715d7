// Heaps: that they stand, at which angle, and that nothing moves in them any more.
#include "grain/grain.h"
#include "physics/dem_scene.h"
#include "unit/test.h"

// A column of 1200 grains collapses; 2 s later it is a heap at rest.
static GrainResult collapse(DemScene *scene, const char *shape, float rolling_friction, double seconds)
{
    scene_begin(scene, 0.005f);
    if (scene_set_shape(scene, shape) != GRAIN_OK) return GRAIN_ERROR_ARGUMENT;
    scene->def.rolling_friction = rolling_friction;
    scene->def.expected_speed = 1.5f;
    scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    GrainResult result = scene_fill_cylinder(scene, 0.0f, 0.13f, 0.08f, 0.1f, 0.2f);
    if (result == GRAIN_OK) result = scene_create(scene, 1);
    return result == GRAIN_OK ? scene_run(scene, seconds) : result;
}

// Rest: 1 micrometre a second would not be seen in an hour. The angle of a collapsed column is some degrees below that
// of repose, as it arrives with a run-up.
TEST(heap_stands_and_rests)
{
    DemScene scene;
    double height;
    ENSURE_OK(collapse(&scene, "sphere", 0.3f, 2.0));
    ENSURE_NEAR(scene_heap_angle(&scene, &height), 23.0, 4.0);
    ENSURE(scene_mean_speed(&scene) < 1e-6);
    ENSURE(scene_kinetic_energy(&scene) < 1e-10);
    scene_end(&scene);
}

TEST(balls_that_roll_freely_do_not_heap_up)
{
    DemScene scene;
    double height;
    ENSURE_OK(collapse(&scene, "sphere", 0.0f, 2.0));
    ENSURE(scene_heap_angle(&scene, &height) < 8.0);
    scene_end(&scene);
}

// A block of grains on an incline below the friction angle: history holds it. After it has settled it moves by less
// than a hundredth of a radius in a second.
TEST(grains_rest_on_a_slope)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    scene.def.rolling_friction = 0.5f;
    float tilt = 15.0f * 3.14159265f / 180.0f;
    scene.def.gravity = vec3(9.81f * sinf(tilt), 0, -9.81f * cosf(tilt)); // the slope as a level floor
    scene_add_plane(&scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    ENSURE_OK(scene_fill_box(&scene, vec3(0, 0, 0), vec3(0.2f, 0.2f, 0.013f), 0.1f, 0.1f));
    ENSURE_OK(scene_create(&scene, 1));
    ENSURE_OK(scene_run(&scene, 0.5));
    double before = 0.0, after = 0.0;
    for (int64_t i = 0; i < scene.dem->count; i++) before += (double)scene_position(&scene, i).x;
    ENSURE_OK(scene_run(&scene, 1.0));
    for (int64_t i = 0; i < scene.dem->count; i++) after += (double)scene_position(&scene, i).x;
    ENSURE_NEAR((after - before) / (double)scene.dem->count, 0.0, 0.01 * 0.005);
    ENSURE(scene_mean_speed(&scene) < 1e-5);
    scene_end(&scene);
}

// Grains with corners need no help: Bell 2005, section 3.1.
TEST(tetrahedra_heap_up_without_rolling_friction)
{
    DemScene scene;
    double height;
    ENSURE_OK(collapse(&scene, "tetrahedron", 0.0f, 2.0));
    ENSURE(scene_heap_angle(&scene, &height) > 15.0);
    ENSURE(scene_mean_speed(&scene) < 1e-5);
    scene_end(&scene);
}
