// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Balls at rest sleep: they are not moved, and contacts between them keep their forces. The cost of a heap is
/// therefore that of its moving part.
///
/// Each ball is checked every DEM_SLEEP_WINDOW steps. A ball is quiet if it was slower than a thousandth of the speed
/// gained by falling half its radius, DEM_SLEEP_WINDOWS times in a row. A run of DEM_SLEEP_RUN balls sleeps if all of
/// them, and all balls listed with one of them, are quiet. An approaching ball is listed before it touches, so that the
/// balls it will meet are awake by then; a disturbance spreads to the next balls within a third of the duration of a
/// contact.
///
/// A grain of several balls sleeps if all of its balls could. Grains have runs of their own, and a run of balls sleeps
/// only if all grains of its balls do, so that the forces on a grain that is awake are always up to date.
#include <stdint.h>

#define DEM_SLEEP_WINDOW 6
#define DEM_SLEEP_WINDOWS 5
#define DEM_SLEEP_RUN 16 ///< balls, pairs or grains

struct Dem;

typedef struct DemSleep {
    int is_allowed;
    float speed_squared_over_radius; ///< m/s2: a ball is slow if its squared speed is below this times its radius
    int32_t *quiet, *quiet_before;   ///< number of windows for which each ball has been slow, by row
    uint8_t *balls, *pairs, *grains; ///< of each run: whether it sleeps
    int64_t pairs_capacity, grains_capacity, runs_capacity, capacity;
    int32_t steps;        ///< since the last window ended
    int32_t evaluate_all; ///< lists are new: nothing has a force yet
    int64_t asleep;       ///< balls
} DemSleep;
