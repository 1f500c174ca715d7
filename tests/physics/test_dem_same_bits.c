// SPDX-License-Identifier: GPL-3.0-or-later
// The same bits for any number of threads, any instruction set, and over saving and loading in the middle of
// everything.
#include "base/alloc.h"
#include "grain/grain.h"
#include "physics/dem_scene.h"
#include "unit/test.h"

#include <string.h>

// A block of grains drops onto a corner of three planes and slides about: contacts open, slip, stick and roll.
static GrainResult start(DemScene *scene, const char *shape, int threads)
{
    scene_begin(scene, 0.005f);
    if (scene_set_shape(scene, shape) != GRAIN_OK) return GRAIN_ERROR_ARGUMENT;
    scene->def.rolling_friction = 0.2f;
    scene_add_plane(scene, vec3(0, 0, 0), vec3(0, 0.2f, 1), 0.4f);
    scene_add_plane(scene, vec3(0, 0, 0), vec3(1, 0, 0), 0.3f);
    scene_add_plane(scene, vec3(0, -0.02f, 0), vec3(0, 1, 0), 0.3f);
    float side = scene->shape.ball_count > 1 ? 0.17f : 0.3f; // about as many balls of either
    GrainResult result = scene_fill_box(scene, vec3(0.01f, 0.01f, 0.01f), vec3(side, side, 0.14f), 0.2f, 0.2f);
    return result == GRAIN_OK ? scene_create(scene, threads) : result;
}

static int same_state(const Dem *a, const Dem *b)
{
    size_t pairs = (size_t)a->pairs.count * sizeof(float), walls = (size_t)a->walls.count * sizeof(float);
    return a->pairs.count == b->pairs.count && a->walls.count == b->walls.count &&
           memcmp(a->balls, b->balls, (size_t)a->count * sizeof *a->balls) == 0 &&
           (a->grain_count == 0 || memcmp(a->grains, b->grains, (size_t)a->grain_count * sizeof *a->grains) == 0) &&
           memcmp(a->id, b->id, (size_t)a->count * sizeof *a->id) == 0 &&
           memcmp(a->pairs.shear.x, b->pairs.shear.x, pairs) == 0 &&
           memcmp(a->pairs.roll.z, b->pairs.roll.z, pairs) == 0 &&
           memcmp(a->walls.shear.y, b->walls.shear.y, walls) == 0;
}

static const char *const shapes[] = {"sphere", "tetrahedron"};

MARKED_TEST(any_number_of_threads, TEST_THREADS)
{
    for (int shape = 0; shape < 2; shape++) {
        DemScene one, more;
        ENSURE_OK(start(&one, shapes[shape], 1));
        ENSURE_OK(scene_run(&one, 0.09));
        ENSURE(one.dem->count > 4000 && one.dem->walls.count > 100); // else nothing is shared out
        for (int threads = 2; threads <= 3; threads++) {
            ENSURE_OK(start(&more, shapes[shape], threads));
            ENSURE_OK(scene_run(&more, 0.09));
            ENSURE(same_state(one.dem, more.dem));
            scene_end(&more);
        }
        scene_end(&one);
    }
}

TEST(any_instruction_set)
{
    SimdSet best = simd_set();
    for (int shape = 0; shape < 2; shape++) {
        DemScene reference, other;
        ENSURE_OK(start(&reference, shapes[shape], 1));
        ENSURE_OK(scene_run(&reference, 0.06));
        for (int set = SIMD_BASE; set < (int)best; set++) {
            simd_limit((SimdSet)set);
            ENSURE_OK(start(&other, shapes[shape], 1));
            ENSURE_OK(scene_run(&other, 0.06));
            ENSURE(same_state(reference.dem, other.dem));
            scene_end(&other);
        }
        simd_limit(best);
        scene_end(&reference);
    }
}

// Copies what save gives, as a file would.
static void copy_columns(Column *columns, int count)
{
    for (int i = 0; i < count; i++) {
        char *copy = ALLOC(char, column_bytes(&columns[i]));
        memcpy(copy, columns[i].data, (size_t)column_bytes(&columns[i]));
        columns[i].data = copy;
    }
}

static GrainResult steps(DemScene *scene, int count, double seconds)
{
    GrainResult result = GRAIN_OK;
    for (int i = 0; i < count && result == GRAIN_OK; i++) result = dem_solver.step(scene->dem, seconds);
    return result;
}

// Into a fresh one, as a program does that goes on with somebody else's checkpoint.
static GrainResult load_copy(const DemScene *from, DemScene *to, const char *shape)
{
    Column columns[SOLVER_MAX_COLUMNS];
    int count = dem_solver.save(from->dem, columns);
    copy_columns(columns, count);
    GrainResult result = start(to, shape, 1);
    if (result == GRAIN_OK) result = dem_solver.load(to->dem, columns, count);
    for (int i = 0; i < count; i++) alloc_free((void *)columns[i].data);
    return result;
}

TEST(over_saving_and_loading)
{
    for (int shape = 0; shape < 2; shape++) {
        DemScene whole, loaded;
        ENSURE_OK(start(&whole, shapes[shape], 1));
        double seconds = dem_solver.largest_step(whole.dem);
        static const int before[] = {0, 1, 400, 333};
        for (int i = 0; i < 4; i++) {
            ENSURE_OK(steps(&whole, before[i], seconds));
            ENSURE_OK(load_copy(&whole, &loaded, shapes[shape]));
            ENSURE_OK(steps(&whole, 100, seconds));
            ENSURE_OK(steps(&loaded, 100, seconds));
            ENSURE(same_state(whole.dem, loaded.dem));
            scene_end(&loaded);
        }
        scene_end(&whole);
    }
}
