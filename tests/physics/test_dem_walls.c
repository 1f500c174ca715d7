// SPDX-License-Identifier: GPL-3.0-or-later
// Colliders made of meshes: corners hold, flat floors are flat, grains come to rest on them.
#include "grain/grain.h"
#include "shared/dem_scene.h"
#include "unit/test.h"

#include <math.h>

// Grains poured into a tray that stands at an odd angle to the lattice of its distance field: they must rest in its
// corners, which touch them from two or three sides at once, and none may get out.
MARKED_TEST(grains_rest_in_a_tray, TEST_ADDRESS)
{
    DemScene scene;
    scene_begin(&scene, 0.005f);
    scene.def.rolling_friction = 0.2f;
    ENSURE_OK(scene_add_tray(&scene, vec3(-0.05f, -0.04f, 0.0f), vec3(0.05f, 0.04f, 0.12f), 0.4f, 0.5f));
    ENSURE_OK(scene_fill_box(&scene, vec3(-0.03f, -0.03f, 0.01f), vec3(0.03f, 0.03f, 0.15f), 0.1f, 0.1f));
    ENSURE_OK(scene_create(&scene, 1));
    ENSURE_OK(scene_run(&scene, 1.5));
    ENSURE(scene_mean_speed(&scene) < 1e-5);
    ENSURE(scene_kinetic_energy(&scene) < 1e-9);
    for (int64_t i = 0; i < scene.dem->count; i++) {
        Vec3 at = scene_position(&scene, i);
        float x = at.x * cosf(0.4f) + at.y * sinf(0.4f), y = at.y * cosf(0.4f) - at.x * sinf(0.4f);
        // Overlap with the walls: a grain of 5 mm under 10 cm of sand sinks in by far less than a tenth.
        float least = 0.9f * scene.dem->balls[i].radius;
        ENSURE(fabsf(x) < 0.05f - least && fabsf(y) < 0.04f - least && at.z > least);
    }
    scene_end(&scene);
}
