// SPDX-License-Identifier: GPL-3.0-or-later
// Scenes simulated and refined in memory: the frames are those of a bake.
#include "grain/grain.h"
#include "output/column_file.h"
#include "shared/meshes.h"
#include "shared/refuse.h"
#include "unit/test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FRAMES 3
#define SAMPLES 3

// Sand falls on a plate that moves, beside a crate; more is poured; a drain takes some; gravity turns.
static GrainResult make_scene(const char *solver, GrainScene **out)
{
    static const float poses[7 * SAMPLES] = {0, 0, 0, 1, 0, 0, 0, 0.02f, 0, 0, 1, 0, 0, 0, 0.04f, 0, 0, 1, 0, 0, 0};
    static const float gravity[3 * SAMPLES] = {0.5f, 0, -9, 0, 1, -9.5f, 0, 2, -9};
    Shape shape[5] = {shape_box(-0.06f, -0.06f, 0.03f, 0.06f, 0.06f, 0.12f),
                      shape_box(-0.2f, -0.2f, -0.1f, 0.2f, 0.2f, 0), shape_box(0.1f, -0.05f, 0.03f, 0.2f, 0.05f, 0.1f),
                      shape_box(-0.3f, -0.3f, -0.3f, 0.3f, 0.3f, -0.08f),
                      shape_box(-0.06f, -0.06f, 0.2f, 0.06f, 0.06f, 0.25f)};
    GrainMesh mesh[5];
    for (int i = 0; i < 5; i++) mesh[i] = shape_mesh(&shape[i]);
    GrainScene *scene = NULL;
    GrainObjectDef def;
    int32_t object;
    GrainResult result = grain_scene_create(&scene);
#define STEP(call)                                                                                                     \
    if (result == GRAIN_OK) result = (call)
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "frame_end", FRAMES));
    STEP(grain_scene_set_text(scene, GRAIN_SCENE, "solver.type", solver));
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.012));
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "upsample.grains_per_particle", 5));
    STEP(grain_scene_set_curve(scene, GRAIN_SCENE, "gravity", gravity, 3, SAMPLES));
    STEP(grain_object_def_default(&def, sizeof def));
    def.role = GRAIN_ROLE_SOURCE, def.name = "Sand", def.mesh = &mesh[0];
    STEP(grain_scene_add(scene, &def, &object));
    STEP(grain_scene_set_number(scene, object, "moisture", 0.3));
    def.role = GRAIN_ROLE_EMITTER, def.name = "Tap", def.mesh = &mesh[4];
    STEP(grain_scene_add(scene, &def, &object));
    STEP(grain_scene_set_number(scene, object, "rate", 2000));
    STEP(grain_scene_set_vector(scene, object, "velocity", (double[]){0, 0, -2}));
    def.role = GRAIN_ROLE_BODY, def.name = "Crate", def.mesh = &mesh[2];
    STEP(grain_scene_add(scene, &def, NULL));
    def.role = GRAIN_ROLE_KILL_ZONE, def.name = "Drain", def.mesh = &mesh[3];
    STEP(grain_scene_add(scene, &def, NULL));
    def.role = GRAIN_ROLE_COLLIDER, def.name = "Plate", def.mesh = &mesh[1];
    def.poses = poses, def.pose_count = SAMPLES;
    STEP(grain_scene_add(scene, &def, NULL));
#undef STEP
    for (int i = 0; i < 5; i++) shape_free(&shape[i]);
    if (result == GRAIN_OK)
        *out = scene;
    else
        grain_scene_destroy(scene);
    return result;
}

static int32_t stop_soon(void *user, const char *step, float fraction)
{
    (void)step, (void)fraction;
    return --*(int *)user < 0 ? 0 : GRAIN_CONTINUE;
}

// Every column of both, byte by byte.
static int is_same_frame(const GrainFrame *a, const GrainFrame *b)
{
    if (a->column_count != b->column_count || a->header.frame != b->header.frame) return 0;
    for (int c = 0; c < a->column_count; c++) {
        const Column *x = &a->columns[c], *y = column_find(b->columns, b->column_count, x->name);
        if (!y || x->type != y->type || x->components != y->components || x->count != y->count) return 0;
        if (x->count > 0 && memcmp(x->data, y->data, (size_t)column_bytes(x)) != 0) return 0;
    }
    return 1;
}

