// SPDX-License-Identifier: GPL-3.0-or-later
// Scenes made in code: what they hold, what they refuse, and their way through a job folder.
#include "base/alloc.h"
#include "base/file.h"
#include "grain/grain.h"
#include "job/schema.h"
#include "scene/scene.h"
#include "shared/meshes.h"
#include "shared/refuse.h"
#include "unit/test.h"

#include <math.h>
#include <string.h>

#define SAMPLES 3

// Sand on a slope that is painted and moves, an emitter, a body, a drain, a plane, wind, and gravity that turns.
static GrainResult make_scene(GrainScene **out)
{
    static const float poses[7 * SAMPLES] = {0, 0, 0, 1, 0, 0, 0, 0.1f, 0, 0, 1, 0, 0, 0, 0.2f, 0, 0, 1, 0, 0, 0};
    static const float gravity[3 * SAMPLES] = {0, 0, -9.81f, 0, 5, -5, 0, 9.81f, 0};
    static const float rate[SAMPLES] = {100, 0, 200};
    static const float paint[8] = {0, 0, 0, 0, 1, 1, 1, 1};
    Shape shape[3] = {shape_box(-0.1f, -0.1f, 0.1f, 0.1f, 0.1f, 0.2f), shape_box(-0.2f, -0.2f, -0.1f, 0.2f, 0.2f, 0),
                      shape_box(0.5f, 0, 0, 0.6f, 0.1f, 0.1f)};
    GrainMesh sand = shape_mesh(&shape[0]), slope = shape_mesh(&shape[1]), aside = shape_mesh(&shape[2]);
    GrainScene *scene = NULL;
    GrainObjectDef def;
    GrainAttributeDef attribute;
    int32_t object;
    GrainResult result = grain_scene_create(&scene);
#define STEP(call)                                                                                                     \
    if (result == GRAIN_OK) result = (call)
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "frame_end", 3));
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", 0.02));
    STEP(grain_scene_set_text(scene, GRAIN_SCENE, "solver.type", "dem"));
    STEP(grain_scene_set_flag(scene, GRAIN_SCENE, "solver.sleep", 0));
    STEP(grain_scene_set_vector(scene, GRAIN_SCENE, "gravity", (double[]){0, 0, -9.81}));
    STEP(grain_scene_set_curve(scene, GRAIN_SCENE, "gravity", gravity, 3, SAMPLES));
    STEP(grain_scene_set_number(scene, GRAIN_SCENE, "upsample.grains_per_particle", 20));
    STEP(grain_object_def_default(&def, sizeof def));
    STEP(grain_attribute_def_default(&attribute, sizeof attribute));
    def.role = GRAIN_ROLE_SOURCE, def.name = "Sand", def.mesh = &sand;
    STEP(grain_scene_add(scene, &def, &object));
    STEP(grain_scene_set_number(scene, object, "material.density", 1800.5));
    attribute.name = "height", attribute.values = paint, attribute.count = 8;
    STEP(grain_scene_set_attribute(scene, object, &attribute));
    def.role = GRAIN_ROLE_COLLIDER, def.name = "Slope", def.mesh = &slope;
    def.poses = poses, def.pose_count = SAMPLES;
    STEP(grain_scene_add(scene, &def, &object));
    attribute.name = "friction_paint";
    STEP(grain_scene_set_attribute(scene, object, &attribute));
    def.role = GRAIN_ROLE_EMITTER, def.name = "Tap", def.mesh = &sand;
    STEP(grain_scene_add(scene, &def, &object));
    STEP(grain_scene_set_number(scene, object, "rate", 100));
    STEP(grain_scene_set_curve(scene, object, "rate", rate, 1, SAMPLES));
    def.role = GRAIN_ROLE_KILL_ZONE, def.name = "Drain", def.mesh = &aside, def.poses = NULL;
    STEP(grain_scene_add(scene, &def, NULL));
    def.role = GRAIN_ROLE_BODY, def.name = "Crate";
    STEP(grain_scene_add(scene, &def, NULL));
    def.role = GRAIN_ROLE_FIELD, def.name = "Wind", def.mesh = NULL;
    STEP(grain_scene_add(scene, &def, &object));
    STEP(grain_scene_set_text(scene, object, "type", "wind"));
    def.role = GRAIN_ROLE_COLLIDER, def.name = "Ground";
    STEP(grain_scene_add(scene, &def, NULL));
