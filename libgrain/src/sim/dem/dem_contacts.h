// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Forces of all contacts and the resulting motion: what the kernels share.
#include "sim/dem/dem.h"

/// Input of the two loops over contacts. They work on a local copy: behind a pointer, the compiler would have to assume
/// that every store into an array changes these fields, and would reload them each time.
typedef struct DemWork {
    const DemBall *balls;
    DemPairs pairs;
    DemWalls walls;
    float *force, *moment, *torque; ///< torque is NULL if nothing resists rolling
    DemLaw law;                     ///< for a substep of this length
    const DemMixes *mixes;
    float seconds;
    int wakes_all;   ///< pairs of sleeping balls are computed too
    int gives_rates; ///< springs are read and then overwritten with their rates of change
} DemWork;

// dem_forces.c
/// The forces of all contacts, into their records.
void dem_find_forces(Dem *dem, const DemWork *work);
/// Moves balls and grains by these forces.
void dem_move_all(Dem *dem, float seconds);

// dem.c
/// The work of the default integrator, except for the law.
DemWork dem_work(const Dem *dem);

/// Forces of pairs [first, last), both multiples of DEM_LIST_MULTIPLE, into their records.
SIMD_KERNEL(void, dem_pairs, (const DemWork *work, int64_t first, int64_t last))
/// The same for walls; their records follow those of the pairs.
SIMD_KERNEL(void, dem_walls, (const DemWork *work, int64_t first, int64_t last, int64_t first_record))
/// Sums the records of balls [first, last) and moves them. Returns whether one of them left its skin.
SIMD_KERNEL(int32_t, dem_move, (const Dem *dem, int64_t first, int64_t last, float seconds))
/// Moves grains [first, last) by the sums of their balls, and the balls with them. Returns whether a ball left its
/// skin.
SIMD_KERNEL(int32_t, dem_grains, (const Dem *dem, int64_t first, int64_t last, float seconds))
/// Partners b > a of the balls of cells [first_cell, last_cell) of a level into found (room for `room` of them), how
/// many each ball has into own[ball]. Returns their total number, even if it exceeds room.
SIMD_KERNEL(int64_t, dem_search,
            (const Dem *dem, int level, int64_t first_cell, int64_t last_cell, int32_t *own, int32_t *found,
             int64_t room))
