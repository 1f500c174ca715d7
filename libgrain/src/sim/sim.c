#include "sim/sim.h"
#include "base/error.h"

#include <math.h>

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads)
{
    *sim = (Sim){.frame_seconds = frame_seconds};
    sim->solver = solver_find(def->solver);
    if (!sim->solver)
        return fail(GRAIN_ERROR_ARGUMENT, "there is no solver '%s'; allowed are %s", def->solver, solver_names());
    return sim->solver->create(def, start, threads, &sim->state);
}

void sim_destroy(Sim *sim)
{
    if (sim->solver && sim->state) sim->solver->destroy(sim->state);
    *sim = (Sim){0};
}

GrainResult sim_advance_frame(Sim *sim, SimWatchFn *watch, void *user)
{
    while (sim->frame_done < sim->frame_seconds) {
        double left = sim->frame_seconds - sim->frame_done;
        // Equal steps to the end of the frame, so that none is left over too short.
        double step_count = ceil(left / sim->solver->largest_step(sim->state));
        int is_last = step_count <= 1.0;
        double seconds = is_last ? left : left / step_count;
        TRY(sim->solver->step(sim->state, seconds));
        sim->frame_done = is_last ? sim->frame_seconds : sim->frame_done + seconds;
        sim->substep++;
        if (watch && !is_last) TRY(watch(user, sim->frame_done / sim->frame_seconds));
    }
    sim->time += sim->frame_seconds;
    sim->frame_done = 0.0;
    sim->substep = 0;
    return GRAIN_OK;
}

int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS])
{
    columns[0] = (Column){"sim.time", GRAIN_F64, 1, 1, &sim->time};
    columns[1] = (Column){"sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done};
    columns[2] = (Column){"sim.substep", GRAIN_I32, 1, 1, &sim->substep};
    return 3 + sim->solver->save(sim->state, columns + 3);
}

GrainResult sim_load(Sim *sim, const Column *columns, int column_count)
{
    TRY(column_copy(columns, column_count, "sim.time", GRAIN_F64, 1, 1, &sim->time));
    TRY(column_copy(columns, column_count, "sim.frame_done", GRAIN_F64, 1, 1, &sim->frame_done));
    TRY(column_copy(columns, column_count, "sim.substep", GRAIN_I32, 1, 1, &sim->substep));
    return sim->solver->load(sim->state, columns, column_count);
}
