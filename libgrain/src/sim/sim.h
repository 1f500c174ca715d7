#pragma once
/// A running simulation: one solver, stepped through frames, that can be saved and loaded between any two substeps.
#include "base/run.h"
#include "sim/solver.h"

typedef struct Sim {
    const Solver *solver;
    void *state;
    double time;          ///< s since the first frame
    double frame_seconds; ///< length of a frame
    double frame_done;    ///< s of the present frame that are done, [0, frame_seconds)
    uint32_t substep;     ///< substeps done in the present frame
} Sim;

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads);
void sim_destroy(Sim *sim);

/// Asked after every substep with the part of the frame that is done; anything but GRAIN_OK stops there.
typedef GrainResult SimWatchFn(void *user, double fraction);
/// Advances to the end of the present frame. When the watcher stops it, the sim stands after a whole substep and the
/// next call goes on from there with the same result as if it had not been stopped.
GrainResult sim_advance_frame(Sim *sim, SimWatchFn *watch, void *user);

/// The sim's own numbers and the solver's columns.
int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS]);
GrainResult sim_load(Sim *sim, const Column *columns, int column_count);
