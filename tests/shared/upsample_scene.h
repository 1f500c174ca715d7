// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Coarse bakes recorded in memory, refined into grains, and what is measured on those.
#include "shared/dem_scene.h"
#include "upsample/upsample.h"

#define RECORDING_MOST_FRAMES 64

typedef struct Recording {
    float radius;
    double frame_seconds;
    int frames;
    int64_t count;
    Vec3 *position[RECORDING_MOST_FRAMES], *velocity[RECORDING_MOST_FRAMES];
    SimCollider colliders[8];
    GrainSdf *sdf[8];     ///< finer than the scene's own
    MotionFrame frame[8]; ///< of each collider; none moves
    UpsampleWalls walls;  ///< these
} Recording;

/// Runs the scene and keeps `frames` frames, the first as it stands.
GrainResult recording_make(Recording *recording, DemScene *scene, int frames, double frame_seconds);
/// Colliders as upsampling has them; the mesh may be given up after it.
void recording_add_plane(Recording *recording, Vec3 point, Vec3 normal, float friction);
GrainResult recording_add_mesh(Recording *recording, const GrainMesh *mesh, float friction);
void recording_end(Recording *recording);
UpsampleCoarse recording_frame(const Recording *recording, int frame);
/// The last frame, at rest: its velocities are cleared.
void recording_put_to_rest(Recording *recording);

/// Grains in the order of ranks.
typedef struct Grains {
    int64_t count;
    Vec3 *position, *velocity;
    float *radius;
} Grains;
void grains_free(Grains *grains);

UpsampleDef recording_def(const Recording *recording, double per_particle, UpsampleScheme scheme);
/// From birth at frame `first` to frame `last`, then `still` frames of the last one standing.
GrainResult recording_refine(const Recording *recording, const UpsampleDef *def, int first, int last, int still,
                             Grains *out);

/// Share of the grains in cells of 1.5 coarse radii that hold more than twice what a packing of the coarse particles as
/// dense as the given number density (1/m3) would put there.
double grains_clumped(const Grains *grains, const UpsampleDef *def, double coarse_per_volume);
