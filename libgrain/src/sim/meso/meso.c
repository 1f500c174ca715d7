// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/meso/meso.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"

#include <math.h>
#include <string.h>

// Square of the step over that of the stiffest particle's swing; the motion would explode at 4. At 0.4 a lone collision
// takes 12 steps.
#define STEP_SPRING 0.4
// Contacts that are always expected: the step does not change with every collision.
#define CONTACTS 12.0
// Viscous ones: particles that meet in a step do not do so explicitly where that would throw them back.
#define MEETINGS 3.0
// Steps that a viscous force slows its particle in, at least, if it is to be taken where the step begins.
#define STEP_DAMPING 0.5
// Parts of the step that stiffness allows: to be shortened so far is cheaper than an implicit solution.
#define CHEAP_STEPS 3.0
// Smallest radii that the fastest particle, and a prop, may go in a step.
#define STEP_WAY 0.25
// Of the time to fall a radius.
#define STEP_FALL 0.2
#define LONGEST_STEP 0.01 // s
// How much farther than forces lists look: of the largest radius, and of the reach.
#define SKIN_RADII 0.4f
#define SKIN_REACH 0.05f
// Substeps in a contact of two bodies, and their damping over the critical one, twice.
#define BODY_CONTACT_STEPS 20.0
#define BODY_DAMPING 0.7
#define PI 3.14159265

// --- life -----------------------------------------------------------------------------------------

static GrainResult check_segment(const SimMesoSegment *segment, const char *kind, int number)
{
    if (!(segment->strength >= 0.0f) || !(segment->from >= 0.0f) || !(segment->to >= segment->from) ||
        !(segment->rest >= 0.0f) || !isfinite(segment->strength) || !(segment->to <= 16.0f) ||
        !(segment->rest <= 16.0f))
        return fail(
            GRAIN_ERROR_ARGUMENT,
            "%s piece %d of the mesoscopic force is %g from %g to %g with rest length %g; it must not be negative, and "
            "reach no farther than 16 diameters",
            kind, number, (double)segment->strength, (double)segment->from, (double)segment->to, (double)segment->rest);
    return GRAIN_OK;
}

static float reach_of(const SimMesoSegment *segments, int count)
{
    float reach = 0.0f;
    for (int i = 0; i < count; i++)
        if (segments[i].strength > 0.0f) reach = real_maxf(reach, segments[i].to);
    return reach;
}

static void set_viscosity(Meso *meso, float viscosity)
{
    MesoRules *rules = &meso->rules;
    if (rules->law.viscous_count > 0) rules->law.viscous[0].strength = viscosity;
    rules->wall_viscosity = 0.0f;
    for (int i = 0; i < rules->law.viscous_count; i++) rules->wall_viscosity += rules->law.viscous[i].strength;
}

// 1/s: of a particle among others as dense as sources are filled. Sets the least that is reckoned with.
static float expected_damping(Meso *meso)
{
    const SimMeso *law = &meso->rules.law;
    double damping_rate = 0.0, meetings = 0.0, across = 2.0 * (double)meso->smallest;
    for (int i = 0; i < law->viscous_count; i++) {
        double from = (double)law->viscous[i].from, to = (double)law->viscous[i].to;
        double one = (double)law->viscous[i].strength * across / meso->lightest;
        damping_rate += CONTACTS / 2.0 * (to * to * to - from * from * from) * one;
        meetings += MEETINGS * one;
    }
    meso->damping_floor = (float)meetings;
    return (float)real_max(damping_rate, meetings);
}

void meso_steer_viscosity(Meso *meso, float viscosity)
{
    int grows = meso->rules.law.viscous_count > 0 && viscosity > meso->rules.law.viscous[0].strength;
    set_viscosity(meso, viscosity);
    float expected = expected_damping(meso);
    if (grows) meso->damping_rate = real_maxf(meso->damping_rate, expected); // the last step knew only less
}

