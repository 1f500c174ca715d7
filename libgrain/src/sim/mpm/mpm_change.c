// SPDX-License-Identifier: GPL-3.0-or-later
// Adding and removing particles, animated parameters, force fields.
#include "base/alloc.h"
#include "base/error.h"
#include "base/noise.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/mpm/mpm.h"
#include "sim/mpm/mpm_transfer.h"

#include <math.h>

// Particles that justify another thread.
#define PARTICLES_PER_THREAD 1000

GrainResult mpm_reserve(Mpm *mpm, int64_t count)
{
    TRY(solver_check_count(count));
    const AllocGrown all[] = {{&mpm->particles, sizeof(MpmParticle), 0},
                              {&mpm->particles_before, sizeof(MpmParticle), 0},
                              {&mpm->items, sizeof(SortItem), 0}};
    return alloc_grow_all(all, 3, &mpm->capacity, count);
}

// Initial history of materials: sand is firm (mpm_law_sand.h), snow uneven.
static float plastic_at(const Mpm *mpm, const MpmMaterial *material, Vec3 place)
{
    if (material->kind == MPM_SAND) return -1.0f;
    if (material->uneven == 0.0f) return 0.0f;
    return material->uneven *
           noise_at(0, RNG_STREAM_SNOW, vec3_scale(place, mpm->inverse_cell / material->patch_cells));
}

void mpm_start_particles(Mpm *mpm, const Particles *start, const uint8_t *kinds, const float *moisture)
{
    float volume = mpm->particle_volume;
    for (int64_t i = 0; i < start->count; i++) {
        int material = kinds ? kinds[i] : 0;
        MpmParticle *p = &mpm->particles[mpm->count++];
        *p = (MpmParticle){.volume = volume,
                           .mass = volume * mpm->materials.of[material].density, // as in mpm_mass_of
                           .radius = start->radius[i],
                           .material = material,
                           .moisture = moisture ? moisture[i] : 0.0f,
                           .id = (int32_t)mpm->base.born++};
        p->position[0] = (float)((double)start->position[i].x - mpm->base.origin[0]);
        p->position[1] = (float)((double)start->position[i].y - mpm->base.origin[1]);
        p->position[2] = (float)((double)start->position[i].z - mpm->base.origin[2]);
        p->velocity[0] = start->velocity[i].x;
        p->velocity[1] = start->velocity[i].y;
        p->velocity[2] = start->velocity[i].z;
        p->plastic = plastic_at(mpm, &mpm->materials.of[material], start->position[i]);
        p->stretch[0] = p->stretch[1] = p->stretch[2] = 1.0f;
    }
    solver_base_set_threads(&mpm->base, mpm->count, PARTICLES_PER_THREAD);
}

static void wake_beside(Mpm *mpm, const uint8_t *gone)
{
    for (int64_t i = 0; i < mpm->filled_count; i++) {
        const MpmBlock *block = &mpm->blocks[mpm->filled[i]];
        int leaves = 0;
        for (int32_t p = block->begin; p < block->end; p++) leaves |= gone[mpm->particles[p].id];
        if (leaves) mpm_wake_around(mpm, block);
    }
}

static void remove_gone(Mpm *mpm, const uint8_t *gone)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < mpm->count; i++) {
        if (gone[mpm->particles[i].id]) continue;
        if (kept < i) mpm->particles[kept] = mpm->particles[i];
        kept++;
    }
    mpm->count = kept;
}

GrainResult mpm_change(void *state, const SimChange *change)
{
    Mpm *mpm = state;
    int64_t born = change->born ? change->born->count : 0;
    TRY(mpm_reserve(mpm, mpm->count + born));
    if (change->gone) {
        wake_beside(mpm, change->gone);
        remove_gone(mpm, change->gone);
    }
    if (born > 0) mpm_start_particles(mpm, change->born, change->material, change->born->moisture);
    // The blocks are out of date.
    mpm->filled_count = mpm->block_count = 0;
    mpm->must_sort = 1;
    return GRAIN_OK;
}

GrainResult mpm_steer(void *state, const SimSteering *now, const SimGrip *grips, const uint8_t *wake)
{
    Mpm *mpm = state;
    solver_base_steer(&mpm->base, now, grips);
    mpm->must_order_pulls = 1;
    if (grips) mpm->must_sort = 1; // colliders are sampled at the nodes when blocks are made
    TRY(mpm_choose_materials(mpm, now));
    mpm->step_limit = real_minf(mpm->step_limit, mpm->longest_step);
    if (!wake || !mpm->may_have_sleepers) return GRAIN_OK;
    _Atomic int32_t has_woken = 0;
    PARALLEL_FOR(mpm->base.threads, i, mpm->count)
    {
        MpmParticle *p = &mpm->particles[i];
        if (!isinf(p->still) || !wake[p->id]) continue;
        p->still = 0.0f;
        atomic_store_explicit(&has_woken, 1, memory_order_relaxed);
    }
    mpm->must_sort |= has_woken; // sleeping particles are found again then
    return GRAIN_OK;
}

void mpm_push(void *state, const Vec3 *acceleration, double seconds)
{
    Mpm *mpm = state;
    PARALLEL_FOR(mpm->base.threads, i, mpm->count)
    {
        mpm_pull(&mpm->particles[i], acceleration[mpm->particles[i].id], (float)seconds);
    }
}
