// SPDX-License-Identifier: GPL-3.0-or-later
// Blocks at rest sleep: their particles stand, what they bring to the nodes is kept, and nothing is computed for them.
// A block falls asleep when all its particles have been slow for a while, and wakes when the nodes, which its
// neighbours that are awake move, would take one of its particles along.
//
//     awake | watching | asleep ...      a block that sleeps beside one that is awake watches: its nodes are computed,
//     and
//                                        how fast its particles would go is looked at, but they do not
//
// All of it follows from MpmParticle.still, and whose turn it is to watch from a counter, so checkpoints need nothing
// else.
#include "base/alloc.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/real.h"
#include "sim/mpm/mpm.h"
#include "sim/mpm/mpm_transfer.h"

#include <math.h>
#include <string.h>

// s: so long it must be slow, and slow is this part of the speed of a fall by a cell: it then moves by some hundredths
// of a cell before it sleeps. Or that of a fall for so many steps: grains at a surface come apart and bear again in
// turn.
#define SLEEP_SECONDS 0.25f
#define SLOW 0.01f
#define SLOW_STEPS 2.0f
// A sleeper wakes when a step would pull it faster than when it fell asleep by this part of a free fall, or by what is
// slow.
#define WAKING_FALL 0.3f
// Sleepers watch in every so many steps: sound does not cross a block of four cells meanwhile, nor does waking lag
// behind it.
#define WATCH_STEPS 4

float mpm_slow_speed(const Mpm *mpm, float seconds)
{
    float gravity = vec3_length(mpm->base.def.gravity);
    return real_maxf(SLOW * sqrtf(gravity * mpm->cell), SLOW_STEPS * gravity * seconds);
}

GrainResult mpm_grow_sleep(Mpm *mpm)
{
    TRY(alloc_grow((void **)&mpm->rest, &mpm->rest_capacity, mpm->filled_count, sizeof(MpmRest)));
    return alloc_grow((void **)&mpm->is_active, &mpm->active_capacity, mpm->block_count, sizeof(uint8_t));
}

static void wake_particles(MpmParticle *particles, int32_t begin, int32_t end)
{
    for (int32_t i = begin; i < end; i++) particles[i].still = 0.0f;
}

void mpm_wake_around(Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        if (block->around[k] < 0) continue;
        const MpmBlock *beside = &mpm->blocks[block->around[k]];
        wake_particles(mpm->particles, beside->begin, beside->end);
    }
}

void mpm_find_sleepers(Mpm *mpm)
{
    atomic_store(&mpm->may_have_sleepers, 0);
    PARALLEL_FOR(mpm->base.threads, i, mpm->filled_count)
    {
        MpmBlock *block = &mpm->blocks[mpm->filled[i]];
        int asleep = 0;
        for (int32_t p = block->begin; p < block->end; p++) asleep += isinf(mpm->particles[p].still) != 0;
        int all = asleep == block->end - block->begin;
        mpm_find_reach(mpm, block);
        mpm->rest[i] = (MpmRest){.is_asleep = (uint8_t)all};
        if (all) atomic_store(&mpm->may_have_sleepers, 1);
        if (asleep > 0 && !all) wake_particles(mpm->particles, block->begin, block->end); // one came in awake
    }
}

// Blocks whose nodes its particles reach.
static void mark_reached(Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++)
        if (block->reach >> k & 1) mpm->is_active[block->around[k]] = 1;
}

static int is_beside_awake(const Mpm *mpm, const MpmBlock *block)
{
    for (int k = 0; k < MPM_AROUND; k++) {
        int32_t tile = mpm->blocks[block->around[k]].tile;
        if (tile >= 0 && !mpm->rest[tile].is_asleep) return 1;
    }
    return 0;
}

// One thread is enough: it takes little time for each block.
void mpm_find_watchers(Mpm *mpm)
{
    memset(mpm->is_active, 0, (size_t)mpm->block_count);
    mpm->watch_turn = (mpm->watch_turn % WATCH_STEPS + 1) % WATCH_STEPS; // a forged one could be the largest number
    for (int64_t i = 0; i < mpm->filled_count; i++) {
        const MpmBlock *block = &mpm->blocks[mpm->filled[i]];
        MpmRest *rest = &mpm->rest[i];
        rest->is_watching =
            rest->is_asleep && mpm->watch_turn == 0 && (is_beside_awake(mpm, block) || mpm_is_near_moving(mpm, block));
        if (!rest->is_asleep || rest->is_watching) mark_reached(mpm, block);
    }
}

void mpm_may_fall_asleep(Mpm *mpm, int64_t filled, const MpmStep *now)
{
    const MpmBlock *block = &mpm->blocks[mpm->filled[filled]];
    int may_sleep = 1;
    for (int32_t i = block->begin; i < block->end; i++) {
        MpmParticle *p = &mpm->particles[i];
        float squared = vec3_dot(vec3(p->velocity[0], p->velocity[1], p->velocity[2]),
                                 vec3(p->velocity[0], p->velocity[1], p->velocity[2]));
        p->still = squared < now->slow * now->slow ? p->still + now->seconds : 0.0f;
        may_sleep &= p->still >= SLEEP_SECONDS;
    }
    if (!may_sleep || mpm_is_near_moving(mpm, block)) return;
    for (int32_t i = block->begin; i < block->end; i++) {
        MpmParticle *p = &mpm->particles[i];
        p->still = INFINITY;
        for (int axis = 0; axis < 3; axis++) {
            p->velocity[axis] = 0.0f;
            for (int c = 0; c < 3; c++) p->column[c].gradient[axis] = 0.0f;
        }
    }
    atomic_store(&mpm->may_have_sleepers, 1);
    mpm->rest[filled] = (MpmRest){.is_asleep = 1, .is_split = mpm->rest[filled].is_split};
}

void mpm_may_wake(Mpm *mpm, int64_t filled, const MpmMotion *tile, const MpmStep *now)
{
    const MpmBlock *block = &mpm->blocks[mpm->filled[filled]];
    float free_fall = vec3_length(vec3(now->fall[0], now->fall[1], now->fall[2]));
    MpmWall *walls = mpm->rest[filled].is_split ? mpm->walls + block->begin : NULL;
    float more = SIMD_CALL(mpm_stronger_pull)(mpm->particles + block->begin, block->end - block->begin, block->corner,
                                              tile, walls, now);
    if (more < real_minf(WAKING_FALL * free_fall, now->slow) && !mpm_is_near_moving(mpm, block)) return;
    wake_particles(mpm->particles, block->begin, block->end);
    mpm->rest[filled] = (MpmRest){0};
}
