// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A running simulation: one solver, stepped through frames, that can be saved and loaded between any two substeps.
#include "base/run.h"
#include "sim/population.h"

typedef struct Sim {
    const Solver *solver;
    void *state;
    double time;          ///< s since the first frame
    double frame_seconds; ///< length of a frame
    double frame_done;    ///< s of the present frame that are done, [0, frame_seconds)
    uint32_t substep;     ///< substeps done in the present frame
    int32_t slot_count;   ///< parts of a frame, each of which ends with a look at who comes and goes; 1 unless it is
                          ///< asked for
    int32_t slot;         ///< the present one
    Population population;
    SimSteering steering[2]; ///< now, and when all were woken last; means something once it was steered
    SimGrip *grips;          ///< of each collider, likewise: first all of now
    int64_t collider_count;
    int32_t has_grips;  ///< they were ever steered
    Vec3 *acceleration; ///< m/s2, by force fields, of each particle ever born; NULL: there are none
    Vec3 *woken_by;     ///< the same, when each was woken last
    int64_t acceleration_count, acceleration_capacity, woken_capacity;
    int32_t is_steered;
} Sim;

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads);
void sim_destroy(Sim *sim);

/// Asked after every substep with the part of the frame that is done; anything but GRAIN_OK stops there.
typedef GrainResult SimWatchFn(void *user, double fraction);
/// Asked at the end of every slot, with its beginning and end (s since the first frame), to call sim_change where
/// particles come or go.
typedef GrainResult SimFlowFn(void *user, double from, double to);
typedef struct SimWatch {
    SimWatchFn *watch; ///< NULL: never stopped
    SimFlowFn *flow;   ///< NULL: nobody comes or goes
    void *user;
} SimWatch;

/// Advances to the end of the present frame. When the watcher stops it, the sim stands after a whole substep and the
/// next call goes on from there with the same result as if it had not been stopped.
GrainResult sim_advance_frame(Sim *sim, const SimWatch *watch);

/// Before the first frame: lets everything come to rest, for `longest` seconds at most that count for nobody. What is
/// solid stands as at time 0, and what moves is slowed. radius: m, of a particle. Asks `watch` with the part of the
/// longest time that is over. *moving: part of the particles that is not at rest in the end.
GrainResult sim_settle(Sim *sim, double longest, float radius, const SimWatch *watch, double *moving);

/// The particles in the order of birth. Those that are gone have the radius 0 and the velocity 0, and are where they
/// were last.
GrainResult sim_read(const Sim *sim, Particles *out);
/// Adds and removes particles. birth_time: s since the first frame, of each of change->born, ascending.
GrainResult sim_change(Sim *sim, const SimChange *change, const float *birth_time);
/// What holds until the next call and, for each particle ever born (NULL: none), what force fields add to gravity.
/// Wakes those for whom gravity is different from before by more than a fiftieth of the Earth's, and all when their
/// material or a collider's grip is. grips: of each collider; NULL: as they are.
GrainResult sim_steer(Sim *sim, const SimSteering *now, const SimGrip *grips, const Vec3 *acceleration);

/// The sim's own numbers and the solver's columns.
int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS]);
GrainResult sim_load(Sim *sim, const Column *columns, int column_count);
