// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles as arrays in the order of birth: the result of filling, the input of solvers, the contents of frames.
#include "base/vec.h"
#include "grain/base.h"

typedef struct Particles {
    int64_t count, capacity;
    Vec3 *position;    ///< m
    Vec3 *velocity;    ///< m/s
    float *radius;     ///< m
    Quat *orientation; ///< of grains that are not spheres; NULL when all are
    int64_t orientation_capacity;
    float *moisture; ///< [0, 1]; NULL when all are dry
    int64_t moisture_capacity;
} Particles;

/// Reserves memory for at least capacity particles; count is unchanged. A zeroed Particles is valid.
GrainResult particles_reserve(Particles *particles, int64_t capacity);
GrainResult particles_add(Particles *particles, Vec3 position, Vec3 velocity, float radius);
/// Adds orientations, for the current capacity.
GrainResult particles_orient(Particles *particles);
/// Adds moisture, for the current capacity.
GrainResult particles_moisten(Particles *particles);
void particles_free(Particles *particles);

/// A named array, owned by another object. Columns carry state to and from files, so that neither side knows the other.
typedef struct Column {
    const char *name; ///< at most 31 bytes
    GrainType type;
    int32_t components;
    int64_t count;
    const void *data;
} Column;

int64_t column_bytes(const Column *column);
/// The column with this name, or NULL.
const Column *column_find(const Column *columns, int column_count, const char *name);
/// Copies the elements of a column; GRAIN_ERROR_DAMAGED if it is missing or has another type or size.
GrainResult column_copy(const Column *columns, int column_count, const char *name, GrainType type, int components,
                        int64_t count, void *to);

#define PARTICLES_MAX_COLUMNS 4
/// "position", "velocity", "radius" and, of grains that are not spheres, "orientation"; returns how many.
int particles_columns(const Particles *particles, Column columns[PARTICLES_MAX_COLUMNS]);
