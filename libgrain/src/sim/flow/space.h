// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// The space occupied by balls, as a hash table of cells that grows ball by ball. Finds room for new particles among
/// those that are there, of which only the ones near the places asked for are put into the table.
#include "particles/particles.h"

typedef struct FlowSpace {
    const Particles *there;
    const uint8_t *gone; ///< of them
    Vec3 low, high;      ///< m: those in this box are in the table
    float cell;          ///< m: the largest diameter
    int64_t count, capacity, table_capacity;
    uint64_t mask;  ///< of the table
    int32_t *first; ///< cell -> the ball added last, or -1
    int32_t *next;  ///< ball -> the one before it in its cell, or -1
    Vec3 *place;
    float *radius;
} FlowSpace;

/// Empties it but for the particles that are there and not gone, and reserves room for more balls. All radii are up to
/// largest_radius. The particles must stay as they are.
GrainResult flow_space_begin(FlowSpace *space, float largest_radius, const Particles *there, const uint8_t *gone,
                             int64_t more);
/// Adds a ball; at most `more` of them.
void flow_space_put(FlowSpace *space, Vec3 place, float radius);
/// Whether a ball at this place would overlap no other.
int flow_space_is_free(FlowSpace *space, Vec3 place, float radius);
void flow_space_free(FlowSpace *space);