static GrainResult choose_rules(Meso *meso, const SimDef *def)
{
    MesoRules *rules = &meso->rules;
    const SimMeso *law = &def->meso;
    for (int i = 0; i < law->elastic_count; i++) TRY(check_segment(&law->elastic[i], "elastic", i));
    for (int i = 0; i < law->viscous_count; i++) TRY(check_segment(&law->viscous[i], "viscous", i));
    rules->law = *law;
    rules->gravity[0] = def->gravity.x, rules->gravity[1] = def->gravity.y, rules->gravity[2] = def->gravity.z;
    rules->wall = 1.0f;
    if (law->elastic_count > 0 && law->elastic[0].strength > 0.0f) rules->wall = real_minf(1.0f, law->elastic[0].rest);
    set_viscosity(meso, law->viscous[0].strength);
    rules->wall_viscous = reach_of(law->viscous, law->viscous_count);
    return GRAIN_OK;
}

// What is expected of a particle among others as dense as sources are filled.
static void expect(Meso *meso)
{
    const SimMeso *law = &meso->rules.law;
    double spring_rate = 0.0, across = 2.0 * (double)meso->smallest;
    for (int i = 0; i < law->elastic_count; i++)
        spring_rate += CONTACTS * (double)law->elastic[i].strength * across / meso->lightest;
    meso->spring_floor = (float)spring_rate;
    meso->spring_rate = (float)spring_rate;
    meso->damping_rate = expected_damping(meso);
}

// The smallest and lightest there are or will be.
static void find_smallest(Meso *meso, const SimDef *def, const Particles *start)
{
    float density = def->density;
    for (int i = 0; i < def->more_material_count; i++) density = real_minf(density, def->more_materials[i].density);
    meso->smallest = def->smallest_born > 0.0f ? def->smallest_born : def->largest_radius;
    for (int64_t i = 0; i < start->count; i++) meso->smallest = real_minf(meso->smallest, start->radius[i]);
    meso->lightest = meso_mass(density, meso->smallest);
}

static void meso_free(void *state)
{
    Meso *meso = state;
    neighbours_free(&meso->neighbours);
    neighbours_free_rows(&meso->rows);
    void *arrays[] = {meso->works, meso->records, meso->seen, meso->notes, meso->pressed, meso->weight};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

static double longest_step(const Meso *meso)
{
    double gravity = (double)vec3_length(meso->base.def.gravity), radius = (double)meso->smallest,
           longest = LONGEST_STEP;
    if (gravity > 0.0) longest = real_min(longest, STEP_FALL * sqrt(2.0 * radius / gravity));
    if (meso->spring_rate > 0.0f) longest = real_min(longest, sqrt(STEP_SPRING / (double)meso->spring_rate));
    return longest;
}

static GrainResult start(void *state, const SimDef *def, const Particles *start)
{
    Meso *meso = state;
    Neighbours *n = &meso->neighbours;
    const SimMeso *law = &meso->rules.law;
    n->base = &meso->base;
    n->field = meso->field, n->field_count = MESO_FIELDS;
    TRY(choose_rules(meso, def));
    find_smallest(meso, def, start);
    SimChange all = {.born = start, .material = def->particle_material};
    TRY(meso_change(meso, &all));
    expect(meso);
    TRY(solver_base_make_rigid(&meso->base, PI / (BODY_CONTACT_STEPS * longest_step(meso)), BODY_DAMPING,
                               meso->base.threads));
    meso->pressed = ALLOC_ZEROED(int64_t, meso->base.rigid->body_count);
    if (!meso->pressed) return GRAIN_ERROR_MEMORY;
    float reach = real_maxf(reach_of(law->elastic, law->elastic_count), reach_of(law->viscous, law->viscous_count)),
          largest = def->largest_radius;
    meso->rows.reach = real_maxf(reach, 0.5f);
    n->skin = (SKIN_RADII + SKIN_REACH * 2.0f * meso->rows.reach) * largest;
    n->cell = 2.0f * meso->rows.reach * largest + n->skin;
    n->wall_reach = largest * real_maxf(1.0f, meso->rules.wall_viscous) + n->skin;
    meso->must_list = 1;
    return GRAIN_OK;
}

// --- step -----------------------------------------------------------------------------------------

static double largest_step(const void *state)
{
    const Meso *meso = state;
    double longest = longest_step(meso), way = STEP_WAY * (double)meso->smallest;
    double fastest = real_max((double)meso->fastest, rigid_speed(meso->base.rigid));
    if (fastest > 0.0) longest = real_min(longest, way / fastest);
    // Explicit where that is cheaper; step() itself looks at what it is given.
    double explicit_step = meso->damping_rate > 0.0f ? STEP_DAMPING / (double)meso->damping_rate : longest;
    return explicit_step * CHEAP_STEPS >= longest ? real_min(longest, explicit_step) : longest;
}

static void pass_record(void *meso, int64_t first, int64_t last) { SIMD_CALL(meso_record)(meso, first, last); }

static void pass_kick(void *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) meso_meet_walls(meso, b);
    SIMD_CALL(meso_kick)(meso, first, last);
}

