// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/mpm/mpm.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/mpm/mpm_transfer.h"

#include <math.h>
#include <string.h>

// Sound travels this many times as fast as anything is expected to hit: then an impact presses the material together by
// 1 / 6^2, some 3 %, as sand settles anyway.
#define SOUND_OVER_SPEED 6.0f
// Part of a cell that sound crosses in a step. Steeper friction rests only with shorter steps.
#define STEP_CELLS 0.45f
#define STEP_CELLS_STEEP 0.25f
#define FLAT_FRICTION 0.75f // tan 37 degrees
#define STEEP_FRICTION 1.0f
// Substeps in a contact of two bodies, and their damping over the critical one, twice.
#define BODY_CONTACT_STEPS 20.0
#define BODY_DAMPING 0.7
// m/s: where nothing moves at all, sand still has to be of some stiffness. s: what needs shorter steps is refused.
#define LEAST_SPEED 0.05f
#define LEAST_STEP 1e-6
// A prop may move by this part of a cell in a step.
#define COLLIDER_WAY 0.25
// Particles to a cell.
#define PER_CELL 8.0

// --- life ---------------------------------------------------------------------------------------

GrainResult mpm_choose_materials(Mpm *mpm, const SimSteering *now)
{
    const SimDef *def = &mpm->base.def;
    float steepest = 0.0f;
    mpm->materials.count = 1 + def->more_material_count;
    for (int i = 0; i < mpm->materials.count; i++) {
        SimMaterial from = solver_material(def, i);
        from.friction = now->friction[i], from.cohesion = now->cohesion[i];
        const char *law = from.law ? from.law : def->law ? def->law : "sand";
        TRY(mpm_material_choose(law, &from, mpm->sound, mpm->cell, mpm->weight, def->largest_radius,
                                &mpm->materials.of[i]));
        if (mpm->materials.of[i].kind == MPM_SAND) steepest = real_maxf(steepest, from.friction);
    }
    float t = real_minf(real_maxf((steepest - FLAT_FRICTION) / (STEEP_FRICTION - FLAT_FRICTION), 0.0f), 1.0f);
    float cells = STEP_CELLS + t * (STEP_CELLS_STEEP - STEP_CELLS);
    mpm->step_limit = cells * mpm->cell / mpm->sound;
    return GRAIN_OK;
}

static void mpm_free(void *state)
{
    Mpm *mpm = state;
    mpm_free_blocks(mpm);
    void *arrays[] = {mpm->particles, mpm->particles_before, mpm->items};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
}

static double largest_step(const void *state)
{
    const Mpm *mpm = state;
    double speed = rigid_speed(mpm->base.rigid), longest = (double)mpm->step_limit;
    return speed > 0.0 ? real_min(longest, COLLIDER_WAY * (double)mpm->cell / speed) : longest;
}

// Steps too many to wait for are refused.
static GrainResult check_step(const Mpm *mpm)
{
    double step = largest_step(mpm), factor = LEAST_STEP / step;
    if (step >= LEAST_STEP) return GRAIN_OK;
    return fail(
        GRAIN_ERROR_JOB,
        "things move at up to %.3g m/s here, and particles of %.3g m radius then need %.2g steps for a second; at "
        "most %.0e are made: use particles %.2g times as large, or slow down what moves",
        real_max((double)mpm->base.def.expected_speed, rigid_speed(mpm->base.rigid)),
        (double)mpm->base.def.largest_radius, 1.0 / step, 1.0 / LEAST_STEP, factor);
}

static void choose_cell(Mpm *mpm, const SimDef *def)
{
    mpm->particle_volume = (float)solver_bulk_room(def->largest_radius);
    mpm->cell = (float)real_cbrt(PER_CELL * (double)mpm->particle_volume);
    mpm->inverse_cell = 1.0f / mpm->cell;
    mpm->touch = def->largest_radius;
    mpm->sound = SOUND_OVER_SPEED * real_maxf(def->expected_speed, LEAST_SPEED);
    mpm->weight = vec3_length(def->gravity);
}

