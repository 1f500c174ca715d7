// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Emission and removal of particles during a bake: emitters, kill zones, the bounds of the scene.
#include "job/birth.h"
#include "sim/flow/emitter.h"
#include "sim/flow/space.h"
#include "sim/flow/zone.h"
#include "sim/sim.h"

/// What became of the particles that one emitter was to emit since the bake began or was resumed.
typedef struct EmissionTally {
    int64_t due, refused; ///< refused: found no room
    double first;         ///< s, time of the first that was due
    double told;          ///< fraction refused when the last warning was given; 0: none was
} EmissionTally;

typedef struct Emission {
    const Job *job;
    Sim *sim;
    Birth *birth;
    GrainRun run;
    Emitter *emitters;
    int *emitter_object;    ///< emitter -> the job's object
    EmissionTally *tallies; ///< of each emitter
    Zone *zones;
    int emitter_count, zone_count;
    Vec3 low, high; ///< m: bounds of the scene over the shot, including moving emitters and colliders
    FlowSpace space;
    Particles now, born; ///< scratch
    int is_read;         ///< `now` is up to date
    struct FlowBirth *due;
    Vec3 *born_rest, *born_on;
    float *born_time;
    uint8_t *born_material;
    int32_t *born_emitter;
    uint8_t *gone;
    Vec3 *acceleration;
    SimGrip *grips; ///< of colliders
    int64_t acceleration_capacity;
    int64_t due_capacity, born_capacity, gone_capacity;
} Emission;

/// sdf: of each object; may be NULL.
GrainResult emission_begin(Emission *emission, const Job *job, GrainSdf *const *sdf, Birth *birth, const GrainRun *run);
void emission_free(Emission *emission);
/// Sim.slot_count and Sim.flow_slots.
int emission_slots(const Emission *emission, int *flow_slots);
/// A SimSteerFn: applies gravity, force fields and animated settings at this time. user is the Emission.
GrainResult emission_steer(void *user, double time);
/// The same after a constant setting was changed.
GrainResult emission_steer_now(Emission *emission, double time);
/// The same at the first frame and without force fields, for settling.
GrainResult emission_begin_steering(Emission *emission);
/// A SimFlowFn: adds and removes particles. user is the Emission.
GrainResult emission_change(void *user, double from, double to);

/// Warns of emitters that have lost more than a hundredth of their sand for want of room: of each once, as soon as a
/// second of it is over; and at the end, if it was not told yet or has become far more since.
void emission_warn(Emission *emission, int is_end, GrainMessageFn *message, void *user);

/// Largest number of particles that one of the job's emitters, or all (object < 0), can emit by the last frame.
double emission_most(const Job *job, int object);
/// The definition of a job's emitter; inside: may be NULL.
EmitterDef emission_emitter(const Job *job, int object, const GrainSdf *inside);
