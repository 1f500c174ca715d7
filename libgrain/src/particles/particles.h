// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
/// Particles as plain arrays in the order of their birth: what fills produce, solvers start from and frames show.
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

/// Room for at least capacity particles; count stays. A zeroed Particles is a valid start.
GrainResult particles_reserve(Particles *particles, int64_t capacity);
GrainResult particles_add(Particles *particles, Vec3 position, Vec3 velocity, float radius);
/// Gives the particles an orientation, for as many as there is room for now.
GrainResult particles_orient(Particles *particles);
/// Likewise moisture.
GrainResult particles_moisten(Particles *particles);
void particles_free(Particles *particles);

/// A named array that belongs to somebody else: how state is handed to files without either knowing the other.
typedef struct Column {
    const char *name; ///< at most 31 bytes
    GrainType type;
    int32_t components;
    int64_t count;
    const void *data;
} Column;

int64_t column_bytes(const Column *column);
/// The column of that name, or NULL.
const Column *column_find(const Column *columns, int column_count, const char *name);
/// Copies a column's elements to where they belong; GRAIN_ERROR_DAMAGED when it is missing or of another shape.
GrainResult column_copy(const Column *columns, int column_count, const char *name, GrainType type, int components,
                        int64_t count, void *to);

#define PARTICLES_MAX_COLUMNS 4
/// "position", "velocity", "radius" and, of grains that are not spheres, "orientation"; returns how many.
int particles_columns(const Particles *particles, Column columns[PARTICLES_MAX_COLUMNS]);
