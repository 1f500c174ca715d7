// SPDX-License-Identifier: GPL-3.0-or-later
// The same bits for any number of threads, with any instruction set, and over saving and loading in the middle of
// everything: every solver of the table, as it is by default and with each name that its texts allow. A new solver is
// tested by standing in the table.
#include "base/alloc.h"
#include "base/error.h"
#include "grain/grain.h"
#include "output/column_gate.h"
#include "shape/shape.h"
#include "shared/sand_scene.h"
#include "unit/test.h"

#include <string.h>

#define RADIUS 0.0072f
#define SECONDS 0.03
#define MOST_VARIANTS 64

typedef struct Variant {
    const Solver *solver;
    const char *key, *name; ///< NULL: as it is by default
    int number;             ///< of the name
} Variant;

static int add_variants(const Solver *solver, Variant *out)
{
    int count = 0;
    out[count++] = (Variant){solver, NULL, NULL, 0};
    if (solver->traits.has_shapes) out[count++] = (Variant){solver, "grain_shape", "tetrahedron", 0};
    for (int c = 0; c < SOLVER_MAX_CHOICES && solver->traits.choices[c].key; c++) {
        const SolverChoice *choice = &solver->traits.choices[c];
        for (int n = 1; choice->names[n]; n++) out[count++] = (Variant){solver, choice->key, choice->names[n], n};
    }
    return count;
}

static BallShape clump;

static GrainResult choose(SimDef *def, const Variant *variant)
{
    const char **texts[] = {&def->model, &def->law, &def->normal_law, &def->shear_law, &def->integrator};
    static const char *const keys[] = {"model", "law", "normal_law", "shear_law", "integrator"};
    if (!variant->key) return GRAIN_OK;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i], variant->key) == 0) return *texts[i] = variant->name, GRAIN_OK;
    if (strcmp(variant->key, "interaction") == 0) {
        SimMesoNumbers numbers = sim_meso_numbers(variant->number);
        return def->meso = sim_meso_of(&numbers), GRAIN_OK;
    }
    if (strcmp(variant->key, "grain_shape") == 0) {
        def->shapes = &clump, def->shape_count = 1;
        return shape_by_name(variant->name, &clump);
    }
    return fail(GRAIN_ERROR_ARGUMENT, "this test does not know what '%s' sets", variant->key);
}

// A box that is pushed into the sand, and one that falls on it.
static GrainResult add_movers(SandScene *scene)
{
    int number;
    TRY(sand_add_prop(scene, shape_box(-0.23f, -0.05f, 0.02f, -0.13f, 0.05f, 0.1f), 0.4f, &number));
    float *poses = sand_add_poses(scene, number, vec3(0, 0, 0), 2, 0.1);
    if (!poses) return GRAIN_ERROR_MEMORY;
    poses[7] = 0.1f; // at 1 m/s
    TRY(sand_add_body(scene, shape_box(-0.04f, -0.04f, 0.225f, 0.04f, 0.04f, 0.305f), 900, 0.4f, &number));
    scene->body[number].velocity = vec3(0, 0.2f, -1);
    return GRAIN_OK;
}

// Particles that fly half alone, and come down on the others.
static GrainResult add_spray(SandScene *scene)
{
    float pitch = 4.2f * RADIUS;
    for (int i = 0; i < 8 * 2 * 4; i++) {
        Vec3 at = {(float)(i % 8) * pitch - 0.11f, (float)(i / 8 % 2) * pitch + 0.055f,
                   (float)(i / 16) * pitch + 0.235f};
        TRY(particles_add(&scene->start, at, vec3(0, 0, -1), RADIUS));
    }
    return GRAIN_OK;
}

// What is solid must stand for this integrator.
static int has_movers(const Variant *variant) { return !variant->name || strcmp(variant->name, "rkf45") != 0; }

