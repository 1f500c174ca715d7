// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A job simulated in memory: its objects become colliders, bodies, emitters and particles, which a solver advances
/// frame by frame. Files are written by stage/stage_simulate.c.
#include "scene/scene_solids.h"
#include "shape/shape.h"
#include "simulate/emission.h"

#define SIMULATE_MAX_COLUMNS (PARTICLES_MAX_COLUMNS + 6)

typedef struct Simulation {
    const Job *job;
    Run run; ///< of the preparations before the first frame
    Sim sim;
    Particles particles;  ///< as filled, later as last read
    int64_t settle_count; ///< the first of them, which settle before the first frame; 0: none
    GrainSdf **sdf;       ///< of each object; NULL for planes
    SceneSolids solids;
    float *body_state; ///< as in frames: position, orientation, velocity, spin of all bodies, one after another
    BallShape shape;   ///< of all grains
    uint8_t *particle_material; ///< NULL when all sources are of one kind
    int64_t material_capacity, material_noted;
    float *particle_moisture; ///< NULL when all sources are dry
    int64_t moisture_capacity, moisture_noted;
    Birth birth;
    Emission emission;
} Simulation;

/// Fails early if the job does not fit into memory. Start with a zeroed Simulation, which may be freed at any point.
GrainResult simulate_plan(Simulation *simulation, const Job *job);
/// Makes colliders, particles and solver. cache_folder: where distance fields are kept, or NULL. run: reports
/// "colliders" and "fill".
GrainResult simulate_prepare(Simulation *simulation, const char *cache_folder, const GrainRun *run);
void simulate_free(Simulation *simulation);

/// At the first frame, before simulate_start: settles the sources that request it, for *longest seconds at most (0:
/// none do), then adds all other sand. *moving: fraction of the sand still moving at the end.
GrainResult simulate_settle(Simulation *simulation, SimWatchFn *watch, void *user, double *longest, double *moving);
/// Applies gravity, fields and animated settings of the first frame; not needed after loading a state.
GrainResult simulate_start(Simulation *simulation);
/// Advances to the next frame (sim_advance_frame).
GrainResult simulate_advance(Simulation *simulation, SimWatchFn *watch, void *user);

/// The columns of the frame as stored: particles, bodies, moisture, times of birth. Valid until the next call.
GrainResult simulate_columns(Simulation *simulation, Column columns[SIMULATE_MAX_COLUMNS], int *count);
/// Names of the bodies, one a line, in the order of their columns; from alloc_array.
GrainResult simulate_body_names(const Job *job, char **out);

// simulate_fill.c
/// Fills the sources, starting with those that settle, without particles inside colliders or sources already filled.
GrainResult simulate_fill(Simulation *simulation);

// simulate_policy.c
GrainResult simulate_check_memory(const Job *job, int balls);
/// m/s, estimate of the fastest impact: a fall through the height of the scene, for at most the length of the shot,
/// plus the initial speed of the sources.
float simulate_expected_speed(const Simulation *simulation);
