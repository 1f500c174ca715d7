// SPDX-License-Identifier: GPL-3.0-or-later
// Sand at rest sleeps: its particles stand, their stress is kept, and nothing is computed for them. A particle falls
// asleep when it has been slow for a while, and wakes when its neighbours, which are awake, pull it otherwise than they
// did then or go against each other too fast, or when something solid moves near it.
//
//     awake | watching | asleep ...      a block that sleeps but can reach one that is awake watches: its forces are
//                                        computed and looked at, but its particles do not move
//
// A block is worked on for one step after all that it reaches sleeps, so that its forces are those of where they came
// to lie. Working on it again would give the same bits, which is why checkpoints need nothing but SPH_STILL.
#include "base/parallel.h"
#include "sim/sph/sph.h"

#include <math.h>

// Slow is this part of the speed of a fall by a spacing: it then moves by some hundredths of one before it sleeps.
#define SLOW 0.01f
// Part of gravity that wakes a sleeper.
#define WAKE_PULL 0.3f

void sph_set_sleep(Sph *sph)
{
    SphRules *rules = &sph->rules;
    float gravity = vec3_length(sph->base.def.gravity);
    // Where moisture spreads, what is at rest may lose its hold.
    int may_sleep =
        sph->base.def.may_sleep && sph->model == SPH_ELASTOPLASTIC && sph->base.def.moisture_diffusion == 0.0f;
    rules->slow = may_sleep ? SLOW * sqrtf(gravity * rules->spacing) : 0.0f;
    rules->wake_pull = WAKE_PULL * gravity;
}

// Bodies always may; props while they do.
static int moves(const RigidObject *object)
{
    if (!object->has_moved || object->is_held) return 0;
    return object->body >= 0 || object->bend_speed > 0.0 || vec3d_dot(object->velocity, object->velocity) > 0.0 ||
           vec3d_dot(object->spin, object->spin) > 0.0;
}

static int is_near_moving(const Sph *sph, int64_t block)
{
    const Rigid *rigid = sph->base.rigid;
    for (int c = 0; c < rigid->object_count; c++)
        if (moves(&rigid->objects[c]) && neighbours_may_meet(&sph->neighbours, &sph->neighbours.block[block], c))
            return 1;
    return 0;
}

static int has_sleepless(const Sph *sph, int64_t block)
{
    int64_t end = block * BLOCK_LANES + neighbours_lanes_of(&sph->neighbours, block);
    for (int64_t i = block * BLOCK_LANES; i < end; i++)
        if (!isinf(sph->field[SPH_STILL][i])) return 1;
    return 0;
}

static int reaches_awake(const Sph *sph, int64_t block)
{
    for (int64_t k = sph->neighbours.block[block].list; k < sph->neighbours.block[block].list_end; k++)
        if (sph->awake[sph->list[k] / BLOCK_LANES]) return 1;
    return 0;
}

static void list_active(Sph *sph)
{
    sph->active_count = 0;
    for (int64_t b = 0; b < sph->neighbours.block_count; b++)
        if (sph->lists_are_new || sph->awake[b] || sph->is_watching[b] || sph->must_wake[b])
            sph->active[sph->active_count++] = (int32_t)b;
}

static int any_moves(const Sph *sph)
{
    int found = 0;
    for (int c = 0; sph->base.has_moving && c < sph->base.rigid->object_count; c++)
        found |= moves(&sph->base.rigid->objects[c]);
    return found;
}

void sph_find_active(Sph *sph)
{
    if (sph->rules.slow == 0.0f) {
        for (int64_t b = 0; sph->lists_are_new && b < sph->neighbours.block_count; b++) sph->active[b] = (int32_t)b;
        sph->active_count = sph->neighbours.block_count;
        sph->lists_are_new = 0;
        return;
    }
    int something_moves = any_moves(sph);
    if (sph->lists_are_new) {
        PARALLEL_FOR(sph->base.threads, b, sph->neighbours.block_count)
        {
            sph->awake[b] = has_sleepless(sph, b) ? 2 : 1;
        }
    }
    if (sph->lists_are_new || sph->sleep_has_changed) {
        PARALLEL_FOR(sph->base.threads, b, sph->neighbours.block_count)
        {
            sph->is_watching[b] = !sph->awake[b] && reaches_awake(sph, b);
        }
    }
    PARALLEL_FOR(sph->base.threads, b, sph->neighbours.block_count)
    {
        sph->must_wake[b] = something_moves && is_near_moving(sph, b);
    }
    list_active(sph);
    sph->lists_are_new = sph->sleep_has_changed = 0;
}

void sph_note_sleep(Sph *sph)
{
    for (int64_t n = 0; n < sph->active_count && sph->rules.slow > 0.0f; n++) {
        int32_t b = sph->active[n];
        uint8_t before = sph->awake[b], now = sph->is_awake[b] ? 2 : before > 0 ? (uint8_t)(before - 1) : 0;
        sph->sleep_has_changed |= (now > 0) != (before > 0);
        sph->awake[b] = now;
    }
}
