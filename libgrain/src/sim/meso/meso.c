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
#define STEP_STIFF 0.4
// Contacts that are always expected: the step does not change with every collision.
#define CONTACTS 12.0
// Viscous ones: particles that meet in a step do not do so explicitly where that would throw them back.
#define MEETINGS 3.0
// Steps that a viscous force slows its particle in, at least, if it is to be taken where the step begins.
#define STEP_THICK 0.5
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
// Neighbours handed to a thread at once.
#define STEP_BLOCKS 32
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
static float expected_thickness(Meso *meso)
{
    const SimMeso *law = &meso->rules.law;
    double thick = 0.0, meetings = 0.0, across = 2.0 * (double)meso->smallest;
    for (int i = 0; i < law->viscous_count; i++) {
        double from = (double)law->viscous[i].from, to = (double)law->viscous[i].to;
        double one = (double)law->viscous[i].strength * across / meso->lightest;
        thick += CONTACTS / 2.0 * (to * to * to - from * from * from) * one;
        meetings += MEETINGS * one;
    }
    meso->thick_floor = (float)meetings;
    return (float)real_max(thick, meetings);
}

void meso_steer_viscosity(Meso *meso, float viscosity)
{
    int grows = meso->rules.law.viscous_count > 0 && viscosity > meso->rules.law.viscous[0].strength;
    set_viscosity(meso, viscosity);
    float expected = expected_thickness(meso);
    if (grows) meso->thick = real_maxf(meso->thick, expected); // the last step knew only less
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
    double stiff = 0.0, across = 2.0 * (double)meso->smallest;
    for (int i = 0; i < law->elastic_count; i++)
        stiff += CONTACTS * (double)law->elastic[i].strength * across / meso->lightest;
    meso->stiff_floor = (float)stiff;
    meso->stiff = (float)stiff;
    meso->thick = expected_thickness(meso);
}

static void choose_origin(Meso *meso, const SimDef *def, const Particles *start)
{
    Vec3 low = {INFINITY, INFINITY, INFINITY}, high = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < start->count; i++)
        low = vec3_min(low, start->position[i]), high = vec3_max(high, start->position[i]);
    if (start->count == 0) low = high = def->birthplace;
    meso->neighbours.origin[0] = 0.5 * ((double)low.x + (double)high.x);
    meso->neighbours.origin[1] = 0.5 * ((double)low.y + (double)high.y);
    meso->neighbours.origin[2] = 0.5 * ((double)low.z + (double)high.z);
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

static void destroy(void *state)
{
    Meso *meso = state;
    if (!meso) return;
    neighbours_free(&meso->neighbours);
    rigid_destroy(meso->rigid);
    void *arrays[] = {meso->fields, meso->works,   meso->records, meso->seen,
                      meso->notes,  meso->pressed, meso->weight,  meso->colliders};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    alloc_free(meso);
}

static double longest_step(const Meso *meso)
{
    double gravity = (double)vec3_length(meso->def.gravity), radius = (double)meso->smallest, longest = LONGEST_STEP;
    if (gravity > 0.0) longest = real_min(longest, STEP_FALL * sqrt(2.0 * radius / gravity));
    if (meso->stiff > 0.0f) longest = real_min(longest, sqrt(STEP_STIFF / (double)meso->stiff));
    return longest;
}