static GrainResult read_frame(const char *job, const char *stream, int frame, GrainFrame **out)
{
    char path[2048];
    snprintf(path, sizeof path, "%.1000s/cache/%.20s_%06d.grain", job, stream, frame);
    return grain_frame_read(path, out);
}

static GrainResult bake(const GrainScene *scene, const char *folder)
{
    GrainStageDef def;
    TRY(grain_scene_write(scene, folder));
    TRY(grain_stage_def_default(&def, sizeof def));
    def.job_folder = folder;
    def.thread_count = 2;
    TRY(grain_bake(&def));
    return grain_upsample(&def);
}

// How far positions of the same grain are apart; -1: they are not the same grains.
static double largest_distance(const GrainFrame *a, const GrainFrame *b)
{
    const Column *p = column_find(a->columns, a->column_count, "position"),
                 *q = column_find(b->columns, b->column_count, "position"),
                 *i = column_find(a->columns, a->column_count, "id"),
                 *j = column_find(b->columns, b->column_count, "id");
    double largest = 0.0;
    if (!p || !q || !i || !j || p->count != q->count || memcmp(i->data, j->data, (size_t)column_bytes(i)) != 0)
        return -1;
    for (int64_t n = 0; n < 3 * p->count; n++) {
        double apart = fabs((double)((const float *)p->data)[n] - (double)((const float *)q->data)[n]);
        largest = apart > largest ? apart : largest;
    }
    return largest;
}

static void check_solver(const char *solver)
{
    char job[1200];
    int64_t first = 0;
    GrainScene *scene;
    GrainSim *sim;
    GrainUpsampler *upsampler;
    snprintf(job, sizeof job, "%.1000s/%.20s", test_folder(), solver);
    ENSURE_OK(make_scene(solver, &scene));
    ENSURE_OK(bake(scene, job));
    ENSURE_OK(grain_sim_create(scene, &(GrainRun){sizeof(GrainRun), 1, NULL, NULL}, &sim));
    ENSURE_OK(grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler));
    for (int frame = 1; frame <= FRAMES; frame++) {
        GrainFrame *baked, *refined;
        ENSURE_OK(read_frame(job, "coarse", frame, &baked));
        ENSURE_OK(read_frame(job, "grains/grains", frame, &refined));
        ENSURE(is_same_frame(baked, grain_sim_frame(sim)));
        ENSURE(baked->header.particles > (frame == 1 ? 20 : first)); // more are born
        if (frame == 1) first = baked->header.particles;
        // On disk a grain is up to a hundredth of its radius off, along each axis: 0.012 m / cbrt(5) / 100.
        double apart = largest_distance(refined, grain_upsampler_frame(upsampler));
        ENSURE(apart >= 0.0 && apart < 7.1e-5);
        grain_frame_destroy(baked);
        grain_frame_destroy(refined);
        if (frame == FRAMES) break;
        // Stopped after the first substeps, and resumed.
        int calls = 0;
        GrainResult result = grain_sim_advance(sim, &(GrainRun){sizeof(GrainRun), 0, stop_soon, &calls});
        ENSURE_EQUAL(grain_sim_frame(sim)->header.frame, result == GRAIN_OK ? frame + 1 : frame);
        if (result == GRAIN_CANCELLED) result = grain_sim_advance(sim, NULL);
        ENSURE_OK(result);
        ENSURE_OK(grain_upsampler_advance(upsampler, grain_sim_frame(sim), NULL));
    }
    grain_upsampler_destroy(upsampler);
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
}

TEST(frames_in_memory_are_those_of_a_bake_dem) { check_solver("dem"); }
TEST(frames_in_memory_are_those_of_a_bake_mpm) { check_solver("mpm"); }
TEST(frames_in_memory_are_those_of_a_bake_sph) { check_solver("sph"); }

