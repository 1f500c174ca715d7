// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Writes frames of grains, and checkpoints: the exact state of the grains, from which refinement continues.
#include "output/cache.h"
#include "output/packed_file.h"
#include "upsample/upsample.h"

typedef struct RefineOutput {
    Cache *cache;
    Upsampler *upsampler;
    double position_error; ///< m, at most
    double velocity_error; ///< m/s
    double radius_error;   ///< m
    int has_orientation;   ///< whether frames contain it
    int is_born_later;     ///< whether particles are born during the bake
    int threads;
} RefineOutput;

/// Sets the largest errors of values in files from a position error of `precision` mean radii: ten times that distance
/// per frame for velocities, a quarter of it for radii.
void refine_errors(RefineOutput *output, double precision, double grain_radius, double fps);

/// Writes the grains at the end of the coarse frame, and lists the file in the cache.
GrainResult refine_write_frame(const RefineOutput *output, const struct GrainFrame *coarse);

/// The same as a frame in memory, replacing *out (zeroed at first); coarse must outlive it. Release it with
/// refine_drop_frame.
GrainResult refine_take_frame(const RefineOutput *output, const struct GrainFrame *coarse, struct GrainFrame *out);
void refine_drop_frame(struct GrainFrame *frame);

/// Writes the exact state at the end of a frame, replacing the previous checkpoint.
GrainResult refine_write_checkpoint(const RefineOutput *output, int32_t frame, double time);
GrainResult refine_remove_checkpoint(const RefineOutput *output);
/// Restores the state; coarse: the bake. Without a checkpoint of a frame up to `last`, *frame is unchanged, which is
/// not an error.
GrainResult refine_read_checkpoint(const RefineOutput *output, const CacheManifest *coarse, int32_t last,
                                   int32_t *frame);
