// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Dust: fast sand leaves a puff in every frame, which air slows, stirs, spreads and thins out. The dust of a frame
/// depends only on that frame and a few before it, so frames can be made in any order.
#include "volume/volume.h"

typedef struct Dust Dust;
/// Reads a frame and passes it to dust_add; does nothing for frames before the first.
typedef GrainResult DustReadFn(void *user, int32_t frame, Dust *dust);

typedef struct DustDef {
    float speed;         ///< m/s, above which sand raises dust; the most at twice that speed
    float linger;        ///< s until a puff has disappeared; 0: it lasts one frame
    float frame_seconds; ///< s from frame to frame
    float voxel_size;    ///< m
    DustReadFn *read;
    void *user;
} DustDef;

GrainResult dust_create(const DustDef *def, Dust **out);
void dust_destroy(Dust *dust);
GrainResult dust_add(Dust *dust, int32_t frame, const VolumeParticles *sand);
/// The puffs of a frame, as particles. Valid until the next call.
GrainResult dust_at(Dust *dust, int32_t frame, int threads, VolumeParticles *out);
