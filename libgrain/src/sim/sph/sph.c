// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/sph/sph.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/sph/sph_step.h"

#include <math.h>
#include <string.h>

const char *const sph_model_names[] = {"elastoplastic", "ihmsen2013", NULL};

// Sound travels this many times as fast as anything is expected to hit: sand then gives way by 1 / (2 * 8^2), some 1 %.
#define SOUND_OVER_SPEED 8.0f
// Part of the support that sound crosses in a step.
#define STEP_SUPPORT 0.3f
// The same for ihmsen2013: part of a spacing that the fastest particle expected goes in a step.
#define STEP_SPACING 0.1f
#define ITERATIONS 3
// Artificial viscosity that damps what meets; section 3.4 of the paper for the others.
#define ELASTOPLASTIC_VISCOSITY 0.1f
#define DRY_VISCOSITY 0.01f
#define WET_VISCOSITY 0.3f
#define WET_COHESION 0.7f
// Of (22), so that cohesion does not depend on the size of particles: this is the paper's at its spacing of 0.1 m.
#define COHESION_SCALE 40.0f
// ihmsen2013: what is slower than this part of the speed to fall a spacing sleeps, until it is accelerated by this part
// of gravity.
#define SLEEP_SPEED 0.03f
#define WAKE_ACCELERATION 0.3f
// Supports: how much farther than the kernel lists look.
#define SKIN 0.1f
// A prop may move by this part of a spacing in a step.
#define COLLIDER_WAY 0.25
// Substeps in a contact of two bodies, and their damping over the critical one, twice.
#define BODY_CONTACT_STEPS 20.0
#define BODY_DAMPING 0.7
// Squares of a spacing that moisture may spread over in a step: more would not be stable.
#define DIFFUSION_LIMIT 0.05f

// --- life -----------------------------------------------------------------------------------------

// Rumpf: tensile strength of grains of diameter d that hold on to each other with a force F, (1 - e) / e * F / d^2.
static float tension_of(float density, float cohesion, float radius, float gravity)
{
    float weight = density * 4.18879f * radius * radius * radius * gravity;
    return SPH_PACKING / (1.0f - SPH_PACKING) * cohesion * weight / (4.0f * radius * radius);
}

// Sum of the squared gradients over a full neighbourhood, 1/m8.
static double gradient_square(float spacing, float support)
{
    double sum = 0.0;
    for (int z = -2; z <= 2; z++)
        for (int y = -2; y <= 2; y++)
            for (int x = -2; x <= 2; x++) {
                float r = spacing * sqrtf((float)(x * x + y * y + z * z));
                double gradient = r > 0.0f && r < support ? (double)(sph_spline_slope(r, support) * r) : 0.0;
                sum += gradient * gradient;
            }
    return sum;
}

static void choose_model_rules(Sph *sph, const SimDef *def)
{
    SphRules *rules = &sph->rules;
    float gravity = vec3_length(def->gravity);
    if (sph->model == SPH_ELASTOPLASTIC) {
        rules->viscosity = ELASTOPLASTIC_VISCOSITY;
        rules->wet_viscosity = WET_VISCOSITY - ELASTOPLASTIC_VISCOSITY;
        rules->wall_share = 2.0f;
        rules->wet_cohesion = SIM_WET_TENSION;
    } else {
        rules->viscosity = DRY_VISCOSITY;
        rules->wet_viscosity = WET_VISCOSITY - DRY_VISCOSITY;
        rules->wall_share = 1.0f;
        rules->wet_cohesion = WET_COHESION * COHESION_SCALE * gravity / rules->support;
        rules->sleep_speed = SLEEP_SPEED * sqrtf(gravity * rules->spacing);
        rules->wake_acceleration = WAKE_ACCELERATION * gravity;
    }
}

// What depends on the length of the step.
static void set_step(Sph *sph, double seconds)
{
    SphRules *rules = &sph->rules;
    double volume = (double)rules->volume, density = (double)rules->density;
    rules->dt = (float)seconds;
    rules->diffusion =
        real_minf(sph->base.def.moisture_diffusion, DIFFUSION_LIMIT * rules->spacing * rules->spacing / rules->dt);
    rules->pressure_scale = (float)(density / (2.0 * volume * volume * seconds * seconds * sph->gradient_square));
    rules->friction_scale = (float)(0.5 * 3.0 * density / (2.0 * volume * volume * seconds * sph->gradient_square));
}