static void pass_drift(void *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        meso_hold_at_walls(meso, b);
        meso_stick_to_walls(meso, b);
    }
    SIMD_CALL(meso_drift)(meso, first, last);
}

static void note_forces(Meso *meso)
{
    meso->spring_rate = meso->spring_floor;
    meso->damping_rate = meso->damping_floor;
    for (int64_t b = 0; b < meso->neighbours.block_count; b++) {
        meso->spring_rate = real_maxf(meso->spring_rate, meso->notes[b].spring_rate);
        meso->damping_rate = real_maxf(meso->damping_rate, meso->notes[b].damping_rate);
    }
}

static GrainResult step(void *state, double seconds)
{
    Meso *meso = state;
    Neighbours *n = &meso->neighbours;
    Rigid *rigid = meso->base.rigid;
    if (meso->base.acceleration) meso_push(meso, meso->base.acceleration, seconds);
    int must_record = meso->must_list || meso->must_record;
    meso->rules.dt = (float)seconds;
    meso->rules.implicit = (double)meso->damping_rate * seconds > 1.01 * STEP_DAMPING;
    if (meso->must_list) TRY(neighbours_sort(n));
    if (meso->must_list) TRY(neighbours_make_rows(n, &meso->rows));
    if (must_record) neighbours_run(n, n->block_count, pass_record, meso);
    meso->must_record = 0;
    if (meso->rules.implicit)
        TRY(alloc_grow((void **)&meso->weight, &meso->weight_capacity, neighbours_row_room(&meso->rows) * BLOCK_LANES,
                       sizeof *meso->weight));
    if (meso->base.has_moving) {
        rigid_mark(rigid, seconds, (double)n->skin);
        TRY(rigid_find_loads(rigid, seconds));
    }
    neighbours_run(n, n->block_count, pass_kick, meso);
    neighbours_hold_padding(n, meso->work + MESO_NEXT_U);
    meso_count_pressed(meso);
    if (meso->rules.implicit) meso_solve_viscous(meso);
    neighbours_run(n, n->block_count, pass_drift, meso);
    meso->steps++;
    note_forces(meso);
    meso->must_list = neighbours_have_left(n, NULL, n->block_count, &meso->fastest);
    neighbours_load_bodies(n);
    return meso->base.has_moving ? rigid_move(rigid, seconds) : GRAIN_OK;
}

// --- reading and saving ---------------------------------------------------------------------------

static GrainResult read(const void *state, Particles *out)
{
    const Meso *meso = state;
    return neighbours_read(&meso->neighbours, meso->field[MESO_RADIUS], NULL, "lower the elasticity", out);
}