static GrainResult create_rigid(Meso *meso, const SimDef *def)
{
    meso->colliders = ALLOC(SimCollider, def->collider_count);
    if (!meso->colliders) return GRAIN_ERROR_MEMORY;
    for (int i = 0; i < def->collider_count; i++) {
        meso->colliders[i] = def->colliders[i];
        meso->neighbours.has_moving |= def->colliders[i].motion.kind != MOTION_STILL || def->colliders[i].body;
    }
    meso->def.colliders = meso->colliders;
    double frequency = PI / (BODY_CONTACT_STEPS * longest_step(meso));
    RigidDef rigid = {.colliders = meso->colliders,
                      .collider_count = def->collider_count,
                      .gravity = def->gravity,
                      .stiffness = frequency * frequency,
                      .damping = BODY_DAMPING * frequency,
                      .point_reach = def->largest_radius,
                      .threads = meso->neighbours.threads};
    TRY(rigid_create(&rigid, &meso->rigid));
    meso->neighbours.rigid = meso->rigid;
    meso->pressed = ALLOC_ZEROED(int64_t, meso->rigid->body_count);
    return meso->pressed ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

static GrainResult create_inside(Meso *meso, const SimDef *def, const Particles *start, int threads)
{
    meso->def = *def;
    meso->most_threads = threads;
    TRY(choose_rules(meso, def));
    choose_origin(meso, def, start);
    find_smallest(meso, def, start);
    SimChange all = {.born = start, .material = def->particle_material};
    TRY(meso_change(meso, &all));
    expect(meso);
    TRY(create_rigid(meso, def));
    const SimMeso *law = &meso->rules.law;
    float reach = real_maxf(reach_of(law->elastic, law->elastic_count), reach_of(law->viscous, law->viscous_count));
    Neighbours *neighbours = &meso->neighbours;
    neighbours->reach = real_maxf(reach, 0.5f);
    neighbours->largest = def->largest_radius;
    neighbours->skin = (SKIN_RADII + SKIN_REACH * 2.0f * neighbours->reach) * neighbours->largest;
    neighbours->wall_reach = def->largest_radius * real_maxf(1.0f, meso->rules.wall_viscous) + neighbours->skin;
    meso->must_list = 1;
    return GRAIN_OK;
}

static GrainResult create(const SimDef *def, const Particles *start, int threads, void **state)
{
    *state = NULL;
    Meso *meso = ALLOC_ZEROED(Meso, 1);
    if (!meso) return GRAIN_ERROR_MEMORY;
    GrainResult result = create_inside(meso, def, start, threads);
    if (result == GRAIN_OK)
        *state = meso;
    else
        destroy(meso);
    return result;
}

// --- step -----------------------------------------------------------------------------------------

static double largest_step(const void *state)
{
    const Meso *meso = state;
    double longest = longest_step(meso), way = STEP_WAY * (double)meso->smallest;
    double fastest = real_max((double)meso->fastest, rigid_speed(meso->rigid));
    if (fastest > 0.0) longest = real_min(longest, way / fastest);
    // Explicit where that is cheaper; step() itself looks at what it is given.
    double explicit_step = meso->thick > 0.0f ? STEP_THICK / (double)meso->thick : longest;
    return explicit_step * CHEAP_STEPS >= longest ? real_min(longest, explicit_step) : longest;
}

void meso_run_pass(Meso *meso, MesoPass *pass)
{
    int64_t count = meso->neighbours.block_count;
    PARALLEL_STRIPS(meso->neighbours.threads, piece, parallel_block_count(count, STEP_BLOCKS))
    {
        pass(meso, piece * STEP_BLOCKS, parallel_block_end(piece, STEP_BLOCKS, count));
    }
}

static void pass_record(Meso *meso, int64_t first, int64_t last) { SIMD_CALL(meso_record)(meso, first, last); }

static void pass_kick(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) meso_meet_walls(meso, b);
    SIMD_CALL(meso_kick)(meso, first, last);
}

static void pass_drift(Meso *meso, int64_t first, int64_t last)
{
    for (int64_t b = first; b < last; b++) {
        meso_hold_at_walls(meso, b);
        meso_stick_to_walls(meso, b);
    }
    SIMD_CALL(meso_drift)(meso, first, last);
}

// Lanes of no particle stay where they are.
static void hold_padding(Meso *meso)
{
    for (int axis = 0; axis < 3; axis++)
        for (int64_t i = meso->neighbours.count; i < meso->neighbours.room; i++)
            meso->work[MESO_NEXT_U + axis][i] = 0.0f;
}

static void note_forces(Meso *meso)
{
    meso->stiff = meso->stiff_floor;
    meso->thick = meso->thick_floor;
    for (int64_t b = 0; b < meso->neighbours.block_count; b++) {
        meso->stiff = real_maxf(meso->stiff, meso->notes[b].stiff);
        meso->thick = real_maxf(meso->thick, meso->notes[b].thick);
    }
}

static GrainResult step(void *state, double seconds)
{
    Meso *meso = state;
    Neighbours *neighbours = &meso->neighbours;
    meso->rules.dt = (float)seconds;
    meso->rules.implicit = (double)meso->thick * seconds > 1.01 * STEP_THICK;
    if (meso->must_list) TRY(neighbours_sort(neighbours, meso->field, MESO_FIELDS));
    if (meso->must_list || meso->must_record) meso_run_pass(meso, pass_record);
    meso->must_record = 0;
    if (meso->rules.implicit)
        TRY(alloc_grow((void **)&meso->weight, &meso->weight_capacity, neighbours_row_room(neighbours) * BLOCK_LANES,
                       sizeof *meso->weight));
    if (neighbours->has_moving) {
        rigid_mark(meso->rigid, seconds, (double)neighbours->skin);
        TRY(rigid_find_loads(meso->rigid, seconds));
    }
    meso_run_pass(meso, pass_kick);
    hold_padding(meso);
    meso_count_pressed(meso);
    if (meso->rules.implicit) meso_solve_viscous(meso);
    meso_run_pass(meso, pass_drift);
    meso->steps++;
    note_forces(meso);
    meso->must_list = neighbours_have_left(neighbours, &meso->fastest);
    neighbours_load_bodies(neighbours);
    return neighbours->has_moving ? rigid_move(meso->rigid, seconds) : GRAIN_OK;
}

// --- reading and saving ---------------------------------------------------------------------------