static void find_densest(Mpm *mpm)
{
    mpm->densest = mpm->materials.of[0].density;
    for (int i = 1; i < mpm->materials.count; i++) {
        float density = mpm->materials.of[i].density;
        mpm->has_densities |= density != mpm->materials.of[0].density;
        mpm->densest = real_maxf(mpm->densest, density);
    }
    mpm->full_mass = mpm->densest * mpm->cell * mpm->cell * mpm->cell;
}

static GrainResult start(void *state, const SimDef *def, const Particles *start)
{
    Mpm *mpm = state;
    SimSteering now = steering_of(def);
    choose_cell(mpm, def);
    TRY(mpm_choose_materials(mpm, &now));
    mpm->longest_step = mpm->step_limit;
    find_densest(mpm);
    TRY(mpm_reserve(mpm, start->count));
    mpm_start_particles(mpm, start, def->particle_material, def->particle_moisture);
    for (int i = 0; i < def->collider_count; i++) mpm->has_meshes |= def->colliders[i].mesh != NULL;
    // Bodies touch each other within the time that sound takes through some cells: many steps.
    TRY(solver_base_make_rigid(&mpm->base, M_PI / (BODY_CONTACT_STEPS * (double)mpm->step_limit), BODY_DAMPING,
                               mpm->base.threads));
    mpm->must_sort = 1;
    return check_step(mpm);
}

// --- step ---------------------------------------------------------------------------------------

static void fill_tile(const Mpm *mpm, const MpmBlock *block, MpmMotion *tile)
{
    // Blocks that are not needed are not computed: no particle reaches their nodes, and what has no weight must be a
    // number.
    static const MpmMotion nothing[MPM_BLOCK_NODES];
    const MpmMotion *around[MPM_AROUND];
    for (int k = 0; k < MPM_AROUND; k++)
        around[k] =
            mpm->is_active[block->around[k]] ? mpm->nodes + (int64_t)block->around[k] * MPM_BLOCK_NODES : nothing;
    // Places 0, 1-4 and 5-7 of a tile belong to the block before, the block itself and the one after.
    for (int z = 0; z < MPM_TILE_SIDE; z++)
        for (int y = 0; y < MPM_TILE_SIDE; y++) {
            int row = (z == 0 ? 0 : z < 5 ? 1 : 2) * 9 + (y == 0 ? 0 : y < 5 ? 1 : 2) * 3;
            int in_block = ((z + 3) % 4 * MPM_BLOCK_SIDE + (y + 3) % 4) * MPM_BLOCK_SIDE;
            MpmMotion *to = tile + (z * MPM_TILE_SIDE + y) * MPM_TILE_SIDE;
            memcpy(to, around[row] + in_block + 3, sizeof *to);
            memcpy(to + 1, around[row + 1] + in_block, 4 * sizeof *to);
            memcpy(to + 5, around[row + 2] + in_block, 3 * sizeof *to);
        }
    memset(tile + MPM_TILE_NODES, 0, (MPM_TILE_STRIDE - MPM_TILE_NODES) * sizeof *tile);
}

// In the order of the blocks, so that the bits do not depend on the order of threads.
static void load_bodies(Mpm *mpm, double seconds)
{
    int bodies = mpm->base.rigid->body_count;
    for (int b = 0; b < bodies; b++) {
        Vec3d linear = {0}, angular = {0};
        for (int64_t i = 0; i < mpm->filled_count; i++) {
            linear = vec3d_add(linear, mpm->impulses[i * bodies + b].linear);
            angular = vec3d_add(angular, mpm->impulses[i * bodies + b].angular);
        }
        rigid_add_load(mpm->base.rigid, mpm->base.rigid->bodies[b].object, vec3d_scale(linear, 1.0 / seconds),
                       vec3d_scale(angular, 1.0 / seconds));
    }
}

