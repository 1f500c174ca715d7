// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Frames of grains on their way to disk, and the grains' exact state, from which making them goes on.
#include "output/cache.h"
#include "output/packed_file.h"
#include "upsample/upsample.h"

typedef struct UpsampleOutput {
    Cache *cache;
    Upsampler *upsampler;
    double position_error; ///< m, at most
    double velocity_error; ///< m/s
    double radius_error;   ///< m
    int has_orientation;   ///< whether frames tell it
    int is_born_later;     ///< whether particles are born during the bake
    int threads;
} UpsampleOutput;

/// How far grains in a file may be from where they are, and so on, for an error of `precision` mean radii: velocities
/// are off by at most ten times that way in a frame, radii by a quarter of it.
void upsample_output_errors(UpsampleOutput *output, double precision, double grain_radius, double fps);

/// Writes the grains as they stand, at the end of the coarse frame, and lists them in the cache.
GrainResult upsample_write_frame(const UpsampleOutput *output, const struct GrainFrame *coarse);

/// The exact state at the end of a frame, in place of the one before.
GrainResult upsample_write_checkpoint(const UpsampleOutput *output, int32_t frame, double time);
GrainResult upsample_remove_checkpoint(const UpsampleOutput *output);
/// Takes the state up again; coarse: the bake. *frame stays as it is where
/// there is no checkpoint, or none of frames up to `last`: that is no error.
GrainResult upsample_read_checkpoint(const UpsampleOutput *output, const CacheManifest *coarse, int32_t last,
                                     int32_t *frame);