static GrainResult choose_rules(Sph *sph, const SimDef *def)
{
    SphRules *rules = &sph->rules;
    int model = 0;
    while (def->model && sph_model_names[model] && strcmp(sph_model_names[model], def->model) != 0) model++;
    if (!sph_model_names[model])
        return fail(GRAIN_ERROR_ARGUMENT, "there is no model '%s'; allowed are elastoplastic, ihmsen2013", def->model);
    sph->model = (SphModel)model;
    rules->volume = (float)solver_bulk_room(def->largest_radius);
    rules->spacing = real_cbrtf(rules->volume);
    rules->support = 2.0f * rules->spacing;
    rules->sound = SOUND_OVER_SPEED * def->expected_speed;
    for (int i = 0; i <= def->more_material_count; i++)
        rules->density = real_maxf(rules->density, SPH_PACKING * solver_material(def, i).density);
    choose_model_rules(sph, def);
    sph_set_sleep(sph);
    sph->gradient_square = gradient_square(rules->spacing, rules->support);
    rules->gravity[0] = def->gravity.x, rules->gravity[1] = def->gravity.y, rules->gravity[2] = def->gravity.z;
    sph->step_limit = sph->model == SPH_ELASTOPLASTIC ? (double)(STEP_SUPPORT * rules->support / rules->sound)
                                                      : (double)(STEP_SPACING * rules->spacing / def->expected_speed);
    return GRAIN_OK;
}

// Of ihmsen2013: ten weights of a grain hold it as well as the paper's wet sand.
void sph_set_strength(Sph *sph, int64_t particle, int kind)
{
    float cohesion = sph->steering.cohesion[kind];
    sph->field[SPH_FRICTION][particle] = sph->steering.friction[kind];
    sph->field[SPH_COHESION][particle] =
        sph->model == SPH_ELASTOPLASTIC
            ? tension_of(solver_material(&sph->base.def, kind).density, cohesion, sph->base.def.largest_radius,
                         sph->weight)
            : 0.1f * cohesion * WET_COHESION * COHESION_SCALE * sph->weight / sph->rules.support;
}

static void sph_free(void *state)
{
    Sph *sph = state;
    neighbours_free(&sph->neighbours);
    void *arrays[] = {sph->works, sph->kind,        sph->walls,  sph->reached_end, sph->is_awake, sph->must_wake,
                      sph->awake, sph->is_watching, sph->active, sph->list,        sph->reached,  sph->slope};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

static GrainResult start(void *state, const SimDef *def, const Particles *start)
{
    Sph *sph = state;
    Neighbours *n = &sph->neighbours;
    sph->weight = vec3_length(def->gravity);
    sph->steering = steering_of(def);
    TRY(choose_rules(sph, def));
    n->base = &sph->base;
    n->field = sph->field, n->field_count = SPH_FIELDS;
    n->skin = SKIN * sph->rules.support;
    n->cell = sph->rules.support + n->skin;
    n->wall_reach = sph->rules.support;
    TRY(sph_reserve_kinds(sph, start->count));
    TRY(sph_resize(sph, start->count));
    TRY(solver_base_make_rigid(&sph->base, M_PI / (BODY_CONTACT_STEPS * sph->step_limit), BODY_DAMPING,
                               sph->base.threads));
    sph_start_particles(sph, 0, start, def->particle_material, def->particle_moisture);
    sph->must_list = 1;
    return GRAIN_OK;
}

// --- step -----------------------------------------------------------------------------------------

static double largest_step(const void *state)
{
    const Sph *sph = state;
    double speed = rigid_speed(sph->base.rigid), longest = sph->step_limit;
    // Faster than expected, ihmsen2013 would take too long steps; elastoplastic has sound to go by.
    if (sph->model == SPH_IHMSEN2013 && sph->fastest > sph->base.def.expected_speed)
        longest *= (double)(sph->base.def.expected_speed / sph->fastest);
    return speed > 0.0 ? real_min(longest, COLLIDER_WAY * (double)sph->rules.spacing / speed) : longest;
}

static void pass_stress(void *state, int64_t first, int64_t last)
{
    Sph *sph = state;
    for (int64_t n = first; n < last; n++) sph_look_at_walls(sph, sph->active[n]);
    SIMD_CALL(sph_elastoplastic_stress)(sph, first, last);
}

static void pass_force(void *state, int64_t first, int64_t last)
{
    Sph *sph = state;
    SIMD_CALL(sph_elastoplastic_force)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_press_walls(sph, sph->active[n]);
}

static void pass_begin(void *state, int64_t first, int64_t last)
{
    Sph *sph = state;
    for (int64_t n = first; n < last; n++) sph_look_at_walls(sph, sph->active[n]);
    SIMD_CALL(sph_ihmsen2013_begin)(sph, first, last);
}

static void pass_correct(void *sph, int64_t first, int64_t last)
{
    SIMD_CALL(sph_ihmsen2013_correct)(sph, first, last);
}

static void pass_react(void *state, int64_t first, int64_t last)
{
    Sph *sph = state;
    SIMD_CALL(sph_ihmsen2013_force)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_press_walls(sph, sph->active[n]);
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = first * BLOCK_LANES; i < last * BLOCK_LANES; i++) // ihmsen2013 works on all
            sph->work[SPH_NEXT_U + axis][i] = sph->field[SPH_U + axis][i] + sph->rules.dt * sph->work[SPH_AX + axis][i];
}

static void pass_soak(void *sph, int64_t first, int64_t last) { SIMD_CALL(sph_soak)(sph, first, last); }

static void pass_move(void *state, int64_t first, int64_t last)
{
    Sph *sph = state;
    SIMD_CALL(sph_move)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_push_out(sph, sph->active[n]);
}

