// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Constant attributes of particles: where they were born, from which source, and the source's attributes there. Stored
/// once per particle, in the order of birth (`birth_NNNNNN.grain`, docs/formats.md).
#include "job/job.h"

#define BIRTH_MAX_COLUMNS (2 + JOB_MAX_ATTRIBUTES)

typedef struct Birth {
    const Job *job;
    int threads;
    MeshLookup *lookups; ///< of each object, made when first asked for
    int64_t count;
    Vec3 *rest;                        ///< m
    int32_t *source;                   ///< number among the job's sources and emitters
    float *values[JOB_MAX_ATTRIBUTES]; ///< of Job.attributes
    int64_t capacities[2 + JOB_MAX_ATTRIBUTES];
} Birth;

GrainResult birth_begin(Birth *birth, const Job *job, int threads);
void birth_free(Birth *birth);

/// The job's object that is this source, or -1.
int birth_object_of(const Job *job, int32_t source);
/// Appends particles of a source born at these places; on: the same places on the source's mesh at time 0.
GrainResult birth_add(Birth *birth, int object, const Vec3 *places, const Vec3 *on, int64_t count);
/// Appends the particles of a file; GRAIN_ERROR_DAMAGED if its columns do not match the job.
GrainResult birth_load(Birth *birth, const struct GrainFrame *file);
/// The columns of the particles from `first` on; returns their number.
int birth_columns(const Birth *birth, int64_t first, Column columns[BIRTH_MAX_COLUMNS]);

#define BIRTH_PENDING_COLUMNS 3
/// The particles from `first` on, for checkpoints, and back; values: scratch of birth_pending, to be freed.
GrainResult birth_pending(const Birth *birth, int64_t first, float **values, Column columns[BIRTH_PENDING_COLUMNS]);
GrainResult birth_resume(Birth *birth, const Column *columns, int column_count);

/// The attribute of an object near these places; count * components numbers.
GrainResult birth_paint(Birth *birth, int object, const MeshAttribute *paint, const Vec3 *places, int64_t count,
                        float *out);
/// What the moisture of particles is multiplied by: what is painted on their source near these places, or 1.
GrainResult birth_moisten(Birth *birth, int object, const Vec3 *places, int64_t count, float *out);
