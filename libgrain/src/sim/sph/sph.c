// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/sph/sph.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

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
// Blocks handed to a thread at once.
#define STEP_BLOCKS 32
// Squares of a spacing that moisture may spread over in a step: more would not be stable.
#define DIFFUSION_LIMIT 0.05f

// --- life -----------------------------------------------------------------------------------------

SimMaterial sph_material(const SimDef *def, int kind)
{
    if (kind > 0) return def->more_materials[kind - 1];
    return (SimMaterial){.density = def->density, .friction = def->friction, .cohesion = def->cohesion};
}

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
        real_minf(sph->def.moisture_diffusion, DIFFUSION_LIMIT * rules->spacing * rules->spacing / rules->dt);
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
        rules->density = real_maxf(rules->density, SPH_PACKING * sph_material(def, i).density);
    choose_model_rules(sph, def);
    sph_set_sleep(sph);
    sph->gradient_square = gradient_square(rules->spacing, rules->support);
    rules->gravity[0] = def->gravity.x, rules->gravity[1] = def->gravity.y, rules->gravity[2] = def->gravity.z;
    sph->skin = SKIN * rules->support;
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
            ? tension_of(sph_material(&sph->def, kind).density, cohesion, sph->def.largest_radius, sph->weight)
            : 0.1f * cohesion * WET_COHESION * COHESION_SCALE * sph->weight / sph->rules.support;
}

// Between the particles, or where they will be born.
static void choose_origin(Sph *sph, const SimDef *def, const Particles *start)
{
    Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    if (start->count == 0) low = high = def->birthplace;
    for (int64_t i = 0; i < start->count; i++)
        low = vec3_min(low, start->position[i]), high = vec3_max(high, start->position[i]);
    sph->origin[0] = 0.5 * ((double)low.x + (double)high.x);
    sph->origin[1] = 0.5 * ((double)low.y + (double)high.y);
    sph->origin[2] = 0.5 * ((double)low.z + (double)high.z);
}

static void destroy(void *state)
{
    Sph *sph = state;
    if (!sph) return;
    sph_free_lists(sph);
    rigid_destroy(sph->rigid);
    void *arrays[] = {sph->fields,    sph->before, sph->works,     sph->listed[0], sph->listed[1],
                      sph->listed[2], sph->id,     sph->id_before, sph->colliders, sph->kind};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    alloc_free(sph);
}

static GrainResult create_rigid(Sph *sph, const SimDef *def)
{
    sph->colliders = ALLOC(SimCollider, def->collider_count);
    if (!sph->colliders) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < def->collider_count; i++) {
        sph->colliders[i] = def->colliders[i];
        sph->has_moving |= def->colliders[i].motion.kind != MOTION_STILL || def->colliders[i].body;
    }
    sph->def.colliders = sph->colliders;
    double frequency = M_PI / (BODY_CONTACT_STEPS * sph->step_limit);
    RigidDef rigid = {.colliders = sph->colliders,
                      .collider_count = def->collider_count,
                      .gravity = def->gravity,
                      .stiffness = frequency * frequency,
                      .damping = BODY_DAMPING * frequency,
                      .point_reach = def->largest_radius,
                      .threads = sph->threads};
    return rigid_create(&rigid, &sph->rigid);
}

static GrainResult create_inside(Sph *sph, const SimDef *def, const Particles *start, int threads)
{
    sph->def = *def;
    sph->most_threads = threads;
    sph->weight = vec3_length(def->gravity);
    if (def->more_material_count + 1 > SIM_MAX_MATERIALS)
        return fail(GRAIN_ERROR_ARGUMENT, "%d materials; sph knows at most %d", def->more_material_count + 1,
                    SIM_MAX_MATERIALS);
    sph->steering = steering_of(def);
    TRY(choose_rules(sph, def));
    TRY(sph_reserve_kinds(sph, start->count));
    TRY(sph_resize(sph, start->count));
    TRY(create_rigid(sph, def));
    choose_origin(sph, def, start);
    sph_start_particles(sph, 0, start, def->particle_material, def->particle_moisture);
    sph->must_list = 1;
    return GRAIN_OK;
}

static GrainResult create(const SimDef *def, const Particles *start, int threads, void **state)
{
    *state = NULL;
    Sph *sph = ALLOC_ZEROED(Sph, 1);
    if (!sph) return GRAIN_ERROR_MEMORY;
    GrainResult result = create_inside(sph, def, start, threads);
    if (result == GRAIN_OK)
        *state = sph;
    else
        destroy(sph);
    return result;
}