// Where the mass that particles bring tells how full nodes are, nothing else need be brought.
static int has_rooms(const Mpm *mpm, const MpmBlock *block)
{
    if (mpm->has_densities) return 1;
    for (int32_t i = block->begin; i < block->end; i++)
        if (mpm->particles[i].mass < mpm_mass_of(&mpm->materials, &mpm->particles[i])) return 1;
    return 0;
}

GrainResult mpm_reserve_pulls(Mpm *mpm)
{
    return alloc_grow((void **)&mpm->pulls, &mpm->pull_capacity, mpm->count, sizeof(Vec3));
}

static GrainResult order_pulls(Mpm *mpm)
{
    const Vec3 *acceleration = mpm->base.acceleration;
    if (!acceleration || !mpm->must_order_pulls) return GRAIN_OK;
    TRY(mpm_reserve_pulls(mpm));
    PARALLEL_FOR(mpm->base.threads, i, mpm->count) { mpm->pulls[i] = acceleration[mpm->particles[i].id]; }
    mpm->must_order_pulls = 0;
    return GRAIN_OK;
}

static void scatter(Mpm *mpm, double seconds_exact)
{
    float seconds = (float)seconds_exact;
    if (seconds != mpm->scattered_seconds) // what was brought holds for steps of that length
        for (int64_t i = 0; i < mpm->filled_count; i++) mpm->rest[i].is_scattered = 0;
    mpm->scattered_seconds = seconds;
    PARALLEL_STRIPS(mpm->base.threads, i, mpm->filled_count)
    {
        const MpmBlock *block = &mpm->blocks[mpm->filled[i]];
        MpmRest *rest = &mpm->rest[i];
        if (rest->is_scattered) continue;
        rest->is_split = (uint8_t)mpm_bar_particles(mpm, i);
        SIMD_CALL(mpm_scatter)
        (mpm->particles + block->begin, block->end - block->begin, block->corner, mpm->inverse_cell, seconds,
         mpm->base.acceleration ? mpm->pulls + block->begin : NULL, rest->is_split ? mpm->walls + block->begin : NULL,
         mpm->tiles + i * MPM_TILE_STRIDE);
        rest->has_rooms = (uint8_t)has_rooms(mpm, block);
        if (rest->has_rooms) SIMD_CALL(mpm_scatter_room)
        (mpm->particles + block->begin, block->end - block->begin, block->corner, mpm->inverse_cell,
         rest->is_split ? mpm->walls + block->begin : NULL, mpm->rooms + i * MPM_TILE_STRIDE);
        rest->is_scattered = rest->is_asleep;
    }
}

static void gather(Mpm *mpm, const MpmStep *now)
{
    int bodies = mpm->base.rigid->body_count;
    PARALLEL_STRIPS(mpm->base.threads, i, mpm->filled_count)
    {
        const MpmBlock *block = &mpm->blocks[mpm->filled[i]];
        MpmRest rest = mpm->rest[i];
        mpm->left[i] = 0;
        if (rest.is_asleep && !rest.is_watching) continue;
        _Alignas(64) MpmMotion tile[MPM_TILE_STRIDE];
        fill_tile(mpm, block, tile);
        if (rest.is_asleep) {
            mpm_may_wake(mpm, i, tile, now);
            continue;
        }
        MpmImpulse *impulses = mpm->impulses + i * bodies;
        if (bodies > 0) mpm_pay_bodies(mpm, i, impulses);
        SIMD_CALL(mpm_gather)
        (mpm->particles + block->begin, block->end - block->begin, block->corner, tile,
         rest.is_split ? mpm->walls + block->begin : NULL, now);
        if (rest.is_split && bodies > 0) mpm_pay_walls(mpm, block, impulses);
        mpm_collide_particles(mpm, block, now->seconds, impulses);
        mpm->left[i] = mpm_find_reach(mpm, &mpm->blocks[mpm->filled[i]]);
        if (mpm->base.def.may_sleep) mpm_may_fall_asleep(mpm, i, now);
    }
    for (int64_t i = 0; i < mpm->filled_count; i++) mpm->must_sort |= mpm->left[i];
}

