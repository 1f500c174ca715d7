// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Who was ever born, and who is gone: what a simulation knows of its particles beside what the solver does.
///
/// A particle that is gone keeps its number and its row: in frames its radius is 0. So a number is an id for ever,
/// grains that were made of a particle stay at its number, and files in the order of birth need no list of who is who.
#include "sim/solver.h"

typedef struct Population {
    int64_t started;   ///< how many the simulation began with
    int64_t born;      ///< in all
    float *birth_time; ///< s since the first frame, of each
    int32_t *material; ///< kind of each
    uint8_t *is_gone;  ///< of each
    int32_t *gone;     ///< numbers of those that are gone, as they went
    Vec3 *gone_place;  ///< m: where they were last
    int64_t gone_count, capacity, gone_capacity;
} Population;

GrainResult population_begin(Population *population, int64_t count);
void population_free(Population *population);
/// Those that come and go now; places: of all that were there before.
GrainResult population_change(Population *population, const SimChange *change, const float *birth_time,
                              const Vec3 *places);
/// Rows of those that are gone.
void population_mask_gone(const Population *population, Particles *particles);

#define POPULATION_COLUMNS 4
/// For checkpoints; no columns if no particle was ever added or removed.
int population_save(const Population *population, Column *columns);
/// The population of a checkpoint, and in *change what a solver must be told to have the same. What change points to
/// belongs to the population and *born.
GrainResult population_load(Population *population, const Column *columns, int column_count, Particles *born,
                            uint8_t **material, SimChange *change);