static GrainResult read(const void *state, Particles *out)
{
    const Meso *meso = state;
    const Neighbours *neighbours = &meso->neighbours;
    TRY(particles_reserve(out, meso->born));
    out->count = meso->born;
    for (int64_t i = 0; i < neighbours->count; i++) {
        int32_t id = neighbours->id[i];
        Vec3d at = neighbours_place_of(neighbours, i);
        out->position[id] = vec3((float)at.x, (float)at.y, (float)at.z);
        out->velocity[id] = vec3(meso->field[MESO_U][i], meso->field[MESO_V][i], meso->field[MESO_W][i]);
        out->radius[id] = meso->field[MESO_RADIUS][i];
        if (!vec3_is_finite(out->position[id]))
            return fail(GRAIN_ERROR_DIVERGED, "particle %d is nowhere; lower the elasticity", id);
    }
    return GRAIN_OK;
}

#define OWN_COLUMNS 9

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Meso *meso = state;
    const Neighbours *neighbours = &meso->neighbours;
    columns[0] = (Column){"meso.must_list", GRAIN_I32, 1, 1, &meso->must_list};
    columns[1] = (Column){"meso.fields", GRAIN_F32, MESO_FIELDS, neighbours->room, meso->fields};
    columns[2] = (Column){"meso.listed_x", GRAIN_F32, 1, neighbours->room, neighbours->listed[0]};
    columns[3] = (Column){"meso.listed_y", GRAIN_F32, 1, neighbours->room, neighbours->listed[1]};
    columns[4] = (Column){"meso.listed_z", GRAIN_F32, 1, neighbours->room, neighbours->listed[2]};
    columns[5] = (Column){"meso.id", GRAIN_I32, 1, neighbours->count, neighbours->id};
    columns[6] = (Column){"meso.fastest", GRAIN_F32, 1, 1, &meso->fastest};
    columns[7] = (Column){"meso.stiff", GRAIN_F32, 1, 1, &meso->stiff};
    columns[8] = (Column){"meso.thick", GRAIN_F32, 1, 1, &meso->thick};
    return neighbours->has_moving ? OWN_COLUMNS + rigid_save(meso->rigid, columns + OWN_COLUMNS) : OWN_COLUMNS;
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Meso *meso = state;
    Column own[SOLVER_MAX_COLUMNS];
    save(meso, own);
    for (int i = 0; i < OWN_COLUMNS; i++)
        TRY(column_copy(columns, column_count, own[i].name, own[i].type, own[i].components, own[i].count,
                        (void *)own[i].data));
    for (int64_t i = 0; i < meso->neighbours.count; i++)
        if (meso->neighbours.id[i] < 0 || meso->neighbours.id[i] >= meso->born)
            return fail(GRAIN_ERROR_DAMAGED, "the checkpoint's particles are not this job's");
    meso->must_record = 1;
    if (meso->neighbours.has_moving) TRY(rigid_load(meso->rigid, columns, column_count));
    return meso->must_list ? GRAIN_OK : neighbours_make_lists(&meso->neighbours);
}

// Stored in the pairs of a particle, each counted half.
static double elastic_energy_of(const Meso *meso, int64_t i, SimStats *out)
{
    const SimMeso *law = &meso->rules.law;
    const Block *block = &meso->neighbours.block[i / BLOCK_LANES];
    const int32_t *list = meso->neighbours.list + i % BLOCK_LANES;
    Vec3d at = neighbours_place_of(&meso->neighbours, i);
    double energy = 0.0;
    for (int64_t k = block->row; k < block->row_end && list[k * BLOCK_LANES] < meso->neighbours.room; k++) {
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
        out->kinetic += 0.5 * mass * vec3d_dot(v, v);
        out->potential -= mass * vec3d_dot(vec3d_from(meso->def.gravity), neighbours_place_of(&meso->neighbours, i));
        if (meso->steps > 0) out->elastic += elastic_energy_of(meso, i, out);
    }
}

static Rigid *rigid_of(const void *state) { return ((const Meso *)state)->rigid; }

// A particle is solid: what lies between particles is not of the material. It feels walls as far as paste does.
const Solver meso_solver = {
    .name = "meso",
    .traits = {.is_continuum = 1,
               .collider_reach = 7.5f,
               .steers = SIM_STEERS_VISCOSITY,
               .memory = 500.0f,
               .checkpoint = 48.0f,
               .uses = "interaction elasticity viscosity elastic_reach reach_ratio ambient_viscosity "
                       "elastic_pieces viscous_pieces restitution",
               .choices = {{"interaction", sim_meso_interaction_names}}},
    .version = 3,
    .create = create,
    .destroy = destroy,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .save = save,
    .load = load,
    .measure = measure,
    .rigid = rigid_of,
    .change = meso_change,
    .steer = meso_steer,
    .push = meso_push};
