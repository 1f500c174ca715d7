// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Simulated frames refined into render grains in memory, by the scene's "upsample" settings.
///
///     grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler);
///     while (grain_sim_advance(sim, NULL) == GRAIN_OK) {
///         grain_upsampler_advance(upsampler, grain_sim_frame(sim), NULL);
///         grain_frame_column(grain_upsampler_frame(upsampler), "position", &positions);
///     }
///
/// The grains are those that grain_upsample makes of the same frames; there they are rounded to what the scene's
/// "upsample.precision" allows, here they are exact.
#include "grain/output.h"
#include "grain/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainUpsampler GrainUpsampler;

/// first: the scene's first frame, of a GrainSim or read from a cache. The scene has to stay as it is for as long as
/// the upsampler exists. Memory is taken for all grains there can be by the scene's last frame; a total
/// ("upsample.grains") is shared among all particles that there can be by then. run: thread_count holds for the whole
/// life of the upsampler.
GRAIN_API GrainResult grain_upsampler_create(const GrainScene *scene, const GrainFrame *first, const GrainRun *run,
                                             GrainUpsampler **out);
GRAIN_API void grain_upsampler_destroy(GrainUpsampler *upsampler);
/// Moves the grains to the next frame, which must follow the one before and be no later than the scene's last. What is
/// needed of it is copied. run: progress reports "upsample" with the part of the frame that is done; its thread_count
/// is ignored. After an error, and after GRAIN_CANCELLED, the upsampler can only be destroyed.
GRAIN_API GrainResult grain_upsampler_advance(GrainUpsampler *upsampler, const GrainFrame *next, const GrainRun *run);
/// The grains at that frame, for the functions of grain/output.h: "position", "velocity", "radius", "id",
/// "orientation" where the scene asks for it, and what grains inherit from their particles ("moisture"). It belongs to
/// the upsampler and changes with grain_upsampler_advance: do not destroy or keep it. NULL where upsampler is NULL.
GRAIN_API const GrainFrame *grain_upsampler_frame(const GrainUpsampler *upsampler);

#ifdef __cplusplus
}
#endif