static const ColumnRule column_rules[] = {
    {"meso.must_list", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
    NEIGHBOURS_RULES("meso", MESO_FIELDS, {3, COLUMN_PLACE}, {3, COLUMN_FINITE}, {2, COLUMN_POSITIVE}), // MesoField
    {"meso.fastest", GRAIN_F32, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"meso.stiff", GRAIN_F32, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"meso.thick", GRAIN_F32, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {NULL}};

#define OWN_COLUMNS 9

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Meso *meso = state;
    columns[0] = (Column){"meso.must_list", GRAIN_I32, 1, 1, &meso->must_list};
    neighbours_save(&meso->neighbours, column_rules + 1, columns + 1);
    columns[6] = (Column){"meso.fastest", GRAIN_F32, 1, 1, &meso->fastest};
    columns[7] = (Column){"meso.stiff", GRAIN_F32, 1, 1, &meso->spring_rate};
    columns[8] = (Column){"meso.thick", GRAIN_F32, 1, 1, &meso->damping_rate};
    return solver_base_save(&meso->base, columns, OWN_COLUMNS);
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Meso *meso = state;
    Column own[SOLVER_MAX_COLUMNS];
    save(meso, own);
    TRY(neighbours_load(&meso->neighbours, own, OWN_COLUMNS, columns, column_count));
    meso->must_record = 1;
    return meso->must_list ? GRAIN_OK : neighbours_make_rows(&meso->neighbours, &meso->rows);
}

// Stored in the pairs of a particle, each counted half.
static double elastic_energy_of(const Meso *meso, int64_t i, SimStats *out)
{
    const SimMeso *law = &meso->rules.law;
    const Block *block = &meso->neighbours.block[i / BLOCK_LANES];
    const int32_t *list = meso->rows.list + i % BLOCK_LANES;
    Vec3d at = neighbours_place_of(&meso->neighbours, i);
    double energy = 0.0;
    for (int64_t k = block->list; k < block->list_end && list[k * BLOCK_LANES] < meso->neighbours.room; k++) {
        int64_t j = list[k * BLOCK_LANES];
        double sum = (double)meso->field[MESO_RADIUS][i] + (double)meso->field[MESO_RADIUS][j];
        double distance = vec3d_length(vec3d_sub(neighbours_place_of(&meso->neighbours, j), at)) / sum;
        for (int s = 0; s < law->elastic_count; s++) {
            const SimMesoSegment *e = &law->elastic[s];
            double rest = (double)e->rest, from = (double)e->from, to = (double)e->to;
            double far = to - rest, near = real_max(distance, from) - rest;
            if (distance > to) continue;
            // From where it ends to where it is, work done on the pair.
            energy += 0.25 * (double)e->strength * sum * sum * sum * (near * near - far * far);
            out->contacts += j > i && distance >= from;
            if (j > i) out->deepest = real_max(out->deepest, 2.0 * (rest - distance));
        }
    }
    return energy;
}

static void measure(const void *state, SimStats *out)
{
    const Meso *meso = state;
    *out = (SimStats){.steps = meso->steps};
    for (int64_t i = 0; i < meso->neighbours.count; i++) {
        double mass = (double)meso->field[MESO_MASS][i];
        Vec3d v = vec3d((double)meso->field[MESO_U][i], (double)meso->field[MESO_V][i], (double)meso->field[MESO_W][i]);
        solver_base_add_energy(&meso->base, mass, v, neighbours_place_of(&meso->neighbours, i), out);
        if (meso->steps > 0) out->elastic += elastic_energy_of(meso, i, out);
    }
}

// A particle is solid: what lies between particles is not of the material. It feels walls as far as paste does.
const Solver meso_solver = {
    .name = "meso",
    .label = "Viscous (Fluid to Paste)",
    .tip = "Particles are parcels of a fluid, cream or paste, set by two sliders",
    .traits = {.is_continuum = 1,
               .collider_reach = 7.5f,
               .steers = SIM_STEERS_VISCOSITY,
               .memory = 500.0f,
               .checkpoint = 48.0f,
               .uses = "interaction elasticity viscosity elastic_reach reach_ratio ambient_viscosity "
                       "elastic_pieces viscous_pieces restitution",
               .choices = {{"interaction", sim_meso_interaction_names}}},
    .version = 3,
    .state_bytes = sizeof(Meso),
    .start = start,
    .free = meso_free,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .columns = column_rules,
    .save = save,
    .load = load,
    .measure = measure,
    .change = meso_change,
    .steer = meso_steer,
    .push = meso_push};
