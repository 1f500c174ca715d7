// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Refines simulated frames into render grains in memory, with the scene's "upsample" settings.
///
///     grain_upsampler_create(scene, grain_sim_frame(sim), NULL, &upsampler);
///     while (grain_sim_advance(sim, NULL) == GRAIN_OK) {
///         grain_upsampler_advance(upsampler, grain_sim_frame(sim), NULL);
///         grain_frame_column(grain_upsampler_frame(upsampler), "position", &positions);
///     }
///
/// The grains are those that grain_upsample makes from the same frames, but exact; grain_upsample rounds them to
/// "upsample.precision".
#include "grain/output.h"
#include "grain/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct GrainUpsampler GrainUpsampler;

/// first: the scene's first frame, of a GrainSim or read from a cache. The scene must not change while the
/// upsampler exists. Allocates memory for all grains up to the last frame of the scene; a total ("upsample.grains") is
/// shared by all particles up to that frame. run: thread_count applies to the whole life of the upsampler.
GRAIN_API GrainResult grain_upsampler_create(const GrainScene *scene, const GrainFrame *first, const GrainRun *run,
                                             GrainUpsampler **out);
GRAIN_API void grain_upsampler_destroy(GrainUpsampler *upsampler);
/// Advances the grains to the next frame, which must follow the previous one and not be after the last frame of the
/// scene. Copies what it needs. run: progress reports "upsample" with the completed fraction of the frame; thread_count
/// is ignored. After an error or GRAIN_CANCELLED, the upsampler can only be destroyed.
GRAIN_API GrainResult grain_upsampler_advance(GrainUpsampler *upsampler, const GrainFrame *next, const GrainRun *run);
/// The grains at that frame, for the functions of grain/output.h: "position", "velocity", "radius", "id",
/// "orientation" if the scene requests it, and columns inherited from the particles ("moisture"). It is owned by the
/// upsampler and changes with grain_upsampler_advance: do not destroy or keep it. NULL if upsampler is NULL.
GRAIN_API const GrainFrame *grain_upsampler_frame(const GrainUpsampler *upsampler);

#ifdef __cplusplus
}
#endif
