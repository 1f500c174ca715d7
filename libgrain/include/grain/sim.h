// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// A scene simulated in memory, frame by frame. Each frame is bit for bit the one that grain_bake writes for the same
/// scene.
///
///     GrainSim *sim;
///     grain_sim_create(scene, NULL, &sim);            // stands at the first frame
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

/// Makes the colliders, fills the sources and lets sand settle that is to. The scene has to stay as it is for as long
/// as the sim exists. run: thread_count holds for the whole life of the sim; progress reports the steps.
GRAIN_API GrainResult grain_sim_create(const GrainScene *scene, const GrainRun *run, GrainSim **out);
GRAIN_API void grain_sim_destroy(GrainSim *sim);
/// Simulates up to the next frame. The shot may go on after the scene's last frame: what is keyed holds its last value.
/// run: progress reports "simulate" with the part of the frame that is done; its thread_count is ignored. When it
/// cancels, the sim stands between two substeps and the next call continues there, with the same result as if it had
/// never stopped. After any other error the sim can only be destroyed.
GRAIN_API GrainResult grain_sim_advance(GrainSim *sim, const GrainRun *run);
/// The last complete frame, for the functions of grain/output.h. It belongs to the sim and changes with
/// grain_sim_advance: do not destroy or keep it. NULL where sim is NULL.
GRAIN_API const GrainFrame *grain_sim_frame(const GrainSim *sim);

/// Changes a setting from this moment on, in place of what the scene says: "gravity" (m/s2) of the scene.
GRAIN_API GrainResult grain_sim_set_vector(GrainSim *sim, int32_t object, const char *key, const double value[3]);
/// Likewise "solver.friction", "solver.cohesion" and "solver.viscosity" (which cannot rise above the highest value that
/// the scene has) of the scene (GRAIN_SCENE), as far as the solver has them; "friction" of colliders and bodies. Units
/// and ranges are those of docs/formats.md.
GRAIN_API GrainResult grain_sim_set_number(GrainSim *sim, int32_t object, const char *key, double value);

#ifdef __cplusplus
}
#endif