// --- step -----------------------------------------------------------------------------------------

static double largest_step(const void *state)
{
    const Sph *sph = state;
    double speed = rigid_speed(sph->rigid), longest = sph->step_limit;
    // Faster than expected, ihmsen2013 would take too long steps; elastoplastic has sound to go by.
    if (sph->model == SPH_IHMSEN2013 && sph->fastest > sph->def.expected_speed)
        longest *= (double)(sph->def.expected_speed / sph->fastest);
    return speed > 0.0 ? real_min(longest, COLLIDER_WAY * (double)sph->rules.spacing / speed) : longest;
}

typedef void SphPass(Sph *sph, int64_t first, int64_t last);

static void run_pass(Sph *sph, SphPass *pass)
{
    PARALLEL_STRIPS(sph->threads, piece, parallel_block_count(sph->active_count, STEP_BLOCKS))
    {
        pass(sph, piece * STEP_BLOCKS, parallel_block_end(piece, STEP_BLOCKS, sph->active_count));
    }
}

static void pass_stress(Sph *sph, int64_t first, int64_t last)
{
    for (int64_t n = first; n < last; n++) sph_look_at_walls(sph, sph->active[n]);
    SIMD_CALL(sph_elastoplastic_stress)(sph, first, last);
}

static void pass_force(Sph *sph, int64_t first, int64_t last)
{
    SIMD_CALL(sph_elastoplastic_force)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_press_walls(sph, sph->active[n]);
}

static void pass_begin(Sph *sph, int64_t first, int64_t last)
{
    for (int64_t n = first; n < last; n++) sph_look_at_walls(sph, sph->active[n]);
    SIMD_CALL(sph_ihmsen2013_begin)(sph, first, last);
}

static void pass_correct(Sph *sph, int64_t first, int64_t last) { SIMD_CALL(sph_ihmsen2013_correct)(sph, first, last); }

static void pass_react(Sph *sph, int64_t first, int64_t last)
{
    SIMD_CALL(sph_ihmsen2013_force)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_press_walls(sph, sph->active[n]);
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = first * SPH_LANES; i < last * SPH_LANES; i++) // ihmsen2013 works on all
            sph->work[SPH_NEXT_U + axis][i] = sph->field[SPH_U + axis][i] + sph->rules.dt * sph->work[SPH_AX + axis][i];
}

static void pass_soak(Sph *sph, int64_t first, int64_t last) { SIMD_CALL(sph_soak)(sph, first, last); }

static void pass_move(Sph *sph, int64_t first, int64_t last)
{
    SIMD_CALL(sph_move)(sph, first, last);
    for (int64_t n = first; n < last; n++) sph_push_out(sph, sph->active[n]);
}

// Lanes of no particle stay where they are.
static void hold_padding(Sph *sph)
{
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = sph->count; i < sph->room; i++) sph->work[SPH_AX + axis][i] = 0.0f;
}

static void note_motion(Sph *sph)
{
    float moved = 0.0f, fastest = 0.0f, limit = 0.25f * sph->skin * sph->skin;
    for (int64_t n = 0; n < sph->active_count; n++) {
        const SphBlock *block = &sph->blocks[sph->active[n]];
        // One that is nowhere has moved too.
        if (!(block->moved <= moved)) moved = block->moved;
        fastest = real_maxf(fastest, block->fastest);
    }
    sph->must_list = !(moved <= limit);
    sph->fastest = sqrtf(fastest);
}

static GrainResult step(void *state, double seconds)
{
    Sph *sph = state;
    set_step(sph, seconds);
    if (sph->must_list && sph->count > 0) TRY(sph_sort(sph));
    if (sph->has_moving) {
        rigid_mark(sph->rigid, seconds, (double)sph->skin);
        TRY(rigid_find_loads(sph->rigid, seconds));
    }
    sph_find_active(sph);
    if (sph->model == SPH_ELASTOPLASTIC) {
        run_pass(sph, pass_stress);
        run_pass(sph, pass_force);
    } else {
        memcpy(sph->work[SPH_DENSE], sph->field[SPH_FILLED], (size_t)sph->room * sizeof(float));
        run_pass(sph, pass_begin);
        for (int i = 0; i < ITERATIONS; i++) {
            run_pass(sph, pass_correct);
            run_pass(sph, pass_react);
        }
    }
    if (sph->rules.diffusion > 0.0f) run_pass(sph, pass_soak);
    hold_padding(sph);
    run_pass(sph, pass_move);
    sph->steps++;
    note_motion(sph);
    sph_note_sleep(sph);
    sph_load_bodies(sph);
    return sph->has_moving ? rigid_move(sph->rigid, seconds) : GRAIN_OK;
}

