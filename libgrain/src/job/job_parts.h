// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The parts of a job, each read by a file of its own (job_read.c calls them in order).
#include "job/job.h"

/// An array of geometry.bin.
typedef struct JobArray {
    int is_float, components;
    int64_t count, offset;
} JobArray;
typedef struct JobArrays {
    JobArray *array;
    int64_t count;
} JobArrays;

// job_dem.c
/// A source's "material": the settings that differ from the solver's.
GrainResult job_read_material(const JobNode *source, Job *job, const JobArrays *arrays, int *material);

// job_meso.c
/// The keys of "solver" that are meso's own.
GrainResult job_read_meso(const JobNode *solver, Job *job);
/// The law again, with this viscosity, Pa s.
GrainResult job_make_meso(const JobNode *solver, float viscosity, Job *job);

// job_motion.c
/// The array a key names; GRAIN_ERROR_JOB unless it is of this type.
GrainResult job_find_array(const JobNode *node, const char *key, const JobArrays *arrays, int is_float, int components,
                           const JobArray **out);
/// Poses of any kind of object.
GrainResult job_read_poses(const JobNode *node, const Job *job, const JobArrays *arrays, int samples_per_frame,
                           Motion *out);
/// The motion of an object.
GrainResult job_read_motion(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object);

// job_flow.c
/// Samples of a setting, one a frame, from the node's "animation", all within the setting's range; *out stays a
/// constant where there are none. role: of objects.
struct SettingBlock;
GrainResult job_read_curve(const JobNode *node, const struct SettingBlock *block, int role, const char *key,
                           const Job *job, const JobArrays *arrays, Curve *out);
GrainResult job_read_emitter(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object);
// job_steering.c
/// Animated settings of the solver, and of a source's material.
GrainResult job_read_steering(const JobNode *root, Job *job, const JobArrays *arrays);
GrainResult job_read_material_curves(const JobNode *material, Job *job, const JobArrays *arrays, int kind);
/// Friction and stickiness of a collider or body, painted and animated. Its mesh, if any, must have been read.
GrainResult job_read_grip(const JobNode *node, const Job *job, const JobArrays *arrays, JobObject *object);

// job_fields.c
/// Force fields.
GrainResult job_read_fields(const JobNode *root, Job *job, const JobArrays *arrays);

// job_paint.c
/// A source's "attributes".
GrainResult job_read_attributes(const JobNode *source, Job *job, const JobArrays *arrays, JobObject *object);
/// An array with a number for each vertex, all within [0, most]; a missing key leaves *out without numbers.
GrainResult job_read_paint(const JobNode *node, const char *key, const Job *job, const JobArrays *arrays,
                           const GrainMesh *mesh, double most, MeshAttribute *out);

// job_upsample.c
GrainResult job_read_upsample(const JobNode *root, Job *job);

// job_volume.c
GrainResult job_read_volume(const JobNode *root, Job *job);
