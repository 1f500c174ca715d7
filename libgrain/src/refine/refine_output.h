// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Frames of grains on their way to disk, and the grains' exact state, from which making them goes on.
#include "output/cache.h"
#include "output/packed_file.h"
#include "upsample/upsample.h"

typedef struct RefineOutput {
    Cache *cache;
    Upsampler *upsampler;
    double position_error; ///< m, at most
    double velocity_error; ///< m/s
    double radius_error;   ///< m
    int has_orientation;   ///< whether frames tell it
    int is_born_later;     ///< whether particles are born during the bake
    int threads;
} RefineOutput;

/// How far grains in a file may be from where they are, and so on, for an error of `precision` mean radii: velocities
/// are off by at most ten times that way in a frame, radii by a quarter of it.
void refine_errors(RefineOutput *output, double precision, double grain_radius, double fps);

/// Writes the grains as they stand, at the end of the coarse frame, and lists them in the cache.
GrainResult refine_write_frame(const RefineOutput *output, const struct GrainFrame *coarse);

/// The grains as they stand, as a frame in memory in place of *out; coarse lives as long as it does. Afterwards, and
/// for a zeroed frame, refine_drop_frame.
GrainResult refine_take_frame(const RefineOutput *output, const struct GrainFrame *coarse, struct GrainFrame *out);
void refine_drop_frame(struct GrainFrame *frame);

/// The exact state at the end of a frame, in place of the one before.
GrainResult refine_write_checkpoint(const RefineOutput *output, int32_t frame, double time);
GrainResult refine_remove_checkpoint(const RefineOutput *output);
/// Takes the state up again; coarse: the bake. *frame stays as it is where
/// there is no checkpoint, or none of frames up to `last`: that is no error.
GrainResult refine_read_checkpoint(const RefineOutput *output, const CacheManifest *coarse, int32_t last,
                                   int32_t *frame);