// Damp sand on a floor that runs against a wall.
static GrainResult start(SandScene *scene, const Variant *variant, int threads)
{
    sand_begin(scene, variant->solver->name, RADIUS, 30.0f);
    TRY(choose(&scene->def, variant));
    sand_expect_fall(scene, 0.25f);
    scene->def.may_sleep = 1;
    scene->def.rolling_friction = 0.2f;
    scene->def.moisture_diffusion = 1e-3f;
    scene->def.tolerance = 1e-3f; // of rkf45
    sand_add_plane(scene, vec3(0, 0, 0), vec3(0, 0, 1), 0.6f);
    sand_add_plane(scene, vec3(0.13f, 0, 0), vec3(-1, 0, 0), 0.3f);
    if (has_movers(variant)) TRY(add_movers(scene));
    TRY(sand_fill_packed(scene, vec3(-0.12f, -0.1f, 0), vec3(0.12f, 0.1f, 0.22f)));
    TRY(add_spray(scene));
    scene->moisture = ALLOC(float, scene->start.count);
    for (int64_t i = 0; scene->moisture && i < scene->start.count; i++) {
        scene->moisture[i] = scene->start.position[i].x < 0.0f ? 0.5f : 0.1f;
        scene->start.velocity[i].x = 0.5f;
    }
    TRY(sand_create(scene, threads));
    scene->sim.frame_seconds = SECONDS;
    return scene->moisture ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

static int same_bytes(const void *a, const void *b, int64_t bytes)
{
    return bytes == 0 || memcmp(a, b, (size_t)bytes) == 0;
}

// All that a checkpoint holds, and what is read out.
static int same_state(const Sim *a, const Sim *b)
{
    Column ours[SOLVER_MAX_COLUMNS], others[SOLVER_MAX_COLUMNS];
    int count = sim_save(a, ours);
    Particles now = {0}, other = {0};
    int is_same = sim_save(b, others) == count && sim_read(a, &now) == GRAIN_OK && sim_read(b, &other) == GRAIN_OK;
    for (int i = 0; is_same && i < count; i++)
        is_same = strcmp(ours[i].name, others[i].name) == 0 && column_bytes(&ours[i]) == column_bytes(&others[i]) &&
                  same_bytes(ours[i].data, others[i].data, column_bytes(&ours[i]));
    is_same = is_same && now.count == other.count &&
              same_bytes(now.position, other.position, now.count * (int64_t)sizeof(Vec3)) &&
              same_bytes(now.velocity, other.velocity, now.count * (int64_t)sizeof(Vec3));
    particles_free(&now);
    particles_free(&other);
    return is_same;
}

static void check_threads(const Variant *variant)
{
    SandScene one, more;
    ENSURE_OK(start(&one, variant, 1));
    ENSURE_OK(sand_run(&one, SECONDS));
    // Else nothing is shared out, or nothing happens.
    ENSURE(one.start.count > 4000);
    ENSURE(!has_movers(variant) || sand_object(&one, 3)->velocity.z > -0.9);
    for (int threads = 2; threads <= 3; threads++) {
        ENSURE_OK(start(&more, variant, threads));
        ENSURE_OK(sand_run(&more, SECONDS));
        ENSURE(same_state(&one.sim, &more.sim));
        sand_end(&more);
    }
    sand_end(&one);
}

static void check_sets(const Variant *variant)
{
    SimdSet best = simd_set();
    SandScene reference, other;
    ENSURE_OK(start(&reference, variant, 2));
    ENSURE_OK(sand_run(&reference, SECONDS));
    for (int set = SIMD_BASE; set < (int)best; set++) {
        simd_limit((SimdSet)set);
        GrainResult result = start(&other, variant, 2);
        if (result == GRAIN_OK) result = sand_run(&other, SECONDS);
        simd_limit(best);
        ENSURE_OK(result);
        ENSURE(same_state(&reference.sim, &other.sim));
        sand_end(&other);
    }
    sand_end(&reference);
}

typedef struct Stop {
    int substeps, after;
} Stop;

static GrainResult stop_there(void *user, double fraction)
{
    Stop *stop = user;
    (void)fraction;
    return ++stop->substeps == stop->after ? fail(GRAIN_CANCELLED, "stopped by the test") : GRAIN_OK;
}

// Copies what save gives, as a file would and through the same gate, into a simulation that has just begun.
static GrainResult load_copy(const Sim *from, Sim *to)
{
    Column columns[SOLVER_MAX_COLUMNS];
    int count = sim_save(from, columns);
    for (int i = 0; i < count; i++) {
        char *copy = ALLOC(char, column_bytes(&columns[i]));
        if (column_bytes(&columns[i]) > 0) memcpy(copy, columns[i].data, (size_t)column_bytes(&columns[i]));
        columns[i].data = copy;
    }
    struct GrainFrame file = {.column_count = count};
    memcpy(file.columns, columns, (size_t)count * sizeof *columns);
    GrainResult result = column_gate_check("checkpoint", &file);
    if (result == GRAIN_OK) result = sim_load(to, columns, count);
    for (int i = 0; i < count; i++) alloc_free((void *)columns[i].data);
    return result;
}

// Stopped three times, and gone on with by another on other threads.
static void check_resume(const Variant *variant)
{
    enum { LIVES = 4 };
    SandScene whole, life[LIVES];
    Stop count = {0, -1};
    ENSURE_OK(start(&whole, variant, 1));
    ENSURE_OK(sim_advance_frame(&whole.sim, &(SimWatch){stop_there, NULL, &count}));
    ENSURE(count.substeps >= 2 * LIVES);
    for (int k = 0; k < LIVES; k++) {
        ENSURE_OK(start(&life[k], variant, 1 + k % 3));
        if (k > 0) {
            ENSURE_OK(load_copy(&life[k - 1].sim, &life[k].sim));
            sand_end(&life[k - 1]);
        }
        Stop stop = {0, k < LIVES - 1 ? count.substeps / LIVES + k % 2 : -1};
        ENSURE_EQUAL(sim_advance_frame(&life[k].sim, &(SimWatch){stop_there, NULL, &stop}),
                     stop.after > 0 ? GRAIN_CANCELLED : GRAIN_OK);
    }
    ENSURE(same_state(&whole.sim, &life[LIVES - 1].sim));
    sand_end(&whole);
    sand_end(&life[LIVES - 1]);
}

static void check_all(void (*check)(const Variant *variant))
{
    Variant variants[MOST_VARIANTS];
    for (int s = 0; solver_at(s); s++) {
        int count = add_variants(solver_at(s), variants);
        for (int i = 0; i < count; i++) {
            check(&variants[i]);
            if (!test_has_failed()) continue;
            printf("# %s, %s: %s\n", solver_at(s)->name, variants[i].key ? variants[i].key : "by default",
                   variants[i].name ? variants[i].name : "");
            return;
        }
    }
}

MARKED_TEST(every_solver_with_any_number_of_threads, TEST_THREADS) { check_all(check_threads); }

TEST(every_solver_with_any_instruction_set)
{
    if (simd_set() == SIMD_BASE) SKIP("this processor has one instruction set only");
    check_all(check_sets);
}

MARKED_TEST(every_solver_goes_on_from_what_was_saved, TEST_ADDRESS) { check_all(check_resume); }
