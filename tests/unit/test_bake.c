// SPDX-License-Identifier: GPL-3.0-or-later
// grain_bake as a library call, above all: every allocation it makes may fail, and nothing leaks or crashes.
#include "base/alloc.h"
#include "base/file.h"
#include "grain/grain.h"
#include "shared/refuse.h"
#include "unit/test.h"

#include <stdlib.h>
#include <string.h>

static const float points[] = {0, 0, 0,    0.1f, 0, 0,    0, 0.1f, 0,    0.1f, 0.1f, 0,
                               0, 0, 0.1f, 0.1f, 0, 0.1f, 0, 0.1f, 0.1f, 0.1f, 0.1f, 0.1f};
static const int32_t triangles[] = {0, 2, 3, 0, 3, 1, 4, 5, 7, 4, 7, 6, 0, 1, 5, 0, 5, 4,
                                    2, 6, 7, 2, 7, 3, 0, 4, 6, 0, 6, 2, 1, 3, 7, 1, 7, 5};
static const char job_text[] =
    "{\"schema\": 1, \"fps\": 24, \"frame_start\": 1, \"frame_end\": 3,"
    " \"solver\": {\"type\": \"dem\", \"particle_radius\": 0.01},"
    " \"geometry\": {\"file\": \"geometry.bin\", \"bytes\": 240},"
    " \"arrays\": [{\"type\": \"f32\", \"components\": 3, \"count\": 8, \"offset\": 0},"
    "              {\"type\": \"i32\", \"components\": 3, \"count\": 12, \"offset\": 96}],"
    " \"objects\": [{\"name\": \"Box\", \"role\": \"source\", \"positions\": 0, \"triangles\": 1},"
    "               {\"name\": \"Ground\", \"role\": \"collider\", \"plane\": {\"point\": [0,0,-0.1], \"normal\": "
    "[0,0,1]}}]}";

// The same with a body, a prop that moves and one that bends, side by side.
static const char moving_job_text[] =
    "{\"schema\": 1, \"fps\": 24, \"frame_start\": 1, \"frame_end\": 3,"
    " \"solver\": {\"type\": \"dem\", \"particle_radius\": 0.015},"
    " \"geometry\": {\"file\": \"geometry.bin\", \"bytes\": 776},"
    " \"arrays\": [{\"type\": \"f32\", \"components\": 3, \"count\": 8, \"offset\": 0},"
    "              {\"type\": \"i32\", \"components\": 3, \"count\": 12, \"offset\": 96},"
    "              {\"type\": \"f32\", \"components\": 3, \"count\": 8, \"offset\": 240},"
    "              {\"type\": \"f32\", \"components\": 3, \"count\": 8, \"offset\": 336},"
    "              {\"type\": \"f32\", \"components\": 3, \"count\": 8, \"offset\": 432},"
    "              {\"type\": \"f32\", \"components\": 7, \"count\": 2, \"offset\": 528},"
    "              {\"type\": \"f32\", \"components\": 3, \"count\": 16, \"offset\": 584}],"
    " \"objects\": [{\"name\": \"Box\", \"role\": \"source\", \"positions\": 0, \"triangles\": 1},"
    "               {\"name\": \"Crate\", \"role\": \"body\", \"positions\": 2, \"triangles\": 1},"
    "               {\"name\": \"Paddle\", \"role\": \"collider\", \"motion\": \"moving\", \"positions\": 3,"
    "                \"triangles\": 1, \"poses\": 5},"
    "               {\"name\": \"Jelly\", \"role\": \"collider\", \"motion\": \"deforming\", \"positions\": 4,"
    "                \"triangles\": 1, \"shapes\": 6},"
    "               {\"name\": \"Ground\", \"role\": \"collider\", \"plane\": {\"point\": [0,0,-0.001], \"normal\": "
    "[0,0,1]}}]}";

typedef struct MovingGeometry {
    float source[24];
    int32_t triangles[36];
    float crate[24], paddle[24], jelly[24], poses[14], shapes[48];
} MovingGeometry;
_Static_assert(sizeof(MovingGeometry) == 776, "as the job says");

static GrainResult write_file(const char *name, const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    char *path;
    FileWriter file;
    GrainResult result = file_join(test_folder(), name, &path);
    if (result == GRAIN_OK) result = file_create(&file, path);
    if (result == GRAIN_OK) result = file_write(&file, a, a_bytes);
    if (result == GRAIN_OK) result = file_write(&file, b, b_bytes);
    if (result == GRAIN_OK) result = file_commit(&file);
    alloc_free(path);
    return result;
}

static GrainResult write_job(void)
{
    GrainResult result = write_file("job.json", job_text, sizeof job_text - 1, "", 0);
    if (result != GRAIN_OK) return result;
    return write_file("geometry.bin", points, sizeof points, triangles, sizeof triangles);
}

static GrainResult write_moving_job(void)
{
    MovingGeometry geometry = {.poses = {0.2f, 0, 0, 1, 0, 0, 0, 0.19f, 0, 0, 1, 0, 0, 0}};
    memcpy(geometry.source, points, sizeof points);
    memcpy(geometry.triangles, triangles, sizeof triangles);
    for (int i = 0; i < 24; i++) {
        geometry.crate[i] = points[i] + (i % 3 == 1 ? 0.12f : 0.0f);
        geometry.paddle[i] = points[i] + (i % 3 == 0 ? 0.11f : 0.0f);
        geometry.jelly[i] = points[i] + (i % 3 == 0 ? -0.11f : 0.0f);
        geometry.shapes[i] = geometry.jelly[i];
        geometry.shapes[24 + i] = geometry.jelly[i] * (i % 3 == 2 ? 0.8f : 1.0f);
    }
    GrainResult result = write_file("job.json", moving_job_text, sizeof moving_job_text - 1, "", 0);
    return result == GRAIN_OK ? write_file("geometry.bin", &geometry, sizeof geometry, "", 0) : result;
}