#undef STEP
    for (int i = 0; i < 3; i++) shape_free(&shape[i]);
    *out = scene;
    return result;
}

TEST(a_scene_becomes_the_job_that_it_describes)
{
    GrainScene *scene;
    Job job;
    ENSURE_OK(make_scene(&scene));
    ENSURE_OK(scene_begin_job(scene, &job));
    ENSURE_EQUAL(job.object_count, 6);
    ENSURE_EQUAL(job.field_count, 1);
    ENSURE(job.frame_end == 3 && job.fps == 24.0 && !job.dem.sleep && job.particle_radius == 0.02f);
    ENSURE(job.dem.materials[0].density == 1800.5f && job.objects[0].material == 1);
    ENSURE_EQUAL(job.objects[1].motion.kind, MOTION_POSES);
    ENSURE_EQUAL(job.objects[1].motion.sample_count, SAMPLES);
    ENSURE(job.objects[1].friction_paint.numbers[7] == 1.0f);
    ENSURE(curve_vector(&job.gravity, 2.0).y == 9.81f);
    ENSURE(curve_number(&job.objects[2].emitter.rate, 2.0) == 200.0f);
    ENSURE(job.objects[5].is_plane && job.objects[5].plane_normal.z == 1.0f);
    ENSURE(strcmp(job.attributes[0].name, "height") == 0);
    scene_end_job(&job);
    ENSURE_EQUAL(grain_scene_object_count(scene), 7);
    ENSURE_EQUAL(grain_scene_find(scene, "Wind"), 5);
    ENSURE_EQUAL(grain_scene_find(scene, "Ground"), 6);
    ENSURE_EQUAL(grain_scene_find(scene, "Sky"), GRAIN_SCENE);
    grain_scene_destroy(scene);
}

static GrainResult read_text(const char *folder, const char *name, char **text, int64_t *bytes)
{
    char *path;
    TRY(file_join(folder, name, &path));
    GrainResult result = file_read(path, INT64_MAX, (void **)text, bytes);
    alloc_free(path);
    return result;
}

static int has_same_file(const char *a, const char *b, const char *name)
{
    char *first = NULL, *second = NULL;
    int64_t first_bytes = 0, second_bytes = -1;
    int is_same = read_text(a, name, &first, &first_bytes) == GRAIN_OK &&
                  read_text(b, name, &second, &second_bytes) == GRAIN_OK && first_bytes == second_bytes &&
                  memcmp(first, second, (size_t)first_bytes) == 0;
    alloc_free(first), alloc_free(second);
    return is_same;
}

TEST(a_new_scene_has_what_the_interface_starts_with)
{
    GrainScene *scene;
    ENSURE_OK(grain_scene_create(&scene));
    json_t *root = scene_node(scene, GRAIN_SCENE);
    const char *type = json_string_value(json_object_get(json_object_get(root, "solver"), "type"));
    int is_same = type && strcmp(type, schema_find(&schema_solver, 0, "type")->shown->word) == 0;
    double start = json_number_value(json_object_get(root, "frame_start")),
           end = json_number_value(json_object_get(root, "frame_end"));
    grain_scene_destroy(scene);
    ENSURE(is_same);
    ENSURE(start == schema_find(&schema_job, 0, "frame_start")->shown->number);
    ENSURE(end == schema_find(&schema_job, 0, "frame_end")->shown->number);
}

