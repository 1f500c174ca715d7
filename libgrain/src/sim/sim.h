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
    double frame_done;    ///< s of the current frame already simulated, [0, frame_seconds)
    uint32_t substep;     ///< substeps done in the current frame
    int32_t slot_count;   ///< parts of a frame; each ends with the step that ends nearest to its share of the frame.
                          ///< 1 unless requested
    int32_t flow_slots; ///< slots from one change of the particles to the next: divides slot_count. 1 unless requested
    int32_t slot;       ///< the current one
    double flow_began;  ///< s of the current frame: the last change of the particles; 0: before it
    Population population;
    SimSteering steering[2]; ///< current, and when all sand was last woken; valid if is_steered
    uint8_t *wake;           ///< scratch: whether a change of acceleration wakes a particle
    int64_t wake_capacity;
    SimGrip *grips; ///< of each collider: first all current ones, then those of the last waking
    int64_t collider_count;
    int32_t has_grips;  ///< grips is valid
    Vec3 *acceleration; ///< m/s2, of force fields, of each particle ever born; NULL: none
    Vec3 *woken_by;     ///< the same, when each particle was last woken
    int64_t acceleration_count, acceleration_capacity, woken_capacity;
    int32_t is_steered;
} Sim;

GrainResult sim_create(Sim *sim, const SimDef *def, const Particles *start, double frame_seconds, int threads);
void sim_destroy(Sim *sim);

/// Called after every substep with the completed fraction of the frame. Any result but GRAIN_OK stops the simulation.
typedef GrainResult SimWatchFn(void *user, double fraction);
/// Called when flow_slots slots have ended, with their start and end time (s since the first frame). Calls sim_change
/// to add or remove particles.
typedef GrainResult SimFlowFn(void *user, double from, double to);
/// Called when a slot has ended, at this time (s since the first frame), after SimFlowFn. Calls sim_steer.
typedef GrainResult SimSteerFn(void *user, double time);
typedef struct SimWatch {
    SimWatchFn *watch; ///< NULL: never stopped
    SimFlowFn *flow;   ///< NULL: particles are neither added nor removed
    void *user;
    SimSteerFn *steer; ///< NULL: nothing is animated
} SimWatch;

/// Advances to the end of the current frame. If the watcher stops it, the simulation is left after a complete substep,
/// and the next call continues with the same result as without the interruption.
GrainResult sim_advance_frame(Sim *sim, const SimWatch *watch);

/// Lets everything come to rest before the first frame, for at most `longest` seconds, which are not part of the shot.
/// Colliders stay as they are at time 0, and motion is damped. radius: m, of a particle. Calls `watch` with the elapsed
/// fraction of `longest`. *moving: fraction of the particles that are still moving at the end.
GrainResult sim_settle(Sim *sim, double longest, float radius, const SimWatch *watch, double *moving);

/// The particles in the order of birth. Removed particles have radius 0, velocity 0 and their last position.
GrainResult sim_read(const Sim *sim, Particles *out);
/// Adds and removes particles. birth_time: s since the first frame, of each of change->born, ascending.
GrainResult sim_change(Sim *sim, const SimChange *change, const float *birth_time);
/// Sets the animated parameters and, for each particle ever born (NULL: none), the acceleration by force fields. Wakes
/// particles for which the sum of gravity and fields changed by more than a fiftieth of the Earth's gravity, and all
/// particles if their material or a collider's grip changed noticeably. grips: of each collider; NULL: unchanged.
GrainResult sim_steer(Sim *sim, const SimSteering *now, const SimGrip *grips, const Vec3 *acceleration);

/// The sim's own numbers and the solver's columns.
int sim_save(const Sim *sim, Column columns[SOLVER_MAX_COLUMNS]);
/// What the sim's own columns may hold; the solvers' are found by solver_find_rule.
extern const ColumnRule sim_column_rules[];
/// The columns are within their rules (output/column_gate.h).
GrainResult sim_load(Sim *sim, const Column *columns, int column_count);
