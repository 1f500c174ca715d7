// SPDX-License-Identifier: GPL-3.0-or-later
// Sand comes to rest before the first frame.
#include "base/alloc.h"
#include "base/error.h"
#include "base/real.h"
#include "sim/rigid/rigid.h"
#include "sim/sim.h"

#include <math.h>

// s: interval between checks.
#define SLOT (1.0 / 192.0)
// Radii per second below which a particle is still: a hundredth of a radius per frame.
#define STILL 0.25f
// Fraction that may still roll about, and time for which the others must have been still, undamped.
#define STRAY 0.001
#define QUIET_SECONDS 0.3
// s: time constant of the damping. Sand then falls at 0.5 m/s: nothing bursts, and a metre takes two seconds.
#define FADING_SECONDS 0.05

static GrainResult advance(Sim *sim, double seconds)
{
    double step_count = real_max(ceil(seconds / sim->solver->largest_step(sim->state)), 1.0);
    for (double step = 0.0; step < step_count; step += 1.0) TRY(sim->solver->step(sim->state, seconds / step_count));
    return GRAIN_OK;
}

static double part_moving(const Particles *now, float speed)
{
    int64_t moving = 0;
    for (int64_t i = 0; i < now->count; i++) moving += vec3_dot(now->velocity[i], now->velocity[i]) > speed * speed;
    return now->count > 0 ? (double)moving / (double)now->count : 0.0;
}

// The push of a force field that is against everybody's motion.
static void slow_down(Sim *sim, const Particles *now, Vec3 *against)
{
    for (int64_t i = 0; i < now->count; i++) against[i] = vec3_scale(now->velocity[i], -1.0f);
    sim->solver->push(sim->state, against, 1.0 - real_exp(-SLOT / FADING_SECONDS));
}

static GrainResult settle(Sim *sim, double longest, float radius, const SimWatch *watch, Particles *now, Vec3 *against,
                          double *moving)
{
    double quiet = 0.0;
    for (double done = 0.0; done < longest && quiet < QUIET_SECONDS; done += SLOT) {
        TRY(advance(sim, SLOT));
        TRY(sim_read(sim, now));
        *moving = part_moving(now, STILL * radius);
        quiet = *moving <= STRAY ? quiet + SLOT : 0.0;
        if (quiet == 0.0) slow_down(sim, now, against);
        if (watch && watch->watch) TRY(watch->watch(watch->user, done / longest));
    }
    if (quiet >= QUIET_SECONDS) *moving = 0.0;
    return GRAIN_OK;
}

GrainResult sim_settle(Sim *sim, double longest, float radius, const SimWatch *watch, double *moving)
{
    Particles now = {0};
    Rigid *rigid = solver_rigid(sim->state);
    Vec3 *against = ALLOC(Vec3, sim->population.born);
    *moving = 0.0;
    if (!against) return GRAIN_ERROR_MEMORY;
    rigid_hold(rigid, 1);
    GrainResult result = settle(sim, longest, radius, watch, &now, against, moving);
    rigid_hold(rigid, 0);
    alloc_free(against);
    particles_free(&now);
    return result;
}
