// SPDX-License-Identifier: GPL-3.0-or-later
// Particles that come and go.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "sim/sph/sph.h"

#include <math.h>
#include <string.h>

// Fewer particles than this are not worth another thread.
#define PARTICLES_PER_THREAD 500
// Lanes of no particle stand here (m), beyond everybody's reach.
#define NOWHERE 1e6f

// All arrays that are as long as there is room, but for the fields, which need theirs kept.
static GrainResult allocate(Sph *sph)
{
    void *const old[] = {sph->works,     sph->before, sph->listed[0], sph->listed[1], sph->listed[2],
                         sph->id_before, sph->blocks, sph->active,    sph->awake,     sph->is_watching};
    for (size_t i = 0; i < sizeof old / sizeof *old; i++) alloc_free(old[i]);
    sph->works = ALLOC_ZEROED(float, SPH_WORKS * sph->room);
    sph->before = ALLOC(float, sph->room);
    for (int axis = 0; axis < 3; axis++) sph->listed[axis] = ALLOC_ZEROED(float, sph->room);
    sph->id_before = ALLOC(int32_t, sph->room);
    sph->blocks = ALLOC_ZEROED(SphBlock, sph->block_count + 1);
    sph->active = ALLOC_ZEROED(int32_t, sph->block_count + 1);
    sph->awake = ALLOC_ZEROED(uint8_t, sph->block_count + 1);
    sph->is_watching = ALLOC_ZEROED(uint8_t, sph->block_count + 1);
    if (!sph->works || !sph->before || !sph->listed[0] || !sph->listed[1] || !sph->listed[2] || !sph->id_before ||
        !sph->blocks || !sph->active || !sph->awake || !sph->is_watching)
        return GRAIN_ERROR_MEMORY;
    for (int w = 0; w < SPH_WORKS; w++) sph->work[w] = sph->works + w * sph->room;
    return GRAIN_OK;
}

static void set_nowhere(Sph *sph)
{
    SimMaterial m = sph_material(&sph->def, 0);
    for (int64_t i = sph->count; i < sph->room; i++) {
        for (int f = 0; f < SPH_FIELDS; f++) sph->field[f][i] = 0.0f;
        sph->field[SPH_X][i] = NOWHERE;
        sph->field[SPH_STILL][i] = INFINITY;
        sph->field[SPH_FILLED][i] = 1.0f;
        sph->field[SPH_MASS][i] = sph->rules.volume * SPH_PACKING * m.density;
        sph_set_strength(sph, i, 0);
        sph->field[SPH_RADIUS][i] = sph->def.largest_radius;
    }
}

GrainResult sph_reserve_kinds(Sph *sph, int64_t born)
{
    if (sph->def.more_material_count == 0) return GRAIN_OK;
    return alloc_grow((void **)&sph->kind, &sph->kind_capacity, sph->born + born, 1);
}

GrainResult sph_resize(Sph *sph, int64_t count)
{
    if (count > INT32_MAX / 4)
        return fail(GRAIN_ERROR_MEMORY, "%lld particles are more than one simulation can hold; use larger ones",
                    (long long)count);
    int64_t blocks = parallel_block_count(count, SPH_LANES), room = blocks * SPH_LANES;
    int64_t kept = count < sph->count ? count : sph->count;
    float *fields = ALLOC_ZEROED(float, SPH_FIELDS *room);
    int32_t *id = ALLOC(int32_t, room);
    if (!fields || !id) {
        alloc_free(fields), alloc_free(id);
        return GRAIN_ERROR_MEMORY;
    }
    for (int f = 0; f < SPH_FIELDS; f++) {
        if (kept > 0) memcpy(fields + f * room, sph->field[f], (size_t)kept * sizeof(float));
        sph->field[f] = fields + f * room;
    }
    if (kept > 0) memcpy(id, sph->id, (size_t)kept * sizeof *id);
    alloc_free(sph->fields), alloc_free(sph->id);
    sph->fields = fields, sph->id = id;
    sph->count = count, sph->room = room, sph->block_count = blocks;
    TRY(allocate(sph));
    set_nowhere(sph);
    int64_t useful_threads = 1 + sph->count / PARTICLES_PER_THREAD;
    sph->threads = useful_threads < sph->most_threads ? (int)useful_threads : sph->most_threads;
    return GRAIN_OK;
}

