// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/sim.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/solver_base.h"

#include <math.h>
#include <string.h>

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads)
{
    *sim = (Sim){.frame_seconds = frame_seconds, .slot_count = 1, .flow_slots = 1};
    sim->solver = solver_find(def->solver);
    if (!sim->solver)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no solver '%s'; allowed are %s", def->solver, solver_names());
    TRY(population_begin(&sim->population, start->count));
    sim->collider_count = def->collider_count;
    sim->grips = ALLOC_ZEROED(SimGrip, 2 * def->collider_count);
    if (!sim->grips) return GRAIN_ERROR_MEMORY;
    return solver_create(sim->solver, def, start, threads, &sim->state);
}

void sim_destroy(Sim *sim)
{
    if (sim->solver) solver_destroy(sim->solver, sim->state);
    population_free(&sim->population);
    alloc_free(sim->acceleration);
    alloc_free(sim->woken_by);
    alloc_free(sim->wake);
    alloc_free(sim->grips);
    *sim = (Sim){0};
}

// --- time -----------------------------------------------------------------------------------------

// Slots end with steps, since steps cut to fit them would be more: each with the one that ends nearest to its own end.
static int is_slot_over(const Sim *sim, double step)
{
    if (sim->frame_done == sim->frame_seconds) return 1;
    if (sim->slot + 1 >= sim->slot_count) return 0;
    return sim->frame_done + 0.5 * step >= sim->frame_seconds * (sim->slot + 1) / sim->slot_count;
}

static GrainResult end_slot(Sim *sim, const SimWatch *watch)
{
    double from = sim->time + sim->flow_began, to = sim->time + sim->frame_done;
    sim->slot++;
    if (sim->slot % sim->flow_slots == 0 || sim->frame_done == sim->frame_seconds) {
        sim->flow_began = sim->frame_done;
        if (watch && watch->flow) TRY(watch->flow(watch->user, from, to));
    }
    return watch && watch->steer ? watch->steer(watch->user, to) : GRAIN_OK;
}

static GrainResult step_in_fields(Sim *sim, double seconds)
{
    SolverBase *base = sim->state;
    base->acceleration = sim->acceleration_count > 0 ? sim->acceleration : NULL;
    GrainResult result = sim->solver->step(sim->state, seconds);
    base->acceleration = NULL;
    return result;
}

GrainResult sim_advance_frame(Sim *sim, const SimWatch *watch)
{
    while (sim->frame_done < sim->frame_seconds) {
        double left = sim->frame_seconds - sim->frame_done;
        double longest = real_min(sim->solver->largest_step(sim->state), sim->frame_seconds / sim->slot_count);
        // Equal steps to the end of the frame, so that none is left over too short.
        double step_count = ceil(left / longest);
        int is_last = step_count <= 1.0;
        double seconds = is_last ? left : left / step_count;
        TRY(step_in_fields(sim, seconds));
        sim->frame_done = is_last ? sim->frame_seconds : sim->frame_done + seconds;
        sim->substep++;
        if (is_slot_over(sim, seconds)) TRY(end_slot(sim, watch));
        if (watch && watch->watch && sim->frame_done < sim->frame_seconds)
            TRY(watch->watch(watch->user, sim->frame_done / sim->frame_seconds));
    }
    sim->time += sim->frame_seconds;
    sim->frame_done = sim->flow_began = 0.0;
    sim->substep = 0;
    sim->slot = 0;
    return GRAIN_OK;
}

// --- particles ------------------------------------------------------------------------------------

GrainResult sim_read(const Sim *sim, Particles *out)
{
    TRY(sim->solver->read(sim->state, out));
    population_mask_gone(&sim->population, out);
    return GRAIN_OK;
}

GrainResult sim_change(Sim *sim, const SimChange *change, const float *birth_time)
{
    Particles now = {0};
    GrainResult result = change->gone && !change->position ? sim_read(sim, &now) : GRAIN_OK;
    if (result == GRAIN_OK) result = sim->solver->change(sim->state, change);
    if (result == GRAIN_OK)
        result =
            population_change(&sim->population, change, birth_time, change->position ? change->position : now.position);
    particles_free(&now);
    return result;
}

static GrainResult reserve_acceleration(Sim *sim, int64_t count)
{
    TRY(alloc_grow((void **)&sim->acceleration, &sim->acceleration_capacity, count, sizeof(Vec3)));
    return alloc_grow((void **)&sim->woken_by, &sim->woken_capacity, count, sizeof(Vec3));
}

