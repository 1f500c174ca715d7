// SPDX-License-Identifier: GPL-3.0-or-later
// Plain files that are no checkpoints of a simulation: frames (read, exported, refined, voxelised), what particles were
// born with, stored distance fields and the state of refining. Inputs: grain_file.h.
#include "base/alloc.h"
#include "base/error.h"
#include "fuzz/checks.h"
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "fuzz/grain_file.h"
#include "job/birth.h"
#include "output/sdf_store.h"
#include "refine/refine.h"
#include "refine/refine_output.h"
#include "scene/scene.h"
#include "sdf/sdf.h"
#include "shared/meshes.h"
#include "volume/volume.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define RADIUS 0.01f
#define PARTICLES 12
// Elements that are copied out at once.
#define MOST_LOADED 4096

typedef enum FrameKind { FIRST_FRAME, NEXT_FRAME, BIRTHS, FIELD, STATE, KINDS } FrameKind;
static const char *const names[KINDS] = {"first.grain", "next.grain", "birth.grain", "field.grain", "state.grain"};
static const GrainRun one_thread = {sizeof(GrainRun), 1, NULL, NULL, NULL};

// --- the scene ------------------------------------------------------------------------------------

static void add_object(GrainScene *scene, GrainRole role, const char *name, Shape shape, int32_t *number)
{
    GrainMesh mesh = shape_mesh(&shape);
    GrainObjectDef def;
    fuzz_must(grain_object_def_default(&def, sizeof def));
    def.role = (int32_t)role, def.name = name, def.mesh = &mesh;
    fuzz_must(grain_scene_add(scene, &def, number));
    shape_free(&shape);
}

// A source with an attribute, a block and a body.
static GrainScene *make_scene(void)
{
    GrainScene *scene;
    int32_t source;
    fuzz_must(grain_scene_create(&scene));
    fuzz_must(grain_scene_set_number(scene, GRAIN_SCENE, "frame_end", 3));
    fuzz_must(grain_scene_set_number(scene, GRAIN_SCENE, "solver.particle_radius", (double)RADIUS));
    fuzz_must(grain_scene_set_number(scene, GRAIN_SCENE, "upsample.grains_per_particle", 4));
    add_object(scene, GRAIN_ROLE_SOURCE, "Sand", shape_box(0, 0, 0.06f, 0.08f, 0.08f, 0.1f), &source);
    add_object(scene, GRAIN_ROLE_COLLIDER, "Block", shape_box(0, 0, 0, 0.02f, 0.02f, 0.02f), NULL);
    add_object(scene, GRAIN_ROLE_BODY, "Crate", shape_box(0.03f, 0, 0, 0.05f, 0.02f, 0.02f), NULL);
    float values[8];
    GrainAttributeDef paint;
    fuzz_must(grain_attribute_def_default(&paint, sizeof paint));
    for (int i = 0; i < 8; i++) values[i] = (float)i;
    paint.components = 1, paint.name = "heat", paint.values = values, paint.count = 8;
    fuzz_must(grain_scene_set_attribute(scene, source, &paint));
    return scene;
}

// --- good files -----------------------------------------------------------------------------------

static void write_columns(const char *name, int32_t frame, int64_t particles, const Column *columns, int count)
{
    char path[300];
    ColumnFileHeader header = {.frame = frame, .time = (frame - 1) / 24.0, .particles = particles};
    fuzz_path(name, path);
    fuzz_must(column_file_write(path, &header, columns, count));
}

static void write_frame(const char *name, int32_t frame)
{
    float position[3 * PARTICLES], velocity[3 * PARTICLES], radius[PARTICLES], moisture[PARTICLES], birth[PARTICLES];
    const float place[3] = {0.04f, 0.01f, 0.01f}, facing[4] = {1, 0, 0, 0}, still[3] = {0};
    for (int i = 0; i < PARTICLES; i++) {
        float *at = position + 3 * i, *speed = velocity + 3 * i;
        at[0] = 0.02f * (float)(i % 3), at[1] = 0.02f * (float)(i / 3 % 2), at[2] = 0.04f + 0.02f * (float)(i / 6);
        speed[0] = speed[1] = 0.0f, speed[2] = -0.1f;
        at[2] += speed[2] * (float)(frame - 1) / 24.0f;
        radius[i] = i == 4 && frame > 1 ? 0.0f : RADIUS;
        moisture[i] = 0.5f, birth[i] = 0.0f;
    }
    const Column columns[] = {{"position", GRAIN_F32, 3, PARTICLES, position},
                              {"velocity", GRAIN_F32, 3, PARTICLES, velocity},
                              {"radius", GRAIN_F32, 1, PARTICLES, radius},
                              {"moisture", GRAIN_F32, 1, PARTICLES, moisture},
                              {"birth_time", GRAIN_F32, 1, PARTICLES, birth},
                              {"body.position", GRAIN_F32, 3, 1, place},
                              {"body.orientation", GRAIN_F32, 4, 1, facing},
                              {"body.velocity", GRAIN_F32, 3, 1, still},
                              {"body.spin", GRAIN_F32, 3, 1, still}};
    write_columns(name, frame, PARTICLES, columns, sizeof columns / sizeof *columns);
}

