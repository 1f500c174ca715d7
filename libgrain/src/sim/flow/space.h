// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The space occupied by balls, as a hash table of cells that grows ball by ball. Finds room for new particles.
#include "base/vec.h"
#include "grain/base.h"

typedef struct FlowSpace {
    float cell; ///< m: the largest diameter
    int64_t count, capacity, table_capacity;
    uint64_t mask;  ///< of the table
    int32_t *first; ///< cell -> the ball added last, or -1
    int32_t *next;  ///< ball -> the one before it in its cell, or -1
    Vec3 *place;
    float *radius;
} FlowSpace;

/// Empties it and reserves room for `count` balls with radii up to largest_radius.
GrainResult flow_space_begin(FlowSpace *space, float largest_radius, int64_t count);
/// Adds a ball; at most `count` of them.
void flow_space_put(FlowSpace *space, Vec3 place, float radius);
/// Whether a ball at this place would overlap no other.
int flow_space_is_free(const FlowSpace *space, Vec3 place, float radius);
void flow_space_free(FlowSpace *space);