static double mean_height(const GrainSim *sim)
{
    GrainView view;
    double sum = 0.0;
    if (grain_frame_column(grain_sim_frame(sim), "position", &view) != GRAIN_OK) return NAN;
    for (int64_t i = 0; i < view.count; i++) sum += (double)((const float *)view.data)[3 * i + 2];
    return sum / (double)view.count;
}

// One box of sand, in the air.
static GrainResult make_falling(GrainScene **out)
{
    Shape shape = shape_box(0, 0, 0, 0.1f, 0.1f, 0.1f);
    GrainMesh mesh = shape_mesh(&shape);
    GrainObjectDef def;
    GrainResult result = grain_scene_create(out);
    if (result == GRAIN_OK) result = grain_scene_set_text(*out, GRAIN_SCENE, "solver.type", "dem");
    if (result == GRAIN_OK) result = grain_scene_set_number(*out, GRAIN_SCENE, "solver.particle_radius", 0.02);
    if (result == GRAIN_OK) result = grain_object_def_default(&def, sizeof def);
    def.role = GRAIN_ROLE_SOURCE, def.name = "Sand", def.mesh = &mesh;
    if (result == GRAIN_OK) result = grain_scene_add(*out, &def, NULL);
    def.role = GRAIN_ROLE_COLLIDER, def.name = "Ground", def.mesh = NULL, def.plane_point[2] = -10.0;
    if (result == GRAIN_OK) result = grain_scene_add(*out, &def, NULL);
    shape_free(&shape);
    return result;
}

TEST(gravity_is_what_it_was_last_set_to)
{
    GrainScene *scene;
    GrainSim *sim;
    ENSURE_OK(make_falling(&scene));
    ENSURE_OK(grain_sim_create(scene, NULL, &sim));
    double height[4] = {mean_height(sim)};
    ENSURE_OK(grain_sim_advance(sim, NULL));
    height[1] = mean_height(sim);
    ENSURE_OK(grain_sim_set_vector(sim, GRAIN_SCENE, "gravity", (double[]){0, 0, 0}));
    for (int i = 2; i < 4; i++) {
        ENSURE_OK(grain_sim_advance(sim, NULL));
        height[i] = mean_height(sim);
    }
    // It falls freely for 1/24 s (8.52 mm; the steps of a first-order integrator make that up to 2 % more or less) and
    // then moves on as fast as it was, exactly.
    ENSURE_NEAR(height[0] - height[1], 0.5 * 9.81 / (24.0 * 24.0), 2e-4);
    ENSURE_NEAR(height[1] - height[2], 9.81 / (24.0 * 24.0), 2e-4);
    ENSURE_NEAR(height[2] - height[3], height[1] - height[2], 1e-6);
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
}

typedef struct Told {
    int count;
    char text[600];
} Told;

static void note_message(void *user, const char *text)
{
    Told *told = user;
    told->count++;
    snprintf(told->text, sizeof told->text, "%s", text);
}

// Of the scene's emitter with this rate: how often it is told that sand is lost, and in what words.
static void check_warnings(double rate, int count)
{
    GrainScene *scene = NULL;
    GrainSim *sim = NULL;
    Told told = {0};
    GrainRun run = {sizeof run, 2, NULL, &told, note_message};
    ENSURE_OK(make_scene("dem", &scene));
    ENSURE_OK(grain_scene_set_number(scene, 1, "rate", rate));
    ENSURE_OK(grain_sim_create(scene, &run, &sim));
    GrainFrameInfo before = {.struct_size = sizeof before}, after = before;
    ENSURE_OK(grain_frame_info(grain_sim_frame(sim), &before));
    for (int i = 0; i < FRAMES - 1; i++) ENSURE_OK(grain_sim_advance(sim, &run));
    ENSURE_OK(grain_frame_info(grain_sim_frame(sim), &after));
    char wanted[200];
    snprintf(wanted, sizeof wanted,
             "'Tap' had no room for all its particles: it emitted %lld of 1000 from frame 1 to %d. ",
             (long long)(after.particles - before.particles), FRAMES);
    ENSURE(told.count == count && (count == 0 || strstr(told.text, wanted)));
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
}

TEST(what_an_emitter_has_no_room_for_is_told)
{
    check_warnings(600.0, 0);
    check_warnings(12000.0, 1);
}

