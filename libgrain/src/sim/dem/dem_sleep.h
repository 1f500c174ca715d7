// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Balls at rest sleep: they are not moved, and contacts between them keep the forces they had. So a heap costs what
/// moves in it.
///
/// Every DEM_SLEEP_WINDOW steps each ball is looked at. One that was slower than a thousandth of the speed it would
/// gain falling by half its radius, DEM_SLEEP_WINDOWS times in a row, is quiet. A run of DEM_SLEEP_RUN balls sleeps
/// when all of them and all that are listed with one of them are quiet. What comes near is listed before it touches, so
/// those it will meet are awake by then; and what they do to the next is noticed within a third of the time a contact
/// lasts.
///
/// A grain of several balls sleeps when all of its balls could. Grains sleep by runs of their own, and a run of balls
/// only when all grains that its balls belong to do: so what a grain that is awake feels is always up to date.
#include <stdint.h>

#define DEM_SLEEP_WINDOW 6
#define DEM_SLEEP_WINDOWS 5
#define DEM_SLEEP_RUN 16 ///< balls, pairs or grains

struct Dem;

typedef struct DemSleep {
    int is_allowed;
    float speed_squared_over_radius; ///< m/s2: below this times its radius, the square of a ball's speed is rest
    int32_t *quiet, *quiet_before;   ///< windows that each ball has been quiet for, by place
    uint8_t *balls, *pairs, *grains; ///< of each run: whether it sleeps
    int64_t pairs_capacity, grains_capacity, runs_capacity, capacity;
    int32_t steps;        ///< since the last window ended
    int32_t evaluate_all; ///< lists are new: nothing has a force yet
    int64_t asleep;       ///< balls
} DemSleep;
