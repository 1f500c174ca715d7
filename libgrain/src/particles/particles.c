// SPDX-License-Identifier: GPL-3.0-or-later
#include "particles/particles.h"
#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

GrainResult particles_reserve(Particles *particles, int64_t capacity)
{
    const AllocGrown all[] = {{&particles->position, sizeof(Vec3), 0},
                              {&particles->velocity, sizeof(Vec3), 0},
                              {&particles->radius, sizeof(float), 0}};
    return alloc_grow_all(all, 3, &particles->capacity, capacity);
}

GrainResult particles_add(Particles *particles, Vec3 position, Vec3 velocity, float radius)
{
    TRY(particles_reserve(particles, particles->count + 1));
    particles->position[particles->count] = position;
    particles->velocity[particles->count] = velocity;
    particles->radius[particles->count++] = radius;
    return GRAIN_OK;
}

GrainResult particles_orient(Particles *particles)
{
    return alloc_grow((void **)&particles->orientation, &particles->orientation_capacity, particles->capacity,
                      sizeof(Quat));
}

GrainResult particles_moisten(Particles *particles)
{
    return alloc_grow((void **)&particles->moisture, &particles->moisture_capacity, particles->capacity, sizeof(float));
}

void particles_free(Particles *particles)
{
    alloc_free(particles->position);
    alloc_free(particles->velocity);
    alloc_free(particles->radius);
    alloc_free(particles->orientation);
    alloc_free(particles->moisture);
    *particles = (Particles){0};
}

int64_t column_bytes(const Column *column)
{
    static const int bytes[] = {[GRAIN_F32] = 4, [GRAIN_I32] = 4, [GRAIN_F64] = 8, [GRAIN_I64] = 8};
    return column->count * column->components * bytes[column->type];
}

const Column *column_find(const Column *columns, int column_count, const char *name)
{
    for (int i = 0; i < column_count; i++)
        if (strcmp(columns[i].name, name) == 0) return &columns[i];
    return NULL;
}

GrainResult column_copy(const Column *columns, int column_count, const char *name, GrainType type, int components,
                        int64_t count, void *to)
{
    const Column *column = column_find(columns, column_count, name);
    if (!column || column->type != type || column->components != components || column->count != count)
        return fail(GRAIN_ERROR_DAMAGED,
                    "the column '%s' is missing, or has another type or length; was it written by another version?",
                    name);
    if (count > 0) memcpy(to, column->data, (size_t)column_bytes(column));
    return GRAIN_OK;
}

int particles_columns(const Particles *particles, Column columns[PARTICLES_MAX_COLUMNS])
{
    int64_t count = particles->count;
    columns[0] = (Column){"position", GRAIN_F32, 3, count, particles->position};
    columns[1] = (Column){"velocity", GRAIN_F32, 3, count, particles->velocity};
    columns[2] = (Column){"radius", GRAIN_F32, 1, count, particles->radius};
    columns[3] = (Column){"orientation", GRAIN_F32, 4, count, particles->orientation};
    return particles->orientation ? 4 : 3;
}
