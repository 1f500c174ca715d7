// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A job as a running simulation, in memory: its objects become colliders, bodies, emitters and particles, which a
/// solver then moves frame by frame. Nothing here knows files; stage/stage_simulate.c writes them.
#include "scene/scene_solids.h"
#include "shape/shape.h"
#include "simulate/emission.h"

#define SIMULATE_MAX_COLUMNS (PARTICLES_MAX_COLUMNS + 6)

typedef struct Simulation {
    const Job *job;
    Run run; ///< of what is made before the first frame
    Sim sim;
    Particles particles;  ///< as filled, then as last read
    int64_t settle_count; ///< the first of them, which come to rest before the first frame; 0: none
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

/// Refuses, before anything large is made, a job that does not fit into memory. A zeroed Simulation is a valid start,
/// and may be freed at any point.
GrainResult simulate_plan(Simulation *simulation, const Job *job);
/// Makes colliders, particles and solver. cache_folder: where distance fields are kept, or NULL. run: reports
/// "colliders" and "fill".
GrainResult simulate_prepare(Simulation *simulation, const char *cache_folder, const GrainRun *run);
void simulate_free(Simulation *simulation);

/// At the first frame, before simulate_start: sand that is to settle comes to rest, for *longest seconds at most
/// (0: there is none); then all other sand is added. *moving: part of the sand that was not at rest in the end.
GrainResult simulate_settle(Simulation *simulation, SimWatchFn *watch, void *user, double *longest, double *moving);
/// Gravity, fields and settings as they are at the first frame, unless the state is loaded.
GrainResult simulate_start(Simulation *simulation);
/// To the next frame (sim_advance_frame).
GrainResult simulate_advance(Simulation *simulation, SimWatchFn *watch, void *user);

/// The frame as it is stored: particles, bodies, moisture, times of birth. Valid until the next call.
GrainResult simulate_columns(Simulation *simulation, Column columns[SIMULATE_MAX_COLUMNS], int *count);
/// Names of the bodies, one a line, in the order of their columns; from alloc_array.
GrainResult simulate_body_names(const Job *job, char **out);

// simulate_fill.c
/// Fills the sources, those that settle first. None gets a particle inside a collider, nor inside a source filled
/// before it.
GrainResult simulate_fill(Simulation *simulation);

// simulate_policy.c
GrainResult simulate_check_memory(const Job *job, int balls);
/// How fast something can hit something: falling through the height of the scene, though for no longer than a shot
/// lasts, on top of the sources' own speed.
float simulate_expected_speed(const Simulation *simulation);