TEST(a_scene_comes_back_from_its_folder_as_it_was)
{
    GrainScene *scene, *again;
    char fingerprint[33], found[33], *folder, *copy, *cache, *other;
    ENSURE_OK(make_scene(&scene));
    ENSURE_OK(file_join(test_folder(), "a/deep folder", &folder));
    ENSURE_OK(file_join(test_folder(), "copy", &copy));
    ENSURE_OK(file_join(copy, "cache", &cache));
    ENSURE_OK(grain_scene_write(scene, folder));
    ENSURE_OK(grain_scene_read(folder, &again));
    ENSURE_OK(grain_scene_write(again, copy));
    ENSURE(has_same_file(folder, copy, "geometry.bin"));
    ENSURE_OK(grain_scene_fingerprint(scene, fingerprint));
    ENSURE_OK(grain_scene_fingerprint(again, found));
    ENSURE(strlen(fingerprint) == 32 && strcmp(fingerprint, found) == 0);
    ENSURE_EQUAL(grain_scene_find(again, "Ground"), 5); // force fields come after the objects there
    ENSURE_OK(grain_scene_set_number(again, 5, "friction", 0.25));
    ENSURE_OK(grain_scene_fingerprint(again, found));
    ENSURE(strcmp(fingerprint, found) != 0); // only in memory
    GrainStageDef def;
    ENSURE_OK(grain_stage_def_default(&def, sizeof def));
    def.thread_count = 1;
    def.job_folder = folder, def.cache_folder = cache;
    ENSURE_OK(grain_bake(&def));
    def.job_folder = copy;
    ENSURE_OK(grain_bake(&def)); // the cache of the same scene
    ENSURE_OK(file_join(copy, "other", &other));
    def.cache_folder = other;
    ENSURE_OK(grain_bake(&def));
    ENSURE(has_same_file(cache, other, "coarse_000003.grain"));
    grain_scene_destroy(scene), grain_scene_destroy(again);
    alloc_free(folder), alloc_free(copy), alloc_free(cache), alloc_free(other);
}

static int says(GrainResult result, GrainResult code, const char *text)
{
    if (result == code && strstr(grain_last_error(), text)) return 1;
    printf("# got %d: %s\n", (int)result, grain_last_error());
    return 0;
}