static void write_births(const char *name)
{
    float rest[3 * PARTICLES], heat[PARTICLES];
    int32_t source[PARTICLES] = {0};
    for (int i = 0; i < PARTICLES; i++) rest[3 * i] = rest[3 * i + 1] = rest[3 * i + 2] = heat[i] = 0.01f * (float)i;
    const Column columns[] = {{"rest", GRAIN_F32, 3, PARTICLES, rest},
                              {"source_id", GRAIN_I32, 1, PARTICLES, source},
                              {"heat", GRAIN_F32, 1, PARTICLES, heat}};
    write_columns(name, 1, PARTICLES, columns, 3);
}

// The mesh whose field is stored, and how.
static Shape field_shape(void) { return shape_box(0, 0, 0, 1, 1, 1); }

static GrainSdfDef field_def(void)
{
    GrainSdfDef def;
    fuzz_must(grain_sdf_def_default(&def, sizeof def));
    def.voxel_size = 0.5f, def.band_voxels = 2.0f;
    return def;
}

// As sdf_store.c writes one.
static void write_field(const char *name)
{
    Shape shape = field_shape();
    GrainMesh mesh = shape_mesh(&shape);
    GrainSdfDef def = field_def();
    GrainSdf *sdf;
    fuzz_must(grain_sdf_create(&mesh, &def, &one_thread, &sdf));
    const float head[11] = {sdf->origin.x,      sdf->origin.y,      sdf->origin.z,     sdf->voxel_size,
                            sdf->half_width,    sdf->bounds_low.x,  sdf->bounds_low.y, sdf->bounds_low.z,
                            sdf->bounds_high.x, sdf->bounds_high.y, sdf->bounds_high.z};
    const int32_t lattice[4] = {sdf->lattice[0], sdf->lattice[1], sdf->lattice[2], sdf->depth};
    const Column columns[] = {{"head", GRAIN_F32, 11, 1, head},
                              {"lattice", GRAIN_I32, 4, 1, lattice},
                              {"keys", GRAIN_I32, 2, sdf->block_count, sdf->block_key},
                              {"nodes", GRAIN_I32, 1, sdf->node_count * SDF_NODE_CHILDREN, sdf->nodes},
                              {"values", GRAIN_F32, 1, sdf->block_count * SDF_BLOCK_VALUES, sdf->values}};
    write_columns(name, 0, sdf->block_count, columns, 5);
    grain_sdf_destroy(sdf);
    shape_free(&shape);
}

// What refine_write_checkpoint writes: the grains as they are at the first frame.
static void write_state(const char *name, const GrainFrame *first)
{
    GrainScene *scene = make_scene();
    GrainUpsampler *upsampler;
    fuzz_must(grain_upsampler_create(scene, first, &one_thread, &upsampler));
    const GrainFrame *grains = grain_upsampler_frame(upsampler);
    int64_t count = grains->header.particles;
    Quat *facing = ALLOC(Quat, count);
    for (int64_t i = 0; i < count; i++) facing[i] = quat_identity();
    Column columns[] = {*column_find(grains->columns, grains->column_count, "position"),
                        *column_find(grains->columns, grains->column_count, "velocity"),
                        {"orientation", GRAIN_F32, 4, count, facing}};
    write_columns(name, 1, count, columns, 3);
    alloc_free(facing);
    grain_upsampler_destroy(upsampler);
    grain_scene_destroy(scene);
}