// --- reading and saving ---------------------------------------------------------------------------

static Vec3d place_of(const Sph *sph, int64_t i)
{
    return vec3d((double)sph->field[SPH_X][i] + sph->origin[0], (double)sph->field[SPH_Y][i] + sph->origin[1],
                 (double)sph->field[SPH_Z][i] + sph->origin[2]);
}

static GrainResult read(const void *state, Particles *out)
{
    const Sph *sph = state;
    TRY(particles_reserve(out, sph->born));
    out->count = sph->born;
    if (sph->def.particle_moisture) TRY(particles_moisten(out));
    for (int64_t i = 0; i < sph->count; i++) {
        int32_t id = sph->id[i];
        Vec3d at = place_of(sph, i);
        out->position[id] = vec3((float)at.x, (float)at.y, (float)at.z);
        out->velocity[id] = vec3(sph->field[SPH_U][i], sph->field[SPH_V][i], sph->field[SPH_W][i]);
        out->radius[id] = sph->field[SPH_RADIUS][i];
        if (out->moisture) out->moisture[id] = sph->field[SPH_MOISTURE][i];
        if (!vec3_is_finite(out->position[id]))
            return fail(GRAIN_ERROR_DIVERGED, "particle %d is nowhere; use a larger particle radius", id);
    }
    return GRAIN_OK;
}

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Sph *sph = state;
    int64_t room = sph->room;
    columns[0] = (Column){"sph.must_list", GRAIN_I32, 1, 1, &sph->must_list};
    columns[1] = (Column){"sph.fields", GRAIN_F32, SPH_FIELDS, room, sph->fields};
    columns[2] = (Column){"sph.listed_x", GRAIN_F32, 1, room, sph->listed[0]};
    columns[3] = (Column){"sph.listed_y", GRAIN_F32, 1, room, sph->listed[1]};
    columns[4] = (Column){"sph.listed_z", GRAIN_F32, 1, room, sph->listed[2]};
    columns[5] = (Column){"sph.id", GRAIN_I32, 1, sph->count, sph->id};
    columns[6] = (Column){"sph.fastest", GRAIN_F32, 1, 1, &sph->fastest};
    return sph->has_moving ? 7 + rigid_save(sph->rigid, columns + 7) : 7;
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Sph *sph = state;
    Column own[SOLVER_MAX_COLUMNS];
    save(sph, own);
    for (int i = 0; i < 7; i++)
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    for (int64_t i = 0; i < sph->count; i++)
        if (sph->id[i] < 0 || sph->id[i] >= sph->born)
            return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's particles are not this job's");
    if (sph->has_moving) TRY(rigid_load(sph->rigid, columns, column_count));
    return sph->must_list || sph->count == 0 ? GRAIN_OK : sph_make_lists(sph);
}

static void measure(const void *state, SimStats *out)
{
    const Sph *sph = state;
    *out = (SimStats){.steps = sph->steps};
    for (int64_t i = 0; i < sph->count; i++) {
        double mass = (double)sph->field[SPH_MASS][i];
        Vec3d v = vec3d((double)sph->field[SPH_U][i], (double)sph->field[SPH_V][i], (double)sph->field[SPH_W][i]);
        out->asleep += isinf(sph->field[SPH_STILL][i]) != 0;
        out->kinetic += 0.5 * mass * vec3d_dot(v, v);
        out->potential -= mass * vec3d_dot(vec3d_from(sph->def.gravity), place_of(sph, i));
    }
}

static Rigid *rigid_of(const void *state) { return ((const Sph *)state)->rigid; }

// Particles reach walls as far as mpm's cells do.
const Solver sph_solver = {
    .name = "sph",
    .traits = {.is_continuum = 1,
               .grain_share = SPH_PACKING,
               .collider_reach = 7.5f,
               .steers = SIM_STEERS_FRICTION | SIM_STEERS_COHESION,
               .memory = 1900.0f,
               .checkpoint = 108.0f,
               .uses = "model friction cohesion moisture moisture_paint moisture_diffusion sleep",
               .choices = {{"model", sph_model_names}}},
    .version = 5,
    .create = create,
    .destroy = destroy,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .save = save,
    .load = load,
    .measure = measure,
    .rigid = rigid_of,
    .change = sph_change,
    .steer = sph_steer,
    .push = sph_push};
