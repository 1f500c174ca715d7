// SPDX-License-Identifier: GPL-3.0-or-later
#include "sim/population.h"
#include "base/alloc.h"
#include "base/error.h"
#include "sim/solver_base.h"

#include <string.h>

static GrainResult reserve(Population *p, int64_t count)
{
    const AllocGrown all[] = {
        {&p->birth_time, sizeof(float), 0}, {&p->material, sizeof(int32_t), 0}, {&p->is_gone, sizeof(uint8_t), 0}};
    return alloc_grow_all(all, 3, &p->capacity, count);
}

static GrainResult reserve_gone(Population *p, int64_t count)
{
    const AllocGrown all[] = {{&p->gone, sizeof(int32_t), 0}, {&p->gone_position, sizeof(Vec3), 0}};
    return alloc_grow_all(all, 2, &p->gone_capacity, count);
}

// Adds particles up to this count.
static void add(Population *p, int64_t count, const float *birth_time, const uint8_t *material)
{
    for (int64_t i = p->born; i < count; i++) {
        p->birth_time[i] = birth_time ? birth_time[i - p->born] : 0.0f;
        p->material[i] = material ? material[i - p->born] : 0;
        p->is_gone[i] = 0;
    }
    p->born = count;
}

GrainResult population_begin(Population *p, int64_t count)
{
    *p = (Population){0};
    TRY(reserve(p, count));
    add(p, count, NULL, NULL);
    p->started = count;
    return GRAIN_OK;
}

void population_free(Population *p)
{
    void *const arrays[] = {p->birth_time, p->material, p->is_gone, p->gone, p->gone_position};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) alloc_free(arrays[i]);
    *p = (Population){0};
}

GrainResult population_change(Population *p, const SimChange *change, const float *birth_time, const Vec3 *position)
{
    int64_t born = change->born ? change->born->count : 0, leaving = 0;
    for (int64_t i = 0; change->gone && i < p->born; i++) leaving += change->gone[i] != 0;
    TRY(reserve_gone(p, p->gone_count + leaving));
    TRY(reserve(p, p->born + born));
    for (int64_t i = 0; change->gone && i < p->born; i++) {
        if (!change->gone[i]) continue;
        p->is_gone[i] = 1;
        p->gone_position[p->gone_count] = position[i];
        p->gone[p->gone_count++] = (int32_t)i;
    }
    add(p, p->born + born, birth_time, change->material);
    return GRAIN_OK;
}

void population_mask_gone(const Population *p, Particles *particles)
{
    for (int64_t k = 0; k < p->gone_count; k++) {
        int32_t i = p->gone[k];
        particles->position[i] = p->gone_position[k];
        particles->velocity[i] = vec3(0, 0, 0);
        particles->radius[i] = 0.0f;
        if (particles->orientation) particles->orientation[i] = quat_identity();
        if (particles->moisture) particles->moisture[i] = 0.0f;
    }
}

// --- checkpoints ----------------------------------------------------------------------------------

int population_save(const Population *p, Column *columns)
{
    if (p->born == p->started && p->gone_count == 0) return 0;
    int64_t later = p->born - p->started;
    columns[0] = (Column){"sim.birth_time", GRAIN_F32, 1, later, p->birth_time + p->started};
    columns[1] = (Column){"sim.material", GRAIN_I32, 1, later, p->material + p->started};
    columns[2] = (Column){"sim.gone", GRAIN_I32, 1, p->gone_count, p->gone};
    columns[3] = (Column){"sim.gone_place", GRAIN_F32, 3, p->gone_count, p->gone_position};
    return POPULATION_COLUMNS;
}

static GrainResult load_gone(Population *p, const Column *columns, int column_count, int64_t count)
{
    TRY(reserve_gone(p, count));
    TRY(column_copy(columns, column_count, "sim.gone", GRAIN_I32, 1, count, p->gone));
    TRY(column_copy(columns, column_count, "sim.gone_place", GRAIN_F32, 3, count, p->gone_position));
    for (int64_t k = 0; k < count; k++) {
        if (p->gone[k] < 0 || p->gone[k] >= p->born || p->is_gone[p->gone[k]]) return solver_fail_particles();
        p->is_gone[p->gone[k]] = 1;
    }
    p->gone_count = count;
    return GRAIN_OK;
}

GrainResult population_load(Population *p, const Column *columns, int column_count, Particles *born, uint8_t **material,
                            SimChange *change)
{
    *change = (SimChange){0};
    const Column *later = column_find(columns, column_count, "sim.birth_time");
    const Column *gone = column_find(columns, column_count, "sim.gone");
    if (!later || !gone) return GRAIN_OK;
    TRY(reserve(p, p->started + later->count));
    add(p, p->started + later->count, NULL, NULL);
    TRY(column_copy(columns, column_count, "sim.birth_time", GRAIN_F32, 1, later->count, p->birth_time + p->started));
    TRY(column_copy(columns, column_count, "sim.material", GRAIN_I32, 1, later->count, p->material + p->started));
    TRY(load_gone(p, columns, column_count, gone->count));
    TRY(particles_reserve(born, later->count));
    *material = ALLOC(uint8_t, later->count);
    if (!*material) return GRAIN_ERROR_MEMORY;
    born->count = later->count;
    for (int64_t i = 0; i < later->count; i++) {
        born->position[i] = born->velocity[i] = vec3(0, 0, 0);
        born->radius[i] = 1.0f; // load tells
        (*material)[i] = (uint8_t)p->material[p->started + i];
    }
    *change = (SimChange){.born = born, .material = *material, .will_load = 1};
    return GRAIN_OK;
}