TEST(what_cannot_be_done_in_memory_is_said)
{
    GrainScene *scene;
    GrainSim *sim;
    GrainUpsampler *upsampler;
    const double up[3] = {0, 0, 1};
    ENSURE_FAILS(grain_sim_create(NULL, NULL, &sim), GRAIN_ERROR_ARGUMENT, "GrainScene is NULL");
    ENSURE(sim == NULL && grain_sim_frame(NULL) == NULL && grain_upsampler_frame(NULL) == NULL);
    ENSURE_OK(make_falling(&scene));
    ENSURE_OK(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 1e-6));
    ENSURE_FAILS(grain_sim_create(scene, NULL, &sim), GRAIN_ERROR_MEMORY, "larger particle radius");
    ENSURE_OK(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.02));
    int calls = 0;
    GrainRun stopped = {sizeof stopped, 0, stop_soon, &calls};
    ENSURE_FAILS(grain_sim_create(scene, &stopped, &sim), GRAIN_CANCELLED, "cancelled");
    ENSURE_OK(grain_sim_create(scene, NULL, &sim));
    ENSURE_FAILS(grain_sim_advance(NULL, NULL), GRAIN_ERROR_ARGUMENT, "GrainSim is NULL");
    ENSURE_FAILS(grain_sim_set_number(sim, GRAIN_SCENE, "density", 1.0), GRAIN_ERROR_ARGUMENT, "'density'");
    ENSURE_FAILS(grain_sim_set_number(sim, GRAIN_SCENE, "gravity", 1.0), GRAIN_ERROR_ARGUMENT, "gravity (3 numbers)");
    ENSURE_FAILS(grain_sim_set_number(sim, GRAIN_SCENE, "solver.friction", 3.0), GRAIN_ERROR_ARGUMENT, "from 0 to 2");
    ENSURE_FAILS(grain_sim_set_number(sim, GRAIN_SCENE, "solver.viscosity", 3.0), GRAIN_ERROR_ARGUMENT, "dem");
    ENSURE_FAILS(grain_sim_set_number(sim, 0, "friction", 0.5), GRAIN_ERROR_ARGUMENT, "cannot be changed");
    ENSURE_FAILS(grain_sim_set_number(sim, 7, "friction", 0.5), GRAIN_ERROR_ARGUMENT, "object 7");
    ENSURE_FAILS(grain_sim_set_vector(sim, GRAIN_SCENE, NULL, up), GRAIN_ERROR_ARGUMENT, "NULL");
    ENSURE_OK(grain_sim_set_number(sim, 1, "friction", 0.5));
    ENSURE_OK(grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler));
    ENSURE_FAILS(grain_upsampler_advance(upsampler, grain_sim_frame(sim), NULL), GRAIN_ERROR_ARGUMENT,
                 "does not follow");
    grain_upsampler_destroy(upsampler);
    ENSURE_OK(grain_sim_advance(sim, NULL));
    ENSURE_FAILS(grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler), GRAIN_ERROR_ARGUMENT,
                 "begin at frame 1");
    ENSURE(upsampler == NULL);
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
}

// --- memory ---------------------------------------------------------------------------------------

static GrainResult run_all(void *user)
{
    (void)user;
    GrainScene *scene = NULL;
    GrainSim *sim = NULL;
    GrainUpsampler *upsampler = NULL;
    GrainRun run = {sizeof run, 1, NULL, NULL};
    GrainResult result = make_falling(&scene);
    if (result == GRAIN_OK) result = grain_sim_create(scene, &run, &sim);
    if (result == GRAIN_OK) result = grain_upsampler_create(scene, grain_sim_frame(sim), &run, &upsampler);
    for (int i = 0; result == GRAIN_OK && i < 2; i++) {
        result = grain_sim_advance(sim, &run);
        if (result == GRAIN_OK) result = grain_upsampler_advance(upsampler, grain_sim_frame(sim), &run);
    }
    grain_upsampler_destroy(upsampler);
    grain_sim_destroy(sim);
    grain_scene_destroy(scene);
    return result;
}

TEST(every_allocation_in_memory_may_fail) { refuse_each_allocation(run_all, NULL, 1, 50); }