static const GrainFileBytes *template_of(FrameKind kind)
{
    static GrainFileBytes templates[KINDS];
    GrainFileBytes *file = &templates[kind];
    if (file->size > 0) return file;
    const char *name = "template.grain";
    if (kind == FIRST_FRAME || kind == NEXT_FRAME) write_frame(name, kind == FIRST_FRAME ? 1 : 2);
    if (kind == BIRTHS) write_births(name);
    if (kind == FIELD) write_field(name);
    if (kind == STATE) {
        GrainFrame *first;
        char path[300];
        write_frame(name, 1);
        fuzz_path(name, path);
        fuzz_must(grain_frame_read(path, &first));
        write_state(name, first);
        grain_frame_destroy(first);
    }
    grain_file_take(name, file);
    return file;
}

// --- what is done with them -----------------------------------------------------------------------

// The good file of this kind.
static void write_good(FrameKind kind, const char *name)
{
    const GrainFileBytes *file = template_of(kind);
    fuzz_write(name, file->data, file->size);
}

static void look_at(GrainFrame *frame)
{
    static uint64_t loaded[2 * MOST_LOADED];
    for (int32_t c = 0; c < grain_frame_column_count(frame); c++) {
        GrainView view;
        const char *name = grain_frame_column_name(frame, c);
        fuzz_must(grain_frame_column(frame, name, &view));
        int64_t most = MOST_LOADED / view.components;
        fuzz_must(grain_frame_load(frame, name, view.count < most ? view.count : most, loaded, &one_thread));
    }
    GrainExportDef def;
    char path[300];
    fuzz_path("frame.ply", path);
    fuzz_must(grain_export_def_default(&def, sizeof def));
    def.path = path;
    fuzz_check_word(grain_frame_export(frame, &def, &one_thread));
}

// As stage_voxelise.c does.
static void voxelise(const struct GrainFrame *frame)
{
    const Column *position = column_find(frame->columns, frame->column_count, "position"),
                 *velocity = column_find(frame->columns, frame->column_count, "velocity"),
                 *radius = column_find(frame->columns, frame->column_count, "radius");
    int64_t count = frame->header.particles;
    if (!position || !velocity || !radius) return;
    VolumeParticles particles = {count, position->data, velocity->data, radius->data, 0.0, 4.0, NULL, NULL};
    VolumeDef def = {.voxel_size = 2.0f * RADIUS, .velocity_seconds = 0.02f, .surface_radii = 2.0f};
    Volume volume = {0};
    fuzz_check_word(volume_make(&volume, &def, &particles, 1));
    volume_free(&volume);
}

static void refine(const char *first_name, const char *next_name)
{
    char first_path[300], next_path[300];
    GrainFrame *first, *next;
    GrainUpsampler *upsampler;
    fuzz_path(first_name, first_path), fuzz_path(next_name, next_path);
    if (grain_frame_read(first_path, &first) != GRAIN_OK) return;
    if (grain_frame_read(next_path, &next) == GRAIN_OK) {
        GrainScene *scene = make_scene();
        GrainResult result = grain_upsampler_create(scene, first, &one_thread, &upsampler);
        if (result == GRAIN_OK) result = grain_upsampler_advance(upsampler, next, &one_thread);
        fuzz_check_word(result);
        grain_upsampler_destroy(upsampler);
        grain_scene_destroy(scene);
    }
    grain_frame_destroy(first);
    grain_frame_destroy(next);
}

static void bear(const struct GrainFrame *file)
{
    GrainScene *scene = make_scene();
    Job job;
    Birth birth;
    Column columns[BIRTH_MAX_COLUMNS];
    fuzz_must(scene_begin_job(scene, &job));
    fuzz_must(birth_begin(&birth, &job, 1));
    GrainResult result = birth_load(&birth, file);
    fuzz_check_word(result);
    if (result == GRAIN_OK) birth_columns(&birth, 0, columns);
    for (int64_t i = 0; result == GRAIN_OK && i < birth.count; i++)
        if (birth_object_of(&job, birth.source[i]) < 0) fuzz_found("source %d is no object", birth.source[i]);
    birth_free(&birth);
    scene_end_job(&job);
    grain_scene_destroy(scene);
}