TEST(what_a_scene_refuses_is_named)
{
    GrainScene *scene;
    GrainObjectDef def;
    GrainAttributeDef attribute;
    char before[33], after[33];
    ENSURE_OK(make_scene(&scene));
    ENSURE_OK(grain_scene_fingerprint(scene, before));
    ENSURE_OK(grain_object_def_default(&def, sizeof def));
    ENSURE_OK(grain_attribute_def_default(&attribute, sizeof attribute));
    int64_t geometry_bytes = scene->geometry_bytes;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ARGUMENT, "name is missing"));
    def.name = "Box", def.role = 9;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ARGUMENT, "role is 9; it must be from 0 to 6"));
    def.role = GRAIN_ROLE_SOURCE;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ARGUMENT, "'Box' has no mesh"));
    def.role = GRAIN_ROLE_COLLIDER, def.plane_point[1] = NAN;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ARGUMENT, "plane_point"));
    def.plane_point[1] = 0, def.samples_per_frame = 0;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ARGUMENT, "samples_per_frame is 0; it must be from 1"));
    def.struct_size = 8;
    ENSURE(says(grain_scene_add(scene, &def, NULL), GRAIN_ERROR_ABI, "GrainObjectDef"));
    ENSURE(says(grain_scene_set_number(scene, 7, "rate", 1), GRAIN_ERROR_ARGUMENT, "no object 7; the scene has 7"));
    ENSURE(says(grain_scene_set_number(scene, GRAIN_SCENE, "fps", NAN), GRAIN_ERROR_ARGUMENT, "fps is nan"));
    ENSURE(says(grain_scene_set_number(scene, GRAIN_SCENE, "fps.x", 1), GRAIN_ERROR_ARGUMENT, "'fps.x' leads nowhere"));
    ENSURE(says(grain_scene_set_number(scene, GRAIN_SCENE, "", 1), GRAIN_ERROR_ARGUMENT, "leads nowhere"));
    ENSURE(says(grain_scene_set_text(scene, GRAIN_SCENE, "name", "\xff"), GRAIN_ERROR_ARGUMENT, "UTF-8"));
    ENSURE(says(grain_scene_set_curve(scene, 2, "rate", NULL, 1, 4), GRAIN_ERROR_ARGUMENT, "rate has 0 samples"));
    attribute.name = "friction_paint", attribute.components = 3, attribute.values = (float[3]){0}, attribute.count = 1;
    ENSURE(says(grain_scene_set_attribute(scene, 1, &attribute), GRAIN_ERROR_ARGUMENT, "one number for each vertex"));
    ENSURE_EQUAL(scene->geometry_bytes, geometry_bytes);
    ENSURE_OK(grain_scene_fingerprint(scene, after));
    ENSURE(strcmp(before, after) == 0);
    // Ranges and keys are the job's.
    ENSURE(says(grain_scene_set_number(scene, 1, "friction", 7), GRAIN_ERROR_JOB,
                "'Slope'.friction is 7; it must be a number from 0 to 2"));
    ENSURE(says(grain_scene_set_number(scene, 1, "frition", 1), GRAIN_ERROR_JOB, "frition is not a key"));
    ENSURE(says(grain_scene_set_number(scene, 1, "rate", 1), GRAIN_ERROR_JOB, "rate is not a key"));
    ENSURE(says(grain_scene_set_number(scene, 0, "material.friction", -1), GRAIN_ERROR_JOB, "material.friction is -1"));
    ENSURE(says(grain_scene_set_text(scene, GRAIN_SCENE, "solver.type", "magic"), GRAIN_ERROR_JOB, "\"magic\""));
    ENSURE(
        says(grain_scene_set_number(scene, GRAIN_SCENE, "solver.grain_balls", 1.5), GRAIN_ERROR_JOB, "whole number"));
    ENSURE(says(grain_scene_set_number(scene, 1, "positions", 0), GRAIN_ERROR_ARGUMENT, "single value"));
    ENSURE(says(grain_scene_set_curve(scene, 2, "jitter", (float[]){1}, 1, 1), GRAIN_ERROR_JOB, "jitter is not a key"));
    ENSURE(says(grain_scene_set_curve(scene, 2, "velocity", (float[]){1}, 1, 1), GRAIN_ERROR_ARGUMENT, "must have 3"));
    ENSURE_OK(grain_scene_fingerprint(scene, after));
    ENSURE(strcmp(before, after) == 0);
    // What only the whole scene tells.
    ENSURE_OK(grain_scene_set_number(scene, GRAIN_SCENE, "frame_end", -5));
    ENSURE(says(grain_scene_write(scene, test_folder()), GRAIN_ERROR_JOB, "frame_end is -5"));
    grain_scene_destroy(scene);
    ENSURE(says(grain_scene_check(NULL), GRAIN_ERROR_ARGUMENT, "GrainScene is NULL"));
    ENSURE(says(grain_scene_read("nowhere/at/all", &scene), GRAIN_ERROR_IO, "job.json"));
    ENSURE(scene == NULL);
}

TEST(an_attribute_set_again_is_replaced)
{
    GrainScene *scene;
    GrainAttributeDef def;
    float values[3 * 8] = {0};
    Job job;
    ENSURE_OK(make_scene(&scene));
    ENSURE_OK(grain_attribute_def_default(&def, sizeof def));
    def.name = "height", def.values = values, def.count = 8, def.components = 3;
    values[23] = 4.0f;
    ENSURE_OK(grain_scene_set_attribute(scene, 0, &def));
    ENSURE_OK(scene_begin_job(scene, &job));
    ENSURE_EQUAL(job.attribute_count, 1);
    ENSURE_EQUAL(job.attributes[0].components, 3);
    ENSURE(job.objects[0].paint[0].numbers[23] == 4.0f);
    scene_end_job(&job);
    grain_scene_destroy(scene);
}

static GrainResult make_and_write(void *user)
{
    GrainScene *scene = NULL;
    (void)user;
    GrainResult result = make_scene(&scene);
    if (result == GRAIN_OK) result = grain_scene_write(scene, test_folder());
    grain_scene_destroy(scene);
    return result;
}

TEST(every_allocation_of_a_scene_may_fail) { refuse_each_allocation(make_and_write, NULL, 1, 10); }