// Whether they have changed enough to wake all sand.
static int take_grips(Sim *sim, const SimGrip *grips)
{
    size_t bytes = (size_t)sim->collider_count * sizeof *grips;
    SimGrip *woken = sim->grips + sim->collider_count;
    if (!grips || bytes == 0) return 0;
    int is_other = !sim->has_grips || grips_are_noticed(grips, woken, (int)sim->collider_count);
    memcpy(sim->grips, grips, bytes);
    if (is_other) memcpy(woken, grips, bytes);
    sim->has_grips = 1;
    return is_other;
}

// NULL: none. What it wakes is noted; wakes_all: all is woken anyway.
static GrainResult take_acceleration(Sim *sim, const Vec3 *acceleration, int wakes_all)
{
    const SolverBase *base = sim->state;
    int64_t count = sim->population.born, before_count = sim->acceleration_count;
    if (acceleration) TRY(reserve_acceleration(sim, count));
    sim->acceleration_count = acceleration ? count : 0;
    PARALLEL_FOR(base->threads, i, count)
    {
        Vec3 before = acceleration && i < before_count ? sim->woken_by[i] : vec3(0, 0, 0);
        sim->wake[i] = wakes_all || (acceleration && vec3_length(vec3_sub(acceleration[i], before)) > STEERING_NOTICED);
        if (!acceleration) continue;
        sim->acceleration[i] = acceleration[i];
        sim->woken_by[i] = sim->wake[i] ? acceleration[i] : before;
    }
    return GRAIN_OK;
}

GrainResult sim_steer(Sim *sim, const SimSteering *now, const SimGrip *grips, const Vec3 *acceleration)
{
    TRY(alloc_grow((void **)&sim->wake, &sim->wake_capacity, sim->population.born, 1));
    int wakes_all = !sim->is_steered || steering_is_noticed(now, &sim->steering[1]);
    wakes_all |= take_grips(sim, grips);
    TRY(take_acceleration(sim, acceleration, wakes_all));
    sim->steering[0] = *now;
    if (wakes_all) sim->steering[1] = *now;
    sim->is_steered = 1;
    return sim->solver->steer(sim->state, now, grips, wakes_all || acceleration ? sim->wake : NULL);
}

// --- checkpoints ----------------------------------------------------------------------------------

const ColumnRule sim_column_rules[] = {
    {"sim.time", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"sim.frame_done", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"sim.substep", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_INDEX}}, NULL},
    {"sim.slot", GRAIN_I32, 1, COLUMN_ONE, {{1, COLUMN_INDEX}}, NULL},
    {"sim.flow_began", GRAIN_F64, 1, COLUMN_ONE, {{1, COLUMN_NOT_NEGATIVE}}, NULL},
    {"sim.birth_time", GRAIN_F32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_FINITE}}, NULL},
    {"sim.material", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"sim.gone", GRAIN_I32, 1, COLUMN_ANY_LENGTH, {{1, COLUMN_INDEX}}, NULL},
    {"sim.gone_place", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_PLACE}}, NULL},
    {"sim.steering", GRAIN_F32, SIM_STEERING_FLOATS, COLUMN_ANY_LENGTH, {{0, COLUMN_FINITE}}, NULL},
    {"sim.grips", GRAIN_F32, 2, COLUMN_ANY_LENGTH, {{2, COLUMN_FINITE}}, NULL},
    {"sim.acceleration", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}}, NULL},
    {"sim.woken_by", GRAIN_F32, 3, COLUMN_ANY_LENGTH, {{3, COLUMN_FINITE}}, NULL},
    {NULL}};

