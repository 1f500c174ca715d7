// SPDX-License-Identifier: GPL-3.0-or-later
// Adding and removing particles, animated parameters, force fields.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/sph/sph.h"

#include <math.h>
#include <string.h>

// Arrays with an element for each particle or block.
static GrainResult allocate(Sph *sph)
{
    int64_t blocks = sph->neighbours.block_count + 1;
    void *const old[] = {sph->works,  sph->walls, sph->reached_end, sph->is_awake,
                         sph->active, sph->awake, sph->is_watching, sph->must_wake};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) alloc_free(old[i]);
    sph->works = ALLOC_ZEROED(float, SPH_WORKS * sph->neighbours.room);
    sph->walls = ALLOC_ZEROED(SphWalls, blocks);
    sph->reached_end = ALLOC_ZEROED(int64_t, blocks);
    sph->active = ALLOC_ZEROED(int32_t, blocks);
    uint8_t **const flags[] = {&sph->is_awake, &sph->must_wake, &sph->awake, &sph->is_watching};
    int is_made = sph->works && sph->walls && sph->reached_end && sph->active;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        *flags[i] = ALLOC_ZEROED(uint8_t, blocks);
        is_made &= *flags[i] != NULL;
    }
    for (int w = 0; w < SPH_WORKS && is_made; w++) sph->work[w] = sph->works + w * sph->neighbours.room;
    return is_made ? GRAIN_OK : GRAIN_ERROR_MEMORY;
}

static void set_nowhere(Sph *sph)
{
    SimMaterial m = solver_material(&sph->base.def, 0);
    for (int64_t i = sph->neighbours.count; i < sph->neighbours.room; i++) {
        for (int f = 0; f < SPH_FIELDS; f++) sph->field[f][i] = 0.0f;
        sph->field[SPH_X][i] = BLOCK_NOWHERE;
        sph->field[SPH_STILL][i] = INFINITY;
        sph->field[SPH_FILLED][i] = 1.0f;
        sph->field[SPH_MASS][i] = sph->rules.volume * SPH_PACKING * m.density;
        sph_set_strength(sph, i, 0);
        sph->field[SPH_RADIUS][i] = sph->base.def.largest_radius;
    }
}

GrainResult sph_reserve_kinds(Sph *sph, int64_t born)
{
    if (sph->base.def.more_material_count == 0) return GRAIN_OK;
    return alloc_grow((void **)&sph->kind, &sph->kind_capacity, sph->base.born + born, 1);
}

GrainResult sph_resize(Sph *sph, int64_t count)
{
    TRY(neighbours_resize(&sph->neighbours, count));
    TRY(allocate(sph));
    set_nowhere(sph);
    return GRAIN_OK;
}

void sph_start_particles(Sph *sph, int64_t first, const Particles *start, const uint8_t *material,
                         const float *moisture)
{
    for (int64_t k = 0; k < start->count; k++) {
        int64_t i = first + k;
        int kind = material ? material[k] : 0;
        SimMaterial m = solver_material(&sph->base.def, kind);
        if (sph->kind) sph->kind[sph->base.born] = (uint8_t)kind;
        neighbours_start(&sph->neighbours, i, start->position[k], start->velocity[k]);
        sph->field[SPH_FILLED][i] = 1.0f;
        sph->field[SPH_MASS][i] = sph->rules.volume * SPH_PACKING * m.density;
        sph_set_strength(sph, i, kind);
        sph->field[SPH_MOISTURE][i] = moisture ? moisture[k] : 0.0f;
        sph->field[SPH_RADIUS][i] = start->radius[k];
    }
}

GrainResult sph_change(void *state, const SimChange *change)
{
    Sph *sph = state;
    if (change->gone) neighbours_remove(&sph->neighbours, change->gone);
    int64_t kept = sph->neighbours.count, born = change->born ? change->born->count : 0;
    TRY(sph_reserve_kinds(sph, born));
    TRY(sph_resize(sph, kept + born));
    if (born > 0) sph_start_particles(sph, kept, change->born, change->material, change->born->moisture);
    // As loose as possible: the next step finds how near the others are. Born as if at rest, a thin stream would remain
    // thin in the heap.
    for (int64_t i = kept; i < sph->neighbours.count; i++) sph->field[SPH_STRAIN][i] = -1.0f;
    sph->must_list = 1;
    return GRAIN_OK;
}

GrainResult sph_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Sph *sph = state;
    Vec3 gravity = now->gravity;
    solver_base_steer(&sph->base, now, grips);
    sph->steering = *now;
    for (int64_t i = 0; i < sph->neighbours.room; i++)
        sph_set_strength(sph, i, sph->kind && i < sph->neighbours.count ? sph->kind[sph->neighbours.id[i]] : 0);
    sph->rules.gravity[0] = gravity.x, sph->rules.gravity[1] = gravity.y, sph->rules.gravity[2] = gravity.z;
    for (int64_t i = 0; wake && i < sph->neighbours.count; i++) {
        if (!wake[sph->neighbours.id[i]] || !isinf(sph->field[SPH_STILL][i])) continue;
        sph->field[SPH_STILL][i] = 0.0f;
        sph->must_list = 1; // sleeping particles are found again then
    }
    return GRAIN_OK;
}

void sph_push(void *state, const Vec3 *acceleration, double seconds)
{
    Sph *sph = state;
    neighbours_push(&sph->neighbours, sph->field[SPH_STILL], acceleration, seconds);
}