void sph_start_particles(Sph *sph, int64_t first, const Particles *start, const uint8_t *material,
                         const float *moisture)
{
    for (int64_t k = 0; k < start->count; k++) {
        int64_t i = first + k;
        int kind = material ? material[k] : 0;
        SimMaterial m = sph_material(&sph->def, kind);
        sph->field[SPH_X][i] = (float)((double)start->position[k].x - sph->origin[0]);
        sph->field[SPH_Y][i] = (float)((double)start->position[k].y - sph->origin[1]);
        sph->field[SPH_Z][i] = (float)((double)start->position[k].z - sph->origin[2]);
        sph->field[SPH_U][i] = start->velocity[k].x;
        sph->field[SPH_V][i] = start->velocity[k].y;
        sph->field[SPH_W][i] = start->velocity[k].z;
        sph->field[SPH_FILLED][i] = 1.0f;
        sph->field[SPH_MASS][i] = sph->rules.volume * SPH_PACKING * m.density;
        sph_set_strength(sph, i, kind);
        sph->field[SPH_MOISTURE][i] = moisture ? moisture[k] : 0.0f;
        sph->field[SPH_RADIUS][i] = start->radius[k];
        if (sph->kind) sph->kind[sph->born] = (uint8_t)kind;
        sph->id[i] = (int32_t)sph->born++;
    }
}

static void remove_gone(Sph *sph, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < sph->count; i++) {
        if (gone[sph->id[i]]) continue;
        for (int f = 0; f < SPH_FIELDS; f++) sph->field[f][kept] = sph->field[f][i];
        sph->id[kept++] = sph->id[i];
    }
    sph->count = kept;
}

GrainResult sph_change(void *state, const SimChange *change)
{
    Sph *sph = state;
    if (change->gone) remove_gone(sph, change->gone);
    int64_t kept = sph->count, born = change->born ? change->born->count : 0;
    TRY(sph_reserve_kinds(sph, born));
    TRY(sph_resize(sph, kept + born));
    for (int64_t i = kept; i < kept + born; i++)
        for (int f = 0; f < SPH_FIELDS; f++) sph->field[f][i] = 0.0f;
    if (born > 0) sph_start_particles(sph, kept, change->born, change->material, change->born->moisture);
    // As far apart as can be: the next step sees how near the others are. Born as if at rest, a thin stream would heap
    // up as thin.
    for (int64_t i = kept; i < sph->count; i++) sph->field[SPH_STRAIN][i] = -1.0f;
    sph->must_list = 1;
    return GRAIN_OK;
}

GrainResult sph_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Sph *sph = state;
    Vec3 gravity = now->gravity;
    sph->steering = *now;
    if (grips) rigid_steer(sph->rigid, grips);
    for (int64_t i = 0; i < sph->room; i++)
        sph_set_strength(sph, i, sph->kind && i < sph->count ? sph->kind[sph->id[i]] : 0);
    sph->def.gravity = sph->rigid->def.gravity = gravity;
    sph->rules.gravity[0] = gravity.x, sph->rules.gravity[1] = gravity.y, sph->rules.gravity[2] = gravity.z;
    for (int64_t i = 0; wake && i < sph->count; i++) {
        if (!wake[sph->id[i]] || !isinf(sph->field[SPH_STILL][i])) continue;
        sph->field[SPH_STILL][i] = 0.0f;
        sph->must_list = 1; // who sleeps is found again then
    }
    return GRAIN_OK;
}

void sph_push(void *state, const Vec3 *acceleration, double seconds)
{
    Sph *sph = state;
    float dt = (float)seconds;
    PARALLEL_FOR(sph->threads, i, sph->count)
    {
        Vec3 a = acceleration[sph->id[i]];
        if (isinf(sph->field[SPH_STILL][i])) continue;
        sph->field[SPH_U][i] += a.x * dt, sph->field[SPH_V][i] += a.y * dt, sph->field[SPH_W][i] += a.z * dt;
    }
}