typedef struct Watch {
    int frames, stop_after;
    int64_t particles;
} Watch;

static int32_t on_status(void *user, const GrainStageStatus *status)
{
    Watch *watch = user;
    watch->frames += status->event == GRAIN_STAGE_FRAME;
    watch->particles = status->particles;
    return watch->frames >= watch->stop_after ? 0 : GRAIN_CONTINUE;
}

static GrainResult bake(Watch *watch, int restart)
{
    GrainStageDef def;
    grain_stage_def_default(&def, sizeof def);
    def.job_folder = test_folder();
    def.thread_count = 1;
    def.restart = restart;
    def.status = on_status;
    def.user = watch;
    return grain_bake(&def);
}

TEST(callback_stops_and_the_next_call_goes_on)
{
    Watch watch = {.stop_after = 1};
    ENSURE_OK(write_job());
    ENSURE_EQUAL(bake(&watch, 0), GRAIN_CANCELLED);
    ENSURE_EQUAL(watch.frames, 1);
    watch = (Watch){.stop_after = 100};
    ENSURE_OK(bake(&watch, 0));
    ENSURE_EQUAL(watch.frames, 1); // of the two after the first
    ENSURE(watch.particles > 20);
}

static int32_t stop_at_warning(void *user, const GrainStageStatus *status)
{
    *(int *)user += status->event == GRAIN_STAGE_WARNING;
    return status->event == GRAIN_STAGE_WARNING ? 0 : GRAIN_CONTINUE;
}

TEST(a_wish_to_stop_that_comes_with_a_warning_is_remembered)
{
    Watch watch = {.stop_after = 100};
    int warnings = 0;
    GrainStageDef def;
    ENSURE_OK(write_job());
    ENSURE_OK(bake(&watch, GRAIN_RESTART_ALL));
    ENSURE_OK(write_file("cache/coarse_000002.grain", "damaged", 7, "", 0));
    ENSURE_OK(grain_stage_def_default(&def, sizeof def));
    def.job_folder = test_folder();
    def.status = stop_at_warning;
    def.user = &warnings;
    ENSURE_EQUAL(grain_bake(&def), GRAIN_CANCELLED);
    ENSURE_EQUAL(warnings, 1);
    def.status = NULL;
    ENSURE_OK(grain_bake(&def));
}

static GrainResult bake_anew(void *user)
{
    Watch watch = {.stop_after = 100};
    (void)user;
    return bake(&watch, 1);
}

TEST(every_allocation_may_fail)
{
    ENSURE_OK(write_job());
    refuse_each_allocation(bake_anew, NULL, 1, 50);
}

TEST(every_allocation_may_fail_with_props_and_bodies)
{
    ENSURE_OK(write_moving_job());
    refuse_each_allocation(bake_anew, NULL, test_is_heavy() ? 1 : 7, 50);
}

static GrainResult upsample(Watch *watch, int restart)
{
    GrainStageDef def;
    grain_stage_def_default(&def, sizeof def);
    def.job_folder = test_folder();
    def.thread_count = 1;
    def.restart = restart;
    def.status = on_status;
    def.user = watch;
    return grain_upsample(&def);
}

static GrainResult upsample_anew(void *user)
{
    Watch watch = {.stop_after = 100};
    (void)user;
    return upsample(&watch, 1);
}

TEST(every_allocation_of_upsampling_may_fail)
{
    Watch watch = {.stop_after = 100};
    ENSURE_OK(write_moving_job());
    ENSURE_OK(bake(&watch, 1));
    refuse_each_allocation(upsample_anew, NULL, test_is_heavy() ? 1 : 3, 50);
}

TEST(bad_defs_are_refused)
{
    GrainStageDef def;
    ENSURE_FAILS(grain_bake(NULL), GRAIN_ERROR_ARGUMENT, "NULL");
    ENSURE_OK(grain_stage_def_default(&def, sizeof def));
    ENSURE_FAILS(grain_bake(&def), GRAIN_ERROR_ARGUMENT, "job_folder");
    def.struct_size = 7;
    ENSURE_FAILS(grain_bake(&def), GRAIN_ERROR_ABI, "GrainStageDef");
    ENSURE_FAILS(grain_stage_def_default(&def, 3), GRAIN_ERROR_ABI, "GrainStageDef");
    ENSURE_OK(grain_stage_def_default(&def, sizeof def));
    def.job_folder = "/nowhere";
    def.thread_count = -1;
    ENSURE_FAILS(grain_bake(&def), GRAIN_ERROR_ARGUMENT, "thread_count");
    def.thread_count = 0;
    def.restart = 3;
    ENSURE_FAILS(grain_bake(&def), GRAIN_ERROR_ARGUMENT, "restart is 3; grain bake allows 0 to 2");
    def.restart = GRAIN_RESTART_AFTER_FRAME;
    ENSURE_FAILS(grain_upsample(&def), GRAIN_ERROR_ARGUMENT, "grain upsample allows 0 to 1");
    def.restart = GRAIN_RESTART_NONE;
    def.shard = def.shard_count = 2;
    ENSURE_FAILS(grain_volume(&def), GRAIN_ERROR_ARGUMENT, "grain volume allows 1/1 to 1/1");
    def.shard_count = 1;
    ENSURE_FAILS(grain_upsample(&def), GRAIN_ERROR_ARGUMENT, "shard 2 of 1");
}
