// SPDX-License-Identifier: GPL-3.0-or-later
// Checkpoints of every solver (inputs: grain_file.h): through the gate into a scene in which everything is that a
// checkpoint can hold, and a few steps on from there.
#include "base/alloc.h"
#include "base/error.h"
#include "fuzz/checks.h"
#include "fuzz/folder.h"
#include "fuzz/fuzz.h"
#include "fuzz/grain_file.h"
#include "shape/shape.h"
#include "shared/sand_scene.h"

#include <math.h>
#include <string.h>

#define RADIUS 0.01f
#define FRAME (1.0 / 24.0)
#define SLOTS 4
#define EACH 2 // born in a slot
#define STEPS 3

typedef struct SceneKind {
    const char *solver, *model, *integrator, *shape;
} SceneKind;
static const SceneKind kinds[] = {
    {.solver = "dem"},
    {.solver = "dem", .shape = "tetrahedron"},
    {.solver = "dem", .shape = "tetrahedron", .integrator = "rkf45"},
    {.solver = "mpm"},
    {.solver = "sph"},
    {.solver = "sph", .model = "ihmsen2013"},
    {.solver = "meso"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

typedef struct Scene {
    SandScene sand;
    BallShape shape;
    SimMaterial clay;
    float paint[8]; ///< of the box that moves
    int slots, steps_left;
} Scene;

// --- the scene ------------------------------------------------------------------------------------

// A sheet that bends: its other end comes up.
static GrainResult add_sheet(SandScene *sand)
{
    int i = sand->def.collider_count++;
    sand->shape[i] = shape_plane(1);
    shape_move(&sand->shape[i], 0.03f, -0.04f, 0.01f, 0.03f);
    sand->mesh[i] = shape_mesh(&sand->shape[i]);
    int64_t floats = 3 * sand->mesh[i].vertex_count;
    float *samples = sand->samples[i] = ALLOC(float, 2 * floats);
    if (!samples) return GRAIN_ERROR_MEMORY;
    for (int64_t k = 0; k < 2 * floats; k++)
        samples[k] = sand->mesh[i].positions[k % floats] + (k >= floats && k % 6 == 2 ? 0.005f : 0.0f);
    sand->colliders[i] = (SimCollider){
        .friction = 0.5f,
        .mesh = &sand->mesh[i],
        .motion = motion_of_shapes(samples, sand->mesh[i].vertex_count, 2, FRAME),
    };
    return GRAIN_OK;
}

// A floor, a box that moves and is painted, a body, each a few voxels large, and a sheet. The adaptive integrator has
// only what stands still.
static GrainResult add_colliders(Scene *scene, int is_still)
{
    SandScene *sand = &scene->sand;
    int mover, body;
    sand_add_plane(sand, vec3(0, 0, 0), vec3(0, 0, 1), 0.5f);
    TRY(sand_add_prop(sand, shape_box(0, 0, 0, 0.02f, 0.02f, 0.02f), 0.5f, &mover));
    for (int i = 0; i < 8; i++) scene->paint[i] = 0.1f * (float)(i + 1);
    sand->colliders[mover].friction_paint = scene->paint;
    if (is_still) return GRAIN_OK;
    float *poses = sand_add_poses(sand, mover, vec3(0.01f, 0.01f, 0.01f), 5, FRAME / 2.0);
    for (int k = 0; poses && k < 5; k++) poses[7 * k] += 0.002f * (float)k;
    TRY(sand_add_body(sand, shape_box(0.03f, 0, 0.021f, 0.05f, 0.02f, 0.041f), 800.0, 0.4f, &body));
    return poses ? add_sheet(sand) : GRAIN_ERROR_MEMORY;
}

static GrainResult begin(Scene *scene, const SceneKind *kind)
{
    SandScene *sand = &scene->sand;
    sand_begin(sand, kind->solver, RADIUS, 30.0f);
    scene->slots = 0;
    sand_expect_fall(sand, 0.2f);
    SimDef *def = &sand->def;
    def->model = kind->model, def->integrator = kind->integrator;
    def->tolerance = 1e-4f;
    def->smallest_born = 0.8f * RADIUS, def->birthplace = vec3(0.02f, 0.0f, 0.1f);
    def->may_sleep = 1;
    def->rolling_friction = 0.2f;
    scene->clay = (SimMaterial){.density = 2000.0f, .friction = 0.3f, .restitution = 0.5f, .rolling_friction = 0.1f};
    def->more_materials = &scene->clay, def->more_material_count = 1;
    if (kind->shape) {
        TRY(shape_by_name(kind->shape, &scene->shape));
        def->shapes = &scene->shape, def->shape_count = 1;
    }
    TRY(add_colliders(scene, kind->integrator != NULL));
    def->colliders = sand->colliders;
    for (int i = 0; i < 6; i++)
        TRY(particles_add(&sand->start, vec3(0.021f * (float)(i % 3), 0.01f + 0.021f * (float)(i / 3), 0.052f),
                          vec3(0, 0, -0.5f), RADIUS));
    if (strcmp(kind->solver, "sph") == 0 || strcmp(kind->solver, "mpm") == 0) {
        sand->moisture = ALLOC_ZEROED(float, sand->start.count);
        if (!sand->moisture) return GRAIN_ERROR_MEMORY;
        sand->moisture[0] = 0.5f;
        def->particle_moisture = sand->moisture;
        def->moisture_diffusion = kind->model ? 1e-4f : 0.0f;
    }
    TRY(sim_create(&sand->sim, def, &sand->start, FRAME, 1));
    sand->sim.slot_count = SLOTS;
    return GRAIN_OK;
}

static void end(Scene *scene) { sand_end(&scene->sand); }

static GrainResult stop(void *user, double fraction)
{
    Scene *scene = user;
    (void)fraction;
    return --scene->steps_left > 0 ? GRAIN_OK : GRAIN_CANCELLED;
}

// As animated settings and force fields do.
static GrainResult steer(Scene *scene)
{
    Sim *sim = &scene->sand.sim;
    SimSteering now = steering_of(&scene->sand.def);
    SimGrip grips[SAND_MAX_COLLIDERS] = {{0.5f, 0.0f}, {0.5f, 0.0f}, {0.4f, 0.0f}};
    Vec3 wind[64];
    struct Rigid *rigid = solver_rigid(sim->state);
    if (rigid->body_count > 0) rigid_pull(rigid, 0, (Vec3d){0.1, 0.0, 0.0});
    for (int64_t i = 0; i < 64; i++) wind[i] = vec3(0.1f * (float)(i % 5), 0, 0);
    return sim_steer(sim, &now, grips, sim->population.born <= 64 ? wind : NULL);
}

// Some are born, of two kinds; one of the first vanishes. All are steered anew.
static GrainResult flow(void *user, double from, double to)
{
    Scene *scene = user;
    Particles born = {0};
    uint8_t gone[64] = {0}, material[EACH] = {0, 1};
    float times[EACH];
    (void)from;
    int64_t count = scene->sand.sim.population.born;
    if (count > (int64_t)sizeof gone) return steer(scene);
    int slot = scene->slots++;
    if (slot < 6 && slot < count) gone[slot] = !scene->sand.sim.population.is_gone[slot] && slot % 2 == 1;
    GrainResult result = GRAIN_OK;
    for (int i = 0; i < EACH && result == GRAIN_OK; i++) {
        times[i] = (float)to;
        result = particles_add(&born, vec3(0.022f * (float)i, 0.022f * (float)(slot % 3), 0.1f), vec3(0, 0, -2.0f),
                               (i ? 0.8f : 1.0f) * RADIUS);
    }
    SimChange change = {.born = &born, .material = material, .gone = gone};
    if (result == GRAIN_OK) result = sim_change(&scene->sand.sim, &change, times);
    particles_free(&born);
    return result == GRAIN_OK ? steer(scene) : result;
}

static void save(const Sim *sim, const char *name)
{
    char path[300];
    fuzz_path(name, path);
    Column columns[SOLVER_MAX_COLUMNS];
    int count = sim_save(sim, columns);
    ColumnFileHeader header = {
        .frame = 2, .substep = sim->substep, .time = sim->time, .particles = sim->population.born};
    if (column_file_write(path, &header, columns, count) != GRAIN_OK) fuzz_found("%s", grain_last_error());
}

// A checkpoint in the middle of the second frame: resting, falling and removed grains.
static const GrainFileBytes *template_of(size_t kind)
{
    static GrainFileBytes templates[KINDS];
    GrainFileBytes *file = &templates[kind];
    if (file->size > 0) return file;
    static Scene scene;
    SimWatch watch = {NULL, flow, &scene};
    GrainResult result = begin(&scene, &kinds[kind]);
    if (result == GRAIN_OK) result = sim_advance_frame(&scene.sand.sim, &watch);
    scene.steps_left = 20;
    watch.watch = stop;
    if (result == GRAIN_OK) result = sim_advance_frame(&scene.sand.sim, &watch);
    if (result != GRAIN_OK && result != GRAIN_CANCELLED) fuzz_found("%s: %s", kinds[kind].solver, grain_last_error());
    save(&scene.sand.sim, "template.grain");
    end(&scene);
    grain_file_take("template.grain", file);
    return file;
}

// --- what an input is -----------------------------------------------------------------------------

// stage_simulate.c compares the header with what was loaded.
static int is_of_this_moment(const Sim *sim) { return fabs(sim->time - FRAME) < 0.5 * FRAME; }

// What has been loaded can be saved and read again.
static void check_round(const Sim *sim)
{
    struct GrainFrame file;
    char path[300];
    fuzz_path("again.grain", path);
    save(sim, "again.grain");
    if (column_file_read(path, &file) != GRAIN_OK) fuzz_found("saved again: %s", grain_last_error());
    column_file_free(&file);
}

static void load(Scene *scene, const struct GrainFrame *file)
{
    SandScene *sand = &scene->sand;
    GrainResult result = sim_load(&sand->sim, file->columns, file->column_count);
    fuzz_check_word(result);
    if (result != GRAIN_OK || !is_of_this_moment(&sand->sim)) return;
    check_round(&sand->sim);
    fuzz_check_word(sim_read(&sand->sim, &sand->now));
    SimStats stats;
    sand->sim.solver->measure(sand->sim.state, &stats);
    scene->steps_left = STEPS;
    result = sim_advance_frame(&sand->sim, &(SimWatch){stop, flow, scene});
    fuzz_check_word(result);
    if (result == GRAIN_OK || result == GRAIN_CANCELLED) fuzz_check_word(sim_read(&sand->sim, &sand->now));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static Scene scene;
    if (size < GRAIN_FILE_HEADER) return 0;
    size_t kind = data[1] % KINDS;
    char path[300];
    fuzz_path("checkpoint.grain", path);
    grain_file_forge("checkpoint.grain", template_of(kind), data[0], data + GRAIN_FILE_HEADER,
                     size - GRAIN_FILE_HEADER);
    struct GrainFrame file;
    GrainResult result = column_file_read(path, &file);
    if (result != GRAIN_OK) {
        if (!strstr(grain_last_error(), "checkpoint.grain")) fuzz_found("error '%s'", grain_last_error());
        return 0;
    }
    result = begin(&scene, &kinds[kind]);
    if (result != GRAIN_OK) fuzz_found("%s", grain_last_error());
    load(&scene, &file);
    column_file_free(&file);
    end(&scene);
    return 0;
}

size_t fuzz_seed(int index, uint8_t *data, size_t capacity)
{
    size_t kind = (size_t)index % KINDS;
    if (index >= 2 * (int)KINDS) return 0;
    return grain_file_seed(template_of(kind), (unsigned)kind, index >= (int)KINDS, data, capacity);
}
