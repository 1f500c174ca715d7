// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The particles that were ever born, and those removed since.
///
/// A removed particle keeps its number and its row; its radius in frames is 0. A number is therefore a permanent id:
/// render grains remain associated with their particle, and files in the order of birth need no table of ids.
#include "sim/solver.h"

typedef struct Population {
    int64_t started;     ///< particles at the start
    int64_t born;        ///< particles in total
    float *birth_time;   ///< s since the first frame, of each
    int32_t *material;   ///< kind of each
    uint8_t *is_gone;    ///< of each
    int32_t *gone;       ///< numbers of removed particles, in the order of removal
    Vec3 *gone_position; ///< m: their last positions
    int64_t gone_count, capacity, gone_capacity;
} Population;

GrainResult population_begin(Population *population, int64_t count);
void population_free(Population *population);
/// Records particles added and removed; position: of all particles before the change.
GrainResult population_change(Population *population, const SimChange *change, const float *birth_time,
                              const Vec3 *position);
/// Fills the rows of removed particles.
void population_mask_gone(const Population *population, Particles *particles);

#define POPULATION_COLUMNS 4
/// For checkpoints; no columns if no particle was ever added or removed.
int population_save(const Population *population, Column *columns);
/// Reads the population of a checkpoint; *change makes a solver's population the same. The arrays of *change belong to
/// the population and to *born.
GrainResult population_load(Population *population, const Column *columns, int column_count, Particles *born,
                            uint8_t **material, SimChange *change);
