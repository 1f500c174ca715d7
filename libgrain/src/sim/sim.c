#include "sim/sim.h"
#include "base/alloc.h"
#include "base/error.h"

#include <math.h>

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads)
{
    *sim = (Sim){.frame_seconds = frame_seconds, .slot_count = 1};
    sim->solver = solver_find(def->solver);
    if (!sim->solver)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no solver '%s'; allowed are %s", def->solver, solver_names());
    TRY(population_begin(&sim->population, start->count));
    return sim->solver->create(def, start, threads, &sim->state);
}

void sim_destroy(Sim *sim)
{
    if (sim->solver && sim->state) sim->solver->destroy(sim->state);
    population_free(&sim->population);
    *sim = (Sim){0};
}

// --- time -----------------------------------------------------------------------------------------

static double slot_end(const Sim *sim, int32_t slot)
{
    return slot == sim->slot_count ? sim->frame_seconds : sim->frame_seconds * slot / sim->slot_count;
}

static GrainResult end_slot(Sim *sim, const SimWatch *watch)
{
    double from = slot_end(sim, sim->slot), to = slot_end(sim, ++sim->slot);
    return watch && watch->flow ? watch->flow(watch->user, sim->time + from, sim->time + to) : GRAIN_OK;
}

GrainResult sim_advance_frame(Sim *sim, const SimWatch *watch)
{
    while (sim->frame_done < sim->frame_seconds) {
        double end = slot_end(sim, sim->slot + 1), left = end - sim->frame_done;
        // Equal steps to the end of the slot, so that none is left over too short.
        double step_count = ceil(left / sim->solver->largest_step(sim->state));
        int is_last = step_count <= 1.0;
        double seconds = is_last ? left : left / step_count;
        TRY(sim->solver->step(sim->state, seconds));
        sim->frame_done = is_last ? end : sim->frame_done + seconds;
        sim->substep++;
        if (is_last) TRY(end_slot(sim, watch));
        if (watch && watch->watch && sim->frame_done < sim->frame_seconds)
            TRY(watch->watch(watch->user, sim->frame_done / sim->frame_seconds));
    }
    sim->time += sim->frame_seconds;
    sim->frame_done = 0.0;
    sim->substep = 0;
    sim->slot = 0;
    return GRAIN_OK;
}

// --- particles ------------------------------------------------------------------------------------

GrainResult sim_read(const Sim *sim, Particles *out)
{
    TRY(sim->solver->read(sim->state, out));
    population_cover(&sim->population, out);
    return GRAIN_OK;
}

static GrainResult change_solver(Sim *sim, const SimChange *change)
{
    if (sim->solver->change) return sim->solver->change(sim->state, change);
    return fail(GRAIN_ERROR_ARGUMENT, "the solver '%s' knows neither emitters nor kill zones; use dem, mpm or sph",
                sim->solver->name);
}

GrainResult sim_change(Sim *sim, const SimChange *change, const float *birth_time)
{
    Particles now = {0};
    GrainResult result = change->gone ? sim_read(sim, &now) : GRAIN_OK;
    if (result == GRAIN_OK) result = change_solver(sim, change);
    if (result == GRAIN_OK) result = population_change(&sim->population, change, birth_time, now.position);
    particles_free(&now);
    return result;
}

// --- checkpoints ----------------------------------------------------------------------------------

int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS])
{
    columns[0] = (Column){"sim.time", GRAIN_F64, 1, 1, &sim->time};
    columns[1] = (Column){"sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done};
    columns[2] = (Column){"sim.substep", GRAIN_I32, 1, 1, &sim->substep};
    columns[3] = (Column){"sim.slot", GRAIN_I32, 1, 1, &sim->slot};
    int count = 4 + population_save(&sim->population, columns + 4);
    return count + sim->solver->save(sim->state, columns + count);
}

// The solver's state gets the particles that the checkpoint has; what they do follows by load.
static GrainResult load_population(Sim *sim, const Column *columns, int column_count)
{
    Particles born = {0};
    uint8_t *material = NULL;
    SimChange change;
    GrainResult result = population_load(&sim->population, columns, column_count, &born, &material, &change);
    if (result == GRAIN_OK && change.born && change.born->count > 0) result = change_solver(sim, &change);
    if (result == GRAIN_OK && sim->population.gone_count > 0)
        result = change_solver(sim, &(SimChange){.gone = sim->population.is_gone, .will_load = 1});
    alloc_free(material);
    particles_free(&born);
    return result;
}

GrainResult sim_load(Sim *sim, const Column *columns, int column_count)
{
    TRY(column_copy(columns, column_count, "sim.time", GRAIN_F64, 1, 1, &sim->time));
    TRY(column_copy(columns, column_count, "sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done));
    TRY(column_copy(columns, column_count, "sim.substep", GRAIN_I32, 1, 1, &sim->substep));
    TRY(column_copy(columns, column_count, "sim.slot", GRAIN_I32, 1, 1, &sim->slot));
    if (sim->slot < 0 || sim->slot >= sim->slot_count)
        return fail(GRAIN_ERROR_DAMAGED, "the checkpoint stands in a part of a frame that is not there");
    TRY(load_population(sim, columns, column_count));
    return sim->solver->load(sim->state, columns, column_count);
}