static GrainResult advance(Mpm *mpm, const MpmStep *now, double seconds_exact)
{
    int bodies = mpm->base.rigid->body_count;
    if (bodies > 0) memset(mpm->impulses, 0, (size_t)(mpm->filled_count * bodies) * sizeof(MpmImpulse));
    mpm_find_watchers(mpm);
    if (mpm->base.has_moving) TRY(mpm_see_moving(mpm));
    TRY(order_pulls(mpm));
    scatter(mpm, seconds_exact);
    PARALLEL_STRIPS(mpm->base.threads, b, mpm->block_count)
    {
        if (mpm->is_active[b]) mpm_update_nodes(mpm, b, now->seconds);
    }
    gather(mpm, now);
    return GRAIN_OK;
}

static GrainResult step(void *state, double seconds_exact)
{
    Mpm *mpm = state;
    float seconds = (float)seconds_exact;
    if (mpm->must_sort && mpm->count > 0) TRY(mpm_sort(mpm));
    Vec3 g = mpm->base.def.gravity;
    MpmStep now = {&mpm->materials,
                   seconds,
                   mpm->inverse_cell,
                   mpm->full_mass,
                   {g.x * seconds, g.y * seconds, g.z * seconds, 0.0f},
                   mpm_slow_speed(mpm, seconds),
                   mpm->base.def.particle_moisture != NULL};
    if (mpm->base.has_moving) {
        rigid_mark(mpm->base.rigid, seconds_exact, (double)mpm->cell);
        TRY(rigid_find_loads(mpm->base.rigid, seconds_exact));
    }
    if (mpm->count > 0) TRY(advance(mpm, &now, seconds_exact));
    mpm->steps++;
    if (mpm->count > 0) load_bodies(mpm, seconds_exact);
    return mpm->base.has_moving ? rigid_move(mpm->base.rigid, seconds_exact) : GRAIN_OK;
}

// --- reading and saving -------------------------------------------------------------------------

static GrainResult read(const void *state, Particles *out)
{
    const Mpm *mpm = state;
    SolverLost lost = SOLVER_LOST_NONE;
    TRY(particles_reserve(out, mpm->base.born));
    if (mpm->base.def.particle_moisture) TRY(particles_moisten(out));
    out->count = mpm->base.born;
    PARALLEL_FOR(mpm->base.threads, i, mpm->count)
    {
        const MpmParticle *p = &mpm->particles[i];
        out->position[p->id] = mpm_place_of(mpm, p);
        out->velocity[p->id] = vec3(p->velocity[0], p->velocity[1], p->velocity[2]);
        out->radius[p->id] = p->radius;
        if (out->moisture) out->moisture[p->id] = p->moisture;
        solver_note_lost(&lost, out->position[p->id], p->id);
    }
    return solver_check_lost(&lost, "use a larger particle radius");
}

static const ColumnRule column_rules[] = {
    {"mpm.must_sort", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_FLAG}}, NULL},
    {"mpm.watch_turn", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_INDEX}}, NULL},
    {"mpm.particles", // MpmParticle
     GRAIN_F32,
     MPM_PARTICLE_FLOATS,
     COLUMN_ANY_LENGTH,
     {{3, COLUMN_PLACE},
      {1, COLUMN_POSITIVE},
      {3, COLUMN_FINITE},
      {1, COLUMN_NOT_NEGATIVE},
      {22, COLUMN_FINITE},
      {1, COLUMN_POSITIVE},
      {2, COLUMN_INDEX},
      {1, COLUMN_STILL},
      {2, COLUMN_FINITE}},
     NULL},
    {"mpm.filled", GRAIN_I32, MPM_FILLED_INTS, COLUMN_ANY_LENGTH, {{MPM_FILLED_INTS, COLUMN_ANY}}, NULL},
    {NULL}};

