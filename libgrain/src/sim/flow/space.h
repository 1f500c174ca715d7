// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Which places are taken: balls in a table of cells that more can be put into at any time.
#include "base/vec.h"
#include "grain/base.h"

typedef struct FlowSpace {
    float cell; ///< m: the largest diameter
    int64_t count, capacity, table_capacity;
    uint64_t mask;  ///< of the table
    int32_t *first; ///< cell -> its ball put in last, or -1
    int32_t *next;  ///< ball -> the one before it in its cell, or -1
    Vec3 *place;
    float *radius;
} FlowSpace;

/// Empties it; room for `count` balls with radii up to largest.
GrainResult flow_space_begin(FlowSpace *space, float largest_radius, int64_t count);
/// No more than there is room for.
void flow_space_put(FlowSpace *space, Vec3 place, float radius);
/// Whether a ball there would overlap none.
int flow_space_is_free(const FlowSpace *space, Vec3 place, float radius);
void flow_space_free(FlowSpace *space);