// The field where the store looks for it, read and sampled.
static void find_field(void)
{
    static char stored[SDF_STORE_NAME_CHARS + 8];
    char folder[300], from[300], to[400];
    Shape shape = field_shape();
    GrainMesh mesh = shape_mesh(&shape);
    GrainSdfDef def = field_def();
    SdfStore store;
    GrainSdf *sdf;
    fuzz_path("sdf", folder), fuzz_path(names[FIELD], from);
    if (!stored[0]) { // its name follows from the mesh
        fuzz_must(sdf_store_begin(&store, fuzz_folder(), "fuzz"));
        fuzz_must(sdf_store_make(&store, &mesh, &def, &one_thread, &sdf));
        snprintf(stored, sizeof stored, "%s", store.used[0]);
        sdf_store_free(&store);
        grain_sdf_destroy(sdf);
    }
    mkdir(folder, 0777);
    snprintf(to, sizeof to, "%s/%s", folder, stored);
    if (rename(from, to) != 0) fuzz_found("no %s", to);
    fuzz_must(sdf_store_begin(&store, fuzz_folder(), "fuzz"));
    fuzz_must(sdf_store_make(&store, &mesh, &def, &one_thread, &sdf));
    fuzz_sample(sdf);
    grain_sdf_destroy(sdf);
    sdf_store_free(&store);
    shape_free(&shape);
    unlink(to), rmdir(folder);
}

// The state of a bake's grains, from which they go on to the next frame.
static void resume(const struct GrainFrame *first, const struct GrainFrame *next)
{
    GrainScene *scene = make_scene();
    Job job;
    Refinement refinement = {0};
    CacheFrame frames[2] = {{.frame = 1, .particles = PARTICLES}, {.frame = 2, .particles = PARTICLES}};
    CacheManifest coarse = {.frame_start = 1, .frame_end = 3, .frames = frames, .frame_count = 2};
    Cache cache = {.folder = (char *)fuzz_folder()};
    int32_t frame = 0;
    fuzz_must(scene_begin_job(scene, &job));
    fuzz_must(refine_plan(&refinement, &job, PARTICLES, 1, 1));
    fuzz_must(refine_prepare(&refinement, NULL, &one_thread));
    fuzz_must(scene_walls_begin(&refinement.walls, first));
    RefineOutput output = {.cache = &cache, .upsampler = refinement.upsampler, .threads = 1};
    fuzz_check_word(refine_read_checkpoint(&output, &coarse, 1, &frame));
    if (frame == 1) fuzz_check_word(refine_advance(&refinement, first, next, 0.0, NULL, NULL));
    refine_free(&refinement);
    scene_end_job(&job);
    grain_scene_destroy(scene);
}

static void refine_state(void)
{
    struct GrainFrame first, next;
    char path[300], checkpoint[300];
    write_good(FIRST_FRAME, names[FIRST_FRAME]), write_good(NEXT_FRAME, names[NEXT_FRAME]);
    fuzz_path(names[STATE], path), fuzz_path("checkpoint.grain", checkpoint);
    if (rename(path, checkpoint) != 0) fuzz_found("no %s", checkpoint);
    fuzz_path(names[FIRST_FRAME], path);
    fuzz_must(column_file_read(path, &first));
    fuzz_path(names[NEXT_FRAME], path);
    fuzz_must(column_file_read(path, &next));
    resume(&first, &next);
    column_file_free(&first), column_file_free(&next);
}

static void use(FrameKind kind, GrainFrame *frame)
{
    switch (kind) {
    case FIRST_FRAME:
    case NEXT_FRAME:
        look_at(frame);
        voxelise(frame);
        write_good(kind == FIRST_FRAME ? NEXT_FRAME : FIRST_FRAME,
                   names[kind == FIRST_FRAME ? NEXT_FRAME : FIRST_FRAME]);
        refine(names[FIRST_FRAME], names[NEXT_FRAME]);
        break;
    case BIRTHS:
        look_at(frame);
        bear(frame);
        break;
    case FIELD:
        find_field();
        break;
    default:
        refine_state();
        break;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < GRAIN_FILE_HEADER) return 0;
    FrameKind kind = (FrameKind)(data[1] % KINDS);
    char path[300];
    GrainFrame *frame;
    grain_file_forge(names[kind], template_of(kind), data[0], data + GRAIN_FILE_HEADER, size - GRAIN_FILE_HEADER);
    fuzz_path(names[kind], path);
    if (grain_frame_open(path, &frame) == GRAIN_OK)
        use(kind, frame);
    else if (!strstr(grain_last_error(), names[kind]))
        fuzz_found("error '%s'", grain_last_error());
    grain_frame_destroy(frame);
    return 0;
}

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    FrameKind kind = (FrameKind)(index % KINDS);
    if (index >= 2 * KINDS) return 0;
    return grain_file_seed(template_of(kind), (unsigned)kind, index >= KINDS, data, capacity);
}