int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS])
{
    columns[0] = (Column){"sim.time", GRAIN_F64, 1, 1, &sim->time};
    columns[1] = (Column){"sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done};
    columns[2] = (Column){"sim.substep", GRAIN_I32, 1, 1, &sim->substep};
    columns[3] = (Column){"sim.slot", GRAIN_I32, 1, 1, &sim->slot};
    int count = 4;
    if (sim->slot_count > 1) columns[count++] = (Column){"sim.flow_began", GRAIN_F64, 1, 1, &sim->flow_began};
    count += population_save(&sim->population, columns + count);
    if (sim->is_steered) {
        columns[count++] = (Column){"sim.steering", GRAIN_F32, SIM_STEERING_FLOATS, 2, sim->steering};
        if (sim->has_grips) columns[count++] = (Column){"sim.grips", GRAIN_F32, 2, 2 * sim->collider_count, sim->grips};
        columns[count++] = (Column){"sim.acceleration", GRAIN_F32, 3, sim->acceleration_count, sim->acceleration};
        columns[count++] = (Column){"sim.woken_by", GRAIN_F32, 3, sim->acceleration_count, sim->woken_by};
    }
    return count + sim->solver->save(sim->state, columns + count);
}

// Gives the solver's state the particles of the checkpoint; their state follows by load.
static GrainResult load_population(Sim *sim, const Column *columns, int column_count)
{
    Particles born = {0};
    uint8_t *material = NULL;
    SimChange change;
    GrainResult result = population_load(&sim->population, columns, column_count, &born, &material, &change);
    for (int64_t i = sim->population.started; result == GRAIN_OK && i < sim->population.born; i++)
        result = solver_base_check_material(sim->state, sim->population.material[i]);
    if (result == GRAIN_OK && change.born && change.born->count > 0) result = sim->solver->change(sim->state, &change);
    if (result == GRAIN_OK && sim->population.gone_count > 0)
        result = sim->solver->change(sim->state, &(SimChange){.gone = sim->population.is_gone, .will_load = 1});
    alloc_free(material);
    particles_free(&born);
    return result;
}

// Before the solver loads its state, which overrides what steering sets.
static GrainResult load_steering(Sim *sim, const Column *columns, int column_count)
{
    const Column *acceleration = column_find(columns, column_count, "sim.acceleration");
    if (!acceleration) return GRAIN_OK;
    TRY(reserve_acceleration(sim, acceleration->count));
    TRY(column_copy(columns, column_count, "sim.steering", GRAIN_F32, SIM_STEERING_FLOATS, 2, sim->steering));
    TRY(column_copy(columns, column_count, "sim.woken_by", GRAIN_F32, 3, acceleration->count, sim->woken_by));
    TRY(column_copy(columns, column_count, "sim.acceleration", GRAIN_F32, 3, acceleration->count, sim->acceleration));
    if (acceleration->count != 0 && acceleration->count != sim->population.born) return solver_fail_particles();
    sim->acceleration_count = acceleration->count;
    sim->is_steered = 1;
    sim->has_grips = column_find(columns, column_count, "sim.grips") != NULL;
    if (sim->has_grips)
        TRY(column_copy(columns, column_count, "sim.grips", GRAIN_F32, 2, 2 * sim->collider_count, sim->grips));
    return sim->solver->steer(sim->state, &sim->steering[0], sim->has_grips ? sim->grips : NULL, NULL);
}

// Which moment a checkpoint is of must be one that the simulation passes.
static GrainResult check_moment(const Sim *sim)
{
    if (sim->slot < 0 || sim->slot >= sim->slot_count)
        return fail(GRAIN_ERROR_DAMAGED, "checkpoint slot %d is out of range (0 to %d)", sim->slot,
                    sim->slot_count - 1);
    // As steps are at most as long as slots, a slot begins and ends within one of where it would.
    double length = sim->frame_seconds / sim->slot_count, off = sim->frame_done - length * sim->slot;
    if (sim->frame_done >= sim->frame_seconds || off < -length || off > 2.0 * length)
        return fail(GRAIN_ERROR_DAMAGED, "the checkpoint stands %g s into a frame, which is not in slot %d of it",
                    sim->frame_done, sim->slot);
    if (sim->flow_began <= sim->frame_done && (sim->flow_began == 0.0) == (sim->slot < sim->flow_slots))
        return GRAIN_OK;
    return fail(GRAIN_ERROR_DAMAGED,
                "the checkpoint, in slot %d, has particles of %g s into a frame, of which %g s are over", sim->slot,
                sim->flow_began, sim->frame_done);
}

GrainResult sim_load(Sim *sim, const Column *columns, int column_count)
{
    TRY(column_copy(columns, column_count, "sim.time", GRAIN_F64, 1, 1, &sim->time));
    TRY(column_copy(columns, column_count, "sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done));
    TRY(column_copy(columns, column_count, "sim.substep", GRAIN_I32, 1, 1, &sim->substep));
    TRY(column_copy(columns, column_count, "sim.slot", GRAIN_I32, 1, 1, &sim->slot));
    if (sim->slot_count > 1)
        TRY(column_copy(columns, column_count, "sim.flow_began", GRAIN_F64, 1, 1, &sim->flow_began));
    TRY(check_moment(sim));
    TRY(load_population(sim, columns, column_count));
    TRY(load_steering(sim, columns, column_count));
    SolverBase *base = sim->state;
    base->is_gone = sim->population.gone_count > 0 ? sim->population.is_gone : NULL;
    GrainResult result = sim->solver->load(sim->state, columns, column_count);
    base->is_gone = NULL;
    return result;
}
