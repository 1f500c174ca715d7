// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Simulates a scene in memory, frame by frame. Frames are bit for bit those that grain_bake writes for the same scene.
///
///     GrainSim *sim;
///     grain_sim_create(scene, NULL, &sim);            // at the first frame
///     while (grain_sim_advance(sim, NULL) == GRAIN_OK) {
///         GrainView positions;
///         grain_frame_column(grain_sim_frame(sim), "position", &positions);
///         ...
///     }
///     grain_sim_destroy(sim);
#include "grain/output.h"
#include "grain/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainSim GrainSim;

/// Makes the colliders, fills the sources and settles them if requested. The scene must not change while the sim
/// exists. run: thread_count applies to the whole life of the sim; progress reports the steps.
GRAIN_API GrainResult grain_sim_create(const GrainScene *scene, const GrainRun *run, GrainSim **out);
GRAIN_API void grain_sim_destroy(GrainSim *sim);
/// Simulates the next frame. The simulation may continue beyond the last frame of the scene; animated settings then
/// keep their last value. run: progress reports "simulate" with the completed fraction of the frame; message warns
/// of emitters that have no room for all their particles; thread_count is ignored. If the callback cancels, the sim is
/// left between two substeps, and the next call continues with the same result as without the interruption. After any
/// other error, the sim can only be destroyed.
GRAIN_API GrainResult grain_sim_advance(GrainSim *sim, const GrainRun *run);
/// The last complete frame, for the functions of grain/output.h. It is owned by the sim and changes with
/// grain_sim_advance: do not destroy or keep it. NULL if sim is NULL.
GRAIN_API const GrainFrame *grain_sim_frame(const GrainSim *sim);

/// Overrides a setting of the scene from now on: "gravity" (m/s2).
GRAIN_API GrainResult grain_sim_set_vector(GrainSim *sim, int32_t object, const char *key, const double value[3]);
/// The same for "solver.friction", "solver.cohesion" and "solver.viscosity" of the scene (GRAIN_SCENE), if the solver
/// has them, and for "friction" of colliders and bodies. The viscosity cannot rise above the highest value in the
/// scene. Units and ranges are those of docs/formats.md.
GRAIN_API GrainResult grain_sim_set_number(GrainSim *sim, int32_t object, const char *key, double value);

#ifdef __cplusplus
}
#endif