static void run(Sph *sph, NeighboursPass *pass) { neighbours_run(&sph->neighbours, sph->active_count, pass, sph); }

static GrainResult step(void *state, double seconds)
{
    Sph *sph = state;
    if (sph->base.acceleration) sph_push(sph, sph->base.acceleration, seconds);
    set_step(sph, seconds);
    if (sph->must_list && sph->neighbours.count > 0) {
        TRY(neighbours_sort(&sph->neighbours));
        TRY(sph_make_lists(sph));
    }
    if (sph->base.has_moving) {
        rigid_mark(sph->base.rigid, seconds, (double)sph->neighbours.skin);
        TRY(rigid_find_loads(sph->base.rigid, seconds));
    }
    sph_find_active(sph);
    if (sph->model == SPH_ELASTOPLASTIC) {
        run(sph, pass_stress);
        run(sph, pass_force);
    } else {
        memcpy(sph->work[SPH_DENSE], sph->field[SPH_FILLED], (size_t)sph->neighbours.room * sizeof(float));
        run(sph, pass_begin);
        for (int i = 0; i < ITERATIONS; i++) {
            run(sph, pass_correct);
            run(sph, pass_react);
        }
    }
    if (sph->rules.diffusion > 0.0f) run(sph, pass_soak);
    neighbours_hold_padding(&sph->neighbours, sph->work + SPH_AX);
    run(sph, pass_move);
    sph->steps++;
    sph->must_list = neighbours_have_left(&sph->neighbours, sph->active, sph->active_count, &sph->fastest);
    sph_note_sleep(sph);
    neighbours_load_bodies(&sph->neighbours);
    return sph->base.has_moving ? rigid_move(sph->base.rigid, seconds) : GRAIN_OK;
}

// --- reading and saving ---------------------------------------------------------------------------

static GrainResult read(const void *state, Particles *out)
{
    const Sph *sph = state;
    const float *moisture = sph->base.def.particle_moisture ? sph->field[SPH_MOISTURE] : NULL;
    return neighbours_read(&sph->neighbours, sph->field[SPH_RADIUS], moisture, "use a larger particle radius", out);
}

static const ColumnRule column_rules[] = {{"sph.must_list", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
                                          NEIGHBOURS_RULES("sph", SPH_FIELDS, {3, COLUMN_PLACE}, {12, COLUMN_FINITE},
                                                           {4, COLUMN_NOT_NEGATIVE}, {1, COLUMN_STILL},
                                                           {3, COLUMN_FINITE}), // SphField
                                          {"sph.fastest", GRAIN_F32, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
                                          {NULL}};

#define OWN_COLUMNS 7

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Sph *sph = state;
    columns[0] = (Column){"sph.must_list", GRAIN_I32, 1, 1, &sph->must_list};
    neighbours_save(&sph->neighbours, column_rules + 1, columns + 1);
    columns[6] = (Column){"sph.fastest", GRAIN_F32, 1, 1, &sph->fastest};
    return solver_base_save(&sph->base, columns, OWN_COLUMNS);
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Sph *sph = state;
    Column own[SOLVER_MAX_COLUMNS];
    save(sph, own);
    TRY(neighbours_load(&sph->neighbours, own, OWN_COLUMNS, columns, column_count));
    return sph->must_list || sph->neighbours.count == 0 ? GRAIN_OK : sph_make_lists(sph);
}

static void measure(const void *state, SimStats *out)
{
    const Sph *sph = state;
    *out = (SimStats){.steps = sph->steps};
    for (int64_t i = 0; i < sph->neighbours.count; i++) {
        double mass = (double)sph->field[SPH_MASS][i];
        Vec3d v = vec3d((double)sph->field[SPH_U][i], (double)sph->field[SPH_V][i], (double)sph->field[SPH_W][i]);
        out->asleep += isinf(sph->field[SPH_STILL][i]) != 0;
        solver_base_add_energy(&sph->base, mass, v, neighbours_place_of(&sph->neighbours, i), out);
    }
}

// Particles reach walls as far as mpm's cells do.
const Solver sph_solver = {
    .name = "sph",
    .label = "Smoothed Particles (Dry and Wet Sand)",
    .tip =
        "Particles carry a volume of sand that heaps up at its friction angle, comes to a complete rest and can be wet",
    .traits = {.is_continuum = 1,
               .grain_share = SPH_PACKING,
               .collider_reach = 7.5f,
               .steers = SIM_STEERS_FRICTION | SIM_STEERS_COHESION,
               .memory = 1900.0f,
               .checkpoint = 108.0f,
               .uses = "model friction cohesion moisture moisture_paint moisture_diffusion sleep",
               .choices = {{"model", sph_model_names}}},
    .version = 5,
    .state_bytes = sizeof(Sph),
    .start = start,
    .free = sph_free,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .columns = column_rules,
    .save = save,
    .load = load,
    .measure = measure,
    .change = sph_change,
    .steer = sph_steer,
    .push = sph_push};
