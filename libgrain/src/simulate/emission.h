// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Emission and removal of particles during a bake: emitters, kill zones, the bounds of the scene.
#include "job/birth.h"
#include "sim/flow/emitter.h"
#include "sim/flow/space.h"
#include "sim/flow/zone.h"
#include "sim/sim.h"

typedef struct Emission {
    const Job *job;
    Sim *sim;
    Birth *birth;
    GrainRun run;
    Emitter *emitters;
    int *emitter_object; ///< emitter -> the job's object
    Zone *zones;
    int emitter_count, zone_count;
    Vec3 low, high; ///< m: the scene, as it is at the first frame and wherever emitters and props go
    FlowSpace space;
    Particles now, born; ///< scratch
    int is_read;         ///< now is how the particles are
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

/// sdf: of each object, where it has one.
GrainResult emission_begin(Emission *emission, const Job *job, GrainSdf *const *sdf, Birth *birth, const GrainRun *run);
void emission_free(Emission *emission);
/// Slots that a frame is cut into.
int emission_slots(const Emission *emission);
/// Gravity, force fields and all settings that change as they are at this time.
GrainResult emission_steer(Emission *emission, double time);
/// The same where a constant setting was given another value.
GrainResult emission_steer_now(Emission *emission, double time);
/// The same without force fields, as at the first frame: what sand settles under.
GrainResult emission_begin_steering(Emission *emission);
/// A SimFlowFn; user is the Emission.
GrainResult emission_change(void *user, double from, double to);

/// Particles that a job's emitters can give birth to by its last frame, of one of them or (object < 0) of all.
double emission_most(const Job *job, int object);
/// Of a job's emitter, without what is only known when it is baked.
EmitterDef emission_emitter(const Job *job, int object, const GrainSdf *inside);