static int save(const void *state, Column columns[SOLVER_MAX_COLUMNS])
{
    const Mpm *mpm = state;
    columns[0] = (Column){"mpm.must_sort", GRAIN_I32, 1, 1, &mpm->must_sort};
    columns[1] = (Column){"mpm.particles", GRAIN_F32, MPM_PARTICLE_FLOATS, mpm->count, mpm->particles};
    columns[2] = (Column){"mpm.filled", GRAIN_I32, MPM_FILLED_INTS, mpm->filled_count, mpm->saved_blocks};
    columns[3] = (Column){"mpm.watch_turn", GRAIN_I32, 1, 1, &mpm->watch_turn};
    return solver_base_save(&mpm->base, columns, 4);
}

static GrainResult load(void *state, const Column *columns, int column_count)
{
    Mpm *mpm = state;
    TRY(column_copy(columns, column_count, "mpm.must_sort", GRAIN_I32, 1, 1, &mpm->must_sort));
    TRY(column_copy(columns, column_count, "mpm.watch_turn", GRAIN_I32, 1, 1, &mpm->watch_turn));
    TRY(column_copy(columns, column_count, "mpm.particles", GRAIN_F32, MPM_PARTICLE_FLOATS, mpm->count,
                    mpm->particles));
    if (mpm->count > 0) TRY(solver_base_check_ids(&mpm->base, &mpm->particles->id, sizeof *mpm->particles, mpm->count));
    for (int64_t i = 0; i < mpm->count; i++) TRY(solver_base_check_material(&mpm->base, mpm->particles[i].material));
    TRY(solver_base_load(&mpm->base, columns, column_count));
    mpm->may_have_sleepers = 1;
    if (mpm->must_sort) return GRAIN_OK;
    const Column *filled = column_find(columns, column_count, "mpm.filled");
    if (!filled || filled->type != GRAIN_I32 || filled->components != MPM_FILLED_INTS || filled->count < 1)
        return fail(GRAIN_ERROR_DAMAGED, "the checkpoint has no blocks");
    return mpm_restore_blocks(mpm, filled->data, filled->count);
}

static void measure(const void *state, SimStats *out)
{
    const Mpm *mpm = state;
    *out = (SimStats){.steps = mpm->steps};
    for (int64_t i = 0; i < mpm->count; i++) {
        const MpmParticle *p = &mpm->particles[i];
        Vec3d v = vec3d((double)p->velocity[0], (double)p->velocity[1], (double)p->velocity[2]);
        Vec3d at = vec3d((double)p->position[0] + mpm->base.origin[0], (double)p->position[1] + mpm->base.origin[1],
                         (double)p->position[2] + mpm->base.origin[2]);
        out->asleep += isinf(p->still) != 0;
        solver_base_add_energy(&mpm->base, (double)mpm_mass_of(&mpm->materials, p), v, at, out);
    }
}

// Nodes feel a collider two cells deep, and a cell is 3.6 radii. Particles overlap anyway, and rows of them would be
// seen in a splash.
const Solver mpm_solver = {
    .name = "mpm",
    .label = "Continuum (Sand, Snow, Mud)",
    .tip = "The one to start with. Particles carry a volume of sand, snow or mud. Fast, for everything large",
    .traits = {.is_continuum = 1,
               .grain_share = MPM_PACKING,
               .fill_shake = 0.5f,
               .collider_reach = 7.5f,
               .steers = SIM_STEERS_FRICTION | SIM_STEERS_COHESION,
               .fixed_laws = mpm_snow_names,
               .memory = 500.0f,
               .checkpoint = 144.0f,
               .uses = "law friction cohesion poisson_ratio moisture moisture_paint sleep",
               .choices = {{"law", mpm_law_names}}},
    .version = 13,
    .state_bytes = sizeof(Mpm),
    .start = start,
    .free = mpm_free,
    .largest_step = largest_step,
    .step = step,
    .read = read,
    .columns = column_rules,
    .save = save,
    .load = load,
    .measure = measure,
    .change = mpm_change,
    .steer = mpm_steer,
    .push = mpm_push};
